/** A hang-up reads the configuration again while the daemon runs, and never ends the process, not even in its last moments. */
import { afterEach, expect, test } from 'vitest'
import { hangUpSignal } from '../../src/daemon/hang-up.ts'

afterEach(() => {
  process.removeAllListeners('SIGHUP')
})

test('one that comes before the daemon runs is kept for it, a later one is told at once', () => {
  const told: string[] = []
  const hangUp = hangUpSignal()
  process.emit('SIGHUP', 'SIGHUP')
  hangUp.begin((name) => told.push(name))
  expect(told).toEqual(['SIGHUP'])
  process.emit('SIGHUP', 'SIGHUP')
  expect(told).toHaveLength(2)
})

test('one that comes after the stop is heard and does nothing: with no listener it would end the process', () => {
  const told: string[] = []
  const hangUp = hangUpSignal()
  hangUp.begin((name) => told.push(name))
  hangUp.release()
  expect(process.listenerCount('SIGHUP')).toBe(1)
  process.emit('SIGHUP', 'SIGHUP')
  expect(told).toEqual([])
})
