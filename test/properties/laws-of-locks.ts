/** The law on our locks: an owner whose instance has landed is not locked out, whatever people have ordered of Lifeboat. */
import type { Entry } from '../../src/domain/entry.ts'
import type { Simulator } from '../../src/simulator/index.ts'

const limitMs = 60_000
/** Longer between two polls, and the daemon did not run, or Nova did not answer. */
const pollGapMs = 15_000

interface Landed {
  instance: string
  at: number
  seq: number
}

/** Every lock of ours is taken back within a minute of the last step before, when the daemon runs and Nova answers all that while. */
export function lockedOut(entries: Entry[], { simulator }: { simulator: Pick<Simulator, 'requests'> }): string[] {
  const requests = simulator.requests().filter(({ user, path }) => user === 'lifeboat' && path.startsWith('compute/'))
  return landedUnderOurLock(entries).flatMap(({ instance, at, seq }) => {
    const unlocked = entries.find((entry) => entry.seq > seq && entry.instance === instance && ends(entry, 'unlock'))
    const until = at + limitMs
    if (unlocked !== undefined && Date.parse(unlocked.at) <= until) return []
    // Who orders that nothing is written keeps the lock too.
    if (observes(entries, seq, until)) return []
    if (isKeptFromAStart(entries, instance, until)) return []
    const meanwhile = requests.filter((request) => request.at >= at && request.at <= until)
    return isCalm(meanwhile, at, until)
      ? [`entry ${seq}: ${instance} has landed, and is still locked a minute later`]
      : []
  })
}

/** The last step of each instance before its unlock, where we had locked it and evacuated it. */
function landedUnderOurLock(entries: Entry[]): Landed[] {
  const locked = new Set<string>()
  const evacuated = new Set<string>()
  const last = new Map<string, Landed>()
  for (const entry of entries) {
    const { instance, seq, at } = entry
    if (instance === null) continue
    if (ends(entry, 'lock') && entry.kind === 'step.confirmed') locked.add(instance)
    if (ends(entry, 'evacuate') && entry.kind === 'step.confirmed') evacuated.add(instance)
    if (ends(entry, 'unlock') && entry.kind === 'step.confirmed') {
      // Whatever comes after is another incident's.
      locked.delete(instance)
      evacuated.delete(instance)
    }
    const begins = entry.kind === 'step.intended' && entry.data.kind === 'unlock'
    if (entry.kind !== 'step.confirmed' && entry.kind !== 'step.failed' && !begins) continue
    if (ends(entry, 'unlock') || begins) continue
    if (locked.has(instance) && evacuated.has(instance)) last.set(instance, { instance, seq, at: Date.parse(at) })
  }
  return [...last.values()]
}

/**
 * Whether it is still to be started while its old host shows life: an owner who could start it might run it beside the old guest,
 * so the lock stays until the host is proven dead again or a person decides.
 */
function isKeptFromAStart(entries: readonly Entry[], instance: string, until: number): boolean {
  const plan = entries.findLast((entry) => entry.kind === 'plan.made' && entry.instance === instance)
  if (plan?.kind !== 'plan.made' || plan.data.expected !== 'running') return false
  if (entries.some((entry) => entry.instance === instance && entry.kind === 'step.confirmed' && ends(entry, 'start')))
    return false
  const held = entries.findLast(
    ({ kind, incident, at }) =>
      incident === plan.incident &&
      (kind === 'incident.held' || kind === 'incident.continued') &&
      Date.parse(at) <= until,
  )
  return held?.kind === 'incident.held' && held.data.code === 'HOST_ALIVE'
}

/** Whether the daemon only observed for some of the time. By the order of entries: a clock may have been set back between. */
function observes(entries: readonly Entry[], from: number, until: number): boolean {
  const changes = entries.flatMap((entry) =>
    entry.kind === 'mode.changed' ? [{ seq: entry.seq, at: Date.parse(entry.at), to: entry.data.to }] : [],
  )
  const before = changes.findLast(({ seq }) => seq < from)
  return before?.to === 'observe' || changes.some(({ seq, at, to }) => to === 'observe' && seq > from && at <= until)
}

/** Step keys end with the step's id and its attempt: `0.reset-evacuate.unlock.1`. */
function ends({ kind, step }: Entry, id: string): boolean {
  return (kind === 'step.confirmed' || kind === 'step.failed') && (step ?? '').split('.').includes(id)
}

function isCalm(
  requests: readonly { at: number; status: number; fault: string | null }[],
  from: number,
  until: number,
): boolean {
  const times = [from, ...requests.map(({ at }) => at), until]
  const gaps = times.slice(1).map((at, nth) => at - (times[nth] ?? at))
  return (
    requests.every(
      ({ status, fault }) =>
        fault === null && status > 0 && status < 500 && status !== 401 && status !== 403 && status !== 429,
    ) && gaps.every((gap) => gap >= 0 && gap <= pollGapMs)
  )
}
