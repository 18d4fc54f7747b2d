/** One trouble is one alert: it begins, people act, it ends; whoever keeps alerts hears of the end, and what stands is renewed. */
import { describe, expect, it } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import {
  group,
  begun,
  closed,
  down,
  everything,
  instanceOf,
  opened,
  owners,
  recovered,
  Rig,
  taken,
  verdict,
} from './rig.ts'

const pager = { ...everything, least: 'critical', alerts: 'follows' } as const
const manager = { ...everything, alerts: 'only' } as const

const heldFor = (code: 'FENCE_FAILED' | 'PAUSED'): NewEntry => ({
  ...{ kind: 'incident.held', incident: 'i', host: 'cmp01' },
  data: { code, message: 'no method is left' },
})
const byAnn = { incident: 'i', host: 'cmp01', actor: 'operator:ann' }
const signedOff: NewEntry = { kind: 'review.signed-off', ...byAnn, data: { by: 'ann', text: '' } }
const override: NewEntry = { kind: 'operator.override', ...byAnn, data: { by: 'ann', reason: 'I saw it' } }

const alerts = (rig: Rig): string[] =>
  rig.queued().map(({ topic, alert }) => `${topic} ${alert === undefined ? '-' : `${alert.action} ${alert.key}`}`)
const triedAt = (rig: Rig, receiver: string): string[] =>
  rig.tried().flatMap((one) => (one.startsWith(`${receiver} `) ? [one.slice(receiver.length + 1)] : []))

describe('an alert', () => {
  it(
    'of an incident begins with it and ends when it closes well; that of its host when the host is back',
    Rig.run({}, async (rig) => {
      const back = { from: 'proving', to: 'back', code: 'BACK', message: 'm' } as const
      await rig.append(verdict('host-down'), ...begun('i'), closed('i'))
      await rig.append({ kind: 'return.changed', host: 'cmp01', data: back })
      expect(alerts(rig)).toEqual([
        'host-down trigger host:cmp01',
        'incident-opened trigger incident:i',
        'incident-closed resolve incident:i',
        'host-returned resolve host:cmp01',
      ])
      expect(rig.queued()[2]?.alert).toMatchObject({ was: 'warning', since: rig.queued()[1]?.at })
    }),
  )

  it(
    'of an incident that did not bring back everything stands until someone signs it off, and says how bad it was before',
    Rig.run({}, async (rig) => {
      const failed = { outcome: 'failed', code: 'API_REFUSED' } as const
      await rig.append(...begun('i'), ...recovered('i', 'web', 'red', failed), closed('i'))
      await rig.append(signedOff)
      await rig.append(signedOff)
      expect(alerts(rig)).toEqual([
        'incident-opened trigger incident:i',
        'incident-closed trigger incident:i',
        'signed-off resolve incident:i',
      ])
      expect(rig.queued().map(({ alert }) => alert?.was)).toEqual([null, 'warning', 'critical'])
    }),
  )

  it(
    'is acknowledged by a person’s order, which nobody hears of when nothing was told',
    Rig.run({}, async (rig) => {
      await rig.append(opened('i'), override)
      expect(rig.queued()).toEqual([])
      await rig.append(heldFor('FENCE_FAILED'), override)
      expect(alerts(rig)).toEqual(['incident-held trigger incident:i', 'person-acted acknowledge incident:i'])
    }),
  )

  it(
    'of what waits in a scope of the brake is acknowledged once, by one order about many of it',
    Rig.run({}, async (rig) => {
      const rack = group('domain:a', ['cmp01', 'cmp02'])
      rig.held = () => [rack]
      const data = { code: 'BRAKE', message: 'full' } as const
      await rig.append(
        ...rack.members.map(({ host, incident }): NewEntry => ({ kind: 'incident.held', host, incident, data })),
      )
      await rig.pass(10_000)
      rig.held = () => []
      await rig.append(...rack.members.map(({ host, incident }): NewEntry => ({ ...override, host, incident })))
      await rig.pass(10_000)
      expect(alerts(rig)).toEqual([
        'incident-held trigger held:domain:a',
        'person-acted acknowledge held:domain:a',
        'holds-over resolve held:domain:a',
      ])
    }),
  )

  it(
    'of a crashed guest ends when its host fails as well: from then on the incident of the host tells',
    Rig.run({}, async (rig) => {
      const about = { incident: 'i', host: 'cmp01', instance: 'id-web' }
      const data = { name: 'web', projectId: 'red', event: 'STOPPED_FAILED', segment: 'az1', mode: 'armed' } as const
      await rig.append({ kind: 'instance.failed', ...about, data: { ...data, openedBy: 'masakari', report: 'r' } })
      const end = { outcome: 'host-failed', message: 'its host died', counts: {} } as const
      await rig.append({ kind: 'incident.closed', incident: 'i', host: 'cmp01', data: end })
      expect(alerts(rig)).toEqual(['instance-failed trigger incident:i', 'instance-over resolve incident:i'])
    }),
  )

  it(
    'of owners’ instances names neither host nor incident, and ends with their outcome',
    Rig.run({ receivers: { hook: owners } }, async (rig) => {
      rig.instances = () => Promise.resolve([instanceOf('web', 'red')])
      await rig.append(verdict('host-down'), ...begun('i'))
      await rig.append(...recovered('i', 'web', 'red'), closed('i'))
      const [told] = rig.queued('instances-affected')
      const key = `owner:${told?.reference}`
      expect(alerts(rig)).toEqual([`instances-affected trigger ${key}`, `instances-ended resolve ${key}`])
      expect(JSON.stringify(told?.alert)).not.toContain('cmp01')
    }),
  )

  it(
    'that ended is told again however soon its trouble comes back',
    Rig.run({}, async (rig) => {
      const waits = { from: 'proving', to: 'waiting-confirmation', code: 'CONFIRM', message: 'm' } as const
      const back = { from: 'proving', to: 'back', code: 'BACK', message: 'm' } as const
      for (const data of [waits, back, waits]) await rig.append({ kind: 'return.changed', host: 'cmp01', data })
      expect(alerts(rig).map((one) => one.split(' ')[1])).toEqual(['trigger', 'resolve', 'trigger'])
    }),
  )
})

