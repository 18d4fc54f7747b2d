/** `incident show` for people: what died, how we know, how it was fenced, and every instance from its original to its end. */
import { powerState } from '../domain/instance.ts'
import { incidentPhases } from '../domain/incident-phases.ts'
import type { IncidentDetail, InstanceSummary, StepSummary } from '../domain/operations.ts'
import type { ReviewedIncident } from './incident-fields.ts'
import { outcomes } from '../domain/outcome.ts'
import { verdictKinds } from '../domain/verdict.ts'
import { grid, type GridLook } from './output/table.ts'
import { printable } from './output/width.ts'
import { toned, tonedTally, type Words } from './output/words.ts'
import { orderNoun } from '../domain/text/order-noun.ts'
import { between, span } from '../domain/text/span.ts'
import { outcomeOrder, outcomeTone, standing } from '../domain/text/tone.ts'
import { clockTime } from './wording.ts'

/** @param look of its tables */
export function incidentPage(incident: ReviewedIncident, look: GridLook = {}): string {
  return [
    head(incident, look),
    todo(incident),
    evidence(incident),
    fencing(incident),
    instances(incident, look),
    closing(incident),
    review(incident),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function head(incident: IncidentDetail, look: GridLook): string {
  const { ended, held, phase } = incident
  const { tone } = standing(incident)
  const rows: Words[][] = [
    ['Incident', incident.id],
    ['Host', `${incident.host} (segment ${incident.segment})`],
    ...(incident.process === null
      ? []
      : [['Process', `${incident.process}: the host lives, and its instances are left alone`]]),
    ...(incident.crashed === null
      ? []
      : [['Instance', `${incident.crashed.name}: its guest crashed (${incident.crashed.event}), and the host lives`]]),
    ['Opened', `${clockTime(incident.openedAt)} by ${incident.openedBy}`],
    ['Mode', incident.mode === 'observe' ? 'observe: decided and recorded, nothing was sent' : 'armed'],
    ended === null
      ? ['State', [toned(held === null ? tone : 'plain', phase), `: ${incidentPhases[phase].means}`]]
      : [
          'Ended',
          [
            `${clockTime(ended.at)}, `,
            toned(tone, ended.outcome),
            `, after ${between(incident.openedAt, ended.at)}: ${ended.message}`,
          ],
        ],
  ]
  if (held !== null) rows.push(['Held', [toned(tone, held.code), ` since ${clockTime(held.since)}: ${held.message}`]])
  if (incident.fencing !== null) rows.push(['Fencing', incident.fencing])
  if (incident.override !== null)
    rows.push([
      'Override',
      `${incident.override.by} ${incident.crashed === null ? 'overrode the brake' : 'lets it be restarted once more'}: ${incident.override.reason}`,
    ])
  if (incident.cancelled !== null) rows.push(['Cancelled', `by ${incident.cancelled.by}: ${incident.cancelled.reason}`])
  if (incident.watched !== null)
    rows.push(['Since then', `${incident.watched.message} (${clockTime(incident.watched.at)})`])
  if (incident.process !== null) return grid(['Field', 'Value'], rows, look)
  const ends =
    incident.instances === 0 || incident.mode === 'observe' ? [] : [': ', ...tonedTally(incident.outcomes, outcomeTone)]
  rows.push(['Instances', [String(incident.instances), ...ends]])
  return grid(['Field', 'Value'], rows, look)
}

/** The same words and commands as on the page of the incident. */
function todo({ advice, ended, instanceList }: ReviewedIncident): string {
  const title = 'What to do\n'
  if (advice.length === 0)
    return `${title}${line(ended === null ? 'Nothing. Lifeboat goes on by itself' : 'Nothing is left to do')}`
  const names = new Map(instanceList.map(({ id, name }) => [id, name]))
  const items = advice.map(({ text, command, instances: ids }, index) => {
    const more = ids.length > namesShown ? ` and ${ids.length - namesShown} more` : ''
    const named = ids.slice(0, namesShown).map((id) => names.get(id) ?? id)
    const about = named.length === 0 ? '' : line(`   ${named.join(', ')}${more}`)
    return `${line(`${index + 1}. ${text}`)}${about}${command === null ? '' : line(`   ${command}`)}`
  })
  return `${title}${items.join('')}`
}

/** Instances named with what must be done: enough to know which; all of them are in the table. */
const namesShown = 3

function evidence({ verdict, crashed, openedBy, statement }: IncidentDetail): string {
  if (crashed !== null)
    return `How we know\n${line(`${openedBy} reported it (${crashed.event}). The decision below says what Nova and the hypervisor showed`)}`
  const as =
    statement?.unixUser === undefined || statement.unixUser === statement.by ? '' : ` (as ${statement.unixUser})`
  const said = statement === null ? '' : line(`${statement.by}${as} stated: "${statement.statement}"`)
  if (verdict === null) return `How we know\n${line(`No verdict: ${openedBy} opened this incident`)}${said}`
  const { status, state, forcedDown, updatedAt, silentMs, missedBeats, intervalMs, probes } = verdict.evidence
  const lines = [
    `${verdict.kind} (${verdict.reason}) at ${clockTime(verdict.at)}: ${verdict.message}`,
    verdictKinds[verdict.kind],
    `Nova said ${status}, ${state ?? 'no state'}${forcedDown ? ', forced down' : ''}; its last heartbeat was at ${updatedAt ?? 'an unknown time'} (cloud time)`,
    `Silent for ${span(silentMs)}: ${missedBeats.toFixed(1)} heartbeats of ${span(intervalMs)} missed`,
    ...probes.map((reading) => `Probe ${reading.probe} (${reading.kind}) says ${reading.answer}: ${reading.detail}`),
    ...(probes.length === 0 ? ['No probe was asked: only Nova says so'] : []),
  ]
  return `How we know\n${lines.map(line).join('')}${said}`
}

function fencing({ process, crashed, proof, voided, fenceAttempts, ended }: IncidentDetail): string {
  // Its host lives: nothing is fenced.
  if (process !== null || crashed !== null) return ''
  const lines = fenceAttempts.slice(-attemptsShown).map(attemptText)
  const left = fenceAttempts.length - lines.length
  if (left > 0) lines.unshift(`${left} earlier attempts: lifeboat journal list --incident shows them all`)
  if (voided !== null)
    lines.push(
      `Proven dead at ${clockTime(voided.provenAt)} by ${voided.method} (${voided.strength}), and found alive at ${clockTime(voided.at)}: ${voided.message}`,
    )
  if (proof === null && voided !== null)
    lines.push('Lifeboat has begun nothing since; first the host must fall silent and be fenced again')
  else if (proof === null)
    lines.push(
      ended === null ? 'No proof of death yet: nothing is evacuated' : 'No proof of death: nothing was evacuated',
    )
  else {
    const by = proof.statedBy === null ? '' : ` of ${proof.statedBy}`
    lines.push(`Proven dead at ${clockTime(proof.provenAt)} by ${proof.method} (${proof.strength}${by})`)
    lines.push(...proof.evidence.map((read) => `  ${read}`))
  }
  return `Fencing\n${lines.map(line).join('')}`
}

/** Attempts shown: a chain or two. A host whose board is dead for a week has thousands. */
const attemptsShown = 20

function attemptText(it: IncidentDetail['fenceAttempts'][number]): string {
  const place =
    it.of === undefined ? '' : ` (${it.position} of ${it.of}${(it.attempts ?? 1) > 1 ? `, try ${it.attempt}` : ''})`
  const doubt = it.phase === 'failed' && it.certainty === 'unknown' ? '; nobody knows whether it took effect' : ''
  return `${clockTime(it.at)} ${it.method}${place} ${it.phase}: ${it.message}${doubt}`
}

function instances({ instanceList, mode }: IncidentDetail, look: GridLook): string {
  if (instanceList.length === 0) return ''
  const rows = mostUrgentFirst(instanceList).map((it) => [
    `${it.name}\n${it.id}`,
    initialStateText(it),
    decisionText(it),
    outcomeWords(it, mode),
  ])
  return `Instances\n${grid(['Instance', 'Initial state', 'Decision', 'Outcome'], rows, look)}`
}

/** Whom a person must help comes first, who is well comes last. */
function mostUrgentFirst(list: readonly InstanceSummary[]): InstanceSummary[] {
  const place = ({ outcome }: InstanceSummary): number => outcomeOrder.indexOf(outcome?.outcome ?? 'open')
  return list.toSorted((a, b) => place(a) - place(b))
}

function initialStateText({ original }: InstanceSummary): string {
  const power =
    Object.entries(powerState).find(([, number]) => number === original.powerState)?.[0] ?? String(original.powerState)
  const marks = [
    original.taskState,
    original.locked ? 'locked' : null,
    original.flagged ? `sources disagreed: ${original.wantedBecause}` : null,
  ]
  return [`${original.vmState}, power ${power}, wanted ${original.wanted}`, ...marks.filter((mark) => mark !== null)]
    .map((text) => wrapped(text))
    .join('\n')
}

function decisionText({ decision, reason, message, recipe }: InstanceSummary): string {
  return `${decision}${recipe === null ? '' : ` by ${recipe}`} (${reason})\n${wrapped(message)}`
}

function outcomeWords({ outcome, steps, endedAt }: InstanceSummary, mode: IncidentDetail['mode']): Words {
  if (outcome === null) {
    if (mode === 'observe') return 'observed, nothing sent'
    const step = steps.at(-1)
    if (step === undefined) return 'not begun'
    // A daemon of an older release does not say.
    const until = step.waitsUntil ?? null
    const waits = until === null ? '' : `\n${wrapped(lateSentence(step, until))}`
    return [toned(outcomeTone.open, 'under way'), `: ${step.kind}, ${step.status}${waits}`]
  }
  const where =
    outcome.after?.host === undefined || outcome.after.host === null
      ? ''
      : ` on ${outcome.after.host}, ${outcome.after.vmState}`
  const since =
    endedAt === null ? '' : `\n${outcome.outcome === 'recovered' ? 'back' : 'ended'} at ${clockTime(endedAt)}`
  return [
    toned(outcomeTone[outcome.outcome], outcome.outcome),
    `${where} (${outcome.code})${since}\n${wrapped(outcome.message)}`,
  ]
}

function lateSentence({ kind, intendedAt }: StepSummary, until: string): string {
  return `waiting: the answer was lost, and Nova may still carry out the ${orderNoun(kind)} sent at ${clockTime(intendedAt)}, until ${clockTime(until)} at the latest`
}

/** What a person still has to do or know, with the requests to look for in Nova's logs. */
function closing({ instanceList, mode }: IncidentDetail): string {
  const lines: string[] = []
  for (const { name, id, notes, debts, outcome, steps } of mostUrgentFirst(instanceList)) {
    lines.push(
      ...notes.map((note) => `${name}: ${note}`),
      ...debts.map(({ code, message }) => `${name} leaves behind ${code}: ${message}`),
    )
    if (outcome === null || (outcome.outcome !== 'stuck' && outcome.outcome !== 'failed')) continue
    const requests = steps.flatMap(({ kind, requestId }) => (requestId === null ? [] : [`${kind} ${requestId}`]))
    // A request that was refused, or whose answer was lost, has no id of Nova's: it was sent all the same.
    const tried = steps.length === 0 ? 'nothing was sent for it' : `its steps: lifeboat journal list --instance ${id}`
    const found = requests.length === 0 ? tried : `look in Nova's logs for ${requests.join(', ')}`
    lines.push(`${name} (${id}) is ${outcome.outcome}. ${outcomes[outcome.outcome]}; ${found}`)
  }
  const title = mode === 'observe' ? 'What you would need to know (nothing was sent)' : 'What you need to know'
  return lines.length === 0 ? '' : `${title}\n${lines.map(line).join('')}`
}

/** What people said of it since. */
function review({ notes, signOff }: ReviewedIncident): string {
  const lines = notes.map(({ at, by, text }) => `${clockTime(at)} ${by}: ${text}`)
  if (signOff !== null) lines.push(`Signed off by ${signOff.by} at ${clockTime(signOff.at)}: ${signOff.text}`)
  return lines.length === 0 ? '' : `Notes\n${lines.map(line).join('')}`
}

function line(text: string): string {
  return `  ${printable(text)}\n`
}

/** Sentences in a table must not make it wider than a screen. */
function wrapped(text: string, width = 44): string {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length + 1 > width) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.join('\n')
}
