/** What a run that picks up a proof looks for before its first write: signs of life since it was proven (law L1). */
import { describe, expect, it } from 'vitest'
import { ensureError, type ErrorCode } from '../../../src/domain/errors.ts'
import type { ProofRecord } from '../../../src/domain/fencing.ts'
import { failed } from './stage.ts'
import { ProofStage, stamp, verdictOf } from './proof-stage.ts'

const statement: Partial<ProofRecord> = { method: 'operator', strength: 'statement', statedBy: 'ann' }
const sayIt =
  'A person who has seen that dead is dead can say so: lifeboat recover dead --by NAME --proof "how you know"'

describe('before the first write of a run that picks up a proof', () => {
  const picked = (proof: Partial<ProofRecord> = statement): ProofStage => {
    const stage = new ProofStage().proven(proof)
    stage.incident.verdict = verdictOf('recovering')
    return stage
  }
  const beats = (stage: ProofStage, at: string): void => {
    stage.service = { ...stage.service, updatedAt: at }
  }
  /** When it let the run go on, or null: it did not within `ms`. */
  const seen = async (stage: ProofStage, ms: number): Promise<number | null> => {
    let at: number | null = null
    void stage.keeper.seeSilence().then(
      () => (at = stage.clock.now()),
      () => undefined,
    )
    await stage.clock.advance(ms)
    return at
  }

  it.each([
    ['a power that is off', {}, 0],
    ['a power that a method took', { proves: 'power' }, 0],
    ["a person's word", statement, 1],
    ['a storage that was taken away', { proves: 'storage' }, 1],
  ] as const)('%s is looked at %j: %i times', async (_what, proof, reads) => {
    const stage = picked(proof)
    expect(await seen(stage, 0)).toBe(0)
    expect(stage.count('listServices')).toBe(reads)
    expect(stage.rows()).toEqual(['proof.recorded'])
  })

  it('nothing is looked for when nothing is proven', async () => {
    const stage = new ProofStage()
    expect(await seen(stage, 0)).toBe(0)
    expect(stage.count('listServices')).toBe(0)
  })

  it('a row that a person wrote to must stand still for two and a half beats of that host', async () => {
    const stage = picked()
    stage.incident.verdict = verdictOf('recovering', { intervalMs: 4_000 })
    stage.service = { ...stage.service, updatedAt: '2030-01-01T12:00:00', forcedDown: false }
    expect(await seen(stage, 20_000)).toBe(10_000)
    expect(stage.incident.held).toBeNull()
  })

  it('or of a usual one, when nothing is known', async () => {
    const stage = picked()
    stage.incident.verdict = null
    expect(await seen(stage, 40_000)).toBe(25_000)
  })

  it('and begins again when it is written to once more', async () => {
    const stage = picked()
    stage.incident.verdict = null
    const done = seen(stage, 15_000)
    expect(await done).toBeNull()
    stage.service = { ...stage.service, updatedAt: '2030-01-01T12:00:15', status: 'enabled' }
    await stage.clock.advance(25_000)
    expect(stage.count('listServices')).toBe((15_000 + 25_000) / 500 + 1)
    const before = stage.count('listServices')
    await stage.clock.advance(5_000)
    expect(stage.count('listServices') - before).toBeLessThanOrEqual(1)
  })

  it('a beat holds it until a person says again that the host is dead, and the row stands still', async () => {
    const stage = picked()
    beats(stage, '2030-01-01T12:00:00')
    let over = false
    void stage.keeper.seeSilence().then(() => (over = true))
    await stage.clock.advance(3_600_000)
    expect(stage.data('incident.held')).toMatchObject([
      {
        code: 'HOST_ALIVE',
        message: `nova-compute of dead wrote at 2030-01-01T12:00:00, after ${stamp}, the last that is known: it lives, or has lived since it was attested dead. ${sayIt}`,
        error: { code: 'HOST_ALIVE' },
      },
    ])
    stage.states()
    await stage.clock.advance(25_000)
    expect(over).toBe(false)
    await stage.clock.advance(1_000)
    expect(over).toBe(true)
    expect(stage.data('incident.continued')).toEqual([
      { because: 'a person attested it again, and no heartbeat has come since' },
    ])
  })

  it('a beat after that word holds it again', async () => {
    const stage = picked()
    beats(stage, '2030-01-01T12:00:00')
    let over = false
    void stage.keeper.seeSilence().then(() => (over = true))
    await stage.clock.advance(1_000)
    stage.states()
    await stage.clock.advance(5_000)
    beats(stage, '2030-01-01T12:00:10')
    await stage.clock.advance(3_600_000)
    expect(over).toBe(false)
    expect(stage.data('incident.held')).toMatchObject([
      { code: 'HOST_ALIVE', message: expect.stringContaining('wrote at 2030-01-01T12:00:00,') },
      { code: 'HOST_ALIVE', message: expect.stringContaining('wrote at 2030-01-01T12:00:10,') },
    ])
    stage.states()
    await stage.clock.advance(26_000)
    expect(over).toBe(true)
  })

  it('a word that was given before a restart answers the beats of before it', async () => {
    const stage = picked().tell({ kind: 'incident.held', data: { code: 'HOST_ALIVE', message: '' } })
    stage.states()
    beats(stage, '2030-01-01T12:00:00')
    expect(await seen(stage, 40_000)).toBe(25_500)
    expect(stage.data('incident.held')).toHaveLength(1)
  })

  it('leaves a hold for something else as it is', async () => {
    const stage = picked().tell({ kind: 'incident.held', data: { code: 'PAUSED', message: '' } })
    await seen(stage, 0)
    expect(stage.incident.held?.code).toBe('PAUSED')
  })

  it.each([0, 3_000])('a proof that was voided, %i ms on, is no longer its matter', async (afterMs) => {
    const stage = picked()
    beats(stage, '2030-01-01T12:00:00')
    let over = false
    void stage.keeper.seeSilence().then(() => (over = true))
    await stage.clock.advance(afterMs)
    stage.voided()
    await stage.clock.advance(500)
    expect(over).toBe(true)
  })

  it('a refusal to be read holds it, and it is read again', async () => {
    const stage = picked()
    stage.fails('listServices', failed('AUTH_FORBIDDEN'), failed('AUTH_FORBIDDEN'))
    expect(await seen(stage, 40_000)).toBe(30_000)
    expect(stage.rows()).toEqual(['proof.recorded', 'incident.held AUTH_FORBIDDEN', 'incident.continued'])
  })

  it.each([
    ['SHUTDOWN', (stage: ProofStage) => stage.stop.abort()],
    ['CANCELLED', (stage: ProofStage) => stage.cancel()],
  ] as [ErrorCode, (stage: ProofStage) => void][])('%s ends its wait', async (code, end) => {
    const stage = picked()
    beats(stage, '2030-01-01T12:00:00')
    const looking = stage.keeper.seeSilence().catch((error: unknown) => ensureError(error).code)
    await stage.clock.advance(10_000)
    end(stage)
    expect(await stage.clock.run(looking, 500)).toBe(code)
  })
})

