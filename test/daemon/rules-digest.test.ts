/** Which daemons of one cloud have the same rules: a difference here is an alert, because a take-over would change what a recovery does. */
import { describe, expect, it } from 'vitest'
import { rulesDigest } from '../../src/daemon/rules-digest.ts'
import { parse } from '../config/configurations.ts'

const shipped = { host: { digest: 'h' }, process: { digest: 'p' }, instance: { digest: 'i' } }

const rules = (extra: string, workflows = shipped, zone = 'UTC'): string =>
  rulesDigest(parse(`mode: observe\n${extra}`, { SECRET: 'x', OTHER: 'y' }), workflows, zone)

const window = (more: string): string =>
  `{ kind: pause, schedule: '0 2 * * 6', duration: 2h, reason: r, scope: { hosts: [a, b] }, ${more} }`

const segments = (...names: string[]): string =>
  `segments: [${names.map((name) => `{ name: ${name}, match: { hosts: [cmp*] } }`).join(', ')}]`

const off = "{ kind: command, fence: [off, '{host}'], verify: [is-off, '{host}'] }"
const fencing = (order: string): string => `fencing: { x: ${off}, y: ${off} }\ndefaults: { fencing: [${order}] }`

describe("the digest of a daemon's rules is the same on two machines", () => {
  it.each([
    'state_dir: /elsewhere',
    'socket: /elsewhere/socket',
    'http: { listen: 127.0.0.1:1 }',
    'web: { session: 1h }',
    'log: { level: debug }',
  ])('that differ in %s', (own) => expect(rules(own)).toBe(rules('')))

  it('where only the order differs in which names, windows and hosts are written', () => {
    const one = `
hosts: { a: { x: '1', y: '2' }, b: {} }
segments: [{ name: s, match: { hosts: [a, b], zones: [z1, z2] } }]
maintenance_windows: [${window('name: w1')}, ${window('name: w2')}]`
    const other = `
segments: [{ match: { zones: [z2, z1], hosts: [b, a] }, name: s }]
maintenance_windows: [${window('name: w2').replace('[a, b]', '[b, a]')}, ${window('name: w1')}]
hosts: { b: {}, a: { y: '2', x: '1' } }`
    expect(rules(one)).toBe(rules(other))
  })

  it('that have the same secrets from different places, or different secrets', () => {
    const bmc = (password: string): string =>
      `probes: { bmc: { kind: redfish, system: 'https://{host}/1', username: u, password_env: ${password} } }`
    expect(rules(bmc('SECRET'))).toBe(rules(bmc('OTHER')))
  })

  it('in different zones, where each window names its own', () => {
    const named = `maintenance_windows: [${window('name: w, timezone: Europe/Berlin')}]`
    expect(rules(named, shipped, 'Asia/Tokyo')).toBe(rules(named))
  })
})

describe('it differs', () => {
  it.each([
    'monitor: { poll_interval: 9s }',
    'fence_retry: 7s',
    'fence_retry_max: 7h',
    'api: { write_timeout: 50s }',
    `maintenance_windows: [${window('name: w')}]`,
    'notices: { queue_limit: 7 }',
  ])('where a recovery would: %s', (changed) => expect(rules(changed)).not.toBe(rules('')))

  it.each(['host', 'process', 'instance'] as const)('where the workflow for %s failures does', (kind) =>
    expect(rules('', { ...shipped, [kind]: { digest: 'another' } })).not.toBe(rules('')),
  )

  it('where two workflows are exchanged', () =>
    expect(rules('', { ...shipped, host: { digest: 'p' }, process: { digest: 'h' } })).not.toBe(rules('')))

  it('where the leases do: who follows must know how long to wait', () => {
    const shared = (lease: string): string =>
      rules(`shared_journal: { nodes: ['192.0.2.11:3306'], password_env: SECRET, lease: ${lease} }`)
    expect(shared('6s')).not.toBe(shared('7s'))
  })

  it.each([
    ['segments are asked', segments('a', 'b'), segments('b', 'a')],
    ['fencing methods are tried', fencing('x, y'), fencing('y, x')],
    [
      'the words of a command stand',
      'probes: { p: { kind: command, argv: [a, b, c] } }',
      'probes: { p: { kind: command, argv: [a, c, b] } }',
    ],
  ])('where the order does in which %s', (_what, one, other) => expect(rules(one)).not.toBe(rules(other)))

  it('in different zones, where a window is in that of the machine', () => {
    const unnamed = `maintenance_windows: [${window('name: w')}]`
    expect(rules(unnamed, shipped, 'Asia/Tokyo')).not.toBe(rules(unnamed))
  })
})
