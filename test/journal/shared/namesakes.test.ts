/** Two daemons that were given one name, as by a copied configuration: what they say of it, and that it costs nothing else. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { notActive } from '../../../src/domain/tenure.ts'
import { leaseMs, namesakesOf, Site, type Controller } from './controllers.ts'

let site: Site
beforeEach(() => {
  site = new Site()
})
afterEach(() => {
  expect(site.broken()).toEqual([])
  site.close()
})

/** Both are called ctl1. The first is active. */
async function namesakes(): Promise<[Controller, Controller]> {
  const one = site.start('ctl1', { address: 'https://one' })
  await site.untilActive(one)
  const two = site.start('ctl1', { address: 'https://two', directory: site.elsewhere() })
  await site.clock.advance(10_000)
  return [one, two]
}

describe('two daemons of one name', () => {
  it('hear of each other within ten seconds, and say so once', async () => {
    const [one, two] = await namesakes()
    await site.clock.advance(60_000)
    expect([namesakesOf(one), namesakesOf(two)]).toEqual([[true], [true]])
    expect(one.tenure.view().namesake).toMatchObject({ name: 'ctl1', address: 'https://two', present: true })
    expect(two.tenure.view().namesake).toMatchObject({ name: 'ctl1', address: 'https://one', present: true })
  })

  it('are told apart: one is active, and the other one sends people there', async () => {
    const [one, two] = await namesakes()
    expect([one.tenure.state, two.tenure.state]).toEqual(['active', 'standby'])
    expect(two.tenure.view().active).toEqual({ name: 'ctl1', address: 'https://one' })
    expect(notActive(two.tenure.view()).message).toBe(
      'ctl1 is not active. Another daemon called ctl1 is active: do it there (https://one)',
    )
  })

  it('show what each says of itself under its own name', async () => {
    const [one, two] = await namesakes()
    const shown = [one, two].map(({ tenure }) => tenure.view().daemons.map(({ address }) => address))
    expect(shown).toEqual([['https://one'], ['https://two']])
  })

  it('take over from each other like any two, and say when the name is free', async () => {
    const [one, two] = await namesakes()
    site.kill(one)
    expect(await site.untilActive(two)).toBeGreaterThan(leaseMs - 1_000)
    await site.clock.advance(12_000)
    expect([namesakesOf(two), two.tenure.view().namesake]).toEqual([[true, false], null])
  })

  it('hand over when the active one is blind and the other one sees', async () => {
    const [one, two] = await namesakes()
    await site.clock.advance(60_000)
    one.novaAnswers(false)
    await site.untilActive(two)
  })
})

describe('one daemon alone', () => {
  it('is no namesake of its earlier process, nor of words of that one which are served late', async () => {
    const [one, two] = await site.twoDaemons()
    site.cluster.stall()
    await site.clock.advance(2_500)
    site.kill(one)
    const again = site.start('ctl1')
    await site.clock.advance(1_000)
    site.cluster.flow()
    await site.clock.advance(30_000)
    expect([namesakesOf(again), namesakesOf(two)]).toEqual([[], []])
  })
})
