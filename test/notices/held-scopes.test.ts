/** What the brake holds is told once for each scope: gathered, told again when it grows, and over when nothing waits. */
import { describe, expect, it } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { Notice } from '../../src/domain/notice.ts'
import { english, worded } from '../../src/notices/texts.ts'
import { group, opened, Rig, verdict } from './rig.ts'

/** Opened, and held by the brake. */
function heldByBrake(...hosts: string[]): NewEntry[] {
  return hosts.flatMap((host): NewEntry[] => [
    { ...opened(`i-${host}`, { verdict: verdict('host-down', { host }).data }), host },
    { kind: 'incident.held', incident: `i-${host}`, host, data: { code: 'BRAKE', message: 'full' } },
  ])
}

const override = (host: string): NewEntry => ({
  ...{ kind: 'operator.override', incident: `i-${host}`, host, actor: 'operator:ann' },
  data: { by: 'ann', reason: 'I saw it' },
})

/** What people did is told, too (alerts.test.ts). */
const told = (rig: Rig): [string, string[] | undefined][] =>
  rig.queued().flatMap(({ topic, held }: Notice) => (topic === 'person-acted' ? [] : [[topic, held?.hosts]]))

describe('hosts that the brake holds', () => {
  it(
    'one after the other within ten seconds are one notice, with all of them, and a rack of six is no second',
    Rig.run({}, async (rig) => {
      const hosts = ['cmp01', 'cmp02', 'cmp03', 'cmp04', 'cmp05', 'cmp06']
      for (const [index, host] of hosts.entries()) {
        rig.held = () => [group('domain:a', hosts.slice(0, index + 1), ['the cloud'])]
        await rig.append(...heldByBrake(host))
        await rig.pass(1_500)
      }
      await rig.pass(3_600_000)
      expect(told(rig)).toEqual([['incident-held', hosts]])
      const [notice] = rig.queued()
      expect(notice).toMatchObject({ severity: 'critical', code: 'BRAKE', host: null, incident: null, segment: 'az1' })
      const { subject, text } = worded(notice as Notice, english, { cloud: null, link: 'https://p/', showHosts: false })
      expect(subject).toBe('6 hosts of rack a: recovery on hold (BRAKE)')
      expect(text).toMatch(
        /cmp01, .*cmp06.*6 of 8 hosts.*\n.*the cloud too.*\nOn them: 24 instances, of which 18 ran\.\n.*brake override domain:a[^]*https:\/\/p\/$/,
      )
    }),
  )

  it(
    'are told with the instances that wait, as far as Nova has said which',
    Rig.run({}, async (rig) => {
      const all = group('domain:a', ['cmp01', 'cmp02'])
      rig.held = () => [{ ...all, instances: 4, running: 3, uncounted: 1 }]
      await rig.append(...heldByBrake('cmp01', 'cmp02'))
      await rig.pass(10_000)
      expect(rig.queued()[0]?.message).toContain('\nOn them: 4 instances, of which 3 ran (1 host not counted yet).\n')
    }),
  )

  it(
    'are asked for as the first is held, so that they are counted when it is told',
    Rig.run({}, async (rig) => {
      let asked = 0
      rig.held = () => [{ ...group('domain:a', ['cmp01']), uncounted: asked++ === 0 ? 1 : 0 }]
      await rig.append(...heldByBrake('cmp01'))
      await rig.pass(10_000)
      expect(rig.queued()[0]?.message).toContain('\nOn it: 4 instances, of which 3 ran.\n')
    }),
  )

  it(
    'are asked for once for all that are held in one moment',
    Rig.run({}, async (rig) => {
      const hosts = Array.from({ length: 50 }, (_, nth) => `cmp${nth}`)
      let asked = 0
      rig.held = () => {
        asked += 1
        return [group('cloud', hosts)]
      }
      await rig.append(...heldByBrake(...hosts))
      await rig.pass(1_000)
      expect(asked).toBe(1)
    }),
  )

  it(
    'are told all the same where the journal did not take what the brake found when it was asked',
    Rig.run({}, async (rig) => {
      let asked = 0
      rig.held = () => {
        if (asked++ < 2) throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
        return [group('cloud', ['cmp01'])]
      }
      await rig.append(...heldByBrake('cmp01'))
      await rig.pass(20_000)
      expect(told(rig)).toEqual([['incident-held', ['cmp01']]])
    }),
  )

  it(
    'whose instances Nova has not told yet are told as that',
    Rig.run({}, async (rig) => {
      rig.held = () => [{ ...group('domain:a', ['cmp01', 'cmp02']), uncounted: 2 }]
      await rig.append(...heldByBrake('cmp01', 'cmp02'))
      await rig.pass(10_000)
      expect(rig.queued()[0]?.message).toContain('\nNot counted yet: the instances on them.\n')
    }),
  )

  it(
    'of two scopes are two notices',
    Rig.run({}, async (rig) => {
      rig.held = () => [group('domain:a', ['cmp01', 'cmp02']), group('domain:b', ['cmp05'])]
      await rig.append(...heldByBrake('cmp01', 'cmp02', 'cmp05'))
      await rig.pass(10_000)
      expect(told(rig)).toEqual([
        ['incident-held', ['cmp01', 'cmp02']],
        ['incident-held', ['cmp05']],
      ])
    }),
  )

  it(
    'that become more are told again with all of them, a minute after the last time at the earliest',
    Rig.run({}, async (rig) => {
      rig.held = () => [group('domain:a', ['cmp01'])]
      await rig.append(...heldByBrake('cmp01'))
      await rig.pass(10_000)
      for (const host of ['cmp02', 'cmp03']) {
        rig.held = () => [group('domain:a', ['cmp01', 'cmp02', 'cmp03'].slice(0, host === 'cmp02' ? 2 : 3))]
        await rig.append(...heldByBrake(host))
        await rig.pass(20_000)
      }
      expect(told(rig)).toHaveLength(1)
      await rig.pass(20_000)
      expect(told(rig).slice(1)).toEqual([['incident-held', ['cmp01', 'cmp02', 'cmp03']]])
      await rig.pass(3_600_000)
      expect(told(rig)).toHaveLength(2)
    }),
  )

  it(
    'and of which people let some past are not told again; when none waits any more, that is told once',
    Rig.run({}, async (rig) => {
      rig.held = () => [group('domain:a', ['cmp01', 'cmp02'])]
      await rig.append(...heldByBrake('cmp01', 'cmp02'))
      await rig.pass(10_000)
      rig.held = () => [group('domain:a', ['cmp02'])]
      await rig.append(override('cmp01'))
      await rig.pass(120_000)
      expect(told(rig)).toHaveLength(1)
      rig.held = () => []
      await rig.append(override('cmp02'))
      await rig.pass(120_000)
      expect(told(rig).slice(1)).toEqual([['holds-over', []]])
      expect(rig.queued('holds-over')[0]).toMatchObject({ severity: 'info', code: 'domain:a' })
    }),
  )

  it(
    'and that were let past before anyone was told of them are told to nobody',
    Rig.run({}, async (rig) => {
      rig.held = () => [group('domain:a', ['cmp01'])]
      await rig.append(...heldByBrake('cmp01'))
      await rig.pass(5_000)
      rig.held = () => []
      await rig.append(override('cmp01'))
      await rig.pass(60_000)
      expect(told(rig)).toEqual([])
    }),
  )

  it(
    'though no scope counts them are told by themselves',
    Rig.run({}, async (rig) => {
      await rig.append(...heldByBrake('cmp01'))
      await rig.pass(10_000)
      expect(rig.queued().map(({ topic, host, held }) => [topic, host, held])).toEqual([
        ['incident-held', 'cmp01', undefined],
      ])
    }),
  )
})

