/** `lifeboat report`: a period from the journal, and the hosts as the daemon knows them. */
import { expect, it } from 'vitest'
import { fakeJournal, run, wallNow } from './fake-commands.ts'

const iso = (ms: number): string => new Date(ms).toISOString()
const dayMs = 86_400_000

it('covers a week when nothing is said, else what is said', async () => {
  expect((await run(['report'])).out).toBe(`since ${iso(wallNow - 7 * dayMs)}\n`)
  expect((await run(['report', '--since', '2d'])).out).toBe(`since ${iso(wallNow - 2 * dayMs)}\n`)
})

it('--brief is for people: a format for programs beside it is a slip', async () => {
  expect((await run(['report', '--brief', '--since', '2d'])).out).toBe(`in brief, since ${iso(wallNow - 2 * dayMs)}\n`)
  expect(await run(['report', '--brief', '-f', 'json'])).toMatchObject({ exit: 2, out: '' })
})

it('without a daemon says so, and is made of the journal alone', async () => {
  const asked: unknown[] = []
  const openReader = () =>
    fakeJournal({
      period: (period, readiness) => {
        asked.push(readiness)
        return { ...period, modes: [], verdicts: [], suspicions: 0, incidents: [], now: null }
      },
    })
  const { exit, out, err } = await run(['report', '-f', 'json'], { openReader })
  expect([exit, asked]).toEqual([0, [null]])
  expect(err).toMatch(/no daemon answers .*the report does not say how the hosts are now\n$/)
  expect(JSON.parse(out)).toMatchObject({ Verdicts: [], Now: null })
})

it.each([
  ['a time that is none', 'soon', /a time such as/],
  ['the future', '2027-01-01', /in the future/],
])('%s as the beginning is refused', async (_what, since, why) => {
  expect(await run(['report', '--since', since])).toMatchObject({
    exit: 2,
    out: '',
    err: expect.stringMatching(why) as string,
  })
})
