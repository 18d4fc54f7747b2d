/**
 * What happened in an incident, short enough to be read in a meeting: what repeats is one line, and machines' ids are left out.
 * The words are those of each entry's sentence. Pure.
 */
import type { Entry } from '../domain/entry.ts'
import { counted } from '../domain/text/counted.ts'
import { sentenceOf } from '../domain/text/entry-sentence.ts'

export interface StoryLine {
  /** ISO: the first time, and the last. */
  at: string
  until: string
  /** Unescaped. */
  text: string
}

/** A longer text is cut off: it is an API's, and its end is for those who know that. */
const longest = 240

/** Instances named in a line. More are counted. */
const mostNamed = 3

/** Entries of one kind that say the same, of any number of instances. */
interface Told {
  at: string
  until: string
  times: number
  texts: Set<string>
  instances: Set<string>
}

/**
 * @param entries all of the incident, oldest first
 * @param names of its instances by id: texts name them instead
 */
export function storyOf(entries: readonly Entry[], names: ReadonlyMap<string, string>): StoryLine[] {
  const told = new Map<string, Told>()
  const kinds = new Map<string, string>()
  for (const entry of entries) {
    if (entry.kind === 'step.intended') kinds.set(stepOf(entry), entry.data.kind)
    const what = foldedAs(entry, kinds)
    if (what === null) continue
    const known = told.get(what) ?? { at: entry.at, until: '', times: 0, texts: new Set(), instances: new Set() }
    known.until = entry.at
    known.times += 1
    known.texts.add(textOf(entry, { names, kinds }))
    // The opening of a crash names its instance itself.
    if (entry.instance !== null && entry.kind !== 'instance.failed')
      known.instances.add(names.get(entry.instance) ?? 'an instance')
    told.set(what, known)
  }
  return [...told.values()].map((one) => ({ at: one.at, until: one.until, text: lineOf(one) }))
}

/** Entries with the same answer are one line; null: it is none of the story. */
function foldedAs(entry: Entry, kinds: ReadonlyMap<string, string>): string | null {
  const { kind, seq } = entry
  switch (kind) {
    case 'incident.held':
      return `${kind} ${entry.data.code}`
    case 'incident.continued':
      return `${kind} ${entry.data.because}`
    case 'fence.attempt':
      return entry.data.phase === 'failed' ? `${kind} ${entry.data.method}` : null
    case 'step.failed':
      return `${kind} ${kinds.get(stepOf(entry))} ${entry.data.error.code}`
    case 'step.waiting':
      return kind
    case 'outcome.recorded':
      return `${kind} ${entry.data.outcome} ${entry.data.outcome === 'recovered' ? '' : entry.data.code}`
    case 'debt.recorded':
    case 'debt.settled':
      return `${kind} ${entry.data.code}`
    case 'return.changed':
      return entry.data.to === 'back' || entry.data.to === 'kept-out' ? `${kind} ${entry.data.to}` : null
    case 'instances.watched':
      return kind
    case 'incident.opened':
    case 'process.failed':
    case 'instance.failed':
    case 'incident.segment-changed':
    case 'proof.recorded':
    case 'proof.voided':
    case 'incident.closed':
    case 'operator.statement':
    case 'operator.override':
    case 'operator.cancelled':
    case 'operator.again':
    case 'operator.start':
    case 'operator.return':
      return `${seq}`
    default:
      return null
  }
}

function stepOf({ instance, step }: Entry): string {
  return `${instance ?? ''} ${step ?? ''}`
}

interface Known {
  names: ReadonlyMap<string, string>
  /** Of steps, by `stepOf`. */
  kinds: ReadonlyMap<string, string>
}

function textOf(entry: Entry, { names, kinds }: Known): string {
  // A step is called by what it does: its key says nothing to people.
  const named = entry.step === null ? entry : { ...entry, step: kinds.get(stepOf(entry)) ?? null }
  const text = readable(sentenceOf(named).text, names)
  // Why it is not back stands in a part of its own.
  if (entry.kind === 'outcome.recorded') return headOf(text)
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}

function headOf(text: string): string {
  return text.split(': ')[0] ?? ''
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi
const requestId = new RegExp(`,? ?\\(?\\breq-${uuid.source}\\)?`, 'gi')
/** As a part of a longer name, such as that of a directory, it stays: someone deletes what is named. */
const whole = new RegExp(`(?<![\\w/-])${uuid.source}(?![\\w/-])`, 'gi')
const isoTime = /\b(\d{4}-\d\d-\d\d)T([\d:]+)(?:\.\d+)?Z\b/g

/** The text with names for ids, and times as people write them. */
export function readable(text: string, names: ReadonlyMap<string, string>): string {
  return text
    .replace(requestId, '')
    .replace(whole, (id) => names.get(id.toLowerCase()) ?? '…')
    .replace(isoTime, '$1 $2 UTC')
}

function lineOf({ texts, instances, times }: Told): string {
  const whose =
    instances.size > mostNamed ? `${counted(instances.size, 'instance')}: ` : `${[...instances].join(', ')}: `
  const again = times > Math.max(1, instances.size) ? ` (${times} times)` : ''
  const text = instances.size > 1 ? commonText([...texts]) : ([...texts].at(-1) ?? '')
  return `${instances.size === 0 ? '' : whose}${text}${again}`
}

/** What is said of them all: a reason that names one instance says nothing of the others. */
function commonText(texts: readonly string[]): string {
  const [first = ''] = texts
  if (texts.length === 1) return first
  const head = headOf(first)
  return texts.every((text) => headOf(text) === head) ? head : (first.split(' ')[0] ?? '')
}