describe('a restart', () => {
  it(
    'before they were told loses nothing: the groups are asked for once Nova was read',
    Rig.run({}, async (rig) => {
      rig.held = () => null
      await rig.append(...heldByBrake('cmp01', 'cmp02'))
      await rig.pass(5_000)
      rig.restart()
      await rig.pass(20_000)
      expect(told(rig)).toEqual([])
      rig.held = () => [group('domain:a', ['cmp01', 'cmp02'])]
      await rig.pass(5_000)
      expect(told(rig)).toEqual([['incident-held', ['cmp01', 'cmp02']]])
    }),
  )

  it.each([
    ['at once', 0],
    ['an hour later', 3_600_000],
  ])('after they were told tells them no second time (%s), but those that came since, and the end', (_what, laterMs) =>
    Rig.run({}, async (rig) => {
      rig.held = () => [group('domain:a', ['cmp01', 'cmp02'])]
      await rig.append(...heldByBrake('cmp01', 'cmp02'))
      await rig.pass(10_000)
      await rig.pass(laterMs)
      rig.restart()
      await rig.pass(120_000)
      expect(told(rig)).toHaveLength(1)
      rig.held = () => [group('domain:a', ['cmp01', 'cmp02', 'cmp03'])]
      await rig.append(...heldByBrake('cmp03'))
      await rig.pass(60_000)
      expect(told(rig).slice(1)).toEqual([['incident-held', ['cmp01', 'cmp02', 'cmp03']]])
      rig.held = () => []
      rig.journal.append([override('cmp01'), override('cmp02'), override('cmp03')])
      rig.restart()
      await rig.pass(60_000)
      expect(told(rig).slice(2)).toEqual([['holds-over', []]])
    })(),
  )

  it(
    'right after they were told tells none of them by itself when their scope opens before they go on',
    Rig.run({}, async (rig) => {
      rig.held = () => [group('domain:a', ['cmp01', 'cmp02'])]
      await rig.append(...heldByBrake('cmp01', 'cmp02'))
      await rig.pass(10_000)
      rig.restart()
      await rig.pass(20_000)
      rig.held = () => []
      const numbers = { scope: 'domain:a', down: 0, allowed: 2, fleet: 8, message: 'm', trippedForMs: 1 }
      await rig.append({ kind: 'brake.released', data: numbers })
      await rig.pass(20_000)
      expect(told(rig).map(([topic]) => topic)).toEqual(['incident-held', 'brake-released', 'holds-over'])
    }),
  )

  it(
    'with a disk that was full tells them once it is not, once',
    Rig.run({}, async (rig) => {
      rig.held = () => [group('domain:a', ['cmp01'])]
      await rig.append(...heldByBrake('cmp01'))
      rig.diskFull = true
      await rig.pass(30_000)
      rig.diskFull = false
      await rig.pass(30_000)
      expect(rig.tried()).toEqual(['pager incident-held'])
      rig.restart()
      await rig.pass(60_000)
      expect(rig.tried()).toEqual(['pager incident-held'])
    }),
  )
})
