/** `lifeboat open`: which page a name means, and where the pages are. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listenForOperators } from '../../src/api/index.ts'
import type { FoundInstance, SearchResult } from '../../src/domain/review.ts'
import { fakeOperations } from '../api/fake-operations.ts'
import { fakeReview } from '../api/fake-review.ts'
import { anIncident, run, standingClock, type Ran } from './fake-commands.ts'
import { FakeScreen } from './screens.ts'

describe('the pages', () => {
  it.each([
    ['where people find them', 'notices: { link: "https://ha.example/lifeboat/" }', 'https://ha.example/lifeboat/'],
    ['on this machine, where no link is set', '', 'http://127.0.0.1:9394/'],
    [
      'on the loopback of all addresses',
      'web: { listen: 0.0.0.0:80, insecure_plaintext: true }',
      'http://127.0.0.1:80/',
    ],
    ['and of IPv6', 'web: { listen: "[::]:80", insecure_plaintext: true }', 'http://[::1]:80/'],
    ['by TLS', 'web: { listen: "ha.example:443", tls: { certificate: c, key: k } }', 'https://ha.example:443/'],
  ])('are %s', async (_where, config, address) => {
    expect(await run(['open'], {}, { config })).toEqual({ exit: 0, err: '', out: `${address}\n` })
  })

  it.each([
    ['web: { listen: false }', 'the daemon serves no pages: web.listen is false'],
    ['web: { listen: 127.0.0.1:0 }', 'web.listen takes any free port'],
  ])('are nowhere with %s, and what to set is said', async (config, why) => {
    const { exit, out, err } = await run(['open'], {}, { config })
    expect([exit, out]).toEqual([78, ''])
    expect(err).toContain(why)
    expect(err).toContain('set notices.link')
  })

  it('of this machine alone are told to be so, on a terminal', async () => {
    const { screen } = new FakeScreen().terminal()
    const asked = (config: string): Promise<Ran> => run(['open'], {}, { config, terminal: { screen } })
    expect((await asked('')).err).toContain('only this machine reaches it')
    expect((await asked('notices: { link: "https://ha.example" }')).err).toBe('')
  })
})

describe('a page', () => {
  const incident = (id: string) => ({ ...anIncident, id, signedOff: null })
  const instance = (id: string, name: string): FoundInstance => ({
    ...{ id, name, projectId: 'p', incident: 'i-1', host: 'cmp01', openedAt: '2026-01-02T03:04:05.000Z' },
    ...{ outcome: 'recovered', landedOn: 'cmp02', incidents: 1 },
  })
  const known = {
    hosts: ['cmp01', 'cmp010'].map((host) => ({
      host,
      segment: 'ceph',
      verdict: 'healthy' as const,
      reason: 'BEATING' as const,
      returning: null,
    })),
    incidents: [incident('20260102T030000Z-cmp01'), incident('20260101T000000Z-db-host')],
    instances: [instance('u-1', 'web-7'), instance('u-2', 'web-70'), instance('u-3', 'twin'), instance('u-4', 'twin')],
  }
  const search = (text: string): SearchResult => {
    const has = (...names: string[]): boolean => names.some((name) => name.toLowerCase().includes(text.toLowerCase()))
    return {
      hosts: known.hosts.filter(({ host }) => has(host)),
      incidents: known.incidents.filter(({ id }) => has(id)),
      instances: known.instances.filter(({ id, name }) => has(id, name)),
      more: text === 'db',
      unlisted: [],
    }
  }

  let directory = ''
  let daemon: { close(): Promise<void> }
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lb-'))
    const { operations } = fakeOperations({ incidents: () => known.incidents })
    const sources = { operations, review: fakeReview([], { search }), clock: standingClock }
    daemon = await listenForOperators(sources, join(directory, 'lifeboat.sock'))
  })
  afterEach(() => daemon.close())
  const open = (wanted: string): Promise<Ran> =>
    run(['open', wanted], {}, { config: `state_dir: ${directory}\nnotices: { link: "https://ha.example" }\n` })

  it.each([
    ['a host, whose incidents have its name too', 'cmp01', 'hosts/cmp01'],
    ['a host in other letters', 'CMP01', 'hosts/cmp01'],
    ['an incident', '20260102T030000Z-cmp01', 'incidents/20260102T030000Z-cmp01'],
    ['an incident by the beginning of its id', '20260102', 'incidents/20260102T030000Z-cmp01'],
    ['the newest incident', 'latest', 'incidents/20260102T030000Z-cmp01'],
    ['an instance by name, though another one has more of it', 'web-7', 'instances/u-1'],
    ['an instance by UUID', 'u-2', 'instances/u-2'],
  ])('of %s', async (_what, wanted, page) => {
    expect(await open(wanted)).toEqual({ exit: 0, err: '', out: `https://ha.example/${page}\n` })
  })

  it.each([
    ['instances of one name', 'twin', ['instances/u-3', 'instances/u-4']],
    ['names that come close', 'web', ['instances/u-1', 'instances/u-2']],
    ['more than were looked for', 'db', ['incidents/20260101T000000Z-db-host']],
  ])('is not guessed among %s: they are offered', async (_what, wanted, pages) => {
    const { exit, out, err } = await open(wanted)
    expect([exit, out]).toEqual([2, ''])
    expect(err).toBe(
      `lifeboat: ${wanted} may be several pages: give more of the name [USAGE]\n${pages.map((page) => `  https://ha.example/${page}\n`).join('')}`,
    )
  })

  it('of nothing that is known is refused', async () => {
    expect(await open('nowhere')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('no incident nowhere') as string,
    })
    expect((await open(' ')).exit).toBe(2)
  })
})
