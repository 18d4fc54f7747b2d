/** The alert rules: each fires when it should and not otherwise, by Prometheus's own judgement, and has its page. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { uses } from '../../src/telemetry/metrics-page.ts'
import { alertCases, type AlertCase } from './alert-cases.ts'
import { promtool, withoutPromtool } from './promtool.ts'
import { rules, rulesFile, strangers } from './rules.ts'

const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8')
const sections = [...runbook.matchAll(/^## (Lifeboat\w+)$/gm)].map(([, name = '']) => name)

/** A case as promtool reads it: what is expected of the alert at each moment, annotations filled in. */
function asTest({ alert, when, series, interval = '1m', quietAt, firesAt, labels }: AlertCase): unknown {
  const rule = rules.find((one) => one.alert === alert)
  if (rule === undefined) throw new Error(`no alert ${alert}`)
  const firing = labels.map((own) => {
    const fill = (text: string): string =>
      text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_all, name: string) => own[name] ?? '')
    const annotations = Object.entries(rule.annotations).map(([name, text]) => [name, fill(text)])
    return { exp_labels: { ...own, ...rule.labels }, exp_annotations: Object.fromEntries(annotations) as unknown }
  })
  return {
    name: `${alert}: ${when}`,
    interval,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [
      ...quietAt.map((eval_time) => ({ eval_time, alertname: alert, exp_alerts: [] })),
      { eval_time: firesAt, alertname: alert, exp_alerts: firing },
    ],
  }
}

test.skipIf(withoutPromtool)('promtool finds the rules well-formed', () => {
  expect(promtool(['check', 'rules', rulesFile])).toContain(`SUCCESS: ${rules.length} rules found`)
})

test.skipIf(withoutPromtool)(
  'promtool plays every case: quiet where it must be, firing where it must',
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'lifeboat-alerts-'))
    const written = (name: string, content: unknown): string => {
      writeFileSync(join(directory, name), stringify(content))
      return join(directory, name)
    }
    try {
      // Each alert by itself, and what takes days judged once an hour: all rules at every minute of days would take minutes.
      const files = rules.flatMap((rule) => {
        const rule_files = [written(`${rule.alert}.rules`, { groups: [{ name: 'one', rules: [rule] }] })]
        return ['1m', '1h'].map((interval) => {
          const cases = alertCases.filter((one) => one.alert === rule.alert && (one.interval ?? '1m') === interval)
          return written(`${rule.alert}-${interval}.yaml`, {
            rule_files,
            evaluation_interval: interval,
            tests: cases.map(asTest),
          })
        })
      })
      expect(promtool(['test', 'rules', ...files])).not.toContain('FAILED')
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  },
  60_000,
)

describe.each(rules.map((rule) => [rule.alert, rule] as const))('%s', (alert, rule) => {
  test('has a case that fires and a moment when it is quiet', () => {
    const cases = alertCases.filter((one) => one.alert === alert)
    expect(cases.length).toBeGreaterThan(0)
    for (const { quietAt, labels } of cases) {
      expect(quietAt).not.toEqual([])
      expect(labels).not.toEqual([])
    }
  })

  test('names only metrics and labels of the catalogue', () => expect(strangers(rule.expr)).toEqual([]))

  test('looks back over missed scrapes', () => {
    expect(rule.expr).toMatch(/(max|min|last|absent)_over_time|changes|increase/)
  })

  test('has a severity, a summary that names its labels, and its section in the runbook', () => {
    expect(['critical', 'warning', 'info']).toContain(rule.labels['severity'])
    expect(Object.keys(rule.annotations).sort()).toEqual(['description', 'runbook', 'summary'])
    expect(rule.annotations['runbook']).toBe(`docs/runbook.md#${alert.toLowerCase()}`)
    expect(sections).toContain(alert)
  })
})

test('every section of the runbook is of an alert', () => {
  expect([...sections].sort()).toEqual(rules.map(({ alert }) => alert).sort())
})

test('every alert that the page of metrics names is there', () => {
  const named = Object.values(uses).flatMap((use) => use.match(/Lifeboat[A-Z]\w+/g) ?? [])
  expect(named.filter((name) => !sections.includes(name))).toEqual([])
})
