/** What `incident show` knows: the columns of its formats, and the fields of its JSON, which is the whole incident. */
import { holdsForAPerson } from '../domain/incident-phases.ts'
import type { IncidentDetail, IncidentSummary } from '../domain/operations.ts'
import type { Advice, ReviewNote } from '../domain/review.ts'
import type { JournalAccess } from '../review/journal-access.ts'
import type { Field } from './described.ts'
import type { Column, FieldType } from './output/formats.ts'
import { toned, tonedTally, type Words } from './output/words.ts'
import { between } from '../domain/text/span.ts'
import { outcomeTone, standing } from '../domain/text/tone.ts'
import { clockTime } from './wording.ts'

/** An incident with what its reviewers said. */
export interface ReviewedIncident extends Omit<IncidentDetail, 'signedOff'> {
  /** Most urgent first. Empty: nothing. */
  advice: Advice[]
  /** The oldest first. */
  notes: ReviewNote[]
  signOff: ReviewNote | null
}

/** Throws NOT_FOUND. */
export function reviewedIncident(journal: JournalAccess, id: string): ReviewedIncident {
  const detail = journal.incident(id)
  const said = journal.read({ incident: id, kinds: ['review.noted', 'review.signed-off'] })
  const notes: ReviewNote[] = []
  let signOff: ReviewNote | null = null
  for (const { seq, at, kind, data } of said) {
    if (kind === 'review.noted') notes.push({ seq, at, ...data })
    if (kind === 'review.signed-off') signOff = { seq, at, ...data }
  }
  return { ...detail, advice: journal.advice(id), notes, signOff }
}

const summaryColumns: Column<IncidentSummary>[] = [
  { title: 'ID', type: 'string', means: 'The argument of `incident show`', whole: true, value: (it) => it.id },
  {
    title: 'Host',
    type: 'string',
    means: 'The host that failed, or on which a process or an instance failed',
    whole: true,
    value: (it) => it.host,
    text: (it) => [it.host, it.process ?? it.crashed?.name].filter((part) => part !== undefined).join('\n'),
  },
  { title: 'Segment', type: 'string', means: 'The segment whose rules apply to it', value: (it) => it.segment },
  {
    title: 'Mode',
    type: 'string',
    means: '`armed`, or `observe`: nothing was sent',
    // What came of it says so too.
    whenNamed: true,
    value: (it) => it.mode,
  },
  {
    title: 'Opened',
    type: 'time',
    means: 'When it was opened',
    value: (it) => it.openedAt,
    text: (it) => clockTime(it.openedAt),
  },
  // People see how far fencing has come, and in lists what is wanted of them; machines read the state.
  {
    title: 'State',
    type: 'string',
    means:
      'Its phase, `held: CODE`, or how it ended: `done`, `returned`, `cancelled`, `observed`, of a process or an instance also `host-failed`, `left-to-people`',
    value: stateOf,
    text: (it) => stateWords(it, null),
  },
  { title: 'Instances', type: 'integer', means: 'How many instances it is about', value: (it) => it.instances },
  {
    title: 'Outcomes',
    type: 'object',
    means: 'How many are `recovered`, `left`, `failed`, `stuck`, and still `open`',
    value: (it) => it.outcomes,
    text: (it) =>
      it.process !== null
        ? 'left alone'
        : it.mode === 'observe'
          ? 'observed, nothing sent'
          : tonedTally(it.outcomes, outcomeTone),
  },
]

export const listColumns: Column<IncidentSummary>[] = [
  ...summaryColumns.map((column) => (column.title === 'State' ? { ...column, text: stateAndNeed } : column)),
  {
    title: 'Needs',
    type: 'string?',
    means:
      '`person`: held until someone acts; `sign-off`: closed with instances not back, and not signed off; null: neither',
    value: needOf,
    // The state says it in words.
    whenNamed: true,
  },
  {
    title: 'Ended',
    type: 'time?',
    means: 'When it ended; null while it is open',
    whenNamed: true,
    value: (it) => it.ended?.at ?? null,
    text: (it) => (it.ended === null ? '' : clockTime(it.ended.at)),
  },
  {
    title: 'Took',
    type: 'integer?',
    means: 'Milliseconds from its opening to its end; null while it is open',
    value: ({ openedAt, ended }) => (ended === null ? null : Date.parse(ended.at) - Date.parse(openedAt)),
    text: ({ openedAt, ended }) => (ended === null ? '' : between(openedAt, ended.at)),
  },
]

function stateAndNeed(it: IncidentSummary): Words {
  const need = needOf(it)
  const by = it.signedOff?.by
  const signed = by === undefined ? null : `signed off by ${by}`
  return stateWords(it, need === 'person' ? 'needs a person' : need === 'sign-off' ? 'not signed off' : signed)
}

/** @param need what is wanted of people, in words */
function stateWords(it: IncidentSummary, need: string | null): Words {
  const fencing = fencingOf(it)
  return [
    toned(standing(it).tone, stateOf(it)),
    need === null ? '' : `, ${need}`,
    fencing === null ? '' : `: ${fencing}`,
  ]
}

