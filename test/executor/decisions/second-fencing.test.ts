/** A host that lived once more and died again: what is asked before it is fenced again, and what follows (law L1). */
import { describe, expect, it } from 'vitest'
import { ensureError } from '../../../src/domain/errors.ts'
import type { ProbeReading, VerdictKind } from '../../../src/domain/verdict.ts'
import { failed } from './stage.ts'
import { ProofStage, stamp, verdictOf } from './proof-stage.ts'

/** The host lived, and is silent again. */
function voided(): ProofStage {
  const stage = new ProofStage().proven()
  stage.voided()
  return stage
}

const probe = (answer: ProbeReading['answer']): ProbeReading => ({
  probe: 'p',
  kind: 'ping',
  answer,
  detail: '',
  at: '',
})

describe('a host that lived once more', () => {
  it.each(['host-down', 'declared-down', 'recovering'] as const)('and is %s is fenced again', async (kind) => {
    const stage = voided()
    stage.verdict = verdictOf(kind)
    stage.run.proofExpired = failed('FENCE_UNVERIFIED')
    stage.onLook = () => expect(stage.run.proof).toBeNull()
    expect(await stage.secondFencing.attempt()).toBe(true)
    expect(stage.fencings).toEqual([{ methods: ['bmc', 'pdu'], limitMs: 120_000, at: 0 }])
    expect(stage.run).toMatchObject({ proof: { method: 'bmc' }, proofExpired: null })
    expect(stage.incident.proof).toMatchObject({ method: 'bmc' })
    // The stamp of the look: whatever is later than it is a sign of life after this fencing.
    expect(stage.incident.hostSteps.get('host.fence.1')?.before).toEqual({ verdict: kind, updatedAt: stamp })
  })

  it.each([
    'unknown',
    'healthy',
    'suspect',
    'service-down',
    'maintenance',
    'forced-down-before',
    'contradiction',
    'returning',
  ] as VerdictKind[])('and is %s is left alone, held with how a person ends it', async (kind) => {
    const stage = voided()
    stage.verdict = verdictOf(kind)
    expect(await stage.secondFencing.attempt()).toBe(false)
    expect([stage.fencings, stage.run.proof]).toEqual([[], null])
    expect(stage.incident.held).toMatchObject({
      code: 'HOST_ALIVE',
      message: `dead showed life after it was proven dead (it is ${kind}): nothing more is evacuated until it is silent and has been fenced again. To leave the rest where it is and let the host return: lifeboat incident cancel inc-1`,
    })
  })

  it.each([
    [2.9, [], false],
    [3, [], true],
    [9, [probe('alive')], false],
    [9, [probe('dead'), probe('alive')], false],
    [9, [probe('dead'), probe('unknown')], true],
  ])('silent for %d beats, with the witnesses %j, is fenced: %s', async (missedBeats, probes, fenced) => {
    const stage = voided()
    stage.verdict = verdictOf('recovering', { missedBeats, probes })
    expect(await stage.secondFencing.attempt()).toBe(fenced)
    expect(stage.fencings).toHaveLength(fenced ? 1 : 0)
  })

  it('is not judged while verdicts are frozen', async () => {
    const stage = voided()
    stage.frozen = 'no conductor'
    let looks = 0
    stage.onLook = () => {
      looks++
    }
    expect(await stage.secondFencing.attempt()).toBe(false)
    expect(stage.incident.held).toMatchObject({ code: 'FROZEN', message: 'no conductor' })
    expect(stage.fencings).toEqual([])
    // Each look asks Nova, which has enough to do.
    expect(await stage.secondFencing.attempt()).toBe(false)
    expect(looks).toBe(1)
  })

  it('is looked at again when Nova does not answer', async () => {
    const stage = voided()
    let looks = 0
    stage.onLook = () => {
      if (++looks < 3) throw failed('API_TIMEOUT')
    }
    expect(await stage.clock.run(stage.secondFencing.attempt())).toBe(true)
    expect(looks).toBe(3)
  })

  it.each([
    ['a pause', (stage: ProofStage) => (stage.permission = { allowed: false, hold: 'PAUSED', message: 'lunch' })],
    ['a cancel', (stage: ProofStage) => (stage.permission = { allowed: false, cancelled: 'by ann' })],
    ['the end of the daemon', (stage: ProofStage) => stage.stop.abort()],
  ])('is not fenced when %s came during the look; the gate says so', async (_what, came) => {
    const stage = voided()
    stage.onLook = () => came(stage)
    expect(await stage.secondFencing.attempt()).toBe(false)
    expect([stage.fencings, stage.incident.held]).toEqual([[], null])
  })

  it('whose fencing is stopped in the middle is no failed fencing: it is looked at again, once a beat must have been seen', async () => {
    const stage = voided()
    stage.onFence = () => {
      throw failed('FENCE_STOPPED', { certainty: 'unknown' })
    }
    expect(await stage.secondFencing.attempt()).toBe(false)
    expect([stage.incident.held, stage.run.proof, stage.fencings.length]).toEqual([null, null, 1])
    stage.onFence = () => undefined
    await stage.clock.advance(24_000)
    expect(await stage.secondFencing.attempt()).toBe(false)
    await stage.clock.advance(1_000)
    expect(await stage.secondFencing.attempt()).toBe(true)
  })

  it('and whose fencing is stopped before anything acted is looked at at once', async () => {
    const stage = voided()
    stage.onFence = ({ mayGoOn }) => {
      stage.permission = { allowed: false, hold: 'BRAKE', message: 'too many' }
      mayGoOn?.()
    }
    expect(await stage.secondFencing.attempt()).toBe(false)
    stage.permission = { allowed: true }
    stage.onFence = () => undefined
    expect(await stage.secondFencing.attempt()).toBe(true)
  })

  it('is looked at ever more rarely while it lives: each look lists every service of the cloud', async () => {
    const stage = voided()
    stage.verdict = verdictOf('healthy')
    const looks: number[] = []
    stage.onLook = () => looks.push(stage.clock.now())
    for (let tries = 0; tries < 60; tries++) {
      expect(await stage.secondFencing.attempt()).toBe(false)
      await stage.clock.advance(500)
    }
    expect(looks).toEqual([0, 500, 1_500, 3_500, 7_500, 12_500, 17_500, 22_500, 27_500])
    // Proven again: the next time it is looked at soon again.
    stage.verdict = verdictOf('recovering')
    await stage.clock.advance(5_000)
    expect(await stage.secondFencing.attempt()).toBe(true)
    stage.voided()
    stage.verdict = verdictOf('healthy')
    looks.length = 0
    await stage.clock.advance(5_000)
    const from = stage.clock.now()
    await stage.secondFencing.attempt()
    await stage.clock.advance(500)
    await stage.secondFencing.attempt()
    expect(looks.map((at) => at - from)).toEqual([0, 500])
  })

  it("is proven dead by a person's word that was given since", async () => {
    const stage = voided()
    stage.states('bob')
    expect(await stage.secondFencing.attempt()).toBe(true)
    expect(stage.incident.proof).toMatchObject({ strength: 'statement', statedBy: 'bob' })
    expect(stage.fencings).toEqual([])
  })

  it('has a proof that is kept from then on', async () => {
    const stage = voided()
    stage.expiryMs = 60_000
    await stage.secondFencing.attempt()
    await stage.clock.advance(60_000)
    expect(stage.restores).toEqual([60_000])
  })
})

