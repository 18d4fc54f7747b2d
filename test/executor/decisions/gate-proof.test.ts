/** What the gate asks of the proof of death before it lets a write through (law L1). */
import { describe, expect, it } from 'vitest'
import { sleep } from '../../../src/domain/clock.ts'
import { LifeboatError } from '../../../src/domain/errors.ts'
import type { ProofRecord } from '../../../src/domain/fencing.ts'
import type { IncidentPhase } from '../../../src/domain/incident-phases.ts'
import { Gate } from '../../../src/executor/gate.ts'
import { ProofStage } from './proof-stage.ts'
import { Stage } from './stage.ts'

const proof: ProofRecord = {
  host: 'dead',
  method: 'bmc',
  strength: 'power-off',
  provenAt: '2030-01-01T00:00:00.000Z',
  statedBy: null,
  evidence: [],
}

function staged(phase: IncidentPhase, recorded: ProofRecord | null): Stage {
  const stage = new Stage()
  stage.incident.phase = phase
  stage.incident.proof = recorded
  return stage
}

async function passes(stage: Stage, ms: number): Promise<boolean> {
  let passed = false
  void stage.gate.pass().then(() => (passed = true))
  await stage.clock.advance(ms)
  return passed
}

describe('a proof that life voided', () => {
  it.each(['isolating', 'surveying', 'recovering', 'sweeping'] as const)(
    'lets nothing through while %s, until the host is proven dead again',
    async (phase) => {
      const stage = staged(phase, null)
      let tries = 0
      stage.onProveAnew = () => {
        tries += 1
        if (tries === 3) stage.incident.proof = proof
        return tries === 3
      }
      expect(stage.gate.isOpen()).toBe(false)
      expect(await passes(stage, 600)).toBe(false)
      expect(tries).toBe(2)
      expect(await passes(stage, 500)).toBe(true)
      expect(tries).toBe(3)
      expect(stage.gate.isOpen()).toBe(true)
    },
  )

  it.each(['confirming', 'fencing'] as const)('is none yet while %s: nothing rests on it', async (phase) => {
    const stage = staged(phase, null)
    stage.onProveAnew = () => expect.unreachable()
    expect(stage.gate.isOpen()).toBe(true)
    expect(await passes(stage, 0)).toBe(true)
  })

  it('is not made again while something else forbids to go on', async () => {
    const stage = staged('recovering', null)
    stage.permission = { allowed: false, hold: 'PAUSED', message: 'lunch' }
    stage.onProveAnew = () => expect.unreachable()
    expect(await passes(stage, 2_000)).toBe(false)
    expect(stage.incident.held).toMatchObject({ code: 'PAUSED' })
  })
})

describe('a process that stood still since the proof was read', () => {
  it('reads it again before anything is let through, however short the wait was', async () => {
    const stage = staged('recovering', proof)
    await stage.clock.advance(4_000)
    stage.stoodStillUntil = 4_000
    stage.onRenew = () => void (stage.run.proofAskedAt = stage.clock.now())
    expect(stage.gate.isOpen()).toBe(false)
    expect(await passes(stage, 0)).toBe(true)
    expect(stage.renewals).toEqual([4_000])
    expect(stage.gate.isOpen()).toBe(true)
    expect(await passes(stage, 0)).toBe(true)
    expect(stage.renewals).toHaveLength(1)
  })

  it('reads it once more where the process stood still meanwhile', async () => {
    const stage = staged('recovering', proof)
    await stage.clock.advance(4_000)
    stage.stoodStillUntil = 4_000
    stage.onRenew = async () => {
      const askedAt = stage.clock.now()
      await sleep(stage.clock, 3_000)
      stage.stoodStillUntil = 6_000
      stage.run.proofAskedAt = askedAt
    }
    expect(await passes(stage, 6_000)).toBe(true)
    expect(stage.renewals).toEqual([4_000, 7_000])
  })

  it.each([
    [
      'while a person has paused',
      (stage: Stage) => (stage.permission = { allowed: false, hold: 'PAUSED', message: 'lunch' }),
    ],
    ['after a cancel', (stage: Stage) => (stage.incident.cancelled = { by: 'ann', reason: 'it is back' })],
    ['while nothing forbids', () => undefined],
  ])('reads it before a guest that has landed is started, %s', async (_when, acts) => {
    const stage = staged('recovering', proof)
    acts(stage)
    await stage.clock.advance(4_000)
    stage.stoodStillUntil = 4_000
    stage.onRenew = async () => {
      const askedAt = stage.clock.now()
      await sleep(stage.clock, 1_000)
      stage.run.proofAskedAt = askedAt
    }
    expect([stage.gate.isOpen('finishes'), stage.gate.isOpen('closes')]).toEqual([false, true])
    let passed = false
    void stage.gate.pass('finishes').then(() => (passed = true))
    await stage.clock.advance(900)
    expect(passed).toBe(false)
    await stage.clock.advance(1_000)
    expect([passed, stage.renewals]).toEqual([true, [4_000]])
  })

  it('does not talk over what a start waits for while a person has paused', async () => {
    const stage = new ProofStage().proven()
    const gate = new Gate(
      stage.run,
      () => stage.keeper.restore(),
      () => Promise.resolve(false),
    )
    await stage.clock.advance(4_000)
    stage.stoodStillUntil = 4_000
    stage.permission = { allowed: false, hold: 'PAUSED', message: 'lunch' }
    stage.onRestore = async () => {
      await sleep(stage.clock, 3_000)
      throw new LifeboatError('FENCE_UNVERIFIED', 'the board is silent', { certainty: 'unknown' })
    }
    void gate.pass().catch(() => undefined)
    let started = false
    void gate.pass('finishes').then(() => (started = true))
    await stage.clock.advance(5_000)
    stage.states()
    await stage.clock.advance(5_000)
    expect(started).toBe(true)
    expect(stage.incident.proof?.strength).toBe('statement')
    expect(stage.data('incident.held')).toMatchObject([
      { code: 'PAUSED' },
      { code: 'FENCE_FAILED' },
      { code: 'PAUSED' },
    ])
  })

  it.each([
    [14_000, true],
    [16_000, false],
  ])('starts a guest after a cancel once Nova is read again within fifteen seconds: %i ms', async (readMs, starts) => {
    const stage = staged('recovering', proof)
    stage.incident.cancelled = { by: 'ann', reason: 'it is back' }
    await stage.clock.advance(4_000)
    stage.stoodStillUntil = stage.run.proofAskedAt = 4_000
    stage.begun.finishes = { allowed: false, hold: 'FROZEN', message: 'Nova was not read since' }
    stage.clock.after(readMs, () => (stage.begun.finishes = { allowed: true }))
    const end = stage.gate.pass('finishes').then(
      () => true,
      () => false,
    )
    await stage.clock.advance(20_000)
    expect(await end).toBe(starts)
  })

  it('starts nothing where a cancel ends the wait for it', async () => {
    const stage = staged('recovering', proof)
    stage.incident.cancelled = { by: 'ann', reason: 'it is back' }
    await stage.clock.advance(4_000)
    stage.stoodStillUntil = 4_000
    stage.onRenew = () => Promise.reject(new LifeboatError('CANCELLED', 'cancelled by ann'))
    await expect(stage.gate.pass('finishes')).rejects.toMatchObject({ code: 'HOST_ALIVE' })
  })

  it('runs no program for a start after a cancel: it would take the storage of a host that may live', async () => {
    const stage = staged('recovering', proof)
    stage.incident.cancelled = { by: 'ann', reason: 'it is back' }
    stage.expiryMs = 60_000
    stage.stoodStillUntil = 4_000
    await expect(stage.gate.pass('finishes')).rejects.toMatchObject({ code: 'HOST_ALIVE' })
    expect(stage.renewals).toEqual([])
  })

  it('is as before where nothing is proven yet', async () => {
    const stage = staged('confirming', null)
    stage.stoodStillUntil = 4_000
    expect(await passes(stage, 0)).toBe(true)
    expect(stage.renewals).toEqual([])
  })
})