describe('a receiver that keeps alerts', () => {
  it(
    'hears of the end of what it was told of, whatever its severity; one that people read does not, and of nothing else',
    Rig.run({ receivers: { pager, mail: { ...everything, least: 'critical' } } }, async (rig) => {
      await rig.append(...begun('a'), closed('a'))
      await rig.append(...begun('i'), heldFor('FENCE_FAILED'), override, closed('i'))
      expect(triedAt(rig, 'pager')).toEqual(['incident-held', 'person-acted', 'incident-closed'])
      expect(triedAt(rig, 'mail')).toEqual(['incident-held'])
    }),
  )

  it(
    'and names its topics hears of those alone',
    Rig.run({ receivers: { pager: { ...pager, topics: ['incident-held', 'incident-closed'] } } }, async (rig) => {
      await rig.append(...begun('i'), heldFor('FENCE_FAILED'), override, closed('i'))
      expect(triedAt(rig, 'pager')).toEqual(['incident-held', 'incident-closed'])
    }),
  )

  it(
    'and nothing else gets no notice of anything that neither begins nor ends',
    Rig.run({ receivers: { manager } }, async (rig) => {
      const back = { from: 'proving', to: 'back', code: 'BACK', message: 'm' } as const
      await rig.append({ kind: 'return.changed', host: 'cmp09', data: back })
      await rig.append(heldFor('PAUSED'), override)
      expect(triedAt(rig, 'manager')).toEqual(['incident-held'])
    }),
  )
})

