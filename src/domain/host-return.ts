/**
 * The return of a host that was taken out by an incident of ours: its life as a table, and the one decision that moves it.
 *
 * Pure: what is to be known comes as facts, nothing here reads a cloud or a clock. The order is Nova's (docs/nova.md §4.4):
 * evacuations ended, nova-compute started under our forced_down, no `done` record left, forced_down taken back, up for the
 * healthy time, enabled. Only what we set is taken back (law L6).
 */
import type { InstanceId } from './instance.ts'
import { pauseAfterRefusals } from './service-refusals.ts'
import type { ServiceRecord } from './service.ts'
import { span } from './text/span.ts'

export const returnStates = {
  away: {
    means: 'Our flags are still set, and its nova-compute is silent',
    next: ['settling', 'waiting-confirmation', 'clearing', 'proving', 'enabling', 'kept-out', 'back'],
  },
  settling: {
    means: 'Its nova-compute beats again, but evacuations from it are not complete yet',
    next: ['away', 'waiting-confirmation', 'clearing', 'proving', 'enabling', 'kept-out', 'back'],
  },
  'waiting-confirmation': {
    means: 'It is ready; a person must confirm its return',
    next: ['away', 'settling', 'clearing', 'proving', 'enabling', 'kept-out', 'back'],
  },
  clearing: {
    means: 'Lifeboat is clearing its forced_down',
    next: ['away', 'settling', 'waiting-confirmation', 'proving', 'enabling', 'kept-out', 'back'],
  },
  proving: {
    means: 'No longer forced down; nothing is scheduled there until it has been up and beating for the healthy time',
    next: ['away', 'settling', 'waiting-confirmation', 'clearing', 'enabling', 'kept-out', 'back'],
  },
  enabling: {
    means: 'Lifeboat is enabling it, and waits for Placement',
    next: ['away', 'settling', 'waiting-confirmation', 'clearing', 'proving', 'kept-out', 'back'],
  },
  'kept-out': {
    means:
      'It stays out until a person returns it to service: it failed too often, a guest may run twice, or someone ordered it',
    next: ['away', 'settling', 'waiting-confirmation', 'clearing', 'proving', 'enabling', 'back'],
  },
  back: { means: 'Our flags are cleared', next: [] },
} as const satisfies Record<string, { means: string; next: readonly string[] }>

export type ReturnState = keyof typeof returnStates

/** As people read it beside a host's verdict: which step of its return it is at is in the sentence. */
export function returnWord(state: ReturnState): string {
  if (state === 'kept-out') return 'kept out'
  return state === 'away' || state === 'back' ? state : 'returning'
}

/** Throws on a change that the table does not allow. Staying is no change. */
export function changeReturn(from: ReturnState, to: ReturnState): { from: ReturnState; to: ReturnState } {
  const next: readonly ReturnState[] = returnStates[from].next
  if (from !== to && !next.includes(to)) throw new Error(`the return of a host cannot go from ${from} to ${to}`)
  return { from, to }
}

/** How the hosts of a segment return. */
export interface ReturnRules {
  /** confirm: nothing is taken back before a person says so. */
  mode: 'automatic' | 'confirm'
  /**
   * How long a host must be up and beating, no longer forced down, before it is enabled. Too short: a host that dies again
   * under load gets new instances first; too long: its capacity is missing.
   */
  healthyMs: number
  /** More failures than this within `withinMs` keep a host out. Too high: a flapping host takes its instances down again and again. */
  maxReturns: number
  withinMs: number
  /**
   * Instances that ran before and are off since their host came back by itself. ask: people are told, and one act starts all.
   * always: they are started at once.
   */
  startStopped: 'ask' | 'always'
}

export const defaultReturnRules: ReturnRules = {
  mode: 'automatic',
  healthyMs: 300_000,
  maxReturns: 3,
  withinMs: 1_800_000,
  startStopped: 'ask',
}

/** The writes of a return, each with what it does. Steps of the journal, as those of a recovery are. */
export const returnStepKinds = {
  'clear-forced-down': 'Clear our forced_down',
  enable: 'Enable it, so that instances are scheduled there again',
} as const

export type ReturnStepKind = keyof typeof returnStepKinds

