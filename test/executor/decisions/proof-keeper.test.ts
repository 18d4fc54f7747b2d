/** How the proof of death is kept true while an incident runs (law L1). */
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { ensureError, type ErrorCode } from '../../../src/domain/errors.ts'
import type { ProofRecord } from '../../../src/domain/fencing.ts'
import { failed } from './stage.ts'
import { ProofStage } from './proof-stage.ts'

const statement: Partial<ProofRecord> = { method: 'operator', strength: 'statement', statedBy: 'ann' }
const sayIt =
  'A person who has seen that dead is dead can say so: lifeboat recover dead --by NAME --proof "how you know"'

describe('a recorded proof after a restart', () => {
  it('is made true again, and no line is needed for a power that stays off', async () => {
    const stage = new ProofStage().proven()
    const recorded = stage.run.proof
    stage.run.proof = null
    stage.run.proofExpired = failed('FENCE_UNVERIFIED')
    await stage.keeper.restore()
    expect(stage.run.proof).toEqual(recorded)
    expect(stage.run.proofExpired).toBeNull()
    expect(stage.rows()).toEqual(['proof.recorded'])
  })

  it('that is none needs nothing', async () => {
    const stage = new ProofStage()
    await stage.keeper.restore()
    expect(stage.restores).toEqual([])
  })

  it('that lapses has its rows before and after: renewing is an act', async () => {
    const stage = new ProofStage().proven()
    stage.expiryMs = 60_000
    let rowsMeanwhile = 0
    stage.onRestore = async () => {
      rowsMeanwhile = stage.data('fence.attempt').length
      await stage.clock.advance(40)
    }
    await stage.keeper.restore()
    expect(rowsMeanwhile).toBe(1)
    const about = { method: 'bmc', startedAt: '2030-01-01T12:00:00.000Z' }
    expect(stage.data('fence.attempt')).toEqual([
      { ...about, phase: 'trying', message: 'Renewing the proof by bmc' },
      { ...about, phase: 'succeeded', message: 'it reads Off', endedAt: '2030-01-01T12:00:00.040Z' },
    ])
  })

  it('says at least that it was renewed', async () => {
    const stage = new ProofStage().proven({ evidence: [] })
    stage.expiryMs = 60_000
    await stage.keeper.restore()
    expect(stage.data('fence.attempt').at(-1)).toMatchObject({ message: 'renewed' })
  })

  it('is tried ever more rarely while it cannot be, held once with what a person can do, and goes on by itself', async () => {
    const stage = new ProofStage().proven()
    stage.onRestore = () => {
      if (stage.restores.length < 5) throw failed('FENCE_UNVERIFIED', { certainty: 'unknown' })
    }
    await stage.clock.run(stage.keeper.restore())
    expect(stage.restores).toEqual([0, 1_000, 3_000, 7_000, 15_000])
    expect(stage.data('incident.held')).toMatchObject([
      {
        code: 'FENCE_FAILED',
        message: `the proof of death could not be renewed: it was FENCE_UNVERIFIED. ${sayIt}`,
        error: { code: 'FENCE_UNVERIFIED' },
      },
    ])
    expect(stage.data('incident.continued')).toEqual([{ because: 'the proof still holds' }])
  })

  it('that failed to be renewed says so in its own row, with whether the host may be fenced all the same', async () => {
    const stage = new ProofStage().proven()
    stage.expiryMs = 60_000
    stage.onRestore = () => {
      if (stage.restores.length === 1) throw failed('FENCE_UNVERIFIED', { certainty: 'unknown' })
    }
    await stage.clock.run(stage.keeper.restore())
    expect(stage.data('fence.attempt')).toMatchObject([
      { phase: 'trying' },
      {
        method: 'bmc',
        phase: 'failed',
        message: 'it was FENCE_UNVERIFIED',
        certainty: 'unknown',
        endedAt: '2030-01-01T12:00:00.000Z',
      },
      { phase: 'trying' },
      { phase: 'succeeded' },
    ])
  })

  it('that was revoked while it was read is not rested on, and nothing is said to hold', async () => {
    const stage = new ProofStage().proven()
    const before = stage.run.proof
    stage.onRestore = () => {
      stage.voided()
      stage.holding.hold('HOST_ALIVE', 'it beat')
    }
    await stage.keeper.restore()
    expect(stage.run.proof).toBe(before)
    expect(stage.rows()).not.toContain('incident.continued')
  })

  it('that was read beside it ends the pause before the next try', async () => {
    const stage = new ProofStage().proven()
    stage.run.settings.fenceRetryMs = 60_000
    stage.onRestore = () => {
      if (stage.clock.now() < 16_000) throw failed('FENCE_UNVERIFIED', { certainty: 'unknown' })
    }
    stage.keeper.keep()
    await stage.clock.run(stage.keeper.restore(), 20_500)
    expect(stage.restores).toEqual([0, 20_000])
    expect(stage.incident.held).toBeNull()
  })

  it('that cannot be read after a cancel holds nothing: nobody is called for what ends', async () => {
    const stage = new ProofStage().proven()
    stage.cancel()
    stage.onRestore = () => {
      throw failed('FENCE_UNVERIFIED', { certainty: 'unknown' })
    }
    expect(await stage.ending(stage.keeper.restore())).toBe('CANCELLED')
    expect(stage.rows()).not.toContain('incident.held')
  })

  it.each(['SHUTDOWN', 'CANCELLED', 'JOURNAL_UNAVAILABLE', 'INVARIANT'] as const)(
    'is no proof that failed when %s ends the run',
    async (code) => {
      const stage = new ProofStage().proven()
      stage.onRestore = () => {
        throw failed(code)
      }
      expect(await stage.ending(stage.keeper.restore())).toBe(code)
      expect(stage.incident.held).toBeNull()
    },
  )

  it.each([
    ['SHUTDOWN', (stage: ProofStage) => stage.stop.abort()],
    ['CANCELLED', (stage: ProofStage) => stage.cancel()],
  ] as [ErrorCode, (stage: ProofStage) => void][])('is not waited for after %s', async (code, end) => {
    const stage = new ProofStage().proven()
    stage.onRestore = () => {
      throw failed('FENCE_UNVERIFIED')
    }
    const restoring = stage.keeper.restore().catch((error: unknown) => ensureError(error).code)
    await stage.clock.advance(10_000)
    end(stage)
    expect(await stage.clock.run(restoring, 500)).toBe(code)
  })

  it.each([
    ['FENCE_FAILED', {}, true],
    ['FENCE_FAILED', statement, true],
    ['HOST_ALIVE', {}, true],
    ['HOST_ALIVE', statement, false],
    ['PAUSED', {}, false],
    ['NOVA_REFUSED', {}, false],
  ] as const)('ends a hold for %s of an incident with the proof %j: %s', async (code, change, ends) => {
    const stage = new ProofStage().proven(change)
    stage.tell({ kind: 'incident.held', data: { code, message: '' } })
    await stage.keeper.restore()
    expect(stage.incident.held === null).toBe(ends)
  })
})

