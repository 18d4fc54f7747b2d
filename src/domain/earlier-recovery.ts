/** What others did with an instance after an incident of ours, as Nova's history tells it. Pure. */
import { cloudTimeMs } from './cloud-time.ts'
import type { InstanceAction } from './instance.ts'
import type { EarlierRecovery } from './survey.ts'

/** The reason in the plan of an instance whose guest may run where an earlier incident took it. */
export const inDoubtEarlier = 'EARLIER_UNSETTLED'

/** Orders that make an instance something else than the journal has on record. */
export const changingOrders: ReadonlySet<string> = new Set([
  'rebuild',
  'resize',
  'confirmResize',
  'revertResize',
  'migrate',
  'live-migration',
  'evacuate',
  'shelve',
  'unshelve',
  'suspend',
  'resume',
  'pause',
  'unpause',
  'rescue',
  'unrescue',
  'restore',
])

/**
 * Nova's history has whole seconds by Nova's clocks, our plan is stamped by ours: an order this shortly before it may have come after it. Shorter: an
 * owner's stop is passed over, and the guest is started against it. Longer costs nothing but the recall: what came before the plan is in it.
 */
const aroundPlanMs = 5_000

/**
 * Orders of others that came through after ours, newest first.
 * @param lookedAt ISO, cloud time: what came after that counts, too, although ours came after it
 */
export function ordersSince(
  { steps, plannedAt, ofCrash }: EarlierRecovery,
  actions: readonly InstanceAction[],
  lookedAt: string | null = ofCrash?.lookedAt ?? null,
): InstanceAction[] {
  const sent = new Set(steps.flatMap(({ requestId }) => requestId ?? []))
  const newest = actions.toSorted((a, b) => (cloudTimeMs(b.startedAt) || 0) - (cloudTimeMs(a.startedAt) || 0))
  const us = new Set(newest.filter(({ requestId }) => sent.has(requestId)).map(({ userId }) => userId))
  const ours = newest.findIndex(({ requestId }) => sent.has(requestId))
  const crossing = Date.parse(lookedAt ?? '') - aroundPlanMs
  const sinceLook = newest.filter(({ startedAt }) => cloudTimeMs(startedAt) >= crossing).length
  const later =
    ours >= 0
      ? newest.slice(0, Math.max(ours, sinceLook))
      : newest.filter(({ startedAt }) => cloudTimeMs(startedAt) >= cloudTimeMs(plannedAt) - aroundPlanMs)
  // Without a user it is nova-compute's power sync. Ours are those of our user, also where no answer told the request's id.
  return later.filter(({ userId, message }) => userId !== null && !us.has(userId) && message !== 'Error')
}

/**
 * The last order of others that says whether the guest is to run; undefined: there is none. An owner may have given it while we tried and
 * waited and tried again. A hard reboot starts what was stopped (docs/nova.md §1.4).
 */
export function powerOrderSince(
  earlier: EarlierRecovery,
  actions: readonly InstanceAction[],
): InstanceAction | undefined {
  const since = ordersSince(earlier, actions, earlier.ofCrash?.lookedAt ?? earlier.lookedAt)
  return since.find(({ action }) => action === 'start' || action === 'stop' || action === 'reboot')
}

/** Orders of others that may have settled where the guest runs: whether they succeeded is in their events. */
export function guestOrdersSince(earlier: EarlierRecovery, actions: readonly InstanceAction[]): InstanceAction[] {
  return ordersSince(earlier, actions).filter(
    ({ action }) => changingOrders.has(action) || action === 'start' || action === 'stop' || action === 'reboot',
  )
}
