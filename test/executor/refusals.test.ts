/** What Nova refuses for good, and what a person ends in the middle: held with few rows, and every instance has its outcome. */
import { describe, expect, test } from 'vitest'
import { Exclusives, Slots } from '../../src/executor/slots.ts'
import { dead, withRig } from './rig.ts'

const evacuate = { path: /servers\/[^/]+\/action/, body: /evacuate/, times: 1 } as const

describe.concurrent('a host step that Nova refuses for good', () => {
  test(
    'force-down: held with the reason, not tried again at once, marked once, and goes on when it is allowed',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      rig.simulator.apiFault({ kind: 'refuse', status: 403, method: 'PUT', path: /os-services/ })
      rig.hostDies()
      const stop = new AbortController()
      const run = rig.run(stop.signal)
      await rig.until(() => rig.incident.held?.code === 'NOVA_REFUSED', 'held')
      expect(rig.incident.held?.message).toContain('not allowed')
      const failures = (): number => rig.entries(['step.failed']).length
      const before = failures()
      stop.abort()
      await run
      // A run that broke would be begun again, and three rows with it.
      expect(failures()).toBe(before)
      rig.restart()
      const again = rig.run()
      await rig.until(() => failures() === before + 1, 'tried once more after a restart')
      expect(rig.entries(['service.marked'])).toHaveLength(1)
      expect(rig.entries(['incident.held'])).toHaveLength(1)
      rig.cancel()
      await again
      expect(rig.incident.closed?.outcome).toBe('cancelled')
      expect(rig.sent('evacuate', uuid)).toBe(0)
    }),
  )

  test(
    'the survey: held, and no instance is touched',
    withRig({}, async (rig) => {
      rig.simulator.addInstance({ host: dead })
      rig.simulator.apiFault({ kind: 'refuse', status: 403, method: 'GET', path: /servers\/detail/ })
      rig.hostDies()
      const run = rig.run()
      await rig.until(() => rig.incident.held?.code === 'NOVA_REFUSED', 'held')
      expect(rig.incident.phase).toBe('surveying')
      rig.cancel()
      await run
      expect(rig.sent('evacuate')).toBe(0)
    }),
  )
})

describe.concurrent('a read that is refused for good says nothing of the write (L3)', () => {
  for (const status of [401, 403, 404] as const) {
    test(
      `${status} while a lost evacuation is looked for: never sent again, and stuck, its effect unknown, once nobody waits`,
      withRig({ writeTimeoutMs: 400 }, async (rig) => {
        const { uuid } = rig.simulator.addInstance({ host: dead })
        rig.simulator.apiFault({ kind: 'drop-after', ...evacuate })
        rig.beforeWrite = (kind) => {
          if (kind === 'evacuate')
            rig.simulator.apiFault({ kind: 'refuse', status, method: 'GET', path: /os-migrations/ })
        }
        rig.hostDies()
        const run = rig.run()
        // What no right in the cloud mends is said at once; the others are waited for.
        if (status !== 404) {
          await rig.until(() => rig.incident.held?.code === 'NOVA_REFUSED', 'held')
          rig.cancel()
        }
        await run
        expect(rig.outcome(uuid)).toMatchObject({ outcome: 'stuck' })
        const [step] = [...rig.recovery(uuid).steps.values()]
        expect(step?.error).toMatchObject({ certainty: 'unknown', message: expect.stringContaining('nobody knows') })
        expect(rig.sent('evacuate', uuid)).toBe(1)
      }),
    )
  }

  test(
    'refused after a restart, before the write was ever answered: stuck as well, once a person cancels',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      const stop = new AbortController()
      rig.onWrite = () => stop.abort()
      rig.wrapJournal = (journal) => ({
        ...journal,
        // Killed between the write and its answer: the issued row is never written.
        append: (entries) => (entries.some(({ kind }) => kind === 'step.issued') ? [] : journal.append(entries)),
      })
      rig.hostDies()
      await rig.run(stop.signal)
      rig.wrapJournal = (journal) => journal
      rig.onWrite = () => undefined
      rig.restart()
      rig.simulator.apiFault({ kind: 'refuse', status: 403, method: 'GET', path: /os-migrations/ })
      const run = rig.run()
      await rig.until(() => rig.incident.held?.code === 'NOVA_REFUSED', 'held')
      rig.cancel()
      await run
      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'stuck', code: 'AUTH_FORBIDDEN' })
      expect(rig.sent('evacuate', uuid)).toBe(1)
    }),
  )
})

test(
  'a cancel while the instances that turned up later are being planned: each has its line (L9)',
  withRig({}, async (rig) => {
    const first = rig.simulator.addInstance({ host: dead }).uuid
    let late: string[] = []
    let cancelled = false
    rig.wrapJournal = (journal) => ({
      ...journal,
      append: (entries) => {
        const toSweep = entries.some((entry) => entry.kind === 'incident.phase' && entry.data.to === 'sweeping')
        if (toSweep && late.length === 0)
          late = [
            rig.simulator.addInstance({ host: dead }).uuid,
            rig.simulator.addInstance({ host: dead, state: 'building' }).uuid,
          ]
        const written = journal.append(entries)
        const planned = entries.some((entry) => entry.kind === 'plan.made' && late.includes(entry.instance ?? ''))
        if (planned && !cancelled) {
          cancelled = true
          rig.cancel()
        }
        return written
      },
    })
    rig.hostDies()
    await rig.run()
    expect(rig.incident.closed).toMatchObject({ outcome: 'cancelled', counts: { recovered: 1, left: 2 } })
    expect(rig.outcome(first).outcome).toBe('recovered')
    expect(rig.outcome(late[0] ?? '')).toMatchObject({ outcome: 'left', code: 'CANCELLED' })
    expect(rig.outcome(late[1] ?? '')).toMatchObject({ outcome: 'left', code: 'BUILDING' })
    expect(rig.sent('evacuate')).toBe(1)
  }),
)

describe('groups', () => {
  const gate = (): { open: () => void; shut: Promise<void> } => {
    let open: () => void = () => undefined
    const shut = new Promise<void>((resolve) => (open = resolve))
    return { open, shut }
  }

  test('members go one after another over every incident of the daemon, others at once', async () => {
    const shared = Slots.shared(8)
    const hosts = [new Slots(shared, 4, 0), new Slots(shared, 4, 0)] as const
    const order: string[] = []
    const first = gate()
    const plan = (exclusive: string | null): Parameters<Slots['runAlone']>[0] =>
      ({ exclusive, priority: 0 }) as Parameters<Slots['runAlone']>[0]
    const work = [
      hosts[0].runAlone(plan('g'), async () => {
        order.push('a begins')
        await first.shut
        order.push('a ends')
      }),
      hosts[1].runAlone(plan('g'), async () => void order.push('b')),
      hosts[1].runAlone(plan('other'), async () => void order.push('c')),
      hosts[1].runAlone(plan(null), async () => void order.push('d')),
    ]
    await Promise.all(work.slice(2))
    first.open()
    await Promise.all(work)
    expect(order.indexOf('b')).toBeGreaterThan(order.indexOf('a ends'))
    expect(order.indexOf('a ends')).toBeGreaterThan(order.indexOf('c'))
    expect(order.indexOf('a ends')).toBeGreaterThan(order.indexOf('d'))
  })

  test('one that fails lets the next one go', async () => {
    const exclusives = new Exclusives()
    const failed = exclusives.run('g', () => Promise.reject(new Error('no')))
    const next = exclusives.run('g', () => Promise.resolve('went'))
    await expect(failed).rejects.toThrow('no')
    await expect(next).resolves.toBe('went')
  })
})
