/** Laws on what is believed of a host and of the cloud: a host that shows life is not evacuated, and a cloud that refuses ends nothing. */
import type { Entry } from '../../src/domain/entry.ts'
import { isBeating, type Verdict } from '../../src/domain/verdict.ts'

/** Nothing is evacuated from a host that beats, or that a witness finds alive where its power was taken and nobody says otherwise. */
export function evacuatedThoughAlive(entries: readonly Entry[]): string[] {
  const verdicts = new Map<string, Verdict>()
  const ofStorage = new Set<string>()
  const stated = new Set<string>()
  return entries.flatMap((entry, index) => {
    const { incident, host, seq } = entry
    const id = incident ?? ''
    // A process that has just started has seen nothing yet.
    if (entry.kind === 'daemon.started') verdicts.clear()
    if (entry.kind === 'verdict.changed') verdicts.set(host ?? '', entry.data)
    if (entry.kind === 'operator.statement') stated.add(id)
    if (entry.kind === 'proof.voided') stated.delete(id)
    if (entry.kind === 'proof.recorded') {
      if (entry.data.proof.proves === 'storage') ofStorage.add(id)
      else ofStorage.delete(id)
    }
    if (entry.kind !== 'step.intended' || entry.data.kind !== 'evacuate') return []
    const verdict = foundMeanwhile(entries.slice(index), entry, verdicts.get(host ?? ''))
    if (verdict === undefined) return []
    const isSeen = verdict.kind === 'service-down' && !ofStorage.has(id) && !stated.has(id)
    return isBeating(verdict) || isSeen ? [`entry ${seq}: an evacuation from ${host}, which is ${verdict.kind}`] : []
  })
}

/** A person's word proves no death that came after a life which they had not seen end. */
export function provenByAnOldWord(entries: readonly Entry[]): string[] {
  const livedAt = new Map<string, number>()
  const statedAt = new Map<string, number>()
  return entries.flatMap((entry) => {
    const { incident, host, seq } = entry
    if (entry.kind === 'verdict.changed' && isBeating(entry.data)) livedAt.set(host ?? '', seq)
    if (entry.kind === 'operator.statement') statedAt.set(incident ?? '', seq)
    if (entry.kind !== 'proof.recorded' || entry.data.proof.strength !== 'statement') return []
    const isOld = (livedAt.get(host ?? '') ?? 0) > (statedAt.get(incident ?? '') ?? 0)
    return isOld ? [`entry ${seq}: ${host} is proven dead by a word from before it lived`] : []
  })
}

/** The look right before a fencing changes verdicts as a poll does, and the next poll puts them on record, with their own time. */
function foundMeanwhile(later: readonly Entry[], act: Entry, known: Verdict | undefined): Verdict | undefined {
  const next = later.find((entry) => entry.kind === 'verdict.changed' && entry.host === act.host)
  if (known === undefined || next?.kind !== 'verdict.changed') return known
  return next.data.at >= known.at && next.data.at <= act.at ? next.data : known
}

/** What says nothing of an instance: the cloud refuses everyone, or is away. */
const ofTheCloud = /^(AUTH_|API_UNAVAILABLE$|API_THROTTLED$|CATALOG_MISSING$)/

/** No instance is given up because the cloud did not answer, or refused everything. */
export function givenUpForTheCloud(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) =>
    entry.kind === 'outcome.recorded' && entry.data.outcome === 'failed' && ofTheCloud.test(entry.data.code)
      ? [`entry ${entry.seq}: ${entry.instance} is given up for ${entry.data.code}`]
      : [],
  )
}