describe('a proof that lapsed', () => {
  it('holds every write, with why it could not be made again, and no longer than that', async () => {
    const stage = staged('recovering', proof)
    stage.run.proofExpired = new LifeboatError('FENCE_UNVERIFIED', 'the cluster is silent')
    expect(stage.gate.isOpen()).toBe(false)
    expect(await passes(stage, 1_000)).toBe(false)
    expect(stage.entries.at(-1)!.data).toMatchObject({
      code: 'FENCE_FAILED',
      message: 'the proof of death expired and could not be renewed: the cluster is silent',
      error: { code: 'FENCE_UNVERIFIED' },
    })
    stage.run.proofExpired = null
    await stage.clock.advance(500)
    expect(stage.gate.isOpen()).toBe(true)
  })

  it('and was voided is proven from the beginning', async () => {
    const stage = staged('recovering', null)
    stage.run.proofExpired = new LifeboatError('FENCE_UNVERIFIED', 'the cluster is silent')
    stage.onProveAnew = () => {
      stage.incident.proof = proof
      stage.run.proofExpired = null
      return true
    }
    expect(await passes(stage, 0)).toBe(true)
  })
})

describe('a proof after a wait', () => {
  const waited = async (ms: number, recorded: ProofRecord | null): Promise<number> => {
    const stage = staged(recorded === null ? 'fencing' : 'recovering', recorded)
    stage.permission = { allowed: false, hold: 'PAUSED', message: 'lunch' }
    void stage.gate.pass()
    await stage.clock.advance(ms - 1)
    stage.permission = { allowed: true }
    await stage.clock.advance(1_000)
    return stage.renewals.length
  }

  it('of more than five seconds is renewed, once, before the next write', async () => {
    expect(await waited(5_000, proof)).toBe(0)
    expect(await waited(5_500, proof)).toBe(1)
  })

  it('is not renewed before there is one', async () => {
    expect(await waited(60_000, null)).toBe(0)
  })
})

describe('the reason on record', () => {
  it.each([
    ['PAUSED', 2],
    ['MAINTENANCE', 2],
    ['FROZEN', 1],
  ] as const)('of %s is written %i times when it is another one', async (hold, rows) => {
    const stage = staged('recovering', proof)
    stage.permission = { allowed: false, hold, message: 'ann: lunch' }
    void stage.gate.pass()
    await stage.clock.advance(600)
    stage.permission = { allowed: false, hold, message: 'bob: dinner' }
    await stage.clock.advance(600)
    expect(stage.rows()).toEqual(Array.from({ length: rows }, () => 'incident.held'))
  })

  it.each([
    ['BRAKE', 'ann let it past the brake'],
    ['PAUSED', 'PAUSED is over'],
  ] as const)('of going on after %s is: %s', async (hold, because) => {
    const stage = staged('fencing', null)
    stage.permission = { allowed: false, hold, message: 'no' }
    void stage.gate.pass()
    await stage.clock.advance(600)
    stage.incident.override = { by: 'ann', reason: 'I looked' }
    stage.permission = { allowed: true }
    await stage.clock.advance(600)
    expect(stage.entries.at(-1)!.data).toEqual({ because })
  })
})
