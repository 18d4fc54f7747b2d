/** What tests of segments and hosts do through Masakari's API, on a cloud of four hosts. */
import type { LightMyRequestResponse } from 'fastify'
import { simulatedSegment } from '../../src/rehearsal/simulated-parts.ts'
import { SmallWorld } from '../daemon/small-world.ts'
import { Cloud } from './cloud.ts'

export interface Segment {
  id: number
  uuid: string
  name: string
  enabled: boolean
  updated_at: string | null
}

export interface Host {
  id: number
  uuid: string
  name: string
  on_maintenance: boolean
}

/** The configuration has a segment with cmp01 in it; the other hosts are in none. */
export const parts = {
  segmentOf: (host: string) => ({ ...simulatedSegment, name: host === 'cmp01' ? 'configured' : 'default:nova' }),
}

export function played(play: (cloud: Cloud) => Promise<void>): () => Promise<void> {
  return SmallWorld.run({ hosts: 4, parts }, async (world) => {
    await world.clock.advance(30_000)
    await play(await Cloud.over(world))
  })
}

export const rack = { name: 'rack', recovery_method: 'auto', service_type: 'COMPUTE' }
export const cmp02 = { name: 'cmp02', type: 'COMPUTE', control_attributes: 'SSH' }

export async function made(cloud: Cloud, change: object = {}): Promise<Segment> {
  const answer = await cloud.write('POST', '/segments', { segment: { ...rack, ...change } })
  return answer.json<{ segment: Segment }>().segment
}

export async function added(cloud: Cloud, { uuid }: Segment, change: object = {}): Promise<Host> {
  const answer = await cloud.write('POST', `/segments/${uuid}/hosts`, { host: { ...cmp02, ...change } })
  return answer.json<{ host: Host }>().host
}

export const put = (cloud: Cloud, { uuid }: Segment, segment: object): Promise<LightMyRequestResponse> =>
  cloud.write('PUT', `/segments/${uuid}`, { segment })

export const putHost = (cloud: Cloud, of: Segment, { uuid }: Host, host: object): Promise<LightMyRequestResponse> =>
  cloud.write('PUT', `/segments/${of.uuid}/hosts/${uuid}`, { host })

export const hostOf = (answer: LightMyRequestResponse): Host => answer.json<{ host: Host }>().host

/** The orders in force, each as kind and name. */
export const orders = ({ world }: Cloud): string[] =>
  world.daemon.orders.inForce().map(({ kind, scope, by }) => `${kind} of ${scope.kind} ${scope.name ?? ''} by ${by}`)
