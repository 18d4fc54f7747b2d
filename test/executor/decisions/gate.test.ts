/** The gate every write goes through (law L10). */
import { describe, expect, it } from 'vitest'
import type { LifeboatError } from '../../../src/domain/errors.ts'
import type { HoldCode } from '../../../src/domain/incident-phases.ts'
import type { Act } from '../../../src/executor/context.ts'
import { failed, Stage } from './stage.ts'

const paused = { allowed: false, hold: 'PAUSED', message: 'lunch' } as const

describe('an open gate', () => {
  it('lets pass at once and writes nothing', async () => {
    const stage = new Stage()
    await stage.gate.pass()
    expect(stage.gate.isOpen()).toBe(true)
    expect(stage.rows()).toEqual([])
    expect(stage.clock.now()).toBe(0)
  })
})

describe('what may not go on', () => {
  it('waits with its reason on record, once, and goes on within half a second of its end', async () => {
    const stage = new Stage()
    stage.permission = paused
    let passed = false
    void stage.gate.pass().then(() => (passed = true))
    await stage.clock.advance(10_200)
    expect(passed).toBe(false)
    expect(stage.gate.isOpen()).toBe(false)
    expect(stage.rows()).toEqual(['incident.held'])
    expect(stage.incident.held).toMatchObject({ code: 'PAUSED', message: 'lunch' })
    stage.permission = { allowed: true }
    expect(stage.gate.isOpen()).toBe(false)
    await stage.clock.advance(500)
    expect(passed).toBe(true)
    expect(stage.rows()).toEqual(['incident.held', 'incident.continued'])
    expect(stage.entries.at(-1)!.data).toEqual({ because: 'PAUSED is over' })
    expect(stage.gate.isOpen()).toBe(true)
  })

  it('another reason is said as well, with the error it came from', async () => {
    const stage = new Stage()
    stage.permission = paused
    void stage.gate.pass()
    await stage.clock.advance(600)
    const error = { code: 'API_FAULT' } as never
    stage.permission = { allowed: false, hold: 'FROZEN', message: 'no answer', error }
    await stage.clock.advance(600)
    expect(stage.entries.slice(2).map(({ data }) => data)).toEqual([
      { code: 'PAUSED', message: 'lunch' },
      { code: 'FROZEN', message: 'no answer', error },
    ])
  })

  it('many that wait are one wait, and one line', async () => {
    const stage = new Stage()
    stage.permission = paused
    let passed = 0
    for (let count = 0; count < 3; count++) void stage.gate.pass().then(() => passed++)
    await stage.clock.advance(600)
    stage.permission = { allowed: true }
    // One that comes now waits with the others, so that the line stands before its write.
    void stage.gate.pass().then(() => passed++)
    await stage.clock.advance(1)
    expect(passed).toBe(0)
    await stage.clock.advance(499)
    expect(passed).toBe(4)
    expect(stage.rows()).toEqual(['incident.held', 'incident.continued'])
  })

  it('is let through without a line when nothing was ever held', async () => {
    const stage = new Stage()
    let asked = 0
    const first = stage.run.permissions.of
    stage.run.permissions.of = (incident) => (asked++ === 0 ? paused : first(incident))
    await stage.clock.run(stage.gate.pass())
    expect(stage.rows()).toEqual([])
  })

  it('can be held again, and says so again', async () => {
    const stage = new Stage()
    for (let time = 0; time < 2; time++) {
      stage.permission = paused
      const pass = stage.gate.pass()
      await stage.clock.advance(100)
      stage.permission = { allowed: true }
      await stage.clock.run(pass)
    }
    expect(stage.rows()).toEqual(['incident.held', 'incident.continued', 'incident.held', 'incident.continued'])
  })
})

describe('an incident that a restart finds held', () => {
  const held = (code: HoldCode): Stage => {
    const stage = new Stage()
    stage.run.journal.append([{ kind: 'incident.held', incident: 'inc-1', host: 'dead', data: { code, message: '' } }])
    return stage
  }

  it.each(['PAUSED', 'MAINTENANCE', 'OBSERVING', 'FROZEN', 'BRAKE', 'MEMORY'] as const)(
    'for %s goes on and says so',
    async (code) => {
      const stage = held(code)
      await stage.gate.pass()
      await stage.gate.pass()
      expect(stage.rows()).toEqual(['incident.held', 'incident.continued'])
      expect(stage.entries.at(-1)!.data).toEqual({ because: `${code} is over` })
    },
  )

  it.each(['FENCE_FAILED', 'FENCING_MISSING', 'HOST_ALIVE'] as const)(
    'for %s, which is not for the gate to end, stays held',
    async (code) => {
      const stage = held(code)
      await stage.gate.pass()
      expect(stage.incident.held?.code).toBe(code)
    },
  )
})