describe('a host that someone powered on', () => {
  it.each([3_600_000, -3_600_000])(
    'has its ten minutes to come up, however the wall clock is set (%i ms)',
    async (step) => {
      const stage = new ProofStage().proven()
      stage.tell({ kind: 'proof.voided', data: { code: 'POWER_ON', message: 'its board says On', updatedAt: null } })
      expect(await stage.clock.run(stage.secondFencing.attempt())).toBe(false)
      stage.clock.stepWall(step)
      await stage.clock.advance(9 * 60_000)
      expect(await stage.clock.run(stage.secondFencing.attempt())).toBe(false)
      expect(stage.fencings).toEqual([])
      await stage.clock.advance(60_000)
      expect(await stage.clock.run(stage.secondFencing.attempt())).toBe(true)
    },
  )
})

describe('a fencing that fails', () => {
  it.each([
    ['FENCE_FAILED', 'FENCE_FAILED'],
    ['FENCE_UNVERIFIED', 'FENCE_FAILED'],
    ['FENCING_MISSING', 'FENCING_MISSING'],
  ] as const)('as %s is held as %s, with what a person can do', async (code, hold) => {
    const stage = voided()
    stage.onFence = () => {
      throw failed(code)
    }
    expect(await stage.secondFencing.attempt()).toBe(false)
    expect(stage.data('incident.held')).toMatchObject([
      {
        code: hold,
        message: `it was ${code}. It lived after its first proof, so nothing more is evacuated without a new one. A person who has seen that dead is dead can say so: lifeboat recover dead --by NAME --proof "how you know"`,
        error: { code },
      },
    ])
    expect(stage.run.proof).toBeNull()
  })

  it('is tried ever more rarely', async () => {
    const stage = voided()
    stage.onFence = () => {
      throw failed('FENCE_FAILED')
    }
    for (let ms = 0; ms <= 8_000; ms += 100) {
      expect(await stage.clock.run(stage.secondFencing.attempt())).toBe(false)
      await stage.clock.advance(100)
    }
    expect(stage.fencings.map(({ at }) => at)).toEqual([0, 1_000, 3_000, 7_000])
  })

  it("and the pause after it does not keep a person's word waiting", async () => {
    const stage = voided()
    stage.onFence = () => {
      throw failed('FENCE_FAILED')
    }
    await stage.secondFencing.attempt()
    stage.states()
    expect(await stage.secondFencing.attempt()).toBe(true)
    expect(stage.incident.proof).toMatchObject({ strength: 'statement' })
  })

  it.each(['JOURNAL_UNAVAILABLE', 'SHUTDOWN', 'PROOF_INVALID'] as const)('as %s ends the run', async (code) => {
    const stage = voided()
    stage.onFence = () => {
      throw failed(code)
    }
    expect(await stage.ending(stage.secondFencing.attempt())).toBe(code)
    expect(stage.incident.held).toBeNull()
  })
})

