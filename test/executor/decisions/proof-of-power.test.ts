/** A host that is on again at the first reading of its proof after a restart (laws L1, L10). */
import { describe, expect, it } from 'vitest'
import { failed } from './stage.ts'
import { ProofStage } from './proof-stage.ts'

describe('a recorded proof after a restart', () => {
  it('of a host that is on again is revoked for good: a later reading of Off does not make it true again', async () => {
    const stage = new ProofStage().proven()
    stage.onRestore = () => {
      if (stage.restores.length === 1) throw failed('HOST_ALIVE')
    }
    await stage.clock.run(stage.keeper.restore())
    expect(stage.data('proof.voided')).toMatchObject([{ code: 'POWER_ON' }])
    expect(stage.incident).toMatchObject({ proof: null, held: null })
    expect(stage.restores).toEqual([0])
  })

  it('of a host that is on again is held where nothing has begun yet, and after a cancel says nothing', async () => {
    const fencing = new ProofStage().proven()
    fencing.incident.phase = 'fencing'
    fencing.onRestore = () => {
      if (fencing.restores.length === 1) throw failed('HOST_ALIVE')
    }
    await fencing.clock.run(fencing.keeper.restore())
    expect(fencing.rows()).not.toContain('proof.voided')
    expect(fencing.data('incident.held')).toMatchObject([{ code: 'HOST_ALIVE' }])
    const cancelled = new ProofStage().proven()
    cancelled.cancel()
    cancelled.onRestore = () => {
      throw failed('HOST_ALIVE')
    }
    expect(await cancelled.ending(cancelled.keeper.restore())).toBe('CANCELLED')
    expect(cancelled.rows()).not.toContain('proof.voided')
  })

  it('of a method that reads no power is held, where it finds the host alive', async () => {
    const stage = new ProofStage().proven()
    stage.expiryMs = 60_000
    stage.onRestore = () => {
      if (stage.restores.length === 1) throw failed('HOST_ALIVE')
    }
    await stage.clock.run(stage.keeper.restore())
    expect(stage.data('incident.held')).toMatchObject([{ code: 'HOST_ALIVE' }])
    expect(stage.incident.held).toBeNull()
  })

  it('of a storage that its host reaches again is held until it is cut off, and not revoked: that says nothing of power', async () => {
    const stage = new ProofStage().proven({ proves: 'storage' })
    stage.onRestore = () => {
      if (stage.restores.length === 1) throw failed('HOST_ALIVE')
    }
    await stage.clock.run(stage.keeper.restore())
    expect(stage.rows()).not.toContain('proof.voided')
    expect(stage.data('incident.held')).toMatchObject([{ code: 'HOST_ALIVE' }])
    expect([stage.incident.held, stage.incident.proof?.proves]).toEqual([null, 'storage'])
  })
})