describe('a renewal', () => {
  it(
    'sends what stands, once it arrived, and no more once its end is on record, though that cannot be delivered',
    Rig.run({ receivers: { manager } }, async (rig) => {
      rig.answers = () => down
      await rig.append(verdict('host-down'))
      await rig.pass(59_000)
      expect(rig.renewed).toEqual([[]])
      rig.answers = () => taken
      await rig.pass(61_000)
      expect(rig.renewed.at(-1)).toEqual(['host:cmp01'])
      rig.answers = () => down
      await rig.append(verdict('healthy', { from: 'host-down' }))
      await rig.pass(120_000)
      expect(rig.renewed.slice(-2)).toEqual([[], []])
    }),
  )

  it(
    'goes on after a restart, at once, and under the same keys',
    Rig.run({ receivers: { manager } }, async (rig) => {
      await rig.append(verdict('host-down'), ...begun('i'))
      await rig.pass(1_000)
      rig.renewed = []
      rig.restart()
      await rig.pass(0)
      expect(rig.renewed).toEqual([['host:cmp01', 'incident:i']])
      await rig.append(closed('i'))
      await rig.pass(1_000)
      rig.restart()
      await rig.pass(0)
      expect(rig.renewed.at(-1)).toEqual(['host:cmp01'])
      expect(triedAt(rig, 'manager')).toEqual(['host-down', 'incident-opened', 'incident-closed'])
    }),
  )

  it(
    'that hangs delays no notice, neither its own receiver’s nor another’s, and is given up with the daemon',
    Rig.run({ receivers: { manager, pager: everything } }, async (rig) => {
      rig.renewal = () => new Promise(() => undefined)
      await rig.pass(60_000)
      await rig.append(verdict('host-down'))
      expect(rig.tried()).toEqual(['manager host-down', 'pager host-down'])
    }),
  )

  it(
    'that fails is tried at the next, and puts nothing on record',
    Rig.run({ receivers: { manager } }, async (rig) => {
      await rig.append(verdict('host-down'))
      await rig.pass(1_000)
      const before = rig.journal.read({}).length
      rig.renewal = () => down
      await rig.pass(180_000)
      expect(rig.renewed.slice(-3)).toEqual([['host:cmp01'], ['host:cmp01'], ['host:cmp01']])
      expect(rig.journal.read({})).toHaveLength(before)
    }),
  )

  it(
    'of two orders that nobody ended are two',
    Rig.run({ receivers: { manager } }, async (rig) => {
      for (const order of ['pause cloud', 'pause segment az1', 'pause cloud'])
        await rig.append({ kind: 'alarm.raised', data: { code: 'PAUSE_FORGOTTEN', message: 'm', order } })
      await rig.pass(200_000)
      expect(rig.renewed.at(-1)).toEqual([
        'alarm:PAUSE_FORGOTTEN:pause cloud',
        'alarm:PAUSE_FORGOTTEN:pause segment az1',
      ])
    }),
  )

  it(
    'of an alarm about two instances of one incident is two, and each is told',
    Rig.run({ receivers: { manager, pager } }, async (rig) => {
      await rig.append(...begun('i'))
      for (const instance of ['web', 'db', 'web'])
        await rig.append({
          ...{ kind: 'alarm.raised', incident: 'i', host: 'cmp01', instance },
          data: { code: 'MAY_RUN_TWICE', message: `${instance} may run twice` },
        })
      expect(rig.queued('alarm').map(({ message, alert }) => [message, alert?.key])).toEqual([
        ['web may run twice', 'alarm:MAY_RUN_TWICE:web'],
        ['db may run twice', 'alarm:MAY_RUN_TWICE:db'],
      ])
    }),
  )

  it.each([
    ['of orders that wait at a host is told again when it names others, however soon', 'STALE_ORDER', 2],
    ['of a memory that flickers is not, though its figures differ', 'MEMORY_HIGH', 1],
  ])('%s', (_, code, times) =>
    Rig.run({}, async (rig) => {
      for (const message of ['for a', 'for a', 'for a and b'])
        await rig.append({ kind: 'alarm.raised', host: 'cmp01', data: { code, message } })
      expect(rig.queued('alarm')).toHaveLength(times)
    })(),
  )

  it(
    'of instances that are off ends when others have started them',
    Rig.run({ receivers: { manager } }, async (rig) => {
      const seen = (off: number): NewEntry => ({
        ...{ kind: 'instances.watched', incident: 'i', host: 'cmp01' },
        data: { to: 'known', instances: 2, off, started: 0, message: `${off} of 2 are off` },
      })
      await rig.append(...begun('i'), closed('i', 'returned'), seen(1), seen(0), seen(0))
      expect(alerts(rig).slice(-2)).toEqual(['instances-off trigger incident:i', 'instances-off resolve incident:i'])
    }),
  )

  it(
    'that ended while its receiver was not configured is not renewed there when it is again',
    Rig.run({ receivers: { manager } }, async (rig) => {
      const limits = { freezeDelayMs: 30_000, giveUpAfterMs: 3_600_000, queueLimit: 100, maxInstances: 3 }
      await rig.append(verdict('host-down'))
      rig.service.configure({ ...limits, receivers: new Map() }, new Map())
      await rig.append(verdict('healthy', { from: 'host-down' }))
      rig.restart()
      await rig.pass(60_000)
      expect(rig.renewed.at(-1)).toEqual([])
    }),
  )

  it(
    'of an alarm, whose end nobody says, ends after a day',
    Rig.run({ receivers: { manager } }, async (rig) => {
      await rig.append({ kind: 'alarm.raised', data: { code: 'JOURNAL_CORRUPT', message: 'm' } })
      await rig.pass(86_000_000)
      expect(rig.renewed.at(-1)).toEqual(['alarm:JOURNAL_CORRUPT:cloud'])
      await rig.pass(600_000)
      expect(rig.renewed.at(-1)).toEqual([])
    }),
  )
})
