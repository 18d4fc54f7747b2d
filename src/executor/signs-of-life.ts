/**
 * Whether a host showed life after it was proven dead, or after a person vouched for its death. It was powered on then, and its
 * guests may run there: neither a proof nor a person's word from before says anything of its next silence (law L1).
 */
import { cloudTimeMs, isOneWrite } from '../domain/cloud-time.ts'
import type { NewEntry } from '../domain/entry.ts'
import type { Incident } from '../domain/incident.ts'
import {
  isUnread,
  type Evidence,
  type KnownRow,
  type ProbeReading,
  type RowSeen,
  type Verdict,
} from '../domain/verdict.ts'
import type { Run } from './context.ts'
import { isForcingDown, knownRow, movementSince, rowWeLeft } from './service-liveness.ts'

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
  // A host may have beaten while no daemon ran to see it. Who writes a flag moves the stamp too: a host that lives beats
  // again, and its verdict says so.
  if (kind === 'recovering' && hasBeaten(verdict, incident)) return message
  if (isFoundAlive(verdict, incident, provenMs)) return message
  return isWrittenSinceAttested(verdict, incident) ? writtenAfter(verdict, incident) : null
}

/**
 * Nobody can vouch for the death of a host that beats: the one who did had not heard of that beat, nor had anyone who let it past the brake. A
 * probe speaks against an attestation alone: an override says nothing of life, and the looks before a fencing judge that themselves.
 */
function lifeSinceWord(verdict: Verdict, incident: Incident): string | null {
  const { kind, message } = verdict
  if (kind === 'contradiction' || kind === 'healthy') return message
  const { attestation, word, verdict: opening, witnessExplained } = incident
  if (word === null) return null
  if (isWrittenSince(word, verdict, incident)) return writtenAfter(verdict, incident)
  // What is said of a host that a witness found alive is said in spite of that witness.
  if (attestation === null || opening?.kind === 'service-down' || witnessExplained) return null
  const witness = aliveSince(verdict, Date.parse(word.at))
  return witness === undefined ? null : `${witness.probe} found it alive: ${witness.detail}`
}

function writtenAfter({ evidence }: Verdict, { attestation, override, word, proof }: Incident): string {
  const by = (attestation ?? override)?.by
  const said = attestation === null ? 'let it past the brake' : 'said that it is dead'
  const written = `its row in Nova was written at ${evidence.updatedAt}`
  return word?.row?.updatedAt === null && proof === null
    ? `${written}; it could not be read when ${by} ${said}`
    : `${written}, after ${by} had ${said}`
}

/**
 * Whether the host may have lived since the word. Where Nova showed no row then, as of a cell that was away, what is read since is compared with what
 * the incident knew: nobody can say whether it was written before that word or after.
 */
function isWrittenSince(word: NonNullable<Incident['word']>, verdict: Verdict, incident: Incident): boolean {
  const { row } = word
  if (isUnread(verdict)) return false
  if (row === undefined) return hasBeaten(verdict, incident) && isLater(verdict.evidence.updatedAt, word)
  const known = row.updatedAt === null ? knownRow(incident) : row
  return verdict.evidence.updatedAt !== null && (known === null || mayHaveLived(verdict.evidence, known, row))
}

/**
 * The same question for a proof that is a person's word alone, which no reading renews; asked once our force-down is confirmed. As before the proof, a
 * changed flag does not explain a write that nobody watched.
 */
function isWrittenSinceAttested(verdict: Verdict, incident: Incident): boolean {
  const { evidence } = verdict
  const left = rowWeLeft(incident)
  const row = incident.word?.row
  if (incident.proof?.strength !== 'statement' || left === null || row === undefined) return false
  if (isUnread(verdict) || isForcingDown(incident)) return false
  return evidence.updatedAt !== null && mayHaveLived(evidence, left, row)
}

/**
 * What was written while nobody read may have been a life, also where a flag changed: before the present run began, or in a hole of its readings.
 * While a run reads, it can tell a beat from another write, and it counts beats even when it cannot write the journal. What shows the row of when
 * the person spoke was read before our own write, or by a database node that is behind.
 *
 * @param known the row as it was left
 * @param heard the row as it stood when the person spoke, with what was watched of the host by then
 */
function mayHaveLived({ updatedAt, watched }: Evidence, known: KnownRow, heard: RowSeen): boolean {
  if (isOneWrite(updatedAt, known.updatedAt) || isOneWrite(updatedAt, heard.updatedAt)) return false
  if (watched === undefined) return true
  const { since, first, lives } = watched
  const isThatRun = since === heard.watched?.since && first === heard.watched?.first
  if (isThatRun && lives === heard.watched?.lives) return false
  const beganWithIt = isOneWrite(first, known.updatedAt) || isOneWrite(first, heard.updatedAt)
  return lives > 0 || !beganWithIt
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