/** What we set on a service and have not taken back. */
export interface OurFlags {
  /** The incidents that set it, the newest last: a host may fail again before its return is over. */
  incidents: readonly string[]
  serviceId: string
  forcedDown: boolean
  disabled: boolean
  /** Every disabled_reason of ours: the service's own text is compared with them. */
  reasons: readonly string[]
}

/** An evacuation record that the return waits for. */
export interface EvacuationLeft {
  migration: string
  instance: InstanceId
  /** The instance's name, or its id when nobody knows it any more. */
  name: string
  status: string
}

/** Something that stays behind and that a person should know of. */
export interface Leftover {
  code: string
  message: string
  instance: InstanceId | null
}

export interface ReturnOrder {
  by: string
  reason: string
  keepOut: boolean
}

type Service = Pick<ServiceRecord, 'id' | 'status' | 'state' | 'forcedDown' | 'disabledReason'>

export interface FailedWrite {
  kind: ReturnStepKind
  message: string
  /** It was not sent, and nobody refused anything. */
  heldBack?: boolean
  /** Refusals of this kind in a row; missing: one. */
  times?: number
}

/** Times are milliseconds on the clock of `now`. */
export interface ReturnFacts {
  state: ReturnState
  ourFlags: OurFlags
  /** Until then our last order to force it down, which Nova did not confirm, may still set our flags. Null: it did. */
  unansweredUntil: number | null
  /** Nova refused each of our orders to force it down, or none left. */
  isRefused: boolean
  /** The service as read last, or null when Nova does not list it. */
  service: Service | null
  /** When it was asked for. */
  readAt: number
  /** unsure: not watched long enough, or below the threshold of a silent host. */
  pulse: 'beating' | 'silent' | 'unsure'
  /** Since when it was seen up, beating and not forced down without a break, and in how many polls. Null: it is not. */
  healthy: { since: number; polls: number } | null
  /** Evacuations from this host that are not complete. Null: not read. */
  evacuations: { inFlight: readonly EvacuationLeft[]; done: readonly EvacuationLeft[] } | null
  /** We took our forced_down back in this return. */
  cleared: boolean
  /** When we enabled it in this return. */
  enabledAt: number | null
  /** Placement's COMPUTE_STATUS_DISABLED. Null: not read, or it could not be. */
  trait: 'set' | 'gone' | null
  /** The failures of this host (incidents), in any order. */
  failures: readonly number[]
  /** What a person said of this return. */
  order: ReturnOrder | null
  /** Instances whose guests may run there although Nova has them elsewhere. */
  strays: readonly InstanceId[]
  /** The last write of this return that failed. */
  failed: (FailedWrite & { at: number }) | null
  /** Why nothing may be written now: observe mode, a pause, a freeze. */
  blocked: { code: string; message: string } | null
}

export interface ReturnDecision {
  state: ReturnState
  /** A stable code for machines. */
  code: string
  /** A sentence for people. Holds no running times: a new sentence is a new entry in the journal. */
  message: string
  /** end: nothing of ours is left on the service; the return is over. */
  act: ReturnStepKind | 'end' | null
  /** The worst first: an end with any raises the alarm of that name. */
  leftovers: readonly Leftover[]
}

/** Polls that must have seen a host healthy, however short the healthy time. One good answer proves nothing. */
export const leastHealthyPolls = 3

/** Pause after a write that was held back. Shorter fills the journal while its disk is slow; longer delays the return after that. */
export const afterHeldBackMs = 10_000

/**
 * How long Placement may keep COMPUTE_STATUS_DISABLED after the enabling: nova-compute's own periodic (60 s) takes it away when
 * the call from the API was lost. Shorter reports what mends itself; longer hides that the scheduler avoids the host.
 */
export const traitGraceMs = 180_000

/** What is to be done about a host that carries our flags and has no open incident. Null: nothing new can be said now. */
export function decideReturn(facts: ReturnFacts, rules: ReturnRules, now: number): ReturnDecision | null {
  const decision = withStrays(decide(facts, rules, now), facts.strays)
  const { blocked } = facts
  if (blocked === null || decision === null || decision.act === null || decision.act === 'end') return decision
  const message = `${returnStepKinds[decision.act]}: not now, ${blocked.message}`
  return { ...decision, code: blocked.code, message, act: null }
}