/** What the hold is about, or nothing holds it: how fencing went before it was held for another reason is no reason any more. */
function fencingOf({ held, fencing }: IncidentSummary): string | null {
  return held === null || held.code === 'FENCE_FAILED' ? fencing : null
}

function needOf({ ended, held, mode, outcomes, signedOff }: IncidentSummary): 'person' | 'sign-off' | null {
  if (ended === null) return held !== null && holdsForAPerson.has(held.code) ? 'person' : null
  // In observe mode nothing was to come back.
  if (mode === 'observe' || (signedOff ?? null) !== null) return null
  return (outcomes.left ?? 0) + (outcomes.failed ?? 0) + (outcomes.stuck ?? 0) > 0 ? 'sign-off' : null
}

/** What Nova shows on the host the pages alone are told: they look while someone reads them. */
type DocumentField = Exclude<keyof ReviewedIncident, 'onHost'>

/** Every field of the JSON and YAML of `incident show`; the type checker finds a missing one. */
const documentFields: Record<DocumentField, { type: FieldType; means: string }> = {
  id: { type: 'string', means: 'The argument of `incident show`' },
  host: { type: 'string', means: 'The host that failed, or on which a process or an instance failed' },
  process: {
    type: 'string?',
    means: 'The process that failed while its host lives, `nova-compute`; null: something else',
  },
  crashed: {
    type: 'object?',
    means:
      'The instance whose guest crashed while its host lives: `instance`, `name`, `event`; null: something else failed',
  },
  segment: { type: 'string', means: 'The segment whose rules apply to it' },
  mode: { type: 'string', means: '`armed`, or `observe`: nothing was sent' },
  openedAt: { type: 'time', means: 'When it was opened' },
  openedBy: { type: 'string', means: '`daemon`, or the person' },
  phase: { type: 'string', means: 'How far it is' },
  held: { type: 'object?', means: 'Why it waits: `code`, `message`, `since`' },
  fencing: { type: 'string?', means: 'How far fencing has come, in words' },
  ended: { type: 'object?', means: 'How it ended: `outcome`, `message`, `at`; null while it is open' },
  instances: { type: 'integer', means: 'How many instances it is about' },
  outcomes: { type: 'object', means: 'How many have each outcome; `open`: no outcome yet' },
  verdict: { type: 'object?', means: 'What the monitor concluded, with its evidence' },
  proof: { type: 'object?', means: 'How the host was proven dead: `method`, `strength`, `provenAt`, `evidence`' },
  voided: {
    type: 'object?',
    means:
      'A revoked proof, because the host showed life after it: `method`, `strength`, `provenAt`, `code`, `message`, `at`',
  },
  statement: { type: 'object?', means: "A person's attestation that the host is dead: `by`, `statement`" },
  override: { type: 'object?', means: 'Who overrode the brake for it, and why' },
  cancelled: { type: 'object?', means: 'Who cancelled it, and why' },
  watched: {
    type: 'object?',
    means: 'If the host came back by itself: `to` (`watching`, `known`), how many instances are `off`, `message`, `at`',
  },
  fenceAttempts: { type: 'list of objects', means: 'Each try of each fencing method' },
  instanceList: {
    type: 'list of objects',
    means:
      'Each instance: initial state (`original`), decision, steps with request ids, outcome and its time, leftovers (`debts`)',
  },
  advice: {
    type: 'list of objects',
    means: 'What a person must do, most urgent first: `code`, `text`, `command`, `instances`; empty: nothing',
  },
  notes: { type: 'list of objects', means: 'What reviewers noted: `at`, `by`, `text`' },
  signOff: { type: 'object?', means: 'Who signed it off: `at`, `by`, `text`' },
}

export const incidentDocument: Field[] = Object.entries(documentFields).map(([title, it]) => ({ title, ...it }))

/** The columns that carry one field of the document each. */
const further: [title: string, field: DocumentField][] = [
  ['Process', 'process'],
  ['Crashed', 'crashed'],
  ['Opened By', 'openedBy'],
  ['Verdict', 'verdict'],
  ['Proof', 'proof'],
  ['Voided', 'voided'],
  ['Statement', 'statement'],
  ['Override', 'override'],
  ['Cancelled', 'cancelled'],
  ['Watched', 'watched'],
  ['Held', 'held'],
  ['Ended', 'ended'],
  ['Fencing', 'fencing'],
  ['Fence Attempts', 'fenceAttempts'],
  ['Instance List', 'instanceList'],
  ['Advice', 'advice'],
  ['Notes', 'notes'],
  ['Sign Off', 'signOff'],
]

export const detailColumns: Column<ReviewedIncident>[] = [
  ...(summaryColumns as Column<ReviewedIncident>[]),
  ...further.map(([title, field]) => ({
    title,
    ...documentFields[field],
    value: (it: ReviewedIncident) => it[field],
  })),
]

function stateOf({ ended, held, phase }: IncidentSummary): string {
  if (ended !== null) return ended.outcome
  return held === null ? phase : `held: ${held.code}`
}
