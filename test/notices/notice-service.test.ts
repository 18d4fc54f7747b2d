import { describe, expect, it } from 'vitest'
import { sleep } from '../../src/domain/clock.ts'
import type { NewEntry } from '../../src/domain/entry.ts'
import { begun, closed, down, everything, instanceOf, owners, refused, Rig, taken, verdict } from './rig.ts'

describe('a receiver', () => {
  it(
    'gets what happened at once, and the journal has it before it is sent',
    Rig.run({}, async (rig) => {
      rig.answers = () => {
        expect(rig.queued().map(({ topic }) => topic)).toEqual(['host-down'])
        return taken
      }
      await rig.append(verdict('host-down'))
      expect(rig.tried()).toEqual(['pager host-down'])
      await rig.pass(1_000)
      expect(rig.ends()).toEqual(['sent pager host-down'])
    }),
  )

  it(
    'that is down gets everything afterwards, in order, and only its first notice is tried meanwhile',
    Rig.run({}, async (rig) => {
      rig.answers = () => down
      await rig.append(verdict('host-down'))
      await rig.append(...begun('i'), closed('i'))
      await rig.pass(10_000)
      expect(new Set(rig.tried())).toEqual(new Set(['pager host-down']))
      rig.answers = () => taken
      rig.tries = []
      await rig.pass(60_000)
      expect(rig.tried()).toEqual(['pager host-down', 'pager incident-opened', 'pager incident-closed'])
    }),
  )

  it(
    'that is down is tried ever more rarely, at least every five minutes',
    Rig.run({}, async (rig) => {
      rig.answers = () => down
      await rig.append(verdict('host-down'))
      await rig.pass(3_000_000)
      const pauses = rig.tries.slice(1).map(({ at }, index) => at - (rig.tries[index]?.at ?? 0))
      expect(pauses.slice(0, 10)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300].map((seconds) => seconds * 1_000))
      expect(new Set(pauses.slice(9))).toEqual(new Set([300_000]))
    }),
  )

  it(
    'that is down keeps no other waiting',
    Rig.run({ receivers: { dead: everything, pager: everything } }, async (rig) => {
      rig.answers = (receiver) => (receiver === 'dead' ? new Promise(() => undefined) : taken)
      await rig.append(verdict('host-down'), ...begun('i'))
      expect(rig.tried().filter((one) => one.startsWith('pager'))).toEqual(['pager host-down', 'pager incident-opened'])
    }),
  )

  it(
    'that refuses one notice for good gets the next at once',
    Rig.run({}, async (rig) => {
      rig.answers = (_receiver, { topic }) => (topic === 'host-down' ? refused : taken)
      await rig.append(verdict('host-down'), ...begun('i'))
      await rig.pass(1_000)
      expect(rig.ends()).toEqual(['dead-lettered pager host-down', 'sent pager incident-opened'])
    }),
  )

  it(
    'that stays down loses what grew too old, and the journal says so',
    Rig.run({ limits: { giveUpAfterMs: 60_000 } }, async (rig) => {
      rig.answers = () => down
      await rig.append(verdict('host-down'))
      await rig.pass(600_000)
      expect(rig.ends().at(-1)).toBe('dead-lettered pager host-down')
      expect(rig.journal.read({ kinds: ['notice.dead-lettered'] })[0]?.data).toMatchObject({ code: 'TOO_OLD' })
    }),
  )

  it(
    'that stays down loses what waited behind it as well, each in its time',
    Rig.run({ limits: { giveUpAfterMs: 60_000 } }, async (rig) => {
      rig.answers = () => down
      await rig.append(verdict('host-down'), ...begun('i'))
      await rig.pass(130_000)
      expect(rig.ends().filter((end) => end.startsWith('dead'))).toEqual([
        ...['dead-lettered pager host-down', 'dead-lettered pager incident-opened'],
      ])
      expect(new Set(rig.tried())).toEqual(new Set(['pager host-down']))
    }),
  )

  it(
    'that stays down loses the oldest when too many wait',
    Rig.run({ limits: { queueLimit: 2 } }, async (rig) => {
      rig.answers = () => down
      await rig.append(verdict('host-down'))
      for (const id of ['a', 'b', 'c']) await rig.append(...begun(id))
      await rig.pass(1_000)
      expect(rig.ends().filter((end) => end.startsWith('dead'))).toEqual([
        'dead-lettered pager host-down',
        'dead-lettered pager incident-opened',
      ])
    }),
  )

  it(
    'that a bug keeps from its notice gets it later, and the daemon lives on',
    Rig.run({}, async (rig) => {
      const rules = { freezeDelayMs: 0, giveUpAfterMs: 60_000, queueLimit: 9, maxInstances: 9 }
      const bug = (): never => {
        throw new Error('a bug')
      }
      rig.service.configure({ ...rules, receivers: new Map([['pager', everything]]) }, new Map([['pager', bug]]))
      await rig.append(verdict('host-down'))
      await rig.pass(500)
      expect(rig.ends()).toEqual(['failed pager host-down'])
    }),
  )

  it(
    'that broke in the middle of several is not counted as failing several times',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      rig.instances = () => Promise.resolve([instanceOf('a', 'red'), instanceOf('b', 'blue')])
      rig.answers = () => down
      await rig.append(verdict('host-down'))
      expect(rig.tries).toHaveLength(2)
      await rig.pass(1_000)
      expect(rig.tries).toHaveLength(3)
    }),
  )

  it(
    'that fails on the notice of one project alone keeps no other project waiting, now or later',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      const projects = ['red', 'blue', 'green']
      rig.instances = () => Promise.resolve(projects.map((project) => instanceOf(`of-${project}`, project)))
      rig.answers = async (_receiver, { project }) => {
        if (project !== 'red') return taken
        // The last to answer, so that nothing else says that the receiver is well.
        await sleep(rig.clock, 10)
        return down
      }
      await rig.append(verdict('host-down'))
      await rig.append(...begun('i'), closed('i'))
      await rig.pass(10_000)
      expect(rig.ends().filter((end) => end.startsWith('sent'))).toHaveLength(4)
      await rig.pass(600_000)
      rig.tries = []
      await rig.append(verdict('healthy', { from: 'host-down' }), verdict('host-down'))
      await rig.pass(1_000)
      expect(rig.tries.map(({ notice }) => notice.project)).toEqual(['blue', 'green'])
    }),
  )

  it(
    'that fails on the notice of one project alone is tried with it ever more rarely, and it goes when it can',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      const ofRed = (): number[] => rig.tries.flatMap(({ notice, at }) => (notice.project === 'red' ? [at] : []))
      rig.instances = (host) =>
        Promise.resolve([...(host === 'cmp01' ? [instanceOf('r', 'red')] : []), instanceOf('b', 'blue')])
      rig.answers = (_receiver, { project }) => (project === 'red' ? down : taken)
      await rig.append(verdict('host-down'))
      for (let nth = 0; nth < 60; nth++) {
        await rig.append(verdict('host-down', { host: `other${nth}` }))
        await rig.pass(10_000)
      }
      expect(ofRed().length).toBeLessThan(15)
      rig.answers = () => taken
      await rig.pass(300_000)
      expect(rig.ends().filter((end) => end.startsWith('sent'))).toHaveLength(62)
    }),
  )
})