describe("a person's word in place of a proof that is gone", () => {
  const broken = (): ProofStage => {
    const stage = new ProofStage().proven()
    stage.onRestore = () => {
      throw failed('FENCE_UNVERIFIED')
    }
    return stage
  }

  it('is heard within half a second, recorded as the weaker proof that it is, and used', async () => {
    const stage = broken()
    const restoring = stage.keeper.restore()
    // Long enough for pauses of a minute.
    await stage.clock.advance(200_100)
    stage.states()
    await stage.clock.run(restoring, 500)
    const proof = { method: 'operator', strength: 'statement', statedBy: 'ann', evidence: ['I pulled the plug'] }
    expect(stage.run.proof).toMatchObject(proof)
    expect(stage.incident.proof).toMatchObject(proof)
    expect(stage.data('incident.continued')).toEqual([{ because: 'ann attested that the host is dead' }])
  })

  it('is not an older one: that one does not answer this hold', async () => {
    const stage = broken()
    stage.states()
    const restoring = stage.keeper.restore()
    await stage.clock.advance(5_000)
    expect(stage.incident.held?.code).toBe('FENCE_FAILED')
    stage.stop.abort()
    expect(await stage.ending(restoring)).toBe('SHUTDOWN')
  })

  it('counts at once when it was given during this very hold, before a restart', async () => {
    const stage = broken().tell({ kind: 'incident.held', data: { code: 'FENCE_FAILED', message: '' } })
    stage.states()
    await stage.clock.run(stage.keeper.restore(), 0)
    expect(stage.incident.proof).toMatchObject(statement)
    expect(stage.restores).toEqual([0])
  })
})

