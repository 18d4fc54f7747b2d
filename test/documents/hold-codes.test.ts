/** A person who meets a held incident finds its code in an alert, in the runbook, on the dashboard, and in the architecture. */
import { describe, expect, it } from 'vitest'
import { holdCodes, holdsForAPerson, type HoldCode } from '../../src/domain/incident-phases.ts'
import { rules } from '../telemetry/rules.ts'
import { textOf } from './files.ts'

const runbook = textOf('docs/runbook.md')
const architecture = textOf('docs/architecture.md')
const codes = Object.keys(holdCodes) as HoldCode[]
/** Of older journals alone. */
const past = ['JOURNAL_UNAVAILABLE']
/** Every instance has its outcome: there is nothing to wake a person for. */
const quiet = ['LATE_LOCK']
/** The alert of whatever else is held for long. */
const anyHold = 'LifeboatIncidentHeld'

/** Whether an expression picks incidents that this holds. */
function picks(expr: string, code: string): boolean {
  return [...expr.matchAll(/lifeboat_incidents\{[^}]*?held(!~|=~|!=|=)"([^"]*)"/g)].some(
    ([, operator = '', value = '']) => {
      const matches = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(code) : value === code
      return matches === !operator.startsWith('!')
    },
  )
}

/** The alerts that fire for a hold, by their matchers. */
const alertsOf = (code: string): string[] => rules.filter(({ expr }) => picks(expr, code)).map(({ alert }) => alert)

/** A section of the runbook. */
const section = (alert: string): string => runbook.split(/^## /m).find((one) => one.startsWith(`${alert}\n`)) ?? ''

it.each(codes)('%s has its place in the architecture', (code) => {
  expect(past.includes(code) || architecture.includes(`\`${code}\``)).toBe(true)
})

/** Of the table of what stops a recovery: codes, and the files in which they are said to be decided. */
const stops = architecture.split('\n').flatMap((line) => {
  const [, , held = '', where = ''] = /^\| ([^|]+) \| ([^|]+) \| ([^|]+\.ts[^|]*) \|$/.exec(line)?.map(String) ?? []
  const files = [...where.matchAll(/`([\w/-]+\.ts)`/g)].flatMap(([, file]) => file ?? [])
  return [...held.matchAll(/`([A-Z_]+)`/g)].map(([, code = '']) => ({ code, files }))
})

it.each(stops.filter(({ code }) => codes.includes(code as HoldCode) && !past.includes(code)))(
  '$code is decided where the architecture says so',
  ({ code, files }) => expect(files.some((file) => textOf(`src/${file}`).includes(code))).toBe(true),
)

describe('the alert of a hold', () => {
  it.each(codes)(
    'for %s is one, unless nobody need be woken, and its section of the runbook says what to do',
    (code) => {
      const alerts = alertsOf(code)
      expect(alerts).toHaveLength(quiet.includes(code) ? 0 : 1)
      expect(section(alerts[0] ?? anyHold)).toContain(`\`${code}\``)
    },
  )

  // The brake has an alert of its own, by scope: this one tells of the incident that it holds.
  it.each(codes.filter((code) => holdsForAPerson.has(code) && code !== 'BRAKE'))(
    'for %s says that a person is needed',
    (code) => {
      expect(alertsOf(code)).not.toEqual([anyHold])
    },
  )

  it.each(codes.filter((code) => !holdsForAPerson.has(code) && !quiet.includes(code)))(
    'for %s is the one that waits a while',
    (code) => expect(alertsOf(code)).toEqual([anyHold]),
  )
})

it('the dashboard counts exactly the incidents that ask for a person', () => {
  const { panels } = JSON.parse(textOf('config/grafana/lifeboat.json')) as {
    panels: { title: string; targets?: { expr: string }[] }[]
  }
  const exprs = panels.find(({ title }) => title === 'Need a person')?.targets?.map(({ expr }) => expr) ?? []
  expect(codes.filter((code) => exprs.some((expr) => picks(expr, code)))).toEqual(
    codes.filter((code) => holdsForAPerson.has(code)),
  )
})
