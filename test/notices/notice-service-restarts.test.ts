import { describe, expect, it } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import { begun, closed, down, everything, instanceOf, owners, phase, Rig, taken, verdict } from './rig.ts'

const tenure = { from: 'ctl1', silentMs: 6_300, leaseMs: 6_000, version: '1', format: 1, config: 'd' }

describe('a restart', () => {
  it(
    'soon after a host was well and then died tells nobody that it is well, nor any owner that it came back',
    Rig.run({ receivers: { pager: everything, hook: owners } }, async (rig) => {
      rig.instances = () => Promise.resolve([instanceOf('a', 'red')])
      await rig.append(verdict('healthy', { from: 'suspect' }))
      await rig.pass(10_000)
      await rig.append(verdict('host-down'), ...begun('i'))
      const told = ['host-down', 'incident-opened', 'instances-affected']
      expect(rig.queued().map(({ topic }) => topic)).toEqual(told)
      rig.restart()
      await rig.pass(10_000)
      expect(rig.queued().map(({ topic }) => topic)).toEqual(told)
      await rig.append(closed('i'))
      expect(rig.queued('instances-ended').map(({ reference }) => reference)).toEqual([
        rig.queued('instances-affected')[0]?.reference,
      ])
    }),
  )

  it(
    'sends what waited, once, under the same id',
    Rig.run({}, async (rig) => {
      rig.answers = () => down
      await rig.append(verdict('host-down'))
      await rig.pass(1_000)
      const [first] = rig.tries
      rig.tries = []
      rig.answers = () => taken
      rig.restart()
      await rig.pass(10_000)
      expect(rig.tries.map(({ notice }) => notice.id)).toEqual([first?.notice.id])
      rig.restart()
      await rig.pass(10_000)
      expect(rig.tries).toHaveLength(1)
    }),
  )

  it(
    'tells what the last run had no time to tell, and nothing of long ago',
    Rig.run({}, async (rig) => {
      rig.restart({ receivers: {} })
      await rig.append(...begun('old'))
      await rig.pass(120_000)
      await rig.append(...begun('new'))
      rig.restart()
      await rig.pass(1_000)
      expect(rig.queued().map(({ incident }) => incident)).toEqual(['new'])
    }),
  )

  it(
    'tells that a recovery begins once it does, and once only: without a fencing method that is when the host is proven dead',
    Rig.run({}, async (rig) => {
      const held = { code: 'FENCING_MISSING', message: 'no fencing method' } as const
      await rig.append(...begun('a'), { kind: 'incident.held', incident: 'a', host: 'cmp01', data: held })
      expect(rig.queued().map(({ topic }) => topic)).toEqual(['incident-held'])
      await rig.append(phase('a', 'fencing', 'isolating'))
      await rig.append(...begun('b'))
      rig.restart()
      await rig.append(phase('b', 'fencing', 'isolating'))
      const begins = rig.queued('incident-opened')
      expect(begins.map(({ incident, message }) => [incident, message])).toEqual([
        ['a', 'cmp01 is being recovered: it is host-down'],
        ['b', 'cmp01 is being recovered: it is host-down'],
      ])
    }),
  )

  it.each<NewEntry>([
    { kind: 'workflow.pinned', data: { name: 'host-failure', revision: 2, digest: 'd', source: '' } },
    { kind: 'tenure.ended', data: { epoch: 1, holder: 'ctl1', why: 'the daemon was stopped' } },
    { kind: 'tenure.began', data: { ...tenure, epoch: 2, holder: 'ctl2', why: 'ctl1 did not renew its lease' } },
    { kind: 'journal.moved', data: { to: 'shared', holder: 'ctl1', by: 'ann', reason: 'so' } },
  ])('tells that also when it came long after, and began with $kind', (entry) =>
    Rig.run({}, async (rig) => {
      rig.restart({ receivers: {} })
      await rig.append(...begun('new'))
      await rig.pass(120_000)
      await rig.append(entry)
      rig.restart()
      await rig.pass(1_000)
      expect(rig.queued().map(({ incident }) => incident)).toEqual(['new'])
    })(),
  )

  it(
    'reads owners again when the listing was cut off',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      rig.instances = () => new Promise(() => undefined)
      await rig.append(verdict('host-down'))
      expect(rig.queued()).toEqual([])
      rig.instances = () => Promise.resolve([instanceOf('a', 'red')])
      rig.restart()
      await rig.pass(1_000)
      expect(rig.tried()).toEqual(['hook instances-affected'])
    }),
  )

  it(
    'gives up what waits for a receiver that is not configured any more',
    Rig.run({}, async (rig) => {
      rig.answers = () => down
      await rig.append(verdict('host-down'))
      rig.restart({ receivers: { other: everything } })
      await rig.pass(1_000)
      expect(rig.ends()).toContain('dead-lettered pager host-down')
      expect(rig.journal.read({ kinds: ['notice.dead-lettered'] })[0]?.data).toMatchObject({ code: 'NO_RECEIVER' })
    }),
  )

  it(
    'does not send what waits for a receiver of owners to one that may not hear of the project any more',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      rig.answers = () => down
      rig.instances = () => Promise.resolve([instanceOf('a', 'red'), instanceOf('b', 'blue')])
      await rig.append(verdict('host-down'))
      rig.answers = () => taken
      rig.tries = []
      rig.restart({ receivers: { hook: { ...owners, projects: ['blue'] } } })
      await rig.pass(60_000)
      expect(rig.tries.map(({ notice }) => notice.project)).toEqual(['blue'])
      expect(rig.journal.read({ kinds: ['notice.dead-lettered'] })[0]?.data).toMatchObject({ code: 'NOT_ITS_OWN' })
    }),
  )

  it(
    'after an orderly stop that waited two seconds for a try sends what was cut off again',
    Rig.run({}, async (rig) => {
      rig.answers = () => new Promise(() => undefined)
      await rig.append(verdict('host-down'))
      let over = false
      void rig.service.stop().then(() => (over = true))
      await rig.pass(1_900)
      expect(over).toBe(false)
      await rig.pass(200)
      expect(over).toBe(true)
      rig.answers = () => taken
      rig.restart()
      await rig.pass(1_000)
      expect(rig.tried()).toEqual(['pager host-down', 'pager host-down'])
      expect(rig.ends()).toEqual(['sent pager host-down'])
    }),
  )

  it(
    'after an orderly stop knows of a try that ended in time',
    Rig.run({}, async (rig) => {
      let answer: () => void = () => undefined
      rig.answers = () => new Promise((resolve) => (answer = () => resolve(taken)))
      await rig.append(verdict('host-down'))
      const stopped = rig.service.stop()
      answer()
      await rig.clock.run(stopped)
      rig.restart()
      await rig.pass(1_000)
      expect(rig.tries).toHaveLength(1)
    }),
  )
})
