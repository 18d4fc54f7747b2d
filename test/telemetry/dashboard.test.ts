/** The shipped Grafana dashboard: whole in itself, and nothing in it that the daemon does not serve. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { promtool, withoutPromtool } from './promtool.ts'
import { strangers } from './rules.ts'

interface Source {
  type: string
  uid: string
}
interface Panel {
  id: number
  type: string
  title: string
  gridPos: { h: number; w: number; x: number; y: number }
  datasource?: Source
  targets?: { refId: string; expr: string; datasource: Source }[]
}
interface Variable {
  name: string
  type: string
  query: string | { query: string }
  datasource?: Source
}

const text = readFileSync(new URL('../../config/grafana/lifeboat.json', import.meta.url), 'utf8')
const dashboard = JSON.parse(text) as { uid: string; panels: Panel[]; templating: { list: Variable[] } }
const { panels } = dashboard
const variables = dashboard.templating.list
const shown = panels.filter(({ type }) => type !== 'row')
const expressions = shown.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const))

test('has its rows, in the order in which an engineer looks', () => {
  expect(panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
    'Fleet',
    'Incidents and recoveries',
    'Detection',
    'API to Nova',
    'Journal and daemon',
  ])
})

test('asks whatever Prometheus its reader chooses, and no other', () => {
  expect(variables.map(({ name, type }) => [name, type])).toEqual([
    ['datasource', 'datasource'],
    ['job', 'query'],
    ['segment', 'query'],
  ])
  const chosen = { type: 'prometheus', uid: '${datasource}' }
  for (const panel of shown) {
    expect(panel.datasource, panel.title).toEqual(chosen)
    for (const target of panel.targets ?? []) expect(target.datasource, panel.title).toEqual(chosen)
  }
  for (const { name, datasource } of variables.slice(1)) expect(datasource, name).toEqual(chosen)
})

test('uses no variable that it does not have, and each that it has', () => {
  const names = new Set(variables.map(({ name }) => name))
  const used = new Set([...text.matchAll(/\$\{?([a-z]\w*)\}?/g)].map(([, name = '']) => name))
  expect(used).toEqual(names)
})

test('no two panels have one id or one place, and none hangs over the edge', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const taken = new Set<string>()
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken.has(`${x} ${y}`), `${title} covers another panel`).toBe(false)
        taken.add(`${x} ${y}`)
      }
  }
})

test('each panel has a title and asks something, under letters of its own', () => {
  for (const { title, targets = [] } of shown) {
    expect(title).not.toBe('')
    expect(targets.length, title).toBeGreaterThan(0)
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
  }
})

describe('every query', () => {
  test.each(expressions)('%s: %s', (_title, expr) => expect(strangers(expr)).toEqual([]))

  test('of a variable names only what is served', () => {
    for (const { query } of variables.slice(1)) {
      const [, metric = '', label = ''] = /label_values\((\w+), (\w+)\)/.exec((query as { query: string }).query) ?? []
      expect(strangers(`sum by (${label}) (${metric})`)).toEqual([])
    }
  })

  test.skipIf(withoutPromtool)('is PromQL', () => {
    const rules = expressions.map(([, expr], n) => `    - record: r${n}\n      expr: ${JSON.stringify(expr)}`)
    const directory = mkdtempSync(join(tmpdir(), 'lifeboat-dashboard-'))
    try {
      const file = join(directory, 'queries.rules')
      writeFileSync(file, `groups:\n- name: dashboard\n  rules:\n${rules.join('\n')}\n`)
      expect(promtool(['check', 'rules', file])).toContain(`SUCCESS: ${expressions.length} rules found`)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
