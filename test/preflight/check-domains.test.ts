import { expect, it } from 'vitest'
import { domainLines } from '../../src/preflight/check-domains.ts'
import type { Aggregate } from '../../src/domain/instance.ts'

const aggregate = (hosts: string[], metadata: Record<string, string>): Aggregate => ({
  name: 'a',
  availabilityZone: null,
  hosts,
  metadata,
})
const said = (key: string | null, hosts: string[], ...aggregates: Aggregate[]): string[] =>
  domainLines(key, hosts, aggregates).map(({ result, message }) => `${result}: ${message}`)

it('says nothing when no failure domains are configured', () => {
  expect(said(null, ['h1'], aggregate(['h1'], { rack: 'a' }))).toEqual([])
})

it('says that a key which no aggregate has protects nothing', () => {
  const nothing = ['warn: no aggregate names the rakc of a host, so the brake knows none']
  expect(said('rakc', ['h1', 'h2'], aggregate(['h1', 'h2'], { rack: 'a' }))).toEqual(nothing)
  expect(said('rakc', ['h1'], aggregate(['h1'], { rakc: '' }))).toEqual(nothing)
})

it('counts the hosts of each', () => {
  const racks = [
    aggregate(['h3'], { rack: 'b' }),
    aggregate(['h1', 'h2'], { rack: 'a' }),
    aggregate(['h1'], { rack: 'a' }),
  ]
  expect(said('rack', ['h1', 'h2', 'h3'], ...racks)).toEqual(['ok: rack: a (2), b (1)'])
})

it('names hosts that have none, ten at most, and hosts that have two', () => {
  const hosts = Array.from({ length: 13 }, (_, n) => `h${n}`)
  const racks = [aggregate(['h0', 'h1'], { rack: 'a' }), aggregate(['h0'], { rack: 'b' })]
  expect(said('rack', hosts, ...racks)).toEqual([
    'ok: rack: a (2), b (1)',
    'warn: 11 of 13 hosts have no rack: h2, h3, h4, h5, h6, h7, h8, h9, h10, h11 and 1 more',
    'warn: in more than one rack: h0',
  ])
  expect(said('rack', hosts.slice(0, 12), ...racks)[1]).toBe(
    'warn: 10 of 12 hosts have no rack: h2, h3, h4, h5, h6, h7, h8, h9, h10, h11',
  )
})