function decide(facts: ReturnFacts, rules: ReturnRules, now: number): ReturnDecision | null {
  const { ourFlags, service, order } = facts
  if (service === null) return say('away', 'NOT_LISTED', 'Nova lists no nova-compute there')
  // The cell's database does not answer: nobody knows what is set there now.
  if (service.id === null) return null
  if (service.id !== ourFlags.serviceId)
    return end('SERVICE_REPLACED', 'Its service was deleted and created again, so our flags are gone')
  const forcedByUs = ourFlags.forcedDown && !facts.cleared && service.forcedDown
  const disabledByUs =
    ourFlags.disabled && service.status === 'disabled' && ourFlags.reasons.includes(service.disabledReason ?? '')
  const nothingLeft = !forcedByUs && !disabledByUs && !facts.cleared && facts.enabledAt === null
  // Ended now, a flag that shows up late would be nobody's, and stay for ever.
  if (nothingLeft && facts.unansweredUntil !== null)
    return unanswered(facts.pulse, facts.readAt < facts.unansweredUntil)
  if (nothingLeft && facts.isRefused)
    return end('NOT_TAKEN', 'None of our flags is on it: our order to force it down was refused, or never left')
  if (nothingLeft) return end('TAKEN_BACK_BY_OTHERS', 'None of our flags is left: someone else cleared them')
  const isInService = service.status === 'enabled' && !service.forcedDown
  const keptOut = staysOut(facts, rules, isInService)
  if (keptOut !== null) return keptOut
  if (facts.pulse === 'silent') return silent(facts)
  if (facts.pulse === 'unsure') return null
  const recent = facts.failures.filter((at) => now - at <= rules.withinMs).length
  if (recent > rules.maxReturns && order === null && !isInService) return flapping(rules)
  const incomplete = forcedByUs ? settling(facts) : null
  if (incomplete !== null) return incomplete
  if (!forcedByUs && service.forcedDown) {
    const message = 'It is forced down, but not by us: someone else must clear that'
    return disabledByUs ? say('settling', 'FORCED_DOWN_BY_OTHERS', message) : end('LEFT_FORCED_DOWN', message)
  }
  if (facts.enabledAt !== null && !disabledByUs) return afterEnabling(service, facts.trait, now - facts.enabledAt)
  if (rules.mode === 'confirm' && order === null) {
    return say('waiting-confirmation', 'WAITING_FOR_A_PERSON', 'It is ready to return; a person must confirm')
  }
  if (forcedByUs) return write(facts, 'clearing', 'clear-forced-down', now)
  return proving(facts, service, rules, disabledByUs, now)
}

/** A person keeps it out, a guest that may run twice, or its failures. Null: nothing does, or nothing can now. */
function staysOut(
  { state, order, enabledAt, strays, pulse }: ReturnFacts,
  rules: ReturnRules,
  isInService: boolean,
): ReturnDecision | null {
  const isAway = state === 'away' && pulse !== 'beating'
  if (strays.length > 0 && !isInService && !isAway) return guestsMayRunTwice(strays)
  if (order?.keepOut === true) {
    if (!isInService) return say('kept-out', 'KEPT_OUT', `Kept out by ${order.by}: ${order.reason}`)
    const ordered = `${order.by} ordered that it stay out (${order.reason})`
    return enabledAt === null ? inServiceAgainst(ordered) : tooLate(order)
  }
  if (strays.length > 0 && isInService)
    return enabledAt === null ? inServiceAgainst('It was to stay out, because guests may run twice') : null
  if (state !== 'kept-out' || order !== null) return null
  const why = `It was to stay out, because it failed more than ${rules.maxReturns} times within ${span(rules.withinMs)}`
  return isInService ? inServiceAgainst(why) : flapping(rules)
}

/** Said of a host that was in service before the order to keep it out came. */
export const enabledBeforeOrder = 'ENABLED_BEFORE_ORDER'
/** Said of a host that was to stay out, and that Nova shows in service. */
const enabledAllTheSame = 'ENABLED_ALTHOUGH_KEPT_OUT'

/** Whether a person's order to keep the host out outlives a return that ended with this code: it stands for the next failure. */
export function outlivedByKeepOut(code: string | undefined): boolean {
  return code === enabledBeforeOrder || code === enabledAllTheSame
}