describe('a proof that lapses by itself', () => {
  const lapsing = (): ProofStage => {
    const stage = new ProofStage().proven()
    stage.expiryMs = 60_000
    return stage
  }

  it('is made again as often as its method says', async () => {
    const stage = lapsing()
    stage.keeper.keep()
    stage.run.proof = null
    await stage.clock.advance(180_000)
    expect(stage.restores).toEqual([60_000, 120_000, 180_000])
    expect(stage.run.proof).toMatchObject({ method: 'bmc' })
  })

  it('is made again once each time, however often it was to be kept', async () => {
    const stage = lapsing()
    stage.keeper.keep()
    await stage.clock.advance(30_000)
    stage.keeper.keep()
    await stage.clock.advance(90_000)
    expect(stage.restores).toEqual([60_000, 120_000])
  })

  it('is not made again once a person has cancelled the incident, and shuts the gate', async () => {
    const stage = lapsing()
    stage.keeper.keep()
    await stage.clock.advance(30_000)
    stage.cancel()
    await stage.clock.advance(180_000)
    expect(stage.restores).toEqual([])
    expect(stage.run.proofExpired).toMatchObject({ code: 'FENCE_FAILED' })
  })

  it('is tried again no later than its pause says', async () => {
    const stage = lapsing()
    stage.run.settings = { ...stage.run.settings, fenceRetryMs: 700 }
    stage.onRestore = () => {
      throw failed('FENCE_UNVERIFIED')
    }
    stage.keeper.keep()
    await stage.clock.advance(63_000)
    expect(stage.restores).toEqual([60_000, 60_700, 62_100])
  })

  it('only: where there is none, nothing is made', async () => {
    const stage = lapsing()
    stage.run.proof = null
    stage.keeper.keep()
    stage.incident.proof = null
    await stage.clock.advance(3_600_000)
    expect(stage.restores).toEqual([])
  })

  it('shuts the gate when it cannot be, is tried ever more rarely, and opens it; then as often as before', async () => {
    const stage = lapsing()
    stage.onRestore = () => {
      if (stage.restores.length <= 3) throw failed('FENCE_UNVERIFIED')
    }
    stage.keeper.keep()
    await stage.clock.advance(59_999)
    expect(stage.gate.isOpen()).toBe(true)
    await stage.clock.advance(1)
    expect(stage.run.proofExpired).toMatchObject({ code: 'FENCE_UNVERIFIED' })
    expect(stage.gate.isOpen()).toBe(false)
    await stage.clock.advance(7_000)
    expect(stage.restores).toEqual([60_000, 61_000, 63_000, 67_000])
    expect(stage.run.proofExpired).toBeNull()
    expect(stage.gate.isOpen()).toBe(true)
    stage.onRestore = () => {
      throw failed('FENCE_UNVERIFIED')
    }
    await stage.clock.advance(61_000)
    // The failures of before are forgotten: the first pause is short again.
    expect(stage.restores.slice(4)).toEqual([127_000, 128_000])
  })

  it("that lapsed: a person's word stands in for it, is recorded, and does not lapse", async () => {
    const stage = lapsing()
    stage.onRestore = () => {
      throw failed('FENCE_UNVERIFIED')
    }
    stage.keeper.keep()
    await stage.clock.advance(200_000)
    const tried = stage.restores.length
    stage.tell({ kind: 'incident.held', data: { code: 'FENCE_FAILED', message: '' } })
    stage.states()
    await stage.clock.advance(500)
    expect(stage.run.proofExpired).toBeNull()
    expect(stage.run.proof).toMatchObject(statement)
    expect(stage.incident).toMatchObject({ proof: statement, held: null })
    await stage.clock.advance(3_600_000)
    expect(stage.restores).toHaveLength(tried)
  })

  it("that lapsed: a person's word that the journal cannot take is tried again, and lets nothing through before", async () => {
    const stage = lapsing()
    stage.onRestore = () => {
      throw failed('FENCE_UNVERIFIED')
    }
    stage.keeper.keep()
    await stage.clock.advance(60_000)
    const { append } = stage.run.journal
    let refused = 0
    stage.run.journal.append = () => {
      refused += 1
      throw failed('JOURNAL_UNAVAILABLE')
    }
    append([
      {
        kind: 'operator.statement',
        incident: 'inc-1',
        host: 'dead',
        data: { by: 'ann', statement: 'I pulled the plug' },
      },
    ])
    await stage.clock.advance(2_000)
    expect(stage.run.proofExpired).toMatchObject({ code: 'JOURNAL_UNAVAILABLE' })
    expect(refused).toBeLessThanOrEqual(5)
    stage.run.journal.append = append
    await stage.clock.advance(1_000)
    expect(stage.run.proofExpired).toBeNull()
    expect(stage.incident.proof).toMatchObject(statement)
  })

  it("is not replaced by a person's word while it holds", async () => {
    const stage = lapsing()
    stage.keeper.keep()
    stage.states()
    await stage.clock.advance(60_000)
    expect(stage.restores).toEqual([60_000])
    expect(stage.incident.proof).toMatchObject({ method: 'bmc' })
  })

  it.each([
    ['was voided by life', (stage: ProofStage) => stage.voided()],
    ['gave way to a word of a person', (stage: ProofStage) => stage.proven(statement)],
  ])('and %s is not made again any more, and nothing of it holds a write', async (_what, change) => {
    const stage = lapsing()
    stage.onRestore = () => {
      throw failed('FENCE_UNVERIFIED')
    }
    stage.keeper.keep()
    await stage.clock.advance(60_500)
    expect(stage.run.proofExpired).not.toBeNull()
    change(stage)
    await stage.clock.advance(3_600_000)
    expect(stage.restores).toEqual([60_000])
    expect(stage.run.proofExpired).toBeNull()
  })

  it('waits for Nova to be read where the process stood still: a host that is back keeps its storage', async () => {
    const stage = lapsing()
    stage.keeper.keep()
    await stage.clock.advance(59_000)
    stage.begun = { finishes: { allowed: false, hold: 'FROZEN', message: 'this process stood still for 20 min' } }
    await stage.clock.advance(4_000)
    stage.voided()
    stage.begun = {}
    await stage.clock.advance(60_000)
    expect(stage.restores).toEqual([])
  })

  it('waits for that a tenth of its period at most: an isolated host must not write beside its guests', async () => {
    const stage = lapsing()
    stage.begun = { finishes: { allowed: false, hold: 'FROZEN', message: 'Nova is away' } }
    stage.keeper.keep()
    await stage.clock.advance(80_000)
    expect(stage.restores).toEqual([66_000])
  })

  it('is made again by the shorter period that a reload gives its method', async () => {
    const stage = lapsing()
    stage.keeper.keep()
    await stage.clock.advance(10_000)
    stage.expiryMs = 20_000
    await stage.clock.advance(35_000)
    expect(stage.restores).toEqual([20_000, 40_000])
  })

  it('by its own period where another method made it meanwhile', async () => {
    const stage = lapsing()
    stage.keeper.keep()
    stage.voided()
    stage.proven({ method: 'pdu' })
    stage.expiryMs = 10_000
    await stage.clock.advance(26_000)
    // The keeper looks at it every five seconds.
    expect(stage.restores).toEqual([15_000, 25_000])
  })

  it('is the one that the run rests on, not one that was revoked during its renewal', async () => {
    const stage = lapsing()
    stage.onRestore = () => {
      stage.voided()
      stage.proven({ method: 'pdu' })
      throw failed('FENCE_FAILED')
    }
    stage.keeper.keep()
    await stage.clock.advance(60_000)
    expect(stage.run.proofExpired).toBeNull()
    expect(stage.run.proof).toMatchObject({ method: 'pdu' })
  })

  it('tells of no renewal that the end of its incident cut short', async () => {
    const stage = lapsing()
    stage.onRestore = () => {
      stage.tell({ kind: 'incident.closed', data: { outcome: 'done', message: '', counts: {} } })
      throw failed('FENCE_FAILED')
    }
    stage.keeper.keep()
    await stage.clock.advance(60_000)
    expect(stage.data('fence.attempt')).toMatchObject([{ phase: 'trying' }])
  })

  it('can be kept again after one that ended', async () => {
    const stage = lapsing()
    stage.keeper.keep()
    stage.voided()
    await stage.clock.advance(60_000)
    stage.proven()
    stage.keeper.keep()
    await stage.clock.advance(60_000)
    expect(stage.restores).toEqual([120_000])
  })

  it.each([
    ['the run is over', (stage: ProofStage) => stage.keeper.end()],
    ['the daemon stops', (stage: ProofStage) => stage.stop.abort()],
  ])('is left when %s', async (_what, end) => {
    const stage = lapsing()
    stage.keeper.keep()
    await stage.clock.advance(60_000)
    end(stage)
    await stage.clock.advance(3_600_000)
    expect(stage.restores).toEqual([60_000])
  })

  it('fails nothing when the run ends in the middle of a renewal', async () => {
    const stage = lapsing()
    stage.onRestore = () => {
      stage.keeper.end()
      throw failed('CANCELLED')
    }
    stage.keeper.keep()
    await stage.clock.advance(3_600_000)
    expect(stage.restores).toEqual([60_000])
    expect(stage.run.proofExpired).toBeNull()
  })
})

it('a keeper that is at its end leaves nothing at the signal of the run', () => {
  const stage = new ProofStage()
  expect(getEventListeners(stage.stop.signal, 'abort')).toHaveLength(1)
  stage.keeper.end()
  expect(getEventListeners(stage.stop.signal, 'abort')).toEqual([])
})
