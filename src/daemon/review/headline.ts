/** An incident in three sentences at the most: what died, how we know, how it ended. Pure. */
import { fenceSentence } from '../../domain/fence-progress.ts'
import type { Incident } from '../../domain/incident.ts'
import { incidentPhases } from '../../domain/incident-phases.ts'
import type { OutcomeKind } from '../../domain/outcome.ts'
import { verdictWord } from '../../domain/verdict.ts'

export function headline(incident: Incident): string {
  return [whatDied(incident), howWeKnow(incident), howItEnded(incident)].filter((text) => text !== '').join(' ')
}

function whatDied({ host, verdict, openedBy, mode }: Incident): string {
  const observed = mode === 'observe' ? ' (observed only: nothing was sent)' : ''
  if (verdict === null) return `${openedBy} reported ${host} dead${observed}.`
  return `${host} was found ${verdictWord(verdict)}${observed}: ${trimmed(verdict.message)}.`
}

function howWeKnow({ proof, voided, statement, fencing, closed, held }: Incident): string {
  if (proof !== null) {
    if (proof.strength === 'statement') return `${proof.statedBy ?? 'Somebody'} stated that it is dead.`
    const what = proof.proves === 'storage' ? 'cut off from the storage' : 'dead'
    return `It was proven ${what} by ${proof.method} (${proof.strength}).`
  }
  if (voided !== null)
    return `It was proven dead by ${voided.method} (${voided.strength}), and then showed life: ${trimmed(voided.message)}.`
  if (statement !== null) return `${statement.by} stated that it is dead; that is not a proof yet.`
  if (closed !== null) return 'It was never proven dead.'
  // The hold says why in its own words.
  return fencing === null || held !== null
    ? 'It is not proven dead yet.'
    : `It is not proven dead yet: ${fenceSentence(fencing)}.`
}

function howItEnded(incident: Incident): string {
  const { closed, held, phase, instances } = incident
  const counts = countsOf(incident)
  if (closed !== null) {
    const ending = {
      done: 'Over',
      returned: 'The host returned',
      cancelled: 'Cancelled',
      observed: 'Observed',
    } as const
    return `${ending[closed.outcome]}: ${counts}.`
  }
  if (held !== null) return `Held: ${heldBecause(held.message)}.`
  return instances.size === 0 ? `${incidentPhases[phase].means}.` : `${incidentPhases[phase].means}: ${counts}.`
}

/** 3 of 5 instances recovered, 1 left, 1 open */
function countsOf({ instances, mode }: Incident): string {
  if (instances.size === 0) return 'no instance was planned for'
  const noun = instances.size === 1 ? 'instance' : 'instances'
  if (mode === 'observe') {
    const wouldBe = [...instances.values()].filter(({ plan }) => plan.decision === 'recover').length
    return `${wouldBe} of ${instances.size} ${noun} would have been recovered`
  }
  const counts = new Map<OutcomeKind | 'open', number>()
  for (const { outcome } of instances.values()) {
    const end = outcome?.outcome ?? 'open'
    counts.set(end, (counts.get(end) ?? 0) + 1)
  }
  const first = `${counts.get('recovered') ?? 0} of ${instances.size} ${noun} recovered`
  const others = (['left', 'failed', 'stuck', 'open'] as const).flatMap((end) => {
    const count = counts.get(end)
    return count === undefined ? [] : [`${count} ${end}`]
  })
  return [first, ...others].join(', ')
}

/** The reason alone: what to do about it is advice, and stands elsewhere. */
function heldBecause(message: string): string {
  return trimmed((message.split('. ')[0] ?? message).replace(/^held: /, ''))
}

function trimmed(text: string): string {
  return text.replace(/[.\s]+$/, '')
}
