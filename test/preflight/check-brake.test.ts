import { expect, it } from 'vitest'
import { brakeLines } from '../../src/preflight/check-brake.ts'

const cloud = {
  ...{ maxHosts: 4, maxShare: 0.25, failureDomain: null, coolDownMs: 600_000 },
  ...{ steadyMs: 300_000, siteLossShare: 0.5 },
}
const limits = { maxHosts: 2, maxShare: 0.25 }
const of = (segment: string, hosts: number) => Array.from({ length: hosts }, () => ({ segment, limits }))
const said = (...all: Parameters<typeof brakeLines>) =>
  brakeLines(...all).map(({ result, message }) => `${result}: ${message}`)

it('says how many hosts may be recovered at once, in the cloud and in each segment that has hosts', () => {
  expect(said(cloud, [...of('az1', 4), ...of('az2', 12)])).toEqual([
    'ok: at once: 4 of 16 hosts, 1 of 4 in az1, 2 of 12 in az2, each counted for 10m at least; beyond that, recoveries wait until hosts return or a person decides',
  ])
})

it('a quarter of six hosts is one', () => {
  expect(said(cloud, of('az1', 6))[0]).toContain('at once: 1 of 6 hosts, 1 of 6 in az1,')
})

it('names no cool-down where there is none, and eight scopes at most', () => {
  const many = Array.from({ length: 9 }, (_, n) => of(`s${n}`, 1)).flat()
  expect(said({ ...cloud, coolDownMs: 0 }, many)[0]).toMatch(/1 of 1 in s6 and 2 more segments; beyond/)
})

it('says nothing of a cloud without hosts', () => {
  expect(said(cloud, [])).toEqual([])
})
