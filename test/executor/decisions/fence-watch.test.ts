/** What is asked while a fencing chain runs (law L10): what cuts it off, what only keeps it from acting again, and what does neither. */
import { describe, expect, it } from 'vitest'
import { LifeboatError } from '../../../src/domain/errors.ts'
import type { HoldCode } from '../../../src/domain/incident-phases.ts'
import type { Segment } from '../../../src/domain/segment.ts'
import type { Verdict } from '../../../src/domain/verdict.ts'
import { FenceWatch } from '../../../src/executor/fence-watch.ts'
import { ProofStage, verdictOf } from './proof-stage.ts'

function watching(seenAlive = false): { stage: ProofStage; watch: FenceWatch } {
  const stage = new ProofStage()
  stage.verdict = verdictOf('host-down')
  return { stage, watch: new FenceWatch(stage.run, ['bmc'], seenAlive) }
}

const held = (hold: HoldCode) => ({ allowed: false, hold, message: `because of ${hold}` }) as const
const found = (answer: 'alive' | 'dead' | 'unknown'): Verdict =>
  verdictOf('host-down', { probes: [{ probe: 'ssh', kind: 'tcp', answer, detail: 'port 22', at: '' }] })
const reasonOf = (watch: FenceWatch): string | null =>
  watch.signal.reason instanceof LifeboatError ? watch.signal.reason.message : null

describe('a fencing chain that runs', () => {
  it.each(['PAUSED', 'MAINTENANCE', 'OBSERVING', 'HOST_ALIVE'] as const)('is cut off by %s', async (hold) => {
    const { stage, watch } = watching()
    stage.permission = held(hold)
    await stage.clock.advance(500)
    expect(reasonOf(watch)).toBe(`because of ${hold}`)
  })

  it.each(['FROZEN', 'BRAKE', 'MEMORY'] as const)('is not cut off by %s, but does not act again', async (hold) => {
    const { stage, watch } = watching()
    stage.permission = held(hold)
    await stage.clock.advance(5_000)
    expect(watch.signal.aborted).toBe(false)
    expect(watch.mayGoOn).toThrow(`because of ${hold}`)
  })

  it('is cut off when a person cancels, and when the host is back', async () => {
    const cancelled = watching()
    cancelled.stage.permission = { allowed: false, cancelled: 'by ann' }
    await cancelled.stage.clock.advance(500)
    expect(reasonOf(cancelled.watch)).toBe('by ann')
    const returned = watching()
    returned.stage.permission = { allowed: true, hostIsBack: 'it beats' }
    await returned.stage.clock.advance(500)
    expect(reasonOf(returned.watch)).toBe('it beats')
  })

  it('is cut off when a witness finds the host alive, unless it was found alive before and is fenced for that', async () => {
    const { stage, watch } = watching()
    stage.verdict = found('alive')
    await stage.clock.advance(500)
    expect(reasonOf(watch)).toBe('ssh found the host alive (port 22)')
    const isolated = watching(true)
    isolated.stage.verdict = found('alive')
    await isolated.stage.clock.advance(500)
    expect(isolated.watch.mayGoOn).not.toThrow()
  })

  it('does not act again on a living host after this process stood still, and acts on a dead one', () => {
    const living = watching(true)
    living.stage.quiet = 'this process stood still'
    expect(living.watch.mayGoOn).toThrow('this process stood still')
    const dead = watching()
    dead.stage.quiet = 'this process stood still'
    expect(dead.watch.mayGoOn).not.toThrow()
  })

  it.each(['dead', 'unknown'] as const)('goes on while a witness says %s', async (answer) => {
    const { stage, watch } = watching()
    stage.verdict = found(answer)
    await stage.clock.advance(500)
    expect(watch.mayGoOn).not.toThrow()
    expect(watch.signal.aborted).toBe(false)
  })

  it('does not act again once the segment no longer lists one of its methods', () => {
    const { stage, watch } = watching()
    expect(watch.mayGoOn).not.toThrow()
    stage.run.permissions.segment = () => ({ name: 'local', fencing: ['storage'] }) as unknown as Segment
    expect(watch.mayGoOn).toThrow('segment local no longer lists the method bmc')
  })

  it('once stopped stays stopped, whatever is allowed afterwards', () => {
    const { stage, watch } = watching()
    stage.permission = held('BRAKE')
    expect(watch.mayGoOn).toThrow('because of BRAKE')
    stage.permission = { allowed: true }
    expect(watch.mayGoOn).toThrow('because of BRAKE')
  })

  it('ends with the daemon, as a stop and not as a refusal', () => {
    const { stage, watch } = watching()
    stage.stop.abort()
    expect(watch.signal.aborted).toBe(true)
    expect(reasonOf(watch)).toBeNull()
    expect(watch.mayGoOn).toThrow('the daemon is stopping')
    expect(new FenceWatch(stage.run, ['bmc'], false).signal.aborted).toBe(true)
  })

  it('is not acted in when it cannot be asked: what the brake found could not be put on record', () => {
    const { stage, watch } = watching()
    stage.run.permissions.of = () => {
      throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
    }
    expect(watch.mayGoOn).toThrow('the disk is full')
  })

  it('that has ended is not asked about any more', async () => {
    const { stage, watch } = watching()
    watch.end()
    stage.permission = held('PAUSED')
    await stage.clock.advance(5_000)
    stage.stop.abort()
    expect(watch.signal.aborted).toBe(false)
  })
})
