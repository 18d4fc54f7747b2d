import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listenForOperators } from '../../src/api/index.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { HostDetail, HostStatus, IncidentSummary, Operations } from '../../src/domain/operations.ts'
import type { Order } from '../../src/domain/order.ts'
import { awayAfterIncident } from '../../src/domain/verdict.ts'
import type { Review } from '../../src/domain/review.ts'
import { aSegmentStatus } from './segments.ts'
import { fakeReview } from '../api/fake-review.ts'
import { aHost, aMaintenance, aStatus, fakeOperations } from '../api/fake-operations.ts'
import { anIncident, type Ran, run, standingClock } from './fake-commands.ts'

let directory = ''
let server: { close(): Promise<void> } | null = null
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lb-'))
})
afterEach(async () => {
  await server?.close()
  server = null
})

async function withDaemon(replace: Partial<Operations> = {}, review: Partial<Review> = {}): Promise<unknown[][]> {
  const { operations, asked } = fakeOperations(replace)
  server = await listenForOperators(
    {
      operations,
      review: fakeReview(asked, review),
      clock: standingClock,
    },
    join(directory, 'lifeboat.sock'),
  )
  return asked
}
const lifeboat = (argv: string[], env: Record<string, string> = {}): Promise<Ran> =>
  run(argv, {}, { config: `state_dir: ${directory}\n`, env })

function returningHost(host: string, returning: HostStatus['returning']): HostStatus {
  return {
    ...aHost,
    host,
    returning,
    ...(returning !== null && { status: 'disabled', state: 'down', forcedDown: true }),
  }
}