/**
 * The order came between our enable and its confirmation. Lifeboat disables no service of a host that is well. The return ends: a host that
 * counted as returning for ever would have no incident when it fails again.
 */
function tooLate({ by, reason }: ReturnOrder): ReturnDecision {
  const message = `It was enabled already when ${by} ordered that it stay out (${reason}): disable its service in Nova`
  return end(enabledBeforeOrder, message, [{ code: enabledBeforeOrder, message, instance: null }])
}

/**
 * Nova served our enable after we had given it up, or someone enabled the service: nobody can tell which, so the order of a person stands.
 * The return ends, as in `tooLate`.
 */
function inServiceAgainst(why: string): ReturnDecision {
  const message = `${why}, but Nova shows its service enabled: someone enabled it, or Nova served Lifeboat's enable late. Disable its service in Nova if it is to stay out`
  return end(enabledAllTheSame, message, [{ code: enabledAllTheSame, message, instance: null }])
}

/** None of our flags is on it, and Nova did not confirm our last order to force it down. */
function unanswered(pulse: ReturnFacts['pulse'], maySetThem: boolean): ReturnDecision | null {
  const order = 'our last order to force it down, which it did not confirm'
  if (!maySetThem)
    return end('NOT_TAKEN', `None of our flags is on it: Nova never took ${order}, or someone else cleared them`)
  if (pulse !== 'beating') return null
  const message = `It beats, and none of our flags is on it; but Nova may still take ${order}. Lifeboat looks on, to clear that`
  return say('settling', 'UNANSWERED', message)
}

function settling({ evacuations }: ReturnFacts): ReturnDecision | null {
  if (evacuations === null)
    return say('settling', 'READING', 'It beats again; Lifeboat is reading whether its evacuations are complete')
  const [flying] = evacuations.inFlight
  if (flying !== undefined) {
    const message = `Evacuations from it have not ended: ${list(evacuations.inFlight)}. If their destination is dead, another start of its nova-compute ends them, one record of each instance at a time`
    return say('settling', 'EVACUATION_IN_FLIGHT', message, evacuations.inFlight.map(inFlight))
  }
  const [done] = evacuations.done
  if (done === undefined) return null
  const message = `Its nova-compute needs another start, under our forced_down, to complete ${list(evacuations.done)}: each start completes one record of each instance`
  return say('settling', 'NEEDS_ANOTHER_START', message, evacuations.done.map(needsStart))
}

function proving(
  facts: ReturnFacts,
  service: Service,
  rules: ReturnRules,
  disabledByUs: boolean,
  now: number,
): ReturnDecision | null {
  const { healthy, state, ourFlags } = facts
  const proven =
    healthy !== null &&
    service.state === 'up' &&
    healthy.polls >= leastHealthyPolls &&
    now - healthy.since >= rules.healthyMs
  if (!proven || (disabledByUs && !mayEnable.has(state))) {
    const message = `It must be up and beating for ${span(rules.healthyMs)} without a break before it is enabled`
    return say('proving', 'PROVING', message)
  }
  if (disabledByUs) return write(facts, 'enabling', 'enable', now)
  if (service.status === 'enabled') return end('BACK', 'It is up and enabled; our flags are cleared')
  const why = ourFlags.disabled ? 'its reason is no longer ours' : 'someone else had disabled it before'
  return end('LEFT_DISABLED', `It is up, and stays disabled: ${why} (${service.disabledReason ?? 'no reason given'})`)
}

/** States from which the next one may be enabling: elsewhere the healthy time is said first. */
const mayEnable: ReadonlySet<ReturnState> = new Set(['proving', 'enabling', 'waiting-confirmation', 'kept-out'])

