/** How long no daemon acts after the death of the active daemon, part by part as docs/high-availability.md states it, at whatever moment it dies. */
import { describe, expect, it } from 'vitest'
import { Site, type Controller } from './controllers.ts'

const leaseMs = 6_000
/** The margin between two quartzes. */
const marginMs = 300
/** A look sees the last renewal so much late, and another one so much late that the lease is over. */
const lookMs = 500
/** Of statements that a cluster answers at once; here they take no time. */
const statementsMs = 100
/** Until a look says that its node hangs. */
const hangMs = 1_000
/** The longest vote on a dead node that was measured. */
const voteMs = 6_500
/** Until a commit has had no answer. */
const commitMs = 3_000
/** A standby's own commits must have come through for so long; it tries one each half second. */
const flowMs = 1_500 + 500

/** Phases of renewals, looks and reports, which repeat after two seconds. */
const moments = Array.from({ length: 20 }, (_, n) => n * 100 + 50)

interface Trouble {
  /** When the database node fails, counted from the death, ms. */
  nodeFailsAt: number
  /** The standbys ask it. */
  isAsked: boolean
  /** The cluster must vote it out. */
  voteMs: number
}

/** The longest time from the death to the first act of the next daemon, over all moments, ms. */
async function longest(trouble: Trouble | null = null): Promise<number> {
  let worst = 0
  for (const moment of moments) {
    const site = new Site()
    try {
      const tookMs = await timeOf(site, moment, trouble)
      expect(site.broken()).toEqual([])
      worst = Math.max(worst, tookMs)
    } finally {
      site.close()
    }
  }
  return worst
}

async function timeOf(site: Site, momentMs: number, trouble: Trouble | null): Promise<number> {
  const { clock } = site
  const one = site.start('ctl1')
  await site.untilActive(one)
  const standbys = [site.start('ctl2'), site.start('ctl3')]
  await clock.until(() => standbys.every(({ tenure }) => tenure.state === 'standby'))
  await clock.advance(3_000 + momentMs)
  const nodeFailsAt = trouble?.nodeFailsAt ?? Infinity
  if (trouble !== null) {
    clock.after(Math.max(0, nodeFailsAt), () => fail(site, [one, ...standbys], trouble))
    if (nodeFailsAt < 0) await clock.advance(-nodeFailsAt)
  }
  const diedAt = clock.now()
  site.kill(one)
  await clock.until(() => standbys.some(({ tenure }) => tenure.state === 'active'), 60_000)
  const next = standbys.find(({ tenure }) => tenure.state === 'active')
  expect(await clock.run(next?.act() ?? Promise.resolve('nobody'))).toBeNull()
  return clock.now() - diedAt
}

function fail(site: Site, controllers: readonly Controller[], { isAsked, voteMs: forMs }: Trouble): void {
  if (isAsked) for (const { client } of controllers) client.hang()
  if (forMs === 0) return
  site.cluster.stall()
  site.clock.after(forMs, () => site.cluster.flow())
}

const ordinaryMs = lookMs + leaseMs + marginMs + lookMs + statementsMs

describe('the next daemon acts, at whatever moment the active one dies,', () => {
  it('within the lease, its margin and two looks', async () => {
    expect(await longest()).toBeLessThanOrEqual(ordinaryMs)
  })

  it.each([-700, -100, 0])(
    'and the time for a look more, when the node that all ask hangs %i ms from the death',
    async (nodeFailsAt) => {
      const took = await longest({ nodeFailsAt, isAsked: true, voteMs: 0 })
      expect(took).toBeLessThanOrEqual(ordinaryMs + hangMs + lookMs)
    },
  )

  it.each([4_000, 6_500])(
    'within the time for a commit, a new one and its flow, when that node hangs %i ms after the death',
    async (nodeFailsAt) => {
      const took = await longest({ nodeFailsAt, isAsked: true, voteMs: 0 })
      expect(took - nodeFailsAt).toBeLessThanOrEqual(commitMs + flowMs + lookMs + statementsMs)
    },
  )

  it.each([
    [0, true],
    [0, false],
    [2_000, true],
    [4_000, true],
  ])(
    'within three seconds of the first commits after a vote that begins %i ms after the death (on the node that all ask: %s)',
    async (nodeFailsAt, isAsked) => {
      const took = await longest({ nodeFailsAt, isAsked, voteMs })
      expect(took - nodeFailsAt - voteMs).toBeLessThanOrEqual(flowMs + lookMs + statementsMs)
    },
  )

  it.each([-4_000, -1_000])(
    'a lease after a vote that began %i ms from the death, for a renewal that the dead one sent may have come through at its end',
    async (nodeFailsAt) => {
      const took = await longest({ nodeFailsAt, isAsked: false, voteMs })
      expect(took - nodeFailsAt - voteMs).toBeLessThanOrEqual(ordinaryMs)
    },
  )
})
