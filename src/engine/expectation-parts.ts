/** What expected plans of every kind of workflow say in the same way: the instance, its volumes, its history. Pure. */
import { z } from 'zod'
import type { Instance, InstanceAction } from '../domain/instance.ts'

export const texts = z.record(z.string(), z.string())

const instanceSchema = z
  .strictObject({
    vmState: z.string(),
    taskState: z.string(),
    powerState: z.int(),
    locked: z.boolean(),
    launched: z.boolean(),
    volumeBacked: z.boolean(),
    metadata: texts,
    tags: z.array(z.string()),
    extraSpecs: texts,
    ephemeralGb: z.int(),
    fault: z.string(),
  })
  .partial()

/** The keys of a case about an instance. */
export const instanceKeys = {
  instance: instanceSchema.optional(),
  /** Its volumes: encrypted or not; `unknown` ones could not be read. */
  volumes: z.array(z.enum(['plain', 'encrypted', 'unknown'])).optional(),
  mayActForProject: z.boolean().optional(),
  aggregate: texts.optional(),
}

export interface InstanceCase {
  instance?: z.infer<typeof instanceSchema> | undefined
  volumes?: readonly string[] | undefined
}

export const instanceId = '11111111-1111-4111-8111-111111111111'

/** How the case's instance differs from a plain running one on `host`. */
export function instanceOf(one: InstanceCase, host: string): Instance {
  const { instance = {} } = one
  const vmState = instance.vmState ?? 'active'
  return {
    id: instanceId,
    name: 'instance',
    projectId: 'project',
    userId: 'user',
    host,
    status: vmState.toUpperCase(),
    vmState,
    taskState: instance.taskState ?? null,
    powerState: instance.powerState ?? (vmState === 'stopped' ? 4 : 1),
    locked: instance.locked ?? false,
    lockedReason: null,
    launchedAt: instance.launched === false ? null : '2029-01-01T00:00:00Z',
    createdAt: '2029-01-01T00:00:00Z',
    updatedAt: '2029-01-01T00:00:00Z',
    metadata: instance.metadata ?? {},
    tags: instance.tags ?? [],
    flavor: {
      name: 'flavor',
      vcpus: 1,
      ramMb: 512,
      diskGb: 1,
      ephemeralGb: instance.ephemeralGb ?? 0,
      swapMb: 0,
      extraSpecs: instance.extraSpecs ?? {},
    },
    imageId: instance.volumeBacked === true ? null : 'image',
    volumeIds: (one.volumes ?? []).map((_, index) => `volume-${index}`),
    availabilityZone: 'nova',
    fault: instance.fault ?? null,
  }
}

/** One action of its history. Without a user: Nova's own. */
export function actionOf(
  action: string,
  by: 'user' | 'nova' | undefined,
  index: number,
  startedAt: string,
): InstanceAction {
  const isOwn = by === 'nova'
  return {
    ...{ action, startedAt, requestId: `req-${index}`, message: null, events: [] },
    userId: isOwn ? null : 'user',
    projectId: isOwn ? null : 'project',
  }
}

/** What a plan differs in from what a case expects. */
export class Differences {
  readonly found: string[] = []

  same(what: string, wanted: unknown, found: unknown): void {
    if (wanted !== undefined && JSON.stringify(wanted) !== JSON.stringify(found))
      this.found.push(`${what}: expected ${JSON.stringify(wanted)}, the plan has ${JSON.stringify(found)}`)
  }

  says(wanted: string | undefined, message: string): void {
    if (wanted !== undefined && !message.includes(wanted)) this.found.push(`says: expected "${wanted}" in "${message}"`)
  }
}
