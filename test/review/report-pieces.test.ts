/** The report of an incident with many entries: the daemon's own work goes on while someone exports it. */
import { expect, it } from 'vitest'
import { incidentReport } from '../../src/review/report.ts'
import { SmallWorld } from '../daemon/small-world.ts'

it(
  'is made piece by piece, with a turn for others between them, and is the same as at once',
  SmallWorld.run({}, async (world) => {
    const { simulator, clock, daemon, journal } = world
    simulator.addInstance({ name: 'web', host: 'cmp01', volumeBacked: true })
    simulator.crash('cmp01')
    const { id } = await world.ended('cmp01')
    for (let nth = 0; nth < 300; nth += 1) daemon.review.note(id, { by: 'ann', text: `note ${nth}` })
    const entries = journal.read({ incident: id })

    const lines = daemon.review.report(id, 'json')[Symbol.asyncIterator]()
    const first = (await lines.next()).value as string
    let came = false
    const next = lines.next().finally(() => (came = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(came).toBe(false)
    const second = (await clock.run(next)).value as string
    expect([first, second].map((piece) => piece.trim().split('\n').length)).toEqual([250, entries.length - 250])

    const whole = async (): Promise<string> => {
      let text = ''
      for await (const piece of daemon.review.report(id, 'markdown')) text += piece
      return text
    }
    expect(await clock.run(whole())).toBe(incidentReport(id, entries))
  }),
)
