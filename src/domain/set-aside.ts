/**
 * Silent hosts are kept out of scheduling while guests of a dead one are evacuated: Nova takes a host for up for another minute and
 * sends guests there, whose orders then wait in its queue (docs/decisions/0019-two-deaths-at-once.md). Such a host is set aside:
 * disabled with a text of ours, and enabled once it is seen to live.
 *
 * Pure: which hosts may be set aside, and what is to be done next with one that was. Only our own disable is ever taken back (law L6).
 */
import type { Certainty } from './errors.ts'
import { ourDisabledReason, type ServiceRecord } from './service.ts'
import { isUnread, looksDead, type Verdict } from './verdict.ts'
import type { VerdictReason } from './verdict-reasons.ts'

/** Each state with what it means. */
export const setAsideStates = {
  setting: 'Our disable was ordered; Nova may have written it already',
  set: 'Our disable stands: Nova schedules nothing there',
  'taking-back': 'It lives, and enabling it was ordered',
  over: 'Nothing of our disable is left',
} as const

export type SetAsideState = keyof typeof setAsideStates

/** What stands of one host, folded from the journal. Times are ISO. */
export interface SetAside {
  /** Whose evacuations it was kept away from. */
  incident: string
  serviceId: string
  /** The text on the service by which our disable is recognized. */
  reason: string
  because: string
  state: Exclude<SetAsideState, 'over'>
  since: string
  /** When it came to this state. */
  at: string
}

/** What we write on the service. It begins as every text of ours does. */
export function setAsideReason(incident: string, why: WhyAside): string {
  return `${ourDisabledReason(incident)}: ${texts[why]}`
}

const texts = { silent: 'set aside while silent', process: 'its nova-compute is down' } as const

/** Why a host is set aside: it is silent, or it lives and only its nova-compute is down. */
export type WhyAside = keyof typeof texts

/** The incident and the kind of a disable of ours, by its text on the service; null: the text is of something else. */
export function readSetAsideReason(reason: string | null): { incident: string; why: WhyAside } | null {
  for (const why of Object.keys(texts) as WhyAside[]) {
    const [before, after] = setAsideReason('\u0000', why).split('\u0000') as [string, string]
    if (reason !== null && reason.startsWith(before) && reason.endsWith(after))
      return { incident: reason.slice(before.length, reason.length - after.length), why }
  }
  return null
}

type Row = Pick<ServiceRecord, 'id' | 'status' | 'state' | 'forcedDown' | 'disabledReason'>

/** Nova sends guests there. */
export function isDestination({ id, status, state, forcedDown }: Row): boolean {
  return id !== null && status === 'enabled' && state === 'up' && !forcedDown
}

/** An open incident of the silent host itself. */
export interface OwnIncident {
  id: string
  mode: 'observe' | 'armed'
  cancelled: object | null
  proof: object | null
}

/** Silence that says nothing of the host itself: it was not watched, or the control plane is in doubt. */
const noSilenceOfItsOwn: ReadonlySet<VerdictReason> = new Set(['WAITING_AFTER_FREEZE', 'CONTROL_PLANE_DOUBT'])

/**
 * Why no guest should be sent to a host that Nova takes for a destination, or null. One that a witness finds alive is none that dies
 * with another: more often it is the control plane that does not hear it. A host whose incident has its proof is about to be forced
 * down by that; what a person cancelled is left alone.
 *
 * @param confirmAfterBeats missed heartbeats beyond which silence alone looks like death
 */
export function whySetAside(
  verdict: Verdict,
  row: Row,
  own: OwnIncident | undefined,
  confirmAfterBeats: number,
): string | null {
  const { kind, reason, message, evidence } = verdict
  if (!isDestination(row) || noSilenceOfItsOwn.has(reason)) return null
  const isSuspect = kind === 'suspect' && looksDead(evidence, confirmAfterBeats)
  // Dead without an incident: people have ordered that it be left.
  if (own === undefined) return isSuspect ? message : null
  const waits = own.mode === 'armed' && own.cancelled === null && own.proof === null
  const isDead = isSuspect || kind === 'host-down'
  return waits && isDead ? `${message}; its own incident ${own.id} has not forced it down yet` : null
}

export interface SetAsideFacts {
  known: SetAside
  /** The service as read last, later than our last write there. */
  row: Row | undefined
  verdict: Verdict | undefined
  /** An incident of the host is open: it decides what becomes of it. */
  hasIncident: boolean
  /** What else must be so before it is enabled: a nova-compute that failed has to prove itself. */
  mayReturn: boolean
  /** A write of ours may still show up: its answer is missing. */
  unanswered: boolean
}

export type SetAsideDecision =
  | { do: 'wait' }
  | { do: 'take-back' }
  /** Nothing is to be written, but to be put on record. */
  | { do: 'say'; to: 'set' | 'over'; because: string; certainty: Certainty; theirs?: true }

const wait: SetAsideDecision = { do: 'wait' }

/** What is to be done next with a host that we set aside. */
export function decideSetAside(facts: SetAsideFacts): SetAsideDecision {
  const { known, row, verdict, hasIncident, mayReturn, unanswered } = facts
  if (row === undefined || row.id === null || verdict === undefined || isUnread(verdict)) return wait
  if (row.id !== known.serviceId) return say('over', 'its service was deleted and created again', 'applied')
  const isOurs = row.status === 'disabled' && row.disabledReason === known.reason
  const lives = verdict.kind === 'healthy' && verdict.reason !== 'WAITING_AFTER_FREEZE' && row.state === 'up'
  // Someone else's disable is told at once: ours may still be served, and cover it.
  const mayShow = known.state === 'setting' && unanswered && row.status !== 'disabled'
  if (!isOurs) return mayShow ? wait : over(known, row, lives)
  if (known.state === 'setting') return say('set', 'Nova shows our disable', 'applied')
  if (hasIncident || (known.state === 'taking-back' && unanswered)) return wait
  return lives && mayReturn ? { do: 'take-back' } : wait
}

function over({ state }: SetAside, { status, disabledReason }: Row, lives: boolean): SetAsideDecision {
  const theirs = `someone else disabled it, and it stays so (${disabledReason ?? 'no reason given'})`
  if (status === 'disabled') return { ...say('over', theirs, 'applied'), theirs: true }
  if (state === 'taking-back' && lives) return say('over', 'it lives and is enabled again', 'applied')
  if (state === 'setting') return say('over', 'Nova did not answer and does not show our disable', 'not-applied')
  return say('over', 'someone else enabled it', 'applied')
}

function say(to: 'set' | 'over', because: string, certainty: Certainty): Extract<SetAsideDecision, { do: 'say' }> {
  return { do: 'say', to, because, certainty }
}

/** The sentence that people read of an entry. */
export function setAsideSentence(host: string, { to, because }: { to: SetAsideState; because: string }): string {
  switch (to) {
    case 'setting':
      return `${host} is set aside, so that Nova sends no guest there: ${because}`
    case 'set':
      return `${host} stays disabled by us: ${because}`
    case 'taking-back':
      return `${host} is enabled again: ${because}`
    case 'over':
      return `${host} is no longer set aside: ${because}`
  }
}
