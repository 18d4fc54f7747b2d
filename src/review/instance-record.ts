/** One instance over all its incidents: where it was, how long it was down, where it is now and why. Pure but for the reading. */
import { LifeboatError } from '../domain/errors.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { InstanceHistory, InstanceStay } from '../domain/review.ts'
import { between } from '../domain/text/span.ts'
import type { ReviewedJournal } from './incident-listing.ts'
import { instanceStays } from './instance-reviews.ts'

/** Throws NOT_FOUND when no incident is about it. */
export function instanceRecord(journal: Pick<ReviewedJournal, 'read'>, id: InstanceId): InstanceHistory {
  const stays = throughIncidents(instanceStays(journal, id))
  const [newest] = stays
  if (newest === undefined)
    throw new LifeboatError(
      'NOT_FOUND',
      `No incident is about an instance ${id}: its host has not failed since Lifeboat began watching`,
    )
  const { name, projectId, outcome, code, reason, outcomeMessage, message } = newest
  return {
    id,
    name,
    projectId,
    headline: headlineOf(newest),
    now: {
      host: placeOf(newest),
      state: newest.endedAs,
      at: newest.endedAt ?? newest.startedAt ?? newest.openedAt,
      outcome,
      code: code ?? reason,
      message: outcomeMessage ?? message,
    },
    stays,
  }
}

/** One that an incident did not bring back is down on until a later one of the same host does: it began before that. */
function throughIncidents(newestFirst: readonly InstanceStay[]): InstanceStay[] {
  let since: { host: string; at: string } | null = null
  return newestFirst
    .toReversed()
    .map((stay) => {
      const began: string | null = stay.downSince ?? (since?.host === stay.host ? since.at : null)
      since = began === null || stay.upAt !== null ? null : { host: stay.host, at: began }
      return { ...stay, downSince: began }
    })
    .toReversed()
}

/** Where it was read last; what was not brought elsewhere is where it was. */
function placeOf({ landedOn, outcome, host }: InstanceStay): string | null {
  return landedOn ?? (outcome === 'stuck' || outcome === 'recovered' ? null : host)
}

function headlineOf(stay: InstanceStay): string {
  const { name, host, failure, mode } = stay
  const what = {
    host: `${name} was on ${host} when that host failed`,
    process: `${name} was on ${host} when nova-compute failed there`,
    instance: `${name} crashed on ${host}`,
  }[failure]
  return mode === 'observe' ? `${what}. Lifeboat observes only, and sent nothing.` : `${what}. ${nowOf(stay)}.`
}

function nowOf(stay: InstanceStay): string {
  const { outcome, downSince, upAt, endedAs, startedAt } = stay
  const place = placeOf(stay)
  const on = place === null ? '' : ` on ${place}`
  if (outcome === 'open') return startedAt === null ? 'Lifeboat has not started on it' : 'Lifeboat is bringing it back'
  if (outcome === 'stuck') return 'Nobody can tell where it runs: look in Nova'
  if (outcome !== 'recovered') return `It is not back, and still${on}`
  const down = downSince === null || upAt === null ? '' : `It was down for ${between(downSince, upAt)}. `
  return `${down}It is ${endedAs ?? 'back'}${on}`
}
