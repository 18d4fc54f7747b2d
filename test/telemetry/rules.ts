/** The shipped alert rules and dashboard, read from their files, and the metric names in PromQL. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { catalogue, type MetricEntry } from '../../src/telemetry/metrics.ts'

export const rulesFile = fileURLToPath(new URL('../../config/prometheus/lifeboat.rules', import.meta.url))

export interface Rule {
  alert: string
  expr: string
  for?: string
  labels: Record<string, string>
  annotations: Record<string, string>
}

export const rules = (parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
)

const entries: MetricEntry[] = Object.values(catalogue)

/** The labels that Prometheus adds by itself, and what histograms have. */
const always = new Set(['job', 'instance', 'le'])

/** What is wrong with an expression's metrics and labels, by the catalogue. */
export function strangers(expr: string): string[] {
  const bare = expr.replace(/\[[^\]]*\]/g, '')
  const found = [...bare.matchAll(/\b(lifeboat_[a-z_]+)(\{[^}]*\})?/g)]
  const metrics = found.map(([, name = '']) => entryOf(name))
  const problems = found.flatMap(([, name = '', selector = ''], index) => {
    const entry = metrics[index]
    if (entry === undefined) return [`${name} is not in the catalogue`]
    const labels = [...selector.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label)
    return labels
      .filter((label) => !always.has(label) && !entry.labels.includes(label))
      .map((label) => `${name} has no label ${label}`)
  })
  const known = new Set([...always, ...metrics.flatMap((entry) => entry?.labels ?? [])])
  const grouped = [...bare.matchAll(/\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  )
  return [
    ...problems,
    ...grouped.filter((label) => label !== '' && !known.has(label)).map((label) => `no label ${label}`),
  ]
}

function entryOf(name: string): MetricEntry | undefined {
  const plain = name.replace(/_(bucket|count|sum)$/, '')
  return entries.find((entry) => entry.name === name || (entry.type === 'histogram' && entry.name === plain))
}