function afterEnabling(service: Service, trait: ReturnFacts['trait'], enabledForMs: number): ReturnDecision {
  if (service.status === 'disabled') return end('DISABLED_AGAIN', 'We enabled it, and someone else disabled it again')
  if (trait === 'gone') return end('BACK', 'It is up and enabled, and Placement lets instances be scheduled there')
  const late = enabledForMs >= traitGraceMs
  if (trait === 'set') {
    const message = 'Placement still has COMPUTE_STATUS_DISABLED: the scheduler avoids it although it is enabled'
    if (!late) return say('enabling', 'TRAIT_LEFT', message)
    const advice = `${message}. Restart its nova-compute to remove the trait`
    return end('TRAIT_LEFT', advice, [{ code: 'TRAIT_LEFT', message: advice, instance: null }])
  }
  if (!late) return say('enabling', 'TRAIT_UNREAD', 'It is enabled; Lifeboat has not read yet whether Placement agrees')
  const message = 'It is enabled; Lifeboat could not read whether Placement still has COMPUTE_STATUS_DISABLED'
  return end('TRAIT_UNREAD', message, [{ code: 'TRAIT_UNREAD', message, instance: null }])
}

function write(facts: ReturnFacts, state: ReturnState, kind: ReturnStepKind, now: number): ReturnDecision | null {
  const { failed } = facts
  const agoMs = failed?.kind === kind ? now - failed.at : Infinity
  if (failed?.heldBack === true && agoMs < afterHeldBackMs) return null
  if (failed !== null && failed.heldBack !== true && agoMs < pauseAfterRefusals(failed.times ?? 1))
    return say(state, 'REFUSED', `${returnStepKinds[kind]}: not done, tried again later (${failed.message})`)
  const code = kind === 'enable' ? 'ENABLING' : 'CLEARING'
  return { state, code, message: returnStepKinds[kind], act: kind, leftovers: [] }
}

function silent({ state }: ReturnFacts): ReturnDecision {
  return state === 'away'
    ? say('away', 'SILENT', 'Its nova-compute is silent')
    : say('away', 'SILENT_AGAIN', 'Its nova-compute fell silent before its return was complete')
}

function flapping(rules: ReturnRules): ReturnDecision {
  const message = `It failed more than ${rules.maxReturns} times within ${span(rules.withinMs)}: a person must return it to service`
  return say('kept-out', 'FLAPPING', message)
}

/** Said of a host on which guests may run that Nova knows elsewhere: enabled, it would get new ones beside them. */
export const mayRunTwice = 'GUESTS_MAY_RUN_TWICE'

function guestsMayRunTwice(instances: readonly InstanceId[]): ReturnDecision {
  return say('kept-out', mayRunTwice, `${straysText(instances)}. Then return the host to service`)
}

/** Once the host's return is over, nothing names these guests any more. */
function withStrays(decision: ReturnDecision | null, strays: readonly InstanceId[]): ReturnDecision | null {
  if (decision?.act !== 'end' || strays.length === 0) return decision
  const message = straysText(strays)
  const leftover = { code: mayRunTwice, message, instance: null }
  return {
    ...decision,
    message: `${decision.message}. ${message}`,
    leftovers: [leftover, ...decision.leftovers],
  }
}

function straysText(instances: readonly InstanceId[]): string {
  const shown = instances.slice(0, 5).join(', ')
  const more = instances.length > 5 ? ` and ${instances.length - 5} more` : ''
  return `An order that had waited was carried out, and guests may run on this host although Nova has them elsewhere: ${shown}${more}. Look there (virsh list --all), and end those that Nova does have elsewhere (virsh destroy ID)`
}

function end(code: string, message: string, leftovers: readonly Leftover[] = []): ReturnDecision {
  return { state: 'back', code, message, act: 'end', leftovers }
}

function say(state: ReturnState, code: string, message: string, leftovers: readonly Leftover[] = []): ReturnDecision {
  return { state, code, message, act: null, leftovers }
}

function inFlight({ migration, instance, name, status }: EvacuationLeft): Leftover {
  return { code: 'EVACUATION_IN_FLIGHT', message: `${name}: evacuation ${migration} is ${status}`, instance }
}

function needsStart({ migration, instance, name }: EvacuationLeft): Leftover {
  const message = `${name}: evacuation ${migration} needs another start of nova-compute`
  return { code: 'NEEDS_ANOTHER_START', message, instance }
}

/** Names of the first few; a host may have thousands. */
function list(records: readonly EvacuationLeft[]): string {
  const shown = records.slice(0, 5).map(({ name, migration, status }) => `${name} (${migration}, ${status})`)
  const rest = records.length - shown.length
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ')
}
