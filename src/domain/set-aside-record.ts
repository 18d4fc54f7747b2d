/** What is known of hosts that are set aside, folded from the journal, and whose guests they are kept away from. */
import type { Entry } from './entry.ts'
import type { Incident } from './incident.ts'
import type { SetAside } from './set-aside.ts'

/** After one more entry; null: nothing of ours stands. */
export function setAsideAfter(
  known: SetAside | null,
  { at, incident, data }: Extract<Entry, { kind: 'service.set-aside' }>,
): SetAside | null {
  const { to, serviceId, reason, because } = data
  if (to === 'over') return null
  // Set without an order on record: Nova shows one that it had refused.
  const begins = to === 'setting' || (to === 'set' && known === null)
  if (begins) return { incident: incident ?? '', serviceId, reason, because, state: to, since: at, at }
  return known === null ? null : { ...known, state: to, at }
}

/** Guests of the incident's host leave it now: it is proven dead, and not every one has its outcome. */
export function evacuates({ mode, phase, cancelled, proof, instances }: Incident): boolean {
  const acts = mode === 'armed' && phase === 'recovering' && cancelled === null && proof !== null
  return acts && [...instances.values()].some(({ plan, outcome }) => plan.decision === 'recover' && outcome === null)
}
