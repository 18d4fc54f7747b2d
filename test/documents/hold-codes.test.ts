/** Whoever meets a held incident finds its code in the runbook, and where it is decided in the architecture. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { holdCodes } from '../../src/domain/incident-phases.ts'

const page = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
const runbook = page('runbook.md')
const architecture = page('architecture.md')
/** Of older journals alone. */
const past = ['JOURNAL_UNAVAILABLE']

it.each(Object.keys(holdCodes))('%s has its place in the runbook and in the architecture', (code) => {
  expect(runbook).toMatch(new RegExp(`\\b${code}\\b`))
  expect(past.includes(code) || architecture.includes(`\`${code}\``)).toBe(true)
})
