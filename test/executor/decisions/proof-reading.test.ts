/** A proof that stays true is read again while the recovery rests on it; what comes of it, and what people can do where it cannot be read. */
import { describe, expect, it } from 'vitest'
import { ProofStage } from './proof-stage.ts'
import { failed } from './stage.ts'
describe('a proof that stays true is read again while the recovery goes on', () => {
  const reading = (): ProofStage => {
    const stage = new ProofStage().proven()
    stage.keeper.keep()
    return stage
  }

  it('every twenty seconds, once for all instances', async () => {
    const stage = reading()
    stage.keeper.keep()
    await stage.clock.advance(60_000)
    expect(stage.restores).toEqual([20_000, 40_000, 60_000])
    stage.keeper.end()
    await stage.clock.advance(60_000)
    expect(stage.restores).toHaveLength(3)
  })

  it('and is void for good once its power reads On', async () => {
    const stage = reading()
    stage.onRestore = () => {
      throw failed('HOST_ALIVE')
    }
    await stage.clock.advance(20_000)
    expect(stage.incident).toMatchObject({ proof: null, revoked: { code: 'POWER_ON' } })
  })

  it('and lets nothing through while its host reaches the storage that was taken from it, until that is so again or a person attests', async () => {
    const cutOff = (): ProofStage => {
      const stage = new ProofStage().proven({ proves: 'storage' })
      stage.keeper.keep()
      stage.onRestore = () => {
        throw failed('HOST_ALIVE')
      }
      return stage
    }
    const again = cutOff()
    await again.clock.advance(20_000)
    expect([again.rows().includes('proof.voided'), again.run.proofExpired?.code]).toEqual([false, 'HOST_ALIVE'])
    again.onRestore = () => undefined
    await again.clock.advance(20_000)
    expect(again.run.proofExpired).toBeNull()
    const attested = cutOff()
    await attested.clock.advance(20_000)
    attested.tell({ kind: 'incident.held', data: { code: 'FENCE_FAILED', message: '' } })
    attested.states()
    await attested.clock.advance(500)
    expect([attested.run.proofExpired, attested.incident.proof?.strength]).toEqual([null, 'statement'])
  })

  it('what cannot be read holds for five minutes, then lets nothing through until it can', async () => {
    const stage = reading()
    stage.onRestore = () => {
      throw failed('FENCE_UNVERIFIED')
    }
    await stage.clock.advance(300_000)
    expect(stage.run.proofExpired).toBeNull()
    await stage.clock.advance(20_000)
    expect(stage.run.proofExpired).toMatchObject({ code: 'FENCE_UNVERIFIED' })
    stage.onRestore = () => undefined
    await stage.clock.advance(20_000)
    expect(stage.run.proofExpired).toBeNull()
  })

  it("is answered by a person's word where it cannot be read: it is recorded as the weaker proof, and the recovery goes on", async () => {
    const stage = reading()
    stage.onRestore = () => {
      throw failed('FENCE_UNVERIFIED')
    }
    stage.states()
    await stage.clock.advance(320_000)
    // Of before the hold: it answers nothing.
    expect(stage.run.proofExpired).toMatchObject({ code: 'FENCE_UNVERIFIED' })
    stage.tell({ kind: 'incident.held', data: { code: 'FENCE_FAILED', message: '' } })
    stage.states()
    await stage.clock.advance(500)
    expect(stage.run.proofExpired).toBeNull()
    expect(stage.incident).toMatchObject({ proof: { method: 'operator', strength: 'statement' }, held: null })
  })

  it('shuts the gate where its power reads On and the journal cannot say so, ends no daemon, and says it once it can', async () => {
    const stage = reading()
    stage.onRestore = () => {
      throw failed('HOST_ALIVE')
    }
    const { append } = stage.run.journal
    stage.run.journal.append = () => {
      throw failed('JOURNAL_UNAVAILABLE')
    }
    await stage.clock.advance(20_000)
    expect(stage.run.proofExpired).toMatchObject({ code: 'HOST_ALIVE' })
    stage.run.journal.append = append
    stage.tell({ kind: 'incident.held', data: { code: 'FENCE_FAILED', message: '' } })
    stage.states()
    await stage.clock.advance(1_000)
    expect(stage.incident.proof?.strength).not.toBe('statement')
    await stage.clock.advance(20_000)
    expect(stage.incident).toMatchObject({ proof: null, revoked: { code: 'POWER_ON' } })
  })

  it('also while the incident is held for the sake of an instance: nothing else waits for that', async () => {
    const stage = reading()
    stage.holding.hold('NOVA_REFUSED', 'Nova refuses web')
    await stage.clock.advance(60_000)
    expect(stage.restores).toHaveLength(3)
  })

  it("but not a person's word, nor while nothing may be written: the gate reads it before it goes on", async () => {
    const stated = new ProofStage().proven({ method: 'operator', strength: 'statement', statedBy: 'ann' })
    stated.keeper.keep()
    const held = reading()
    held.permission = { allowed: false, hold: 'PAUSED', message: 'lunch' }
    await stated.clock.advance(60_000)
    await held.clock.advance(60_000)
    expect([stated.restores, held.restores]).toEqual([[], []])
  })
})
