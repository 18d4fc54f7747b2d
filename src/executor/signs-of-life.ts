/**
 * Whether a host showed life after it was proven dead, or after a person vouched for its death. It was powered on then, and its
 * guests may run there: neither a proof nor a person's word from before says anything of its next silence (law L1).
 */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { NewEntry } from '../domain/entry.ts'
import type { Incident } from '../domain/incident.ts'
import type { KnownRow, ProbeReading, Verdict } from '../domain/verdict.ts'
import type { Run } from './context.ts'
import { knownRow, movementSince } from './service-liveness.ts'

/** The entry that revokes the proof, or what a person said before there was one; null where the host shows no life since. */
export function revokedByLife(verdict: Verdict, incident: Incident): NewEntry | null {
  const { id, host, proof, word } = incident
  const message = proof === null ? lifeSinceWord(verdict, incident) : lifeSinceProof(verdict, incident)
  if (message === null || (proof ?? word) === null) return null
  const { reason: code, evidence } = verdict
  const unproven = proof === null ? ({ unproven: true } as const) : {}
  const data = { code, message, updatedAt: evidence.updatedAt, ...unproven }
  return { kind: 'proof.voided', incident: id, host, data }
}

/** Puts on record what one more look saw of that, before anything is done on it. Its incident may have ended during the look. */
export function noteLife({ journal, permissions, id }: Run, verdict: Verdict): void {
  const incident = permissions.incident(id)
  const revoked = incident.closed === null ? revokedByLife(verdict, incident) : null
  if (revoked !== null) journal.append([revoked])
}

/** The sign of life, in words, or null. */
function lifeSinceProof(verdict: Verdict, incident: Incident): string | null {
  const { kind, evidence, message } = verdict
  const provenMs = Date.parse(incident.proof?.provenAt ?? '')
  if (kind === 'contradiction' || kind === 'healthy') return beatSince(evidence.updatedAt, provenMs) ? message : null
  // What a daemon that was not running could not see beat. Who writes a flag moves the stamp too: a host that lives beats
  // again, and its verdict says so.
  if (kind === 'recovering') return hasBeaten(verdict, incident) ? message : null
  return isFoundAlive(verdict, incident, provenMs) ? message : null
}

/**
 * Nobody can vouch for the death of a host that beats: the one who did had not heard of that beat, nor had anyone who let it past the brake. A
 * probe speaks against an attestation alone: an override says nothing of life, and the looks before a fencing judge that themselves.
 */
function lifeSinceWord(verdict: Verdict, incident: Incident): string | null {
  const { kind, message, evidence } = verdict
  if (kind === 'contradiction' || kind === 'healthy') return message
  const { attestation, override, word, verdict: opening, witnessExplained } = incident
  if (word === null) return null
  const by = (attestation ?? override)?.by
  const said = attestation === null ? 'let it past the brake' : 'said that it is dead'
  if (isWrittenSince(word, verdict, incident))
    return `its row in Nova was written at ${evidence.updatedAt}, after ${by} had ${said}`
  if (isWrittenUnread(word, verdict, incident))
    return `its row in Nova was written at ${evidence.updatedAt}; it could not be read when ${by} ${said}`
  // What is said of a host that a witness found alive is said in spite of that witness.
  if (attestation === null || opening?.kind === 'service-down' || witnessExplained) return null
  const witness = aliveSince(verdict, Date.parse(word.at))
  return witness === undefined ? null : `${witness.probe} found it alive: ${witness.detail}`
}

/**
 * What was written while nobody read may have been a life, also where a flag changed: before that run began, or in a hole of its readings. What is
 * written while a run reads it tells from a beat, and counts a beat also when nothing can be put on record.
 */
function isWrittenSince(word: NonNullable<Incident['word']>, verdict: Verdict, incident: Incident): boolean {
  const { evidence } = verdict
  if (word.row === undefined) return hasBeaten(verdict, incident) && isLater(evidence.updatedAt, word)
  const { updatedAt, watched } = evidence
  if (updatedAt === null || word.row.updatedAt === null) return false
  if (watched === undefined) return !isSame(word.row, evidence)
  const { updatedAt: then, watched: heard } = word.row
  const isThatRun = watched.since === heard?.since && watched.first === heard?.first
  const hasNotLived = isThatRun && watched.lives === heard.lives
  const isAsItWas = watched.lives === 0 && watched.first === then
  return !hasNotLived && !isAsItWas && !isSame(word.row, evidence)
}

/**
 * Nova showed no row when the person spoke, as of a cell that is away: what is read since is compared with what the incident knew. Nobody can say
 * whether it was written before that word or after.
 */
function isWrittenUnread({ row }: NonNullable<Incident['word']>, { evidence }: Verdict, incident: Incident): boolean {
  if (row?.updatedAt !== null || evidence.updatedAt === null) return false
  const known = knownRow(incident)
  return known === null || !isSame(known, evidence)
}

/** No later, and no earlier either: that is another write, by a clock that was set back. */
function isSame(one: KnownRow, other: KnownRow): boolean {
  return movementSince(one, other) === 'silent' && movementSince(other, one) === 'silent'
}

/** In entries of older releases: by the cloud's stamps, for our wall clock may be wrong by hours, or for want of them by that. */
function isLater(stamp: string | null, { at, seenAt }: NonNullable<Incident['word']>): boolean {
  const stampMs = cloudTimeMs(stamp ?? '')
  if (seenAt === undefined) return stampMs > Date.parse(at)
  return seenAt === null || stampMs > cloudTimeMs(seenAt)
}

function hasBeaten({ evidence }: Verdict, incident: Incident): boolean {
  const known = knownRow(incident)
  return known !== null && movementSince(known, evidence) === 'beating'
}

/** @param sinceMs a reading from before then says nothing about what came after */
function isFoundAlive(found: Verdict, incident: Incident, sinceMs: number): boolean {
  // A host that was seen alive when it was fenced, and one that lives on without its storage: the gate asks a person about
  // their witnesses, and nothing that was proven is less true for them.
  const { verdict: opening, proof, witnessExplained } = incident
  if (found.kind !== 'service-down' || opening?.kind === 'service-down') return false
  if (proof?.proves === 'storage' || witnessExplained) return false
  return aliveSince(found, sinceMs) !== undefined
}

function aliveSince({ evidence }: Verdict, sinceMs: number): ProbeReading | undefined {
  return evidence.probes.find(({ answer, at }) => answer === 'alive' && Date.parse(at) > sinceMs)
}

/**
 * A beat that was under way when the power was cut shows in a poll after it, and says nothing about what came after. Two clocks are
 * compared, no further apart than a freeze for their skew allows: a host that lives on beats again before that matters, and nothing is
 * written meanwhile.
 */
function beatSince(stamp: string | null, sinceMs: number): boolean {
  const beatMs = stamp === null ? NaN : cloudTimeMs(stamp)
  // Whole seconds, of which the list has cut off the rest.
  return Number.isNaN(beatMs) || Number.isNaN(sinceMs) || beatMs + 1_000 > sinceMs
}
