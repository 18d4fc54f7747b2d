/** An incident in three sentences at the most: what died, how we know, how it ended. Pure. */
import { fenceSentence } from '../domain/fence-progress.ts'
import { failureOf, type Incident } from '../domain/incident.ts'
import { standingSentence, type Standing } from '../domain/text/standing-sentence.ts'
import { verdictWord } from '../domain/verdict.ts'

export function headline(incident: Incident): string {
  return `${lead(incident)} ${standingSentence(standingOf(incident))}`
}

/** The headline without how it stands, which moves with every instance: pages say that from what they see themselves. */
export function lead(incident: Incident): string {
  return [whatDied(incident), howWeKnow(incident)].filter((text) => text !== '').join(' ')
}

function standingOf(incident: Incident): Standing {
  const { closed, held, phase, mode, instances, watched } = incident
  const all = [...instances.values()]
  const outcomes: Standing['outcomes'] = {}
  for (const { outcome } of all) {
    const end = outcome?.outcome ?? 'open'
    outcomes[end] = (outcomes[end] ?? 0) + 1
  }
  const recoverable = all.filter(({ plan }) => plan.decision === 'recover').length
  return {
    failure: failureOf(incident),
    ended: closed,
    held,
    phase,
    mode,
    outcomes,
    instances: all.length,
    recoverable,
    watched,
  }
}

function whatDied({ host, process, crashed, verdict, openedBy, mode }: Incident): string {
  const observed = mode === 'observe' ? ' (observed only: nothing was sent)' : ''
  if (crashed !== null) return `${openedBy} reported that instance ${crashed.name} crashed on ${host}${observed}.`
  if (process !== null && openedBy !== 'daemon') return `${openedBy} reported ${process} of ${host} down${observed}.`
  // Opened once more after an incident of its host, whose end it has outlived.
  if (process !== null && verdict?.kind === 'healthy')
    return `${process} of ${host} failed before an incident of the host, and its service is still disabled${observed}.`
  if (process !== null) return `${process} of ${host} is down${observed}: ${trimmed(verdict?.message ?? '')}.`
  if (verdict === null) return `${openedBy} reported ${host} dead${observed}.`
  const became = verdict.kind === 'host-down' ? 'went down' : `was found ${verdictWord(verdict)}`
  return `${host} ${became}${observed}: ${trimmed(verdict.message)}.`
}

function howWeKnow({ process, crashed, proof, revoked, attestation, fencing, closed, held }: Incident): string {
  if (process !== null) return 'The host lives: its instances are left alone.'
  if (crashed !== null) return 'The host lives: Lifeboat leaves its other instances alone.'
  if (proof !== null) {
    if (proof.strength === 'statement') return `It was attested dead by ${proof.statedBy ?? 'someone'}.`
    const what = proof.proves === 'storage' ? 'cut off from the storage' : 'dead'
    return `It was proven ${what} by ${proof.method} (${proof.strength}).`
  }
  if (revoked !== null)
    return `It was proven dead by ${revoked.method} (${revoked.strength}), and then showed life: ${trimmed(revoked.message)}.`
  if (attestation !== null) return `It was attested dead by ${attestation.by}; that is not a proof yet.`
  if (closed !== null) return 'It was never proven dead.'
  // The hold says why in its own words.
  return fencing === null || held !== null
    ? 'It is not proven dead yet.'
    : `It is not proven dead yet: ${fenceSentence(fencing)}.`
}

function trimmed(text: string): string {
  return text.replace(/[.\s]+$/, '')
}