describe('beside a running daemon', () => {
  it('status, for people and for machines', async () => {
    await withDaemon()
    const { exit, out } = await lifeboat(['status'])
    expect(exit).toBe(0)
    expect(out).toMatch(/\| Hosts +\| 3 healthy, 1 host-down/)
    expect(out).toMatch(/\| Brake +\| not tripped/)
    expect(JSON.parse((await lifeboat(['status', '-f', 'json', '-c', 'Mode', '-c', 'Incidents'])).out)).toEqual({
      Mode: 'armed',
      Incidents: { open: 1, held: 0, unsettled: { incidents: 0, left: 0, lost: 0 } },
    })
  })

  it('status says what is over and not signed off, with the command that leads on', async () => {
    const unsettled = { incidents: 2, left: 2, lost: 1 }
    await withDaemon({ status: () => ({ ...aStatus, incidents: { open: 0, held: 0, unsettled } }) })
    expect((await lifeboat(['status'])).out).toContain(
      '| 2 over and not signed off (1 failed or stuck, 2 left): lifeboat incident list --unsettled |',
    )
  })

  it('status says which scopes the brake holds, with numbers and since when', async () => {
    const scope = {
      scope: 'cloud',
      kind: 'cloud',
      title: 'the cloud',
      down: 3,
      cooling: 0,
      allowed: 2,
      fleet: 4,
    } as const
    const tripped = { ...scope, hosts: [], trippedSince: '2026-01-02T03:04:05.000Z', message: '3 of 4 hosts are down' }
    await withDaemon({ status: () => ({ ...aStatus, brake: [tripped, { ...tripped, message: 'and more' }] }) })
    const { out } = await lifeboat(['status'])
    expect(out).toMatch(/\| Brake +\| holds since 2026-01-02 03:04:05Z: 3 of 4 hosts are down/)
    expect(out).toMatch(/\| +\| holds since 2026-01-02 03:04:05Z: and more/)
    expect(JSON.parse((await lifeboat(['status', '-f', 'json', '-c', 'Brake'])).out)).toMatchObject({
      Brake: [{ scope: 'cloud', down: 3, allowed: 2 }, {}],
    })
  })

  it('recover carries the word of the person behind sudo', async () => {
    const asked = await withDaemon()
    const { out } = await lifeboat(['recover', 'cmp01', '--proof', 'I pulled its cords'], {
      USER: 'root',
      SUDO_USER: 'bob',
    })
    expect(asked).toEqual([['recover', { host: 'cmp01', by: 'bob', proof: 'I pulled its cords', unixUser: 'bob' }]])
    expect(out).toContain('lifeboat incident show i-1')
  })

  it('host return lets a host back, and --keep-out needs a reason', async () => {
    const asked = await withDaemon()
    expect((await lifeboat(['host', 'return', 'cmp01.example', '--reason', 'new memory'])).out).toContain('may return')
    expect((await lifeboat(['host', 'return', 'cmp01'])).exit).toBe(0)
    expect((await lifeboat(['host', 'return', 'cmp01', '--keep-out'])).exit).toBe(2)
    const kept = await lifeboat(['host', 'return', 'cmp01', '--keep-out', '--reason', 'bad memory'])
    expect(kept.out).toContain('cmp01 is kept out until someone returns it to service')
    const order = { host: 'cmp01', by: 'alice', reason: '', keepOut: false }
    expect(asked).toEqual([
      ['returnHost', { ...order, host: 'cmp01.example', reason: 'new memory' }],
      ['returnHost', order],
      ['returnHost', { ...order, reason: 'bad memory', keepOut: true }],
    ])
  })

  it('host list has a column for returns only while there is one', async () => {
    const healthy = returningHost('cmp02', null)
    const hosts = [healthy]
    await withDaemon({ hosts: () => hosts })
    expect((await lifeboat(['host', 'list'])).out).not.toContain('Return')
    // Programs that ask for it find it always.
    expect((await lifeboat(['host', 'list', '-f', 'value', '-c', 'Return'])).exit).toBe(0)
    hosts.push(returningHost('cmp01', 'proving'))
    expect((await lifeboat(['host', 'list'])).out).toMatch(/\| Return +\|/)
    hosts.push({ ...returningHost('cmp03', 'away'), verdict: 'returning', reason: awayAfterIncident })
    // People read what it is; programs its stable name.
    expect((await lifeboat(['host', 'list', '-c', 'Verdict'])).out).toMatch(/\| away +\|/)
    expect(JSON.parse((await lifeboat(['host', 'list', '-f', 'json', '-c', 'Verdict'])).out)).toContainEqual({
      Verdict: 'returning',
    })
    hosts.pop()
    const rows = JSON.parse((await lifeboat(['host', 'list', '-f', 'json', '-c', 'Host', '-c', 'Return'])).out)
    expect(rows).toEqual([
      { Host: 'cmp01', Return: 'proving' },
      { Host: 'cmp02', Return: null },
    ])
  })

  it('host show says what is ours, how far its return is and what stays behind', async () => {
    const host = (name: string): HostDetail => ({
      ...returningHost(name, 'settling'),
      updatedAt: '2026-01-02T03:00:00.000000',
      disabledReason: 'lifeboat: incident i-1',
      mark: {
        incidents: ['i-1'],
        serviceId: 's',
        forcedDown: true,
        disabled: true,
        reasons: ['lifeboat: incident i-1'],
      },
      return: {
        state: 'settling',
        code: 'NEEDS_ANOTHER_START',
        message: 'Its nova-compute needs another start',
        since: '2026-01-02T03:01:00.000Z',
        leftovers: [{ code: 'NEEDS_ANOTHER_START', message: 'web: evacuation m-1', instance: 'web' }],
        order: { by: 'bob', reason: '', keepOut: true, at: '2026-01-02T03:02:00.000Z' },
      },
      returnRules: { mode: 'confirm', healthyMs: 300_000, maxReturns: 3, withinMs: 1_800_000, startStopped: 'ask' },
      incidents: [],
    })
    await withDaemon({ host })
    const { out } = await lifeboat(['host', 'show', 'cmp01'])
    for (const text of [
      'forced_down and disabled, by incident i-1',
      'settling since 2026-01-02 03:01:00Z: Its nova-compute needs another start',
      'kept out by bob at 2026-01-02 03:02:00Z',
      'NEEDS_ANOTHER_START: web: evacuation m-1',
      'after confirmation, healthy for 5 min, at most 3 failures in 30 min',
      'disabled (lifeboat: incident i-1), down (forced)',
    ])
      expect(out).toContain(text)
  })

  it('pause --for ends by itself at that time', async () => {
    const asked = await withDaemon()
    await lifeboat(['pause', '--for', '2h', '--reason', 'switch upgrade'])
    expect(asked).toEqual([['pause', { by: 'alice', reason: 'switch upgrade', until: '2026-01-02T05:04:05.000Z' }]])
  })

  it('pause and resume of a host or a segment', async () => {
    const asked = await withDaemon()
    const { out } = await lifeboat(['pause', '--segment', 'ceph', '--reason', 'switch upgrade'])
    await lifeboat(['resume', '--host', 'cmp01', '--reason', 'done'])
    expect(asked).toEqual([
      ['pause', { by: 'alice', reason: 'switch upgrade', until: null, scope: { kind: 'segment', name: 'ceph' } }],
      ['resume', { by: 'alice', reason: 'done', scope: { kind: 'host', name: 'cmp01' } }],
    ])
    expect(out).toBe('Paused until someone resumes: nothing of segment ceph is recovered meanwhile\n')
  })

  it('maintenance of one host, the short way, and its end', async () => {
    const asked = await withDaemon()
    const scope = { kind: 'host', name: 'cmp01' }
    const { out } = await lifeboat(['host', 'maintenance', 'cmp01', '--reason', 'firmware', '--for', '4h'])
    await lifeboat(['host', 'maintenance', 'cmp01', '--reason', 'done', '--end'])
    expect(asked).toEqual([
      ['startMaintenance', { by: 'alice', reason: 'firmware', until: '2026-01-02T07:04:05.000Z', scope }],
      ['endMaintenance', { by: 'alice', reason: 'done', scope }],
    ])
    expect(out).toBe(
      'Host cmp01 is in maintenance until 2026-01-02 07:04:05Z; if it is down when the maintenance ends, Lifeboat recovers it\n',
    )
  })

  it('maintenance for a later time: the daemon reads the time, and both zones are said', async () => {
    const asked = await withDaemon()
    const scope = { kind: 'host', name: 'cmp01' }
    const at = ['--at', '2026-01-03 03:00', '--for', '4h', '--reason', 'firmware']
    const { out } = await lifeboat(['maintenance', 'start', '--host', 'cmp01', ...at])
    const short = await lifeboat(['host', 'maintenance', 'cmp01', ...at])
    const order = { by: 'alice', reason: 'firmware', from: '2026-01-03 03:00', until: null, forMs: 14_400_000, scope }
    expect(asked).toEqual([
      ['planMaintenance', order],
      ['planMaintenance', order],
    ])
    expect(out).toBe(
      'Host cmp01 goes into maintenance at 2026-01-03 03:00 Europe/Berlin (2026-01-03 02:00:00Z) until 2026-01-03 07:00 Europe/Berlin (2026-01-03 06:00:00Z); if it is down when the maintenance ends, Lifeboat recovers it\nPlan 7; to withdraw it: lifeboat maintenance withdraw 7 --reason "…"\n',
    )
    expect(short.out).toBe(out)
  })

  it('what is over or done already is a conflict, and no slip: a script can tell a race from a typo', async () => {
    const over = (): Promise<never> => Promise.reject(new LifeboatError('CONFLICT', 'Incident i-1 is over (done)'))
    await withDaemon({ cancel: over, endMaintenance: over })
    for (const argv of [
      ['incident', 'cancel', 'i-1', '--reason', 'x'],
      ['maintenance', 'end', '--cloud', '--reason', 'x'],
    ])
      expect(await lifeboat(argv)).toMatchObject({ exit: 3, err: 'lifeboat: Incident i-1 is over (done) [CONFLICT]\n' })
  })

  it('a time that the daemon refuses is a slip, said in its words', async () => {
    await withDaemon({
      planMaintenance: () => Promise.reject(new LifeboatError('USAGE', '"tomorrow" is no time; allowed are …')),
    })
    expect(await lifeboat(['maintenance', 'start', '--cloud', '--at', 'tomorrow', '--reason', 'x'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('"tomorrow" is no time; allowed are …'),
    })
  })

  it('a plan is withdrawn by its number', async () => {
    const asked = await withDaemon()
    const { out } = await lifeboat(['maintenance', 'withdraw', '7', '--reason', 'no parts'])
    expect(asked).toEqual([['withdrawMaintenance', { by: 'alice', reason: 'no parts', plan: 7 }]])
    expect(out).toBe('Maintenance 7 is withdrawn: it will not begin\n')
  })

  it('maintenance list has what is planned, the calendar’s next openings, and what stands against them', async () => {
    const scope = { kind: 'host', name: 'cmp01' } as const
    const from = '2026-01-03T02:00:00.000Z'
    await withDaemon({
      maintenance: () => ({
        ...aMaintenance,
        planned: [
          {
            ...{ plan: 7, kind: 'maintenance', scope, by: 'ann', reason: 'fan', orderedAt: '2026-01-02T03:00:00.000Z' },
            ...{ from, until: '2026-01-03T06:00:00.000Z' },
          },
        ],
        windows: [
          {
            ...{ name: 'night', kind: 'pause', scopes: [scope], schedule: '0 2 * * *', timezone: 'UTC', reason: 'net' },
            next: [
              { from: '2026-01-04T02:00:00.000Z', until: '2026-01-04T03:00:00.000Z' },
              { from: '2026-01-05T02:00:00.000Z', until: '2026-01-05T03:00:00.000Z' },
            ],
          },
        ],
        conflicts: [
          { code: 'WHOLE_SEGMENT', from, message: 'All 2 hosts of a', segment: 'a', host: null, incident: null },
        ],
      }),
    })
    const { out } = await lifeboat(['maintenance', 'list'])
    expect(out).toMatch(/maintenance +\| host cmp01 +\| planned +\| 7 +\| ann +\| 2026-01-03 02:00:00Z/)
    expect(out).toMatch(/pause +\| host cmp01 +\| calendar +\| +\| calendar:night +\| 2026-01-04 02:00:00Z/)
    expect(out).not.toContain('2026-01-05')
    expect(out).toMatch(/\nConflict from 2026-01-03 03:00 Europe\/Berlin \(2026-01-03 02:00:00Z\): All 2 hosts of a\n$/)
    expect(JSON.parse((await lifeboat(['maintenance', 'list', '-f', 'json'])).out)).toHaveLength(2)
  })

  it('maintenance of a segment and of the whole cloud', async () => {
    const asked = await withDaemon()
    await lifeboat(['maintenance', 'start', '--cloud', '--reason', 'move'])
    await lifeboat(['maintenance', 'end', '--segment', 'ceph', '--reason', 'done'])
    expect(asked).toEqual([
      ['startMaintenance', { by: 'alice', reason: 'move', until: null, scope: { kind: 'cloud', name: null } }],
      ['endMaintenance', { by: 'alice', reason: 'done', scope: { kind: 'segment', name: 'ceph' } }],
    ])
  })

  it.each([
    [['maintenance', 'start', '--reason', 'x']],
    [['maintenance', 'end', '--reason', 'x']],
    [['maintenance', 'start', '--cloud', '--host', 'a', '--reason', 'x']],
    [['maintenance', 'start', '--cloud']],
    [['maintenance', 'start', '--cloud', '--reason', 'x', '--for', '31d']],
    [['maintenance', 'start', '--cloud', '--reason', 'x', '--for', '0s']],
    [['pause', '--host', 'a', '--segment', 'b', '--reason', 'x']],
    [['pause', '--host', ' ', '--reason', 'x']],
    [['host', 'maintenance', 'cmp01', '--end', '--for', '1h', '--reason', 'x']],
    [['host', 'maintenance', 'cmp01', '--end', '--at', '2026-01-03 03:00', '--reason', 'x']],
    [['maintenance', 'start', '--cloud', '--at', ' ', '--reason', 'x']],
    [['maintenance', 'withdraw', 'cmp01', '--reason', 'x']],
    [['maintenance', 'withdraw', '7']],
    [['host', 'maintenance', 'cmp01']],
  ])('%j is a slip, and nothing is ordered', async (argv) => {
    const asked = await withDaemon()
    expect((await lifeboat(argv)).exit).toBe(2)
    expect(asked).toEqual([])
  })

  it('the longest maintenance is thirty days', async () => {
    const asked = await withDaemon()
    await lifeboat(['maintenance', 'start', '--host', 'a', '--reason', 'x', '--for', '30d'])
    expect(asked).toMatchObject([['startMaintenance', { until: '2026-02-01T03:04:05.000Z' }]])
  })

  it('status, host list and maintenance list say what is in force, by whom and until when', async () => {
    const standingOrders: Order[] = [
      {
        kind: 'maintenance',
        scope: { kind: 'host', name: 'cmp01' },
        by: 'ann',
        reason: 'firmware',
        since: '2026-01-02T03:00:00.000Z',
        until: '2026-01-02T07:00:00.000Z',
        source: null,
      },
      {
        kind: 'pause',
        scope: { kind: 'cloud', name: null },
        by: 'bob',
        reason: 'move',
        since: '2026-01-02T03:00:00.000Z',
        until: null,
        source: null,
      },
    ]
    await withDaemon({
      status: () => ({ ...aStatus, standingOrders }),
      hosts: () => [{ ...aHost, standingOrders }],
      maintenance: () => ({ ...aMaintenance, inForce: standingOrders }),
    })
    const lines = [
      'maintenance by ann until 2026-01-02 07:00:00Z: firmware',
      'pause by bob until someone ends it: move',
    ]
    const status = (await lifeboat(['status'])).out
    const hosts = (await lifeboat(['host', 'list'])).out
    for (const line of lines) {
      expect(status).toContain(line)
      expect(hosts).toContain(line)
    }
    expect(status).toContain('host cmp01: maintenance by ann')
    expect((await lifeboat(['maintenance', 'list', '-f', 'csv'])).out.split('\n').slice(1, 3)).toEqual([
      expect.stringMatching(/^"?maintenance"?,.*cmp01/),
      expect.stringMatching(/^"?pause"?,.*cloud/),
    ])
    expect((await lifeboat(['maintenance', 'list'])).out).toMatch(
      /pause +\| the whole cloud +\| in force +\| +\| bob .*\| until someone ends it/,
    )
  })

  it('override, cancel and resume', async () => {
    const asked = await withDaemon()
    await lifeboat(['incident', 'override', 'i/1', '--reason', 'one rack'])
    await lifeboat(['incident', 'cancel', 'i-2', '--reason', 'host is back'])
    await lifeboat(['resume', '--reason', 'done'])
    expect(asked).toEqual([
      ['override', 'i/1', { by: 'alice', reason: 'one rack' }],
      ['cancel', 'i-2', { by: 'alice', reason: 'host is back' }],
      ['resume', { by: 'alice', reason: 'done' }],
    ])
  })

  it('segment list and show: hosts, how they are, and every rule', async () => {
    await withDaemon({}, { segments: () => [aSegmentStatus, { ...aSegmentStatus, name: 'default:nova', hosts: [] }] })
    const list = (await lifeboat(['segment', 'list'])).out
    expect(list).toMatch(/\| ceph +\| 2 +\| 1 healthy, 1 host-down \| i-1 +\| shared +\| bmc, ipmi/)
    expect(list).toMatch(/\| default:nova +\| 0 /)
    const shown = (await lifeboat(['segment', 'show', 'ceph'])).out
    expect(shown).toMatch(/\| Hosts +\| cmp01, cmp02/)
    expect(shown).toMatch(/\| Brake +\| at most 2 hosts and 25 % of them at once/)
    expect(await lifeboat(['segment', 'show', 'cehp'])).toEqual({
      exit: 1,
      out: '',
      err: 'lifeboat: There is no segment cehp\n  segments: ceph, default:nova\n',
    })
  })

  it('notes and sign-off carry the name of anyone who speaks', async () => {
    const asked = await withDaemon()
    expect((await lifeboat(['incident', 'note', 'i-1', 'the PSU of rack 3'])).exit).toBe(0)
    const { out } = await lifeboat(['incident', 'sign-off', 'i-1', '--reason', 'hardware; ticket 7'])
    expect(out).toBe('Incident i-1 is signed off by alice at 2026-01-02 03:04:05Z\n')
    expect(asked).toEqual([
      ['note', 'i-1', { by: 'alice', text: 'the PSU of rack 3' }],
      ['signOff', 'i-1', { by: 'alice', text: 'hardware; ticket 7' }],
    ])
  })

  it.each([[['incident', 'note', 'i-1']], [['incident', 'note', 'i-1', ' ']], [['incident', 'sign-off', 'i-1']]])(
    '%j is a slip, and nothing is said',
    async (argv) => {
      const asked = await withDaemon()
      expect((await lifeboat(argv)).exit).toBe(2)
      expect(asked).toEqual([])
    },
  )

  it('words for completion: hosts, segments, incidents', async () => {
    const incidents = (): IncidentSummary[] => [anIncident]
    await withDaemon({ hosts: () => [aHost], incidents }, { segments: () => [aSegmentStatus] })
    expect((await lifeboat(['complete', 'hosts'])).out).toBe('cmp01\n')
    expect((await lifeboat(['complete', 'segments'])).out).toBe('ceph\n')
    expect((await lifeboat(['complete', 'incidents'])).out).toBe('i-1\n')
  })

  it('recover --follow stays until the incident is over', async () => {
    await withDaemon()
    const { exit, out } = await lifeboat(['recover', 'cmp01', '--proof', 'x', '--follow'])
    expect(out).toMatch(/^Incident i-1 has your word that cmp01 is dead\n.* done at 2026-01-02 03:00:12Z after 12 s/s)
    expect(exit).toBe(1)
  })

  it('an order that may still be carried out is told so, with where to look before it is repeated', async () => {
    const late = new LifeboatError('JOURNAL_UNAVAILABLE', 'not confirmed within 10 s', { certainty: 'unknown' })
    const notConfirmed = (): never => {
      throw late
    }
    await withDaemon({ pause: notConfirmed, startMaintenance: notConfirmed })
    expect(await lifeboat(['pause', '--reason', 'x'])).toMatchObject({
      exit: 74,
      err: expect.stringMatching(/It may have been done: not confirmed.*\n.*`lifeboat status`/) as string,
    })
    expect((await lifeboat(['maintenance', 'start', '--cloud', '--reason', 'x'])).err).toContain(
      'check with `lifeboat maintenance list`',
    )
  })

  it("the daemon's refusal is told as the daemon words it", async () => {
    await withDaemon({ recover: () => Promise.reject(new LifeboatError('HOST_ALIVE', 'cmp01 is beating')) })
    expect(await lifeboat(['recover', 'cmp01', '--proof', 'x'])).toEqual({
      exit: 1,
      out: '',
      err: 'lifeboat: cmp01 is beating [HOST_ALIVE]\n',
    })
  })
})

describe('without a daemon', () => {
  it.each([
    [['status']],
    [['host', 'list']],
    [['resume', '--reason', 'x']],
    [['incident', 'cancel', 'i', '--reason', 'x']],
  ])('%j ends with 69 and says how to start it', async (argv) => {
    const { exit, out, err } = await lifeboat(argv)
    expect([exit, out]).toEqual([69, ''])
    expect(err).toContain(`lifeboat: no daemon answers on ${join(directory, 'lifeboat.sock')}\n`)
  })

  it('incidents can be read all the same', async () => {
    expect((await lifeboat(['incident', 'list'])).exit).toBe(0)
  })
})
