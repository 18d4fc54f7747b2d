/** Nova's services, migrations, actions, server groups and aggregates in Nova's JSON, and the same in our words. */
import { z } from 'zod'
import type { Aggregate, InstanceAction, Migration, ServerGroup } from '../domain/instance.ts'
import type { ServiceRecord } from '../domain/service.ts'

const links = z.array(z.unknown()).optional()

const knownService = z.object({
  id: z.string(),
  binary: z.string(),
  host: z.string(),
  zone: z.string().nullish(),
  status: z.enum(['enabled', 'disabled']),
  state: z.enum(['up', 'down']),
  updated_at: z.string().nullish(),
  forced_down: z.boolean(),
  disabled_reason: z.string().nullish(),
})
/** A row of an unreachable cell, from 2.69: no id, no state. */
const unknownService = z.object({ binary: z.string(), host: z.string(), status: z.literal('UNKNOWN') })
const service = z.discriminatedUnion('status', [
  knownService.extend({ status: z.literal('enabled') }),
  knownService.extend({ status: z.literal('disabled') }),
  unknownService,
])

export const servicesAnswer = z.object({ services: z.array(service) })
export const serviceAnswer = z.object({ service })

export function serviceOf(json: z.infer<typeof service>): ServiceRecord {
  const { binary, host } = json
  if (json.status === 'UNKNOWN') {
    const nothing = { id: null, zone: null, state: null, updatedAt: null, disabledReason: null }
    return { ...nothing, binary, host, status: 'unknown', forcedDown: false }
  }
  return {
    id: json.id,
    binary,
    host,
    zone: json.zone ?? null,
    status: json.status,
    state: json.state,
    updatedAt: json.updated_at ?? null,
    forcedDown: json.forced_down,
    disabledReason: json.disabled_reason ?? null,
  }
}

const migration = z.object({
  id: z.number(),
  /** From 2.59. */
  uuid: z.string().optional(),
  instance_uuid: z.string(),
  migration_type: z.enum(['evacuation', 'resize', 'migration', 'live-migration']),
  status: z.string(),
  source_compute: z.string().nullish(),
  dest_compute: z.string().nullish(),
  created_at: z.string(),
  updated_at: z.string().nullish(),
})

export const migrationsAnswer = z.object({ migrations: z.array(migration), migrations_links: links })

export function migrationOf(json: z.infer<typeof migration>): Migration {
  return {
    id: json.id,
    // Below 2.59 there is none, and records are told apart by it: one that is taken for another is an evacuation sent twice.
    uuid: json.uuid ?? String(json.id),
    instanceId: json.instance_uuid,
    type: json.migration_type,
    status: json.status,
    sourceHost: json.source_compute ?? null,
    destHost: json.dest_compute ?? null,
    createdAt: json.created_at,
    updatedAt: json.updated_at ?? null,
  }
}

const event = z.object({
  event: z.string(),
  result: z.string().nullish(),
  /** From 2.62. */
  host: z.string().nullish(),
  /** From 2.84. */
  details: z.string().nullish(),
  start_time: z.string(),
  finish_time: z.string().nullish(),
})
const action = z.object({
  action: z.string(),
  request_id: z.string(),
  user_id: z.string().nullable(),
  project_id: z.string().nullable(),
  start_time: z.string(),
  message: z.string().nullish(),
  events: z.array(event).default([]),
})

export const actionsAnswer = z.object({ instanceActions: z.array(action), links })
/** From 2.48. Of everything else in it nothing is needed. */
export const diagnosticsAnswer = z.object({ state: z.string().nullish() })

export const actionAnswer = z.object({ instanceAction: action })

export function actionOf(json: z.infer<typeof action>): InstanceAction {
  return {
    action: json.action,
    requestId: json.request_id,
    userId: json.user_id,
    projectId: json.project_id,
    startedAt: json.start_time,
    message: json.message ?? null,
    events: json.events.map((entry) => ({
      event: entry.event,
      result: entry.result ?? null,
      host: entry.host ?? null,
      details: entry.details ?? null,
      startedAt: entry.start_time,
      finishedAt: entry.finish_time ?? null,
    })),
  }
}

const serverGroup = z.object({
  id: z.string(),
  name: z.string(),
  /** From 2.64; a list of at most one before. */
  policy: z.string().nullish(),
  policies: z.array(z.string()).optional(),
  members: z.array(z.string()),
})

export const serverGroupsAnswer = z.object({ server_groups: z.array(serverGroup) })

export function serverGroupOf(json: z.infer<typeof serverGroup>): ServerGroup {
  return { id: json.id, name: json.name, policy: json.policy ?? json.policies?.[0] ?? '', members: json.members }
}

const aggregate = z.object({
  name: z.string(),
  availability_zone: z.string().nullish(),
  hosts: z.array(z.string()).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
})

export const aggregatesAnswer = z.object({ aggregates: z.array(aggregate) })

export function aggregateOf(json: z.infer<typeof aggregate>): Aggregate {
  return {
    name: json.name,
    availabilityZone: json.availability_zone ?? null,
    hosts: json.hosts ?? [],
    metadata: json.metadata ?? {},
  }
}
