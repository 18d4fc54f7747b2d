/** What was known of a host's life around its incident, as series to plot. Pure: made from the verdicts on record. */
import type { Entry } from '../domain/entry.ts'
import type { EvidenceSeries } from '../domain/review.ts'
import type { ProbeReading, Verdict } from '../domain/verdict.ts'

type VerdictEntry = Extract<Entry, { kind: 'verdict.changed' }>

/**
 * @param entries the verdicts of the host around the incident, oldest first
 * @param opening the verdict that opened the incident, or null: a person opened it
 */
export function evidenceSeries(entries: readonly VerdictEntry[], opening: Verdict | null): EvidenceSeries {
  const verdicts: Verdict[] = entries.map(({ data }) => data)
  return {
    intervalMs: opening?.evidence.intervalMs ?? verdicts.at(-1)?.evidence.intervalMs ?? null,
    gaps: opening === null ? [] : gapsOf(opening),
    silence: verdicts.map(({ at, kind, evidence }) => ({
      at,
      verdict: kind,
      silentMs: evidence.silentMs,
      suspicion: evidence.suspicion ?? null,
    })),
    readings: readingsOf(opening === null ? verdicts : [...verdicts, opening]),
  }
}

/** The gaps before the last beat, each dated by the beat that ended it, and the silence after it. */
function gapsOf({ at, evidence }: Verdict): EvidenceSeries['gaps'] {
  const silentMs = evidence.sinceBeatMs ?? evidence.silentMs
  let endedMs = Date.parse(at) - silentMs
  const closed = (evidence.gaps ?? []).toReversed().map((gapMs) => {
    const gap = { at: new Date(endedMs).toISOString(), gapMs, open: false }
    endedMs -= gapMs
    return gap
  })
  return [...closed.toReversed(), { at, gapMs: silentMs, open: true }]
}

/** Each reading once: a verdict repeats those that it rests on. */
function readingsOf(verdicts: readonly Verdict[]): ProbeReading[] {
  const known = new Map<string, ProbeReading>()
  for (const { evidence } of verdicts) {
    for (const reading of evidence.probes) known.set(`${reading.probe} ${reading.at}`, reading)
  }
  return [...known.values()].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}
