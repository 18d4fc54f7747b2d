/** How each receiver stands: by its notices, in earlier runs too, and by its renewals. */
import { describe, expect, it } from 'vitest'
import { begun, down, everything, refused, Rig, taken, verdict } from './rig.ts'

const only = (rig: Rig) => rig.service.health()[0]

describe('a receiver', () => {
  it(
    'that was sent nothing is not dead, and neither is one that takes its notices',
    Rig.run({}, async (rig) => {
      expect(rig.service.health()).toEqual([
        { receiver: 'pager', waiting: 0, takenAt: null, failingSince: null, problem: null, dead: false },
      ])
      await rig.append(verdict('host-down'))
      await rig.pass(1_000)
      expect(only(rig)).toMatchObject({ waiting: 0, takenAt: expect.any(String) as string, dead: false })
    }),
  )

  it(
    'that takes nothing is dead after a minute, not before; a restart changes nothing; its first success does',
    Rig.run({}, async (rig) => {
      rig.answers = () => down
      await rig.append(verdict('host-down'), ...begun('i'))
      await rig.pass(50_000)
      expect(only(rig)).toMatchObject({ waiting: 2, problem: 'HTTP 503', dead: false })
      await rig.pass(20_000)
      const since = only(rig)?.failingSince
      expect(only(rig)).toMatchObject({ takenAt: null, dead: true })
      rig.restart()
      await rig.pass(1_000)
      expect(only(rig)).toMatchObject({ waiting: 2, failingSince: since, dead: true })
      rig.answers = () => taken
      await rig.pass(300_000)
      expect(only(rig)).toMatchObject({ waiting: 0, failingSince: null, problem: null, dead: false })
    }),
  )

  it(
    'that refuses what it is sent is as good as dead; with nothing left to try that is believed for a day',
    Rig.run({}, async (rig) => {
      rig.answers = () => refused
      await rig.append(verdict('host-down'))
      await rig.pass(61_000)
      expect(only(rig)).toMatchObject({ waiting: 0, dead: true })
      await rig.pass(86_400_000)
      expect(only(rig)).toMatchObject({ waiting: 0, dead: false })
    }),
  )

  it(
    'that does not take its renewals is dead, though no notice waits',
    Rig.run({ receivers: { manager: { ...everything, alerts: 'only' } } }, async (rig) => {
      await rig.append(verdict('host-down'))
      await rig.pass(1_000)
      rig.renewal = () => down
      await rig.pass(180_000)
      expect(only(rig)).toMatchObject({ waiting: 0, problem: 'HTTP 503', dead: true })
      rig.renewal = () => taken
      await rig.pass(60_000)
      expect(only(rig)).toMatchObject({ failingSince: null, dead: false })
    }),
  )

  it(
    'beside a dead one is its own, and one that was taken out of the configuration is none',
    Rig.run({ receivers: { dead: everything, pager: everything } }, async (rig) => {
      rig.answers = (receiver) => (receiver === 'dead' ? down : taken)
      await rig.append(verdict('host-down'))
      await rig.pass(61_000)
      expect(rig.service.health().map(({ receiver, dead }) => [receiver, dead])).toEqual([
        ['dead', true],
        ['pager', false],
      ])
      rig.restart({ receivers: { pager: everything } })
      expect(rig.service.health().map(({ receiver }) => receiver)).toEqual(['pager'])
    }),
  )
})

describe('a test of a receiver', () => {
  const test = { receiver: 'pager', by: 'ann', project: null }

  it(
    'tells how it stands as a delivery does, and leaves nothing on record',
    Rig.run({}, async (rig) => {
      rig.answers = () => down
      await rig.append(verdict('host-down'))
      await rig.pass(61_000)
      const { seq } = rig.journal.head()
      rig.answers = () => taken
      expect(await rig.service.test(test)).toMatchObject({ ok: true })
      expect(only(rig)).toMatchObject({ waiting: 1, failingSince: null, dead: false })
      rig.answers = () => down
      expect(await rig.service.test(test)).toEqual({ ok: false, detail: 'HTTP 503' })
      expect(only(rig)).toMatchObject({ problem: 'HTTP 503' })
      expect(rig.journal.head().seq).toBe(seq)
    }),
  )

  it(
    'that is not configured is refused, with those that are',
    Rig.run({}, async (rig) => {
      await expect(rig.service.test({ ...test, receiver: 'pagre' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'No receiver "pagre" is configured (configured: pager)',
      })
    }),
  )
})