describe('what a person cancelled', () => {
  it('does not pass, and says who cancelled it', async () => {
    const stage = new Stage()
    stage.cancel()
    expect(() => stage.gate.pass()).toThrow('cancelled by ann: mine')
    expect(stage.gate.isOpen()).toBe(false)
  })

  it('ends also what is waiting', async () => {
    const stage = new Stage()
    stage.permission = paused
    const pass = stage.gate.pass()
    await stage.clock.advance(100)
    stage.cancel()
    expect(await stage.ending(pass)).toBe('CANCELLED')
  })

  it('or what the daemon says was cancelled', async () => {
    const stage = new Stage()
    stage.permission = { allowed: false, cancelled: 'by bob' }
    await expect(stage.gate.pass()).rejects.toMatchObject({ code: 'CANCELLED', message: 'by bob' })
  })
})

describe('what was begun', () => {
  const alive = { allowed: false, hold: 'HOST_ALIVE', message: 'it beats' } as const

  /** Whether it passes within a minute, or the code with which it may not. */
  async function passes(stage: Stage, act: Act): Promise<unknown> {
    const pass = stage.gate.pass(act).then(
      () => true,
      (error: unknown) => (error as LifeboatError).code,
    )
    const open = stage.gate.isOpen(act)
    const passed = await Promise.race([pass, stage.clock.advance(60_000).then(() => false)])
    expect(open).toBe(passed === true)
    return passed
  }

  it.each(['finishes', 'closes'] as const)('%s although a person paused or cancelled', async (act) => {
    const stage = new Stage()
    stage.permission = paused
    expect(await passes(stage, act)).toBe(true)
    stage.cancel()
    expect(await passes(stage, act)).toBe(true)
  })

  it.each<[string, (stage: Stage) => void]>([
    ['the host shows life', (stage) => (stage.begun = { finishes: alive })],
    ['its proof of death lapsed', (stage) => (stage.run.proofExpired = failed('FENCE_FAILED'))],
    ['an earlier run left it and its proof was not looked at yet', (stage) => stage.gate.after(new Promise(() => 0))],
  ])('is closed, and not started, while %s', async (_what, happens) => {
    const stage = new Stage()
    happens(stage)
    stage.permission = paused
    expect(await passes(stage, 'closes')).toBe(true)
    expect(await passes(stage, 'finishes')).toBe(false)
    stage.cancel()
    // Nothing proves the host dead any more once nobody goes on with it: a person must look.
    expect(await passes(stage, 'finishes')).toBe('HOST_ALIVE')
  })

  it('waits where a person wants nothing to be sent', async () => {
    const stage = new Stage()
    const observing = { allowed: false, hold: 'OBSERVING', message: 'only observes' } as const
    stage.permission = observing
    stage.begun = { closes: observing, finishes: observing }
    expect(await passes(stage, 'closes')).toBe(false)
    stage.begun = {}
    expect(await passes(stage, 'closes')).toBe(true)
  })

  it('is ended by the daemon', async () => {
    const stage = new Stage()
    stage.stop.abort()
    expect(await passes(stage, 'closes')).toBe('SHUTDOWN')
  })
})

describe('what an earlier run left', () => {
  it('lets nothing begin before it is made sure of', async () => {
    const stage = new Stage()
    let sure: () => void = () => undefined
    stage.gate.after(new Promise((resolve) => (sure = resolve)))
    const pass = stage.gate.pass()
    expect(stage.gate.isOpen()).toBe(false)
    sure()
    await pass
    expect(stage.gate.isOpen()).toBe(true)
  })

  it.each([
    ['CANCELLED', 'CANCELLED'],
    ['INVARIANT', 'SHUTDOWN'],
  ] as const)('that breaks with %s says %s to who waits: it is no failure of theirs', async (code, told) => {
    const stage = new Stage()
    stage.gate.after(Promise.reject(failed(code)))
    await expect(stage.gate.pass()).rejects.toMatchObject({ code: told })
  })

  it.each([
    ['CANCELLED', 'HOST_ALIVE'],
    ['INVARIANT', 'SHUTDOWN'],
  ] as const)('that breaks with %s lets no start pass after it: %s', async (code, told) => {
    const stage = new Stage()
    stage.gate.after(Promise.reject(failed(code)))
    if (code === 'CANCELLED') stage.cancel()
    await stage.clock.advance(1_000)
    await expect(stage.clock.run(stage.gate.pass('finishes'))).rejects.toMatchObject({ code: told })
    expect(stage.gate.isOpen('finishes')).toBe(false)
  })
})

describe('a daemon that stops', () => {
  it('lets nothing pass', async () => {
    const stage = new Stage()
    stage.stop.abort()
    expect(() => stage.gate.pass()).toThrow('stopping')
    expect(stage.gate.isOpen()).toBe(false)
  })

  it('ends what is waiting', async () => {
    const stage = new Stage()
    stage.permission = paused
    const pass = stage.gate.pass()
    await stage.clock.advance(100)
    stage.stop.abort()
    expect(await stage.ending(pass)).toBe('SHUTDOWN')
    expect(stage.clock.now()).toBe(100)
  })
})
