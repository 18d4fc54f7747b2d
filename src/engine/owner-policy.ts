/**
 * Owner policy: what an instance's owner, or the operator, asked for it. Configured as `wishes`. Pure.
 *
 * Where they are looked for, the nearest to the instance first; the first place that says something valid decides:
 *   1. instance metadata `lifeboat: leave|stopped|recover`, then Masakari's `HA_Enabled: true|false`
 *   2. an instance tag `lifeboat:leave` …
 *   3. the flavor's extra spec `lifeboat:wish` (or `lifeboat`), the operator's
 *   4. metadata `lifeboat` of an aggregate of the host, the operator's
 *
 * Keys are compared whole: `not_lifeboat` or `lifeboat_x` is no policy. A value that nobody understands is said in a note
 * and decides nothing, neither for nor against. Priorities are the other way round: the operator's word stands before
 * the owner's, and the owner's is bounded, because otherwise any tenant could put itself before all others.
 */
import type { Aggregate, Instance } from '../domain/instance.ts'

export interface OwnerPolicySettings {
  /** Metadata, tag, extra spec and aggregate key. */
  key: string
  /** The key of the priority, a whole number; higher goes first. */
  priorityKey: string
  /** Masakari's metadata key, or null to take no notice of it. */
  masakariKey: string | null
  /** An owner's priority counts between minus this and this. Default: 100. */
  ownerPriorityLimit?: number
}

/** The defaults that the configuration's documentation shows. */
export const defaultOwnerPolicy: OwnerPolicySettings = {
  key: 'lifeboat',
  priorityKey: 'lifeboat_priority',
  masakariKey: 'HA_Enabled',
}

/** An operator's priority counts between minus this and this. */
const operatorPriorityLimit = 1_000

const policyValues = ['leave', 'stopped', 'recover'] as const
export type OwnerPolicyValue = (typeof policyValues)[number] | 'none'

export interface OwnerPolicy {
  value: OwnerPolicyValue
  /** Where it was found, in words; empty for none. */
  from: string
  priority: number
  notes: string[]
}

/** One place that may say something: every text found there, with how it is named to people. */
interface Place {
  from: string
  texts: string[]
}

/** How a place is read: what its words mean, and which there are. */
interface Language {
  allowed: string
  /** Of a word in lower case. */
  meaning: (word: string) => OwnerPolicyValue | null
}

/** What is asked for the instance on a host that is in these aggregates. */
export function ownerPolicyOf(instance: Instance, aggregates: Aggregate[], settings: OwnerPolicySettings): OwnerPolicy {
  const notes: string[] = []
  const found = valueFrom(instance, aggregates, settings, notes)
  const priority = priorityFrom(instance, aggregates, settings, notes)
  return { value: found?.value ?? 'none', from: found?.from ?? '', priority, notes }
}

function valueFrom(
  instance: Instance,
  aggregates: Aggregate[],
  settings: OwnerPolicySettings,
  notes: string[],
): { value: OwnerPolicyValue; from: string } | null {
  const { key, masakariKey } = settings
  const masakari = masakariKey === null || masakariKey === key ? [] : [masakariKey]
  const places: [Place, Language][] = [
    [place(`instance metadata ${key}`, own(instance.metadata, key)), plain],
    ...masakari.map((its): [Place, Language] => [place(`instance metadata ${its}`, own(instance.metadata, its)), oslo]),
    [place(`instance tag ${key}:`, suffixes(instance.tags, `${key}:`)), plain],
    [
      place('flavor extra spec', [
        ...own(instance.flavor.extraSpecs, `${key}:wish`),
        ...own(instance.flavor.extraSpecs, key),
      ]),
      plain,
    ],
    [
      place(
        `aggregate metadata ${key}`,
        aggregates.flatMap((aggregate) => own(aggregate.metadata, key)),
      ),
      plain,
    ],
  ]
  for (const [at, language] of places) {
    const value = agreed(at, language, notes)
    if (value !== null) return { value, from: at.from }
  }
  return null
}

/** What the place says, if it says one thing only. */
function agreed({ from, texts }: Place, { allowed, meaning }: Language, notes: string[]): OwnerPolicyValue | null {
  const understood = new Set<OwnerPolicyValue>()
  for (const text of texts) {
    const value = meaning(text.trim().toLowerCase())
    if (value === null) notes.push(`${from} says "${text}", which is none of ${allowed}: taken as nothing said`)
    else understood.add(value)
  }
  if (understood.size > 1) notes.push(`${from} says ${[...understood].sort().join(' and ')}: taken as nothing said`)
  const [value] = understood
  return understood.size === 1 ? (value ?? null) : null
}

const plain: Language = {
  allowed: policyValues.join(', '),
  meaning: (word) => policyValues.find((known) => known === word) ?? null,
}

/** Masakari reads its key as oslo does a boolean. */
const oslo: Language = {
  allowed: 'true, false',
  meaning: (word) => {
    if (['true', 't', '1', 'yes', 'y', 'on'].includes(word)) return 'recover'
    return ['false', 'f', '0', 'no', 'n', 'off'].includes(word) ? 'leave' : null
  },
}

function priorityFrom(
  instance: Instance,
  aggregates: Aggregate[],
  settings: OwnerPolicySettings,
  notes: string[],
): number {
  const { key, priorityKey, ownerPriorityLimit = 100 } = settings
  const specs = instance.flavor.extraSpecs
  const flavor = place('flavor extra spec', [...own(specs, `${key}:priority`), ...own(specs, priorityKey)])
  const aggregate = place(
    `aggregate metadata ${priorityKey}`,
    aggregates.flatMap(({ metadata }) => own(metadata, priorityKey)),
  )
  const metadata = place(`instance metadata ${priorityKey}`, own(instance.metadata, priorityKey))
  const tags = place(`instance tag ${priorityKey}:`, suffixes(instance.tags, `${priorityKey}:`))
  for (const [at, limit] of [
    [flavor, operatorPriorityLimit],
    [aggregate, operatorPriorityLimit],
    [metadata, ownerPriorityLimit],
    [tags, ownerPriorityLimit],
  ] as const) {
    const numbers = at.texts.flatMap((text) => {
      if (/^[+-]?\d{1,9}$/.test(text.trim())) return [Number(text)]
      notes.push(`${at.from} says "${text}", which is no whole number: taken as nothing said`)
      return []
    })
    // Several aggregates may speak; the highest counts, so that the answer does not depend on their order.
    if (numbers.length > 0) return bounded(Math.max(...numbers), limit, at.from, notes)
  }
  return 0
}

function bounded(asked: number, limit: number, from: string, notes: string[]): number {
  const priority = Math.max(-limit, Math.min(limit, asked))
  if (priority !== asked) notes.push(`${from} asks for priority ${asked}; ${priority} is the most it can have`)
  return priority
}

function place(from: string, texts: string[]): Place {
  return { from, texts }
}

function own(record: Record<string, string>, key: string): string[] {
  const value = Object.hasOwn(record, key) ? record[key] : undefined
  return value === undefined ? [] : [value]
}

function suffixes(tags: string[], prefix: string): string[] {
  return tags.filter((tag) => tag.startsWith(prefix)).map((tag) => tag.slice(prefix.length))
}
