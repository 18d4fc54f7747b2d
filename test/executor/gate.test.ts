/** What happens at the gate while an incident waits: how it is told, and what is renewed before it goes on. */
import { describe, expect, it } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { Incident } from '../../src/domain/incident.ts'
import type { Permission, Run } from '../../src/executor/context.ts'
import { Gate } from '../../src/executor/gate.ts'
import { VirtualClock } from '../../src/simulator/index.ts'

const held = (hold: 'PAUSED' | 'MAINTENANCE' | 'BRAKE', message: string): Permission => ({
  allowed: false,
  hold,
  message,
})

/** Permission by time (ms), and what the gate wrote and renewed until it let through. */
async function passed(permission: (at: number) => Permission, proof: object | null = {}): Promise<unknown[]> {
  const clock = new VirtualClock()
  const incident = { held: null, cancelled: null, proof } as unknown as Incident
  const seen: unknown[] = []
  const append = (entries: NewEntry[]): [] => {
    for (const entry of entries) {
      if (entry.kind === 'incident.held') incident.held = { ...entry.data, since: '' }
      if (entry.kind === 'incident.continued') incident.held = null
      seen.push(entry.kind === 'incident.held' ? `${entry.data.code}: ${entry.data.message}` : entry.kind)
    }
    return []
  }
  const permissions = { incident: () => incident, of: () => permission(clock.now()), stoodStillUntil: () => -Infinity }
  const run = {
    id: 'i',
    host: 'h',
    clock,
    journal: { append },
    permissions,
    proofExpired: null,
    signal: new AbortController().signal,
  }
  const renew = (): Promise<void> => Promise.resolve(void seen.push(`renewed at ${clock.now()}`))
  await clock.run(new Gate(run as unknown as Run, renew, () => Promise.resolve(false)).pass())
  return seen
}

describe('the gate', () => {
  const until = (end: number) => (at: number) => (at < end ? held('PAUSED', 'by ann') : { allowed: true as const })

  it('after five seconds the proof is good still', async () =>
    expect(await passed(until(5_000))).toEqual(['PAUSED: by ann', 'incident.continued']))

  it('after a longer wait it is renewed once, before anything goes on', async () =>
    expect(await passed(until(5_001))).toEqual(['PAUSED: by ann', 'renewed at 5500', 'incident.continued']))

  it('without a proof there is nothing to renew', async () =>
    expect(await passed(until(60_000), null)).toEqual(['PAUSED: by ann', 'incident.continued']))

  it('what forbids writes again while it is renewed holds again', async () => {
    let asked = 0
    const again = (at: number): Permission => {
      if (at < 6_000) return held('PAUSED', 'by ann')
      return ++asked === 2 ? held('MAINTENANCE', 'by bob') : { allowed: true }
    }
    expect(await passed(again)).toEqual([
      'PAUSED: by ann',
      'renewed at 6000',
      'MAINTENANCE: by bob',
      'incident.continued',
    ])
  })

  it('the incident names the people who hold it now, also when they change', async () => {
    const change = (at: number): Permission => {
      if (at < 1_000) return held('PAUSED', 'by ann and bob')
      if (at < 2_000) return held('PAUSED', 'by bob')
      return at < 3_000 ? held('MAINTENANCE', 'by eve') : { allowed: true }
    }
    expect(await passed(change)).toEqual([
      'PAUSED: by ann and bob',
      'PAUSED: by bob',
      'MAINTENANCE: by eve',
      'incident.continued',
    ])
  })

  it('numbers that move while the brake holds are told once', async () => {
    const brake = (at: number): Permission => (at < 2_000 ? held('BRAKE', `${at} hosts`) : { allowed: true })
    expect(await passed(brake)).toEqual(['BRAKE: 0 hosts', 'incident.continued'])
  })
})
