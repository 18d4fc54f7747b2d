/** The pulses of Nova's own workers. */
import { expect, it } from 'vitest'
import { Workers } from '../../src/monitor/workers.ts'
import { row } from './setup.ts'

it('conductors of two cells on one machine have each a pulse of its own: one that is dead is not hidden by the other', () => {
  const workers = new Workers()
  for (const second of [0, 10, 20]) {
    const beats = row('ctl', { binary: 'nova-conductor', id: 'c1', updatedAt: `2030-01-01T12:00:${10 + second}` })
    const dead = row('ctl', { binary: 'nova-conductor', id: 'c2', updatedAt: '2030-01-01T12:00:00' })
    workers.take([beats, dead], second * 1_000, false)
  }
  const facts = workers.facts((pulse) => (20_000 - pulse.silentSince) / 10_000)
  expect(facts.map(({ missedBeats }) => missedBeats)).toEqual([0, 2])
})
