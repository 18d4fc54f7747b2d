/** What owners are told of their instances, and when. */
import { describe, expect, it } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { Notice } from '../../src/domain/notice.ts'
import type { Outcome } from '../../src/domain/outcome.ts'
import { english, worded } from '../../src/notices/texts.ts'
import { dying, everything, instanceOf, opened, owners, recovered, Rig, verdict, closed } from './rig.ts'

describe('owners', () => {
  it(
    'of many hosts that die at once are looked for side by side, which is no leak of listeners',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      let listening = 0
      rig.instances = (_host, signal) => {
        signal?.addEventListener('abort', () => undefined)
        listening += 1
        return Promise.resolve([])
      }
      const warnings: string[] = []
      const hear = ({ name }: Error): void => void warnings.push(name)
      process.on('warning', hear)
      const hosts = Array.from({ length: 20 }, (_, nth) => `cmp${nth}`)
      await rig.append(...hosts.map((host) => verdict('host-down', { host })))
      await new Promise((resolve) => setImmediate(resolve))
      process.off('warning', hear)
      expect([listening, warnings]).toEqual([20, []])
    }),
  )

  it(
    'are not told that they can start what may run elsewhere',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      const left = (code: string) => ({ outcome: 'left', code, message: 'm', after: null }) as const
      const rows = [
        ...recovered('i', 'a', 'red', left('OFF_AFTER_RETURN')),
        ...recovered('i', 'b', 'red', left('EARLIER_UNSETTLED')),
      ].map((row) => (row.kind === 'plan.made' ? { ...row, data: { ...row.data, rule: 'after-return' } } : row))
      await rig.append(verdict('host-down'), opened('i'), ...rows, closed('i'))
      const [{ instances = [] } = {}] = rig.queued('instances-ended')
      expect(instances.map(({ name, state }) => `${name} ${state}`)).toEqual(['b stuck', 'a off'])
    }),
  )

  it(
    'are told of their own instances only, and at the end what became of each',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      rig.instances = () =>
        Promise.resolve([instanceOf('a', 'red'), instanceOf('b', 'blue'), instanceOf('c', 'red', 'stopped')])
      await rig.append(verdict('host-down'))
      const told = rig.queued('instances-affected')
      expect(
        told.map(({ project, instances }) => [project, instances?.map(({ name, state }) => [name, state])]),
      ).toEqual([
        [
          'red',
          [
            ['a', 'affected'],
            ['c', 'at-rest'],
          ],
        ],
        ['blue', [['b', 'affected']]],
      ])
      const left = { outcome: 'left', code: 'LOCAL_DISK', message: 'its disk is on cmp01', after: null } as const
      await rig.append(opened('i'), ...recovered('i', 'a', 'red'), ...recovered('i', 'b', 'blue', left))
      await rig.append(...recovered('i', 'new', 'green'), closed('i'))
      const ended = rig.queued('instances-ended')
      expect(
        ended.map(({ project, severity, instances }) => [
          project,
          severity,
          instances?.map(({ name, state }) => [name, state]),
        ]),
      ).toEqual([
        [
          'red',
          'warning',
          [
            ['c', 'untouched'],
            ['a', 'running'],
          ],
        ],
        ['blue', 'warning', [['b', 'left']]],
        ['green', 'info', [['new', 'running']]],
      ])
      expect(ended[0]?.reference).toBe(told[0]?.reference)
      expect(told[0]?.reference).not.toBe(told[1]?.reference)
    }),
  )

  it(
    'are told where it is, whatever its line calls it',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      const seen = { vmState: 'stopped', taskState: null, powerState: 4, locked: false }
      const end = (outcome: 'left' | 'stuck', code: string, host: string | null): Partial<Outcome> => ({
        outcome,
        code,
        message: 'cancelled',
        after: host === null ? null : { ...seen, host },
      })
      await rig.append(opened('i'), ...recovered('i', 'moved', 'red', end('stuck', 'HOST_ALIVE', 'cmp02')))
      await rig.append(...recovered('i', 'stayed', 'red', end('left', 'CANCELLED', 'cmp01')))
      await rig.append(...recovered('i', 'deleted', 'red', end('left', 'INSTANCE_GONE', null)), closed('i'))
      expect(rig.queued('instances-ended')[0]?.instances?.map(({ name, state }) => [name, state])).toEqual([
        ['moved', 'elsewhere'],
        ['stayed', 'left'],
        ['deleted', 'gone'],
      ])
    }),
  )

  it(
    'are told that an instance which never ran does not come back with its host',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      const left = { outcome: 'left', code: 'BUILDING', message: 'it holds nothing yet', after: null } as const
      await rig.append(opened('i'), ...recovered('i', 'new', 'red', left, null), closed('i'))
      const [notice] = rig.queued('instances-ended')
      expect(notice?.instances).toEqual([{ id: 'id-new', name: 'new', state: 'unbuilt', code: 'BUILDING' }])
      const { text } = worded(notice!, english, { cloud: null, link: null, showHosts: false })
      expect(text).toContain('- new (id-new): never ran, and cannot be brought back; delete it and create it again')
    }),
  )

  it(
    'are told once for each death, however often the verdict wavers',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      rig.instances = () => Promise.resolve([instanceOf('a', 'red')])
      await rig.append(verdict('host-down'), opened('i'))
      await rig.append(verdict('suspect', { from: 'host-down' }), verdict('host-down', { from: 'suspect' }))
      rig.restart()
      await rig.append(verdict('host-down', { from: 'suspect' }))
      expect(rig.queued('instances-affected')).toHaveLength(1)
    }),
  )

  it(
    'are told that the host came back, when nothing was begun',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      rig.instances = () => Promise.resolve([instanceOf('a', 'red')])
      await rig.append(verdict('host-down'))
      await rig.append(verdict('healthy', { from: 'host-down' }))
      expect(rig.queued('instances-ended')[0]?.instances).toEqual([{ id: 'id-a', name: 'a', state: 'returned' }])
    }),
  )

  it(
    'are told of the next death after a restart, when the end of the last one was told, or nobody wanted to hear of it',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      rig.instances = () => Promise.resolve([instanceOf('a', 'red')])
      const dies = async (): Promise<void> => {
        await rig.append(verdict('host-down'))
        await rig.append(verdict('healthy', { from: 'host-down' }))
        // Longer ago than what a start looks at again.
        await rig.pass(120_000)
        await rig.append(verdict('suspect', { host: 'cmp02' }))
      }
      const worried = { receivers: { hook: { ...owners, least: 'warning' as const } } }
      await dies()
      rig.restart(worried)
      await dies()
      rig.restart(worried)
      await rig.append(verdict('host-down'))
      expect(rig.queued().map(({ topic }) => topic)).toEqual([
        ...['instances-affected', 'instances-ended', 'instances-affected', 'instances-affected'],
      ])
    }),
  )

  it(
    'are told nothing of a failure that was over before Nova had said whose instances were there',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      let answer: () => void = () => undefined
      rig.instances = () => new Promise((resolve) => (answer = () => resolve([instanceOf('a', 'red')])))
      await rig.append(verdict('host-down'))
      await rig.append(verdict('healthy', { from: 'host-down' }))
      answer()
      await rig.pass(1_000)
      expect(rig.queued()).toEqual([])
      await rig.append(verdict('host-down'))
      answer()
      await rig.pass(1_000)
      expect(rig.queued().map(({ topic }) => topic)).toEqual(['instances-affected'])
    }),
  )

  it(
    'are told of a death that a person stated, and not of one that is expected to be held',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      rig.instances = () => Promise.resolve([instanceOf('a', 'red')])
      await rig.append(verdict('declared-down'))
      expect(rig.queued()).toEqual([])
      await rig.append(opened('i', { verdict: null, openedBy: 'ann' }))
      expect(rig.queued('instances-affected')).toHaveLength(1)
    }),
  )

  it(
    'hear at the end when their instances could not be read at the verdict',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      rig.instances = () => Promise.reject(new Error('no answer'))
      await rig.append(verdict('host-down'), opened('i'))
      await rig.pass(10_000)
      await rig.append(...recovered('i', 'a', 'red'), closed('i'))
      expect(rig.queued().map(({ topic }) => topic)).toEqual(['instances-ended'])
    }),
  )

  it(
    'with more instances than a notice names get the worst first and the number of all',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      const failed = { outcome: 'failed', code: 'NO_VALID_HOST', after: null } as const
      const good = ['a', 'b', 'c'].flatMap((name) => recovered('i', name, 'red'))
      await rig.append(opened('i'), ...good, ...recovered('i', 'z', 'red', failed), closed('i'))
      const [notice] = rig.queued('instances-ended')
      expect(notice).toMatchObject({ instanceCount: 4, notBack: 1, severity: 'critical' })
      expect(notice?.instances?.map(({ name }) => name)).toEqual(['z', 'a', 'b'])
    }),
  )

  it(
    'have names that no receiver chokes on: no half characters, and no line that tells of another instance',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      const long = `${'n'.repeat(98)}\u{1f600}\u{1f600}`
      const forged = 'web\n- db (id): running again\u2028'
      rig.instances = () => Promise.resolve([instanceOf(long, 'red'), instanceOf(forged, 'red')])
      await rig.append(verdict('host-down'))
      expect(rig.queued()[0]?.instances?.map(({ name }) => name)).toEqual([
        `${'n'.repeat(98)}…`,
        'web - db (id): running again ',
      ])
    }),
  )

  it(
    'are all told, however many they are',
    Rig.run({ receivers: { hook: owners }, limits: { queueLimit: 2_000 } }, async (rig) => {
      rig.instances = () => Promise.resolve(Array.from({ length: 1_100 }, (_, nth) => instanceOf(`n${nth}`, `p${nth}`)))
      await rig.append(verdict('host-down'))
      expect(rig.queued()).toHaveLength(1_100)
    }),
  )

  it(
    'are told at once when their host was read while it was suspect and its witnesses said dead',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      let read = 0
      rig.instances = () => (++read === 1 ? Promise.resolve([instanceOf('a', 'red')]) : new Promise(() => undefined))
      await rig.append(dying())
      expect([read, rig.queued()]).toEqual([1, []])
      await rig.append(verdict('host-down', { from: 'suspect' }))
      expect([read, rig.tried()]).toEqual([1, ['hook instances-affected']])
    }),
  )

  it(
    'are read again when that is long ago, could not be done, or was before the host lived again',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      let read = 0
      rig.instances = () => (read++ % 2 === 0 ? Promise.reject(new Error('busy')) : Promise.resolve([]))
      await rig.append(dying())
      await rig.append(verdict('host-down', { from: 'suspect' }))
      expect(read).toBe(2)
      rig.instances = () => Promise.resolve([instanceOf(`n${++read}`, 'red')])
      await rig.append(verdict('healthy', { from: 'host-down' }), dying())
      await rig.pass(91_000)
      await rig.append(verdict('host-down', { from: 'suspect' }))
      expect(read).toBe(4)
      await rig.append(verdict('healthy', { from: 'host-down' }), dying())
      await rig.append(verdict('healthy', { from: 'suspect' }), verdict('host-down'))
      expect(read).toBe(6)
    }),
  )

  it(
    'of no more than four suspect hosts are read at once, and of none whose witnesses do not say dead',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      const read: string[] = []
      rig.instances = (host) => {
        read.push(host)
        return new Promise(() => undefined)
      }
      await rig.append(verdict('suspect', { host: 'alive' }))
      for (const host of ['a', 'b', 'c', 'd', 'e']) await rig.append(dying(host))
      expect(read).toEqual(['a', 'b', 'c', 'd'])
    }),
  )

  it(
    'of a guest that crashes again and again are told why it stays off and how often it was restarted, and what becomes of it',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      const about = { incident: 'i', host: 'cmp01', instance: 'id-web' }
      const failed = { name: 'web', projectId: 'red', event: 'STOPPED_FAILED', segment: 'az1', mode: 'armed' } as const
      const [plan, outcome] = recovered('i', 'web', 'red') as [NewEntry, NewEntry]
      await rig.append(
        { kind: 'instance.failed', ...about, data: { ...failed, openedBy: 'masakari', report: 'r' } },
        plan,
      )
      const pause = { code: 'RESTART_PAUSE', message: 'it crashed again', restarts: 2 } as const
      const spent = { code: 'RESTARTS_SPENT', message: 'it crashed again on cmp01', restarts: 3 } as const
      for (const data of [pause, spent]) await rig.append({ kind: 'incident.held', incident: 'i', host: 'cmp01', data })
      await rig.append(outcome, closed('i'))
      const told = rig.queued('instance-crashed')
      expect(told.map(({ project, severity, instances }) => [project, severity, instances])).toEqual([
        ['red', 'critical', [{ id: 'id-web', name: 'web', state: 'crashing', code: 'RESTARTS_SPENT', restarts: 3 }]],
        ['red', 'info', [{ id: 'id-web', name: 'web', state: 'rebooted', code: 'RUNNING' }]],
      ])
      const { text } = worded(told[0] as Notice, english, { cloud: null, link: null, showHosts: false })
      expect(text).toContain('- web (id-web): crashed after 3 restarts, and stays off until the operators')
      expect(text).not.toContain('cmp01')
    }),
  )

  it(
    'of a host that came back hear again only when something of theirs has changed',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      const data = { to: 'known', instances: 2, off: 2, started: 0, message: 'm' } as const
      const seen: NewEntry = { kind: 'instances.watched', incident: 'i', host: 'cmp01', data }
      const off = { outcome: 'left', code: 'STAYED_OFF', after: null } as const
      const closing = closed('i', 'returned')
      await rig.append(opened('i'), { ...closing, data: { ...closing.data, watched: true } })
      await rig.append(...recovered('i', 'a', 'red', off), ...recovered('i', 'b', 'blue', off), seen)
      await rig.append(...recovered('i', 'a', 'red').slice(1), seen)
      rig.restart()
      await rig.append(seen)
      const told = rig.queued('instances-ended')
      expect(told.map(({ project, instances }) => [project, instances?.[0]?.state])).toEqual([
        ['red', 'left'],
        ['blue', 'left'],
        ['red', 'running'],
      ])
    }),
  )

  it(
    'nobody reads the host where no owner of its segment is told',
    Rig.run({ receivers: { pager: everything, hook: { ...owners, segments: ['az2'] } } }, async (rig) => {
      let read = 0
      rig.instances = () => Promise.resolve([instanceOf(`n${++read}`, 'red')])
      await rig.append(verdict('host-down'))
      expect(read).toBe(0)
    }),
  )
})
