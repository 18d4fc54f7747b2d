/** `lifeboat rehearse`: the list, a scenario in the formats it can be told in, and names that are wrong. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { perform } from '../../src/rehearsal/performance.ts'
import type { Commands } from '../../src/cli/index.ts'
import { run, standingClock } from './fake-commands.ts'

const real: Partial<Commands> = { rehearse: (tell, options) => perform(tell, options, standingClock) }

describe('a scenario', () => {
  const play = (...argv: string[]): ReturnType<typeof run> => run(['rehearse', 'host-crashes', '--fast', ...argv], real)

  it('is told in sentences', async () => {
    const { exit, out } = await play()
    expect(exit).toBe(0)
    expect(out).toMatch(/^# /)
    expect(out).toMatch(/^\d\d:\d\d:\d\d\.\d{3} cmp01: /m)
    expect(out).toContain('No guest ever ran twice.')
  })

  it('as JSON is an object per line, and nothing else', async () => {
    const { exit, out, err } = await play('-f', 'json')
    expect([exit, err]).toEqual([0, ''])
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(Object.keys(lines[0]!)).toEqual(['Since', 'Seq', 'Actor', 'Host', 'Instance', 'Kind', 'Message'])
    expect(lines[0]).toMatchObject({ Since: null, Kind: 'scenario' })
    expect(lines.find(({ Kind }) => Kind === 'incident.opened')).toMatchObject({
      Since: expect.stringMatching(/^00:/),
      Seq: expect.any(Number),
      Actor: 'daemon',
      Host: 'cmp01',
    })
    expect(lines.filter(({ Message }) => Message === '')).toEqual([])
    expect(lines.filter(({ Kind }) => Kind === 'end').map(({ Message }) => Message)).toContain(
      'No guest ever ran twice.',
    )
  })

  it('has the columns that are asked for', async () => {
    const { out } = await play('-f', 'value', '-c', 'Kind')
    expect(out.split('\n')).toContain('incident.opened')
  })

  it.each(['yaml', 'csv'])('cannot be told as %s, and says as what it can', async (format) => {
    const { exit, out, err } = await play('-f', format)
    expect([exit, out]).toEqual([2, ''])
    expect(err).toContain(`a scenario cannot be printed as ${format}\n  formats with a scenario: table`)
  })
})

describe('with --config', () => {
  const asked = async (...argv: string[]): Promise<[unknown, Awaited<ReturnType<typeof run>>]> => {
    let order: unknown = null
    const rehearseOwn: Commands['rehearseOwn'] = (_tell, options) => {
      order = options
      return Promise.resolve()
    }
    const ended = await run(['rehearse', ...argv], { rehearseOwn })
    return [order, ended]
  }

  it('the rules of that file are rehearsed', async () => {
    const [order] = await asked('--config', 'own.yaml', '--fast')
    expect(order).toEqual({ config: 'own.yaml', scenario: null, raw: false, live: false })
  })

  it('a scenario is a file of one’s own', async () => {
    const [order] = await asked('./mine.yaml', '--config', 'own.yaml')
    expect(order).toMatchObject({ scenario: './mine.yaml', live: true })
  })

  it('a shipped scenario is refused: its hosts are not those of the file', async () => {
    const [order, { exit, err }] = await asked('host-crashes', '--config', 'own.yaml')
    expect([order, exit]).toEqual([null, 2])
    expect(err).toContain('host-crashes plays on hosts and rules of its own: leave out --config, or name a file')
  })
})

describe('what is not there', () => {
  const missing = async (name: string): Promise<string> => {
    const { exit, out, err } = await run(['rehearse', name], real)
    expect([exit, out]).toEqual([1, ''])
    return err
  }

  it.each(['host-crashs', 'hots-crashes', 'Host-crashes'])('%s: did you mean', async (name) => {
    expect(await missing(name)).toMatch(
      new RegExp(`^lifeboat: There is no scenario "${name}" \\[NOT_FOUND\\]\n {2}did you mean host-crashes`),
    )
  })

  it('a part of names is answered with some that have it', async () => {
    expect(await missing('crashes')).toMatch(/did you mean .*host-crashes/)
  })

  it('a name like no other: where the names are', async () => {
    expect(await missing('xyzzyxyzzy')).toBe(
      'lifeboat: There is no scenario "xyzzyxyzzy" [NOT_FOUND]\n  `lifeboat rehearse` lists those there are; a file of your own is named by its path, ending in .yaml\n',
    )
  })

  it.each(['./nowhere.yaml', 'nowhere.yml', '/tmp/nowhere/scenario'])('the path %s is a missing file', async (path) => {
    expect(await missing(path)).toBe(`lifeboat: There is no file ${path} [NOT_FOUND]\n`)
  })

  it('a directory without a scenario says which file was looked for', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lb-'))
    const { exit, err } = await run(['rehearse', directory], real)
    expect(exit).toBe(78)
    expect(err).toContain(`${join(directory, 'scenario.yaml')} cannot be read`)
  })
})

describe('the list', () => {
  const title =
    'What happens in it is told in a sentence that goes on for much longer than any screen is wide, '.repeat(2)
  const known = { name: 'a-name-that-must-not-break', title: title.trim() }
  const scenarios = () => Promise.resolve([known])
  const widest = (out: string): number => Math.max(...out.split('\n').map((line) => line.length))
  const terminal = (columns: number) => ({
    terminal: {
      screen: {
        size: () => ({ columns, rows: 24 }),
        onResize: () => () => undefined,
        onSuspend: () => () => undefined,
      },
    },
  })

  it('is no wider than 120 columns, or the screen', async () => {
    const piped = await run(['rehearse'], { scenarios })
    expect(widest(piped.out)).toBeLessThanOrEqual(120)
    expect(piped.out).toContain('a-name-that-must-not-break')
    expect(widest((await run(['rehearse'], { scenarios }, terminal(90))).out)).toBeLessThanOrEqual(90)
    expect(widest((await run(['rehearse'], { scenarios }, terminal(300))).out)).toBeLessThanOrEqual(120)
  })

  it('folds the titles and no name, however long the names are and narrow the screen', async () => {
    const name = 'a-name-that-takes-more-than-half-of-a-screen-and-is-still-to-be-copied'
    const longer = () => Promise.resolve([known, { name, title: title.trim() }])
    expect((await run(['rehearse'], { scenarios: longer })).out).toContain(`| ${name} |`)
    const { out } = await run(['rehearse'], { scenarios: longer }, terminal(60))
    expect(out).toContain(`| ${name} | What  `)
  })

  it('is as wide as someone says', async () => {
    expect(widest((await run(['rehearse', '--max-width', '70'], { scenarios })).out)).toBeLessThanOrEqual(70)
    expect(widest((await run(['rehearse', '--max-width', '0'], { scenarios })).out)).toBeGreaterThan(180)
  })
})
