/** What people write through Masakari's API in a scenario: a failover segment, or a host in it. */
import { z } from 'zod'
import { section, text } from '../config/pieces.ts'
import { LifeboatError } from '../domain/errors.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import type { FailoverSegments, Writer } from '../domain/failover-segment.ts'
import { act } from './act.ts'

const segmentFields = { serviceType: 'COMPUTE', recoveryMethod: 'auto', description: null } as const
const hostFields = { type: 'COMPUTE', controlAttributes: 'SSH', reserved: false }

interface Written {
  name: string
  deleted: boolean
  enabled?: boolean | undefined
  onMaintenance?: boolean | undefined
}

/** Made or added where it is not there yet, else changed. */
export const failoverSegment = act(
  section({
    name: text(),
    host: text().optional().describe('Of that segment: then the host is written'),
    by: text().default('ann'),
    enabled: z.boolean().optional(),
    on_maintenance: z.boolean().optional(),
    deleted: z.boolean().default(false),
  }),
  (stage, { host, by, ...written }) => {
    const writer = { by, via: null }
    const what = `failover segment ${written.name}${host === undefined ? '' : `, host ${host}`}`
    return stage.told(`${by}: ${written.deleted ? 'delete' : 'write'} ${what}`, () => {
      const failover = stage.failover()
      if (host === undefined) writeSegment(failover, written, writer)
      else writeHost(failover, host, written, writer)
      return Promise.resolve()
    })
  },
)

function writeSegment(failover: FailoverSegments, { name, enabled, deleted }: Written, writer: Writer): void {
  const found = failover.segments().find((segment) => segment.name === name)
  if (found === undefined) failover.createSegment({ name, ...segmentFields }, enabled ?? true, writer)
  else if (deleted) failover.deleteSegment(found.uuid, writer)
  else failover.updateSegment(found.uuid, omitUndefined({ enabled }), writer)
}

function writeHost(failover: FailoverSegments, host: string, written: Written, writer: Writer): void {
  const { name, onMaintenance, deleted } = written
  const segment = failover.segments().find((one) => one.name === name)
  if (segment === undefined) throw new LifeboatError('NOT_FOUND', `there is no failover segment ${name}`)
  const found = failover.hosts().find((one) => one.name === host)
  if (found === undefined) failover.addHost(segment.uuid, { name: host, ...hostFields }, onMaintenance ?? false, writer)
  else if (deleted) failover.removeHost(found.uuid, writer)
  else failover.updateHost(found.uuid, omitUndefined({ onMaintenance }), writer)
}
