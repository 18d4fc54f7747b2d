/** Small texts of an instance's line. The sentences of the page come from `review`: docs/architecture.md, Words. */
import type { InstanceLine } from '../../../domain/review.ts'

const searched = new WeakMap<InstanceLine, string>()

/** Everything of a line that someone may look for, in lower case. Kept: a search looks at thousands for each letter. */
export function searchText(line: InstanceLine): string {
  const known = searched.get(line)
  if (known !== undefined) return known
  const { name, id, projectId, reason, message, original, outcome, code, outcomeMessage, landedOn, rule, debts } = line
  const all = [name, id, projectId, reason, message, original, outcome, code, outcomeMessage, landedOn, rule]
  const text = [...all, ...debts.map((debt) => debt.code)].join(' ').toLowerCase()
  searched.set(line, text)
  return text
}

/** Why it ended as it did: the outcome's words once there are any, else the plan's. */
export function whyOf(line: InstanceLine): { code: string; message: string } {
  return { code: line.code ?? line.reason, message: line.outcomeMessage ?? line.message }
}

/** How it was brought elsewhere, for people. */
export function landingText(landing: InstanceLine['landing']): string | null {
  if (landing === null) return null
  return landing === 'stopped' ? 'lands stopped' : 'lands as before'
}

/** First and last time at which instances came back. */
export function backBetween(lines: readonly InstanceLine[]): { first: string; last: string } | null {
  const times = lines.flatMap(({ outcome, endedAt }) => (outcome === 'recovered' && endedAt !== null ? [endedAt] : []))
  if (times.length === 0) return null
  let first = times[0] ?? ''
  let last = first
  for (const at of times) {
    if (at < first) first = at
    if (at > last) last = at
  }
  return { first, last }
}
