/**
 * Takes the survey of a dead host: every instance, and what decides about it. Reads only. Its listings are made after the host was
 * forced down, so that what people did meanwhile is in the plan (docs/decisions/0003).
 */
import type { CallOptions, Cloud } from '../domain/cloud.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { HostName, ServiceRecord, ServicesReading } from '../domain/service.ts'
import type { Survey } from '../domain/survey.ts'
import { findBound, type BoundRules } from './bound.ts'
import { readSurroundings, type Surroundings } from './surroundings.ts'

/** What a person does about a host whose nova-compute Nova lists no more. */
export const serviceGone =
  'If its service was deleted for good (openstack compute service list does not show it), cancel the incident'

export interface SurveyTaken {
  survey: Survey
  /** The API's own clock, ms since the epoch. */
  cloudTimeMs: number
}

/** Reads ahead what the survey of `host` will need around its instances. Throws as the survey does. */
export function readAhead(cloud: Cloud, host: HostName, options: CallOptions = {}): Promise<Surroundings> {
  return readSurroundings(cloud, cloud.listInstances(host, options), options, null)
}

export interface SurveyOptions extends CallOptions {
  /** What was read ahead. */
  ahead?: Surroundings | null
  bound?: BoundRules
  /** As `Survey.lastSeenAt`. */
  lastSeenAt?: string | null
}

/** Nothing is known of when the host died, and of no other host. */
const anyBound: BoundRules = { since: null, isFenced: () => false, isPlanned: () => false }

/**
 * Surveys `host`. Throws when instances, migrations or services cannot be read: without them nothing can be decided.
 * Everything else that cannot be read is named in `missing`.
 */
export async function takeSurvey(
  cloud: Cloud,
  host: HostName,
  wall: () => number,
  { ahead = null, bound: rules = anyBound, lastSeenAt = null, ...options }: SurveyOptions = {},
): Promise<SurveyTaken> {
  const listing = cloud.listInstances(host, options)
  const [instances, here, services, surroundings] = await Promise.all([
    listing,
    cloud.listMigrations({ host }, options),
    cloud.listServices(options),
    readSurroundings(cloud, listing, options, ahead),
  ])
  const { rows, leftovers, ...around } = surroundings
  const bound = await findBound(cloud, host, here, new Set(rows.keys()), rules, options)
  const elsewhere = leftovers.filter(({ instanceId }) => rows.has(instanceId))
  const survey: Survey = {
    host,
    takenAt: new Date(wall()).toISOString(),
    lastSeenAt,
    instances,
    bound,
    migrations: [...new Map([...elsewhere, ...here].map((record) => [record.uuid, record])).values()],
    services: services.services,
    ...around,
  }
  return { survey, cloudTimeMs: services.serverTimeMs ?? wall() }
}

/**
 * Of a cell that it cannot reach Nova lists nothing, without a word (docs/nova.md §1.3): an instance that is missing there for
 * this reason would end without an outcome (law L9).
 *
 * @throws LifeboatError API_UNAVAILABLE while the host's cell cannot be reached; NOT_FOUND where its nova-compute is not listed,
 *   which older Novas do with such a cell
 */
export function requireCell(services: readonly ServiceRecord[], host: HostName): void {
  const row = services.find((service) => service.binary === 'nova-compute' && service.host === host)
  if (row === undefined)
    throw new LifeboatError(
      'NOT_FOUND',
      `Nova lists no nova-compute on ${host} any more, so nobody knows whether it lists all instances there. ${serviceGone}`,
    )
  if (row.status === 'unknown')
    throw new LifeboatError('API_UNAVAILABLE', `the cell of ${host} does not answer: Nova lists no instance of it`, {
      retry: 'after',
    })
}

/**
 * Someone deleted the record of the host's nova-compute. Nova allows that only while no instance is on the host and no move
 * of one is under way (docs/nova.md §1.2): whatever is not listed there is not there. Never so while the row may be missing
 * for another reason: some cell does not answer, or Nova is too old to say so.
 */
export function isRemoved({ services, showsLostCells }: ServicesReading, host: HostName): boolean {
  const computes = services.filter(({ binary }) => binary === 'nova-compute')
  return showsLostCells && computes.length > 0 && computes.every((row) => row.host !== host && row.status !== 'unknown')
}