describe('the journal', () => {
  it(
    'is before everything: what cannot be written is not sent until it can',
    Rig.run({}, async (rig) => {
      rig.diskFull = true
      await rig.append(verdict('host-down'))
      await rig.pass(20_000)
      expect(rig.tried()).toEqual([])
      rig.diskFull = false
      await rig.pass(5_000)
      expect(rig.tried()).toEqual(['pager host-down'])
    }),
  )

  it(
    'that cannot take the end of a try does not send it twice in the same run',
    Rig.run({}, async (rig) => {
      rig.answers = () => {
        rig.diskFull = true
        return taken
      }
      await rig.append(verdict('host-down'))
      await rig.pass(60_000)
      rig.diskFull = false
      await rig.pass(5_000)
      expect(rig.tries).toHaveLength(1)
      expect(rig.ends()).toEqual(['sent pager host-down'])
    }),
  )
})

describe('deduplication', () => {
  it(
    'that is the same again within ten minutes is not told, unless the host lived in between',
    Rig.run({}, async (rig) => {
      await rig.append(verdict('host-down'))
      await rig.append(verdict('suspect', { from: 'host-down' }), verdict('host-down', { from: 'suspect' }))
      expect(rig.queued('host-down')).toHaveLength(1)
      await rig.append(verdict('healthy', { from: 'host-down' }), verdict('host-down'))
      expect(rig.queued('host-down')).toHaveLength(2)
    }),
  )

  it(
    'of a host in trouble is told again once it was well, and that it is well after each',
    Rig.run({}, async (rig) => {
      const silent = verdict('service-down')
      const well = verdict('healthy', { from: 'service-down' })
      await rig.append(silent, well, silent, well, silent)
      expect(rig.queued().map(({ topic }) => topic)).toEqual([
        ...['host-trouble', 'host-well', 'host-trouble', 'host-well', 'host-trouble'],
      ])
      rig.restart()
      await rig.append(verdict('suspect', { from: 'service-down' }), silent)
      expect(rig.queued('host-trouble')).toHaveLength(3)
      await rig.append(well, silent)
      expect(rig.queued('host-trouble')).toHaveLength(4)
    }),
  )

  it(
    'of a return that waits for a person is told once for each return and code, whatever it lists by then',
    Rig.run({}, async (rig) => {
      const waits = (incident: string, code: string, message = 'm'): NewEntry => ({
        ...{ kind: 'return.changed', incident, host: 'cmp01' },
        data: { from: 'settling', to: 'settling', code, message },
      })
      await rig.append(waits('i', 'NEEDS_ANOTHER_START', 'web'))
      await rig.pass(3_600_000)
      await rig.append(waits('i', 'NEEDS_ANOTHER_START', 'web and db'), waits('i', 'FORCED_DOWN_BY_OTHERS'))
      await rig.append(waits('j', 'NEEDS_ANOTHER_START'))
      expect(rig.queued().map(({ incident, code }) => `${incident} ${code}`)).toEqual([
        ...['i NEEDS_ANOTHER_START', 'i FORCED_DOWN_BY_OTHERS', 'j NEEDS_ANOTHER_START'],
      ])
    }),
  )

  it(
    'of a brake that trips again is told, also where nobody hears that it had opened',
    Rig.run({ receivers: { pager: { ...everything, least: 'warning' } } }, async (rig) => {
      const brake = { scope: 'cloud', down: 3, allowed: 2, fleet: 9, message: 'too many' }
      const tripped: NewEntry = { kind: 'brake.tripped', data: { ...brake, hosts: [] } }
      await rig.append(tripped, { kind: 'brake.released', data: { ...brake, trippedForMs: 1 } }, tripped)
      expect(rig.queued().map(({ topic }) => topic)).toEqual(['brake-tripped', 'brake-tripped'])
    }),
  )

  const frozen = { kind: 'monitor.frozen', data: { reason: 'API_DOWN', message: 'Nova does not answer' } } as const
  const thawed = { kind: 'monitor.thawed', data: { reason: 'API_DOWN', frozenForMs: 1 } } as const
  const both = ['control-plane-frozen', 'control-plane-thawed']
  const topics = (rig: Rig): string[] => rig.queued().map(({ topic }) => topic)

  it(
    'of a freeze waits until it lasted, and its end is told only then',
    Rig.run({}, async (rig) => {
      await rig.append(frozen)
      await rig.pass(29_000)
      await rig.append(thawed)
      await rig.pass(60_000)
      expect(rig.queued()).toEqual([])
      await rig.append(frozen)
      await rig.pass(31_000)
      await rig.append(thawed)
      expect(topics(rig)).toEqual(both)
    }),
  )

  it.each([
    ['at once', 0],
    ['hours later', 7_200_000],
  ])('of a freeze that was told is not told again after a restart, and its end is told once (%s)', (_, laterMs) =>
    Rig.run({}, async (rig) => {
      await rig.append(frozen)
      await rig.pass(31_000)
      rig.restart()
      await rig.pass(laterMs)
      rig.restart()
      await rig.pass(31_000)
      expect(topics(rig)).toEqual(['control-plane-frozen'])
      await rig.append(thawed)
      rig.restart()
      await rig.pass(60_000)
      expect(topics(rig)).toEqual(both)
    })(),
  )

  it(
    'of a freeze that a restart cut short is told once it lasted, by the time that it began, and says when it was seen',
    Rig.run({}, async (rig) => {
      const [entry] = await rig.append(frozen)
      await rig.pass(20_000)
      rig.restart()
      await rig.pass(9_000)
      expect(topics(rig)).toEqual([])
      await rig.pass(2_000)
      expect(rig.queued()[0]?.message).toBe(`Nova does not answer (seen at ${entry?.at}, before the restart)`)
      await rig.append(thawed)
      expect(topics(rig)).toEqual(both)
    }),
  )

  it(
    'of an unfreeze that a kill kept from being told is told by the next run; of one whose freeze nobody heard of is not',
    Rig.run({}, async (rig) => {
      await rig.append(frozen)
      await rig.pass(31_000)
      rig.journal.append([thawed])
      rig.restart()
      await rig.pass(0)
      expect(topics(rig)).toEqual(both)
      rig.journal.append([frozen, thawed])
      rig.restart()
      await rig.pass(60_000)
      expect(topics(rig)).toEqual(both)
    }),
  )

  it(
    'of a host that people know to be dead is not told again by a later run that finds it so again, unless it lived',
    Rig.run({}, async (rig) => {
      await rig.append(verdict('host-down'))
      rig.restart()
      await rig.pass(3_600_000)
      const again = verdict('host-down', { reason: 'NOVA_DOWN_NO_PROBES' })
      await rig.append(verdict('suspect'), again)
      expect(topics(rig)).toEqual(['host-down'])
      await rig.append(verdict('service-down'))
      await rig.pass(3_600_000)
      await rig.append(again)
      expect(topics(rig)).toEqual(['host-down', 'host-trouble', 'host-down'])
      await rig.append(verdict('healthy'), again)
      expect(topics(rig).slice(3)).toEqual(['host-well', 'host-down'])
    }),
  )

  it(
    'of a host that was told to be in trouble is told when it is well, whatever it was taken for in between',
    Rig.run({}, async (rig) => {
      await rig.append(verdict('host-down'))
      rig.restart()
      await rig.pass(3 * 86_400_000)
      rig.restart()
      await rig.append(verdict('suspect', { from: 'unknown' }), verdict('healthy', { from: 'suspect' }))
      expect(topics(rig)).toEqual(['host-down', 'host-well'])
      await rig.append(verdict('unknown', { from: 'healthy' }), verdict('healthy', { from: 'unknown' }))
      rig.restart()
      await rig.append(verdict('healthy', { from: 'unknown' }))
      expect(topics(rig)).toEqual(['host-down', 'host-well'])
    }),
  )

  it(
    'of a host that was well while nobody wanted to hear of it is not told after a restart',
    Rig.run({ receivers: { pager: { ...everything, topics: ['host-down'] } } }, async (rig) => {
      await rig.append(verdict('host-down'), verdict('healthy', { from: 'host-down' }))
      await rig.pass(120_000)
      await rig.append(verdict('suspect', { host: 'cmp02' }))
      rig.restart({ receivers: { pager: everything } })
      await rig.append(verdict('healthy', { from: 'unknown' }))
      expect(topics(rig)).toEqual(['host-down'])
    }),
  )

  it.each(['recovering', 'returning'] as const)('of a host that comes back out of %s is told as a return', (from) =>
    Rig.run({}, async (rig) => {
      await rig.append(verdict('host-down'), verdict('healthy', { from }))
      expect(topics(rig)).toEqual(['host-down'])
    })(),
  )

  it(
    'from a daemon that observes says so',
    Rig.run({ mode: 'observe' }, async (rig) => {
      await rig.append(verdict('host-down'))
      expect(rig.queued()[0]).toMatchObject({ mode: 'observe' })
    }),
  )
})