describe('before an expiring proof of another run is renewed', () => {
  const picked = (): ProofStage => {
    const stage = new ProofStage().proven({ proves: 'storage' })
    stage.expiryMs = 600_000
    stage.incident.verdict = verdictOf('recovering')
    return stage
  }
  const looked = async (stage: ProofStage, ms: number): Promise<number | null> => {
    let at: number | null = null
    void stage.keeper.seeLifeBeforeRenewal().then(
      () => (at = stage.clock.now()),
      () => undefined,
    )
    await stage.clock.advance(ms)
    return at
  }

  it('one look is enough where the row has not moved', async () => {
    expect(await looked(picked(), 0)).toBe(0)
  })

  it('nothing is looked for where no proof expires', async () => {
    const stage = picked()
    stage.expiryMs = null
    expect(await looked(stage, 0)).toBe(0)
    expect(stage.count('listServices')).toBe(0)
  })

  it('a row that beats holds the incident', async () => {
    const stage = picked()
    stage.service = { ...stage.service, updatedAt: '2030-01-01T12:00:00' }
    expect(await looked(stage, 600_000)).toBeNull()
    expect(stage.incident.held?.code).toBe('HOST_ALIVE')
  })

  it('a row that a person wrote to is watched for a beat', async () => {
    const stage = picked()
    stage.service = { ...stage.service, updatedAt: '2030-01-01T12:00:00', status: 'enabled' }
    const done = looked(stage, 20_000)
    expect(await done).toBeNull()
    stage.service = { ...stage.service, updatedAt: '2030-01-01T12:00:20' }
    await stage.clock.advance(10_000)
    stage.service = { ...stage.service, updatedAt: '2030-01-01T12:00:30' }
    await stage.clock.advance(1_000)
    expect(stage.incident.held?.code).toBe('HOST_ALIVE')
  })

  it('a Nova that does not tell is asked for 35 s at most, and for a quarter of its period', async () => {
    const refusals = Array.from({ length: 200 }, () => failed('AUTH_FORBIDDEN'))
    const stage = picked()
    stage.fails('listServices', ...refusals)
    expect(await looked(stage, 60_000)).toBe(35_000)
    const short = picked()
    short.expiryMs = 20_000
    short.fails('listServices', ...refusals)
    expect(await looked(short, 60_000)).toBe(5_000)
    expect(stage.incident.held).toBeNull()
  })

  it('a Nova that hangs is asked no longer than that either', async () => {
    const stage = picked()
    stage.expiryMs = 40_000
    stage.run.cloud.listServices = ({ signal } = {}) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(failed('CANCELLED')))
      })
    expect(await looked(stage, 60_000)).toBe(10_500)
  })

  it('the end of the daemon is no cancel, although it cuts the question off', async () => {
    const stage = picked()
    stage.run.cloud.listServices = ({ signal } = {}) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(failed('CANCELLED')))
      })
    stage.clock.after(3_000, () => stage.stop.abort())
    expect(await stage.ending(stage.keeper.seeLifeBeforeRenewal())).toBe('SHUTDOWN')
  })

  it('a row that beats holds it, too, where power is renewed', async () => {
    const stage = new ProofStage().proven({ proves: 'power' })
    stage.expiryMs = 600_000
    stage.incident.verdict = verdictOf('recovering')
    stage.service = { ...stage.service, updatedAt: '2030-01-01T12:00:00' }
    expect(await looked(stage, 600_000)).toBeNull()
    expect(stage.incident.held?.code).toBe('HOST_ALIVE')
  })

  it('a cancel ends it: the host may live', async () => {
    const stage = picked()
    stage.cancel()
    expect(await stage.ending(stage.keeper.seeLifeBeforeRenewal())).toBe('CANCELLED')
    expect(stage.count('listServices')).toBe(0)
  })
})
