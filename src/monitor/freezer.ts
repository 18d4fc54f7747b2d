/**
 * The freeze (law L7): begins with a control-plane fault, ends a quiet time after the last one. A value and one pure
 * function; the monitor applies what it says.
 */
import type { Fault } from './control-plane.ts'

export interface Freeze extends Fault {
  /** Our clock, ms. */
  since: number
  /** When the poll that met its first fault was asked: a poll may hang for long before it fails, and nothing is seen meanwhile. */
  blindSince: number
  /** When the fault was last seen to be over; null while it lasts. */
  quietSince: number | null
  /** Of the run before: of its faults only the first is on record. */
  inherited?: boolean
}

export interface FreezeChange {
  freeze: Freeze | null
  began: boolean
  /** The fault is over and the quiet time begins: silence counts from here. */
  faultEnded: boolean
  ended: { reason: string; frozenForMs: number } | null
}

/** The reason of a lost poll. Nothing was seen then, so any other is worse. */
const lostPoll = 'API_FAILED'

/** A lost poll cannot have silenced heartbeats for longer than about itself: its quiet time is this many times as long. */
const quietPerBlindTime = 2

/** `askedAt`, `now`: when the poll that is judged was asked, and when it ended. */
export function nextFreeze(
  freeze: Freeze | null,
  fault: Fault | null,
  { askedAt, now }: { askedAt: number; now: number },
  quietMs: number,
): FreezeChange {
  const same = { freeze, began: false, faultEnded: false, ended: null }
  if (!freeze) {
    if (!fault) return same
    return { ...same, freeze: { ...fault, since: now, blindSince: askedAt, quietSince: null }, began: true }
  }
  // A worse reason replaces a lost poll: its quiet time is the longer one. And what is seen now replaces what another run saw.
  if (fault) {
    const worse = isWorse(fault, freeze)
    const named = worse || freeze.inherited === true ? { ...freeze, ...fault } : freeze
    return { ...same, freeze: { ...named, quietSince: null } }
  }
  const quietSince = freeze.quietSince ?? now
  if (now >= quietEnd(freeze, quietSince, quietMs)) {
    const ended = { reason: freeze.reason, frozenForMs: now - freeze.since }
    return { freeze: null, began: false, faultEnded: freeze.quietSince === null, ended }
  }
  return { ...same, freeze: { ...freeze, quietSince }, faultEnded: freeze.quietSince === null }
}

/** From when on a good answer ends the freeze, our clock, ms; null while its fault lasts: nobody knows how long that is. */
export function thawsAt(freeze: Freeze | null, quietMs: number): number | null {
  return freeze === null || freeze.quietSince === null ? null : quietEnd(freeze, freeze.quietSince, quietMs)
}

function quietEnd(freeze: Freeze, quietSince: number, quietMs: number): number {
  // What began with a lost poll may have become worse before the restart, and its beginning is known by the wall clock only.
  const blind = freeze.reason === lostPoll && freeze.inherited !== true
  const quiet = blind ? Math.min(quietMs, quietPerBlindTime * (quietSince - freeze.blindSince)) : quietMs
  return quietSince + quiet
}

/**
 * What a monitor begins with. The freeze on record lasts until a good answer, and the whole quiet time after that; without one, the freeze of the
 * monitor whose place it takes goes on as it is. Of both the worse fault gives the name.
 *
 * @param onRecord what the run before left frozen
 * @param seen that of the monitor that only watched
 */
export function freezeAtStart(onRecord: (Fault & { since: number }) | null, seen: Freeze | null): Freeze | null {
  if (onRecord === null) return seen
  const { reason, message } = seen !== null && isWorse(seen, onRecord) ? seen : onRecord
  return { reason, message, since: onRecord.since, blindSince: onRecord.since, quietSince: null, inherited: true }
}

function isWorse(fault: Fault, than: Fault): boolean {
  return than.reason === lostPoll && fault.reason !== lostPoll
}
