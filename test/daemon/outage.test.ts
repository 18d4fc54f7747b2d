/** What the log says of something that is away and is tried twice a second. */
import { beforeEach, expect, it } from 'vitest'
import { Outage } from '../../src/daemon/outage.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { VirtualClock } from '../../src/simulator/virtual-clock.ts'

let clock: VirtualClock
let outage: Outage
let said: string[]
beforeEach(() => {
  clock = new VirtualClock()
  said = []
  outage = new Outage({
    clock,
    away: ({ message }, { failures, awayMs }) => said.push(`${message}: ${failures} in ${awayMs}`),
    back: ({ failures, awayMs }) => said.push(`back: ${failures} in ${awayMs}`),
  })
})

/** For so long, twice a second, in these words by turns. */
async function fails(ms: number, ...words: string[]): Promise<void> {
  for (let n = 0; n < ms / 500; n++) {
    outage.failed(new LifeboatError('JOURNAL_UNAVAILABLE', words[n % words.length] ?? ''))
    await clock.advance(500)
  }
}

it('it says so at once, then once a minute how often, and that it is over', async () => {
  await clock.advance(1_000)
  await fails(150_000, 'away')
  outage.over()
  expect(said).toEqual(['away: 1 in 0', 'away: 121 in 60000', 'away: 241 in 120000', 'back: 300 in 150000'])
})

it('each trouble of nodes that fail by turns is said once a minute at most', async () => {
  await fails(90_000, 'one', 'two')
  expect(said).toEqual(['one: 1 in 0', 'two: 2 in 500', 'two: 122 in 60500', 'one: 123 in 61000'])
})

it('the next outage is said anew, in the same words too', async () => {
  await fails(500, 'away')
  outage.over()
  await fails(500, 'away')
  expect(said).toEqual(['away: 1 in 0', 'back: 1 in 500', 'away: 1 in 0'])
})

it('nothing is over that was not away', () => {
  outage.over()
  expect(said).toEqual([])
})