describe('the flags of a host that was fenced again', () => {
  const takenBack = (): ProofStage => {
    const stage = voided()
    stage.service = { ...stage.service, forcedDown: false, status: 'enabled', disabledReason: null }
    return stage
  }
  const ours = { forcedDown: true, status: 'disabled', disabledReason: 'lifeboat: incident inc-1' }

  it('stay when they are as we set them', async () => {
    const stage = voided()
    await stage.secondFencing.attempt()
    expect(stage.count('updateService')).toBe(0)
  })

  it('are set again when someone had taken them back, and the monitor is told that the write is ours', async () => {
    const stage = takenBack()
    expect(await stage.secondFencing.attempt()).toBe(true)
    expect(stage.calls.filter(({ call }) => call === 'updateService').map(({ args }) => args)).toEqual([['s-1', ours]])
    expect(stage.noted).toEqual(['2030-01-01T12:00:00.000Z'])
  })

  it('wait for what forbids writes, held once for each reason', async () => {
    const stage = takenBack()
    let asked = 0
    stage.onFence = () => {
      stage.permission = { allowed: false, hold: 'PAUSED', message: 'lunch' }
    }
    const attempt = stage.secondFencing.attempt().then(() => asked++)
    await stage.clock.advance(2_000)
    expect([asked, stage.count('updateService')]).toEqual([0, 0])
    expect(stage.data('incident.held')).toEqual([{ code: 'PAUSED', message: 'lunch' }])
    stage.permission = { allowed: true }
    await stage.clock.run(attempt, 500)
    expect(stage.count('updateService')).toBe(1)
  })

  it('are not set once the new proof is revoked while they wait', async () => {
    const stage = takenBack()
    stage.onFence = () => {
      stage.permission = { allowed: false, hold: 'PAUSED', message: 'lunch' }
    }
    const attempt = stage.secondFencing.attempt()
    await stage.clock.advance(2_000)
    stage.voided()
    stage.permission = { allowed: true }
    expect(await stage.clock.run(attempt, 1_000)).toBe(false)
    expect(stage.count('updateService')).toBe(0)
  })

  it('are set only after the proof was read again where the process stood still', async () => {
    const stage = takenBack()
    stage.onFence = () => {
      stage.permission = { allowed: false, hold: 'PAUSED', message: 'lunch' }
    }
    const attempt = stage.secondFencing.attempt()
    await stage.clock.advance(2_000)
    stage.stoodStillUntil = 2_000
    stage.permission = { allowed: true }
    stage.onWrite = () => expect(stage.restores).toHaveLength(1)
    expect(await stage.clock.run(attempt, 1_000)).toBe(true)
    expect(stage.count('updateService')).toBe(1)
  })

  it('are not set after a cancel', async () => {
    const stage = takenBack()
    stage.onFence = () => {
      stage.permission = { allowed: false, cancelled: 'by ann' }
    }
    const ended = stage.secondFencing.attempt().catch((error: unknown) => ensureError(error))
    expect(await stage.clock.run(ended, 0)).toMatchObject({ code: 'CANCELLED', message: 'by ann' })
    expect(stage.count('updateService')).toBe(0)
  })

  it('that Nova refuses to set are tried again, ever more rarely: that ends no instance', async () => {
    const stage = takenBack()
    stage.fails('updateService', ...Array.from({ length: 3 }, () => failed('AUTH_FORBIDDEN')))
    expect(await stage.clock.run(stage.secondFencing.attempt())).toBe(true)
    const times = stage.calls.filter(({ call }) => call === 'updateService').map(({ at }) => at)
    expect(times).toEqual([0, 10_000, 30_000, 70_000])
    expect(stage.data('incident.held')).toMatchObject([{ code: 'NOVA_REFUSED' }])
    expect(stage.incident.held).toBeNull()
  })

  it('and refusals of an earlier run count', async () => {
    const stage = takenBack()
    const data = { kind: 'force-down', attempt: 1, before: null, request: null } as const
    stage.tell({ kind: 'step.intended', step: 'host.force-down.1', data })
    const error = { ...data, code: 'AUTH_FORBIDDEN', message: '' }
    stage.tell({ kind: 'step.failed', step: 'host.force-down.1', data: { error } as never })
    stage.fails('updateService', failed('AUTH_FORBIDDEN'))
    await stage.clock.run(stage.secondFencing.attempt())
    expect(stage.clock.now()).toBe(20_000)
  })
})
