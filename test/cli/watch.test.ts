import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CliFailure } from '../../src/cli/exit-codes.ts'
import { listFrame, oneFrame, type Frame } from '../../src/cli/frame.ts'
import { plainShape, type Column } from '../../src/cli/output/formats.ts'
import { unpainted } from '../../src/cli/output/words.ts'
import { Session, type GlobalOptions } from '../../src/cli/session.ts'
import { show } from '../../src/cli/watch.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { fakeCommands, run } from './fake-commands.ts'
import { FakeScreen, HandClock, settled } from './screens.ts'

interface Row {
  host: string
  verdict: string
  silent: number
}
const columns: Column<Row>[] = [
  { title: 'Host', type: 'string', means: 'h', value: (row) => row.host },
  { title: 'Verdict', type: 'string', means: 'v', value: (row) => row.verdict },
  { title: 'Silent', type: 'integer', means: 's', moving: true, value: (row) => row.silent },
]
const healthy = (host: string, silent = 0): Row => ({ host, verdict: 'healthy', silent })
const gone = new CliFailure('daemonDown', 'no daemon answers on /x')

/** A watch of rows that a test changes; `rows` may be a failure. */
function watching(given: { screen?: FakeScreen; options?: GlobalOptions; first?: Row[] | Error } = {}) {
  const clock = new HandClock()
  const said = { out: '', err: '' }
  let end = (): void => undefined
  const terminal = {
    env: {},
    stdout: (text: string) => void (said.out += text),
    stderr: (text: string) => void (said.err += text),
    paint: unpainted,
    screen: null,
    onInterrupt: (listen: () => void) => {
      end = listen
      return () => undefined
    },
    ...given.screen?.terminal(),
  }
  const session = new Session(fakeCommands({ clock }), terminal, () => given.options ?? {})
  const state: { rows: Row[] | Error } = { rows: given.first ?? [healthy('cmp01')] }
  const look = (): Frame => {
    if (state.rows instanceof Error) throw state.rows
    return listFrame(state.rows, columns, session.shape())
  }
  const done = show(session, { watch: true }, look)
  return { clock, said, state, done, end: () => end() }
}

describe('on a terminal', () => {
  it('draws on a screen of its own, over the picture before it, and gives the screen back', async () => {
    const screen = new FakeScreen()
    screen.write('$ lifeboat host list --watch\n')
    const { clock, state, done } = watching({ screen })
    await settled()
    expect([screen.alternate, screen.cursor]).toEqual([true, false])
    expect(screen.text).toMatch(/^2026-01-02 03:04:05Z {2}every 2 s, ctrl-C to quit\n\n\+-/)
    state.rows = [{ ...healthy('cmp01'), verdict: 'host-down' }]
    await clock.pass(2000)
    expect(screen.text).toContain('| cmp01 | host-down | 0      |')
    expect(screen.text).not.toContain('healthy')
    // Never cleared first: that is what flickers.
    expect(screen.sent).not.toMatch(/\u001b\[2J/)
    screen.interrupt()
    await done
    expect([screen.alternate, screen.cursor, screen.text, screen.listening]).toEqual([
      false,
      true,
      '$ lifeboat host list --watch',
      false,
    ])
  })

  it('fits the screen, also when its size changes, and says how much it leaves out', async () => {
    const screen = new FakeScreen(30, 8)
    const { done } = watching({
      screen,
      first: Array.from({ length: 9 }, (_, n) => healthy(`compute-with-a-name-${n}`)),
    })
    await settled()
    expect(screen.lines).toHaveLength(8)
    expect(screen.lines.at(-1)).toMatch(/^… \d+ more lines$/)
    screen.resize(200, 40)
    expect(screen.text).toContain('| compute-with-a-name-8 | healthy | 0      |')
    screen.interrupt()
    await done
  })

  it('a daemon that restarts is said, with what was known, and then forgotten', async () => {
    const screen = new FakeScreen()
    const { clock, state, done } = watching({ screen })
    await settled()
    state.rows = gone
    await clock.pass(2000)
    await clock.pass(2000)
    expect(screen.text).toMatch(/^no daemon answers on \/x, since 2026-01-02 03:04:07Z; shown as of/)
    expect(screen.text).toContain('| cmp01 | healthy')
    state.rows = [healthy('cmp02')]
    await clock.pass(2000)
    expect(screen.text).toMatch(/^2026-01-02 03:04:11Z {2}every 2 s/)
    expect(screen.text).toContain('cmp02')
    screen.interrupt()
    await done
  })

  it('ctrl-Z gives the screen back until it goes on', async () => {
    const screen = new FakeScreen()
    const { done } = watching({ screen })
    await settled()
    screen.suspend?.leave()
    expect([screen.alternate, screen.cursor]).toEqual([false, true])
    screen.suspend?.back()
    expect([screen.alternate, screen.text.includes('cmp01')]).toEqual([true, true])
    screen.interrupt()
    await done
  })

  it('the screen is given back also when the watching ends in an error', async () => {
    const screen = new FakeScreen()
    const { clock, state, done } = watching({ screen })
    await settled()
    state.rows = new LifeboatError('AUTH_FORBIDDEN', 'no')
    const failed = expect(done).rejects.toThrow('no')
    await clock.pass(2000)
    await failed
    expect([screen.alternate, screen.cursor]).toEqual([false, true])
  })

  it('JSON is printed, not drawn', async () => {
    const screen = new FakeScreen(200)
    const { done } = watching({ screen, options: { format: 'json' } })
    await settled()
    screen.interrupt()
    await done
    expect(screen.sent).toBe('[{"Host":"cmp01","Verdict":"healthy","Silent":0}]\n')
  })
})

describe('in a pipe', () => {
  it('prints what there is, then only what changed, with the time', async () => {
    const { clock, state, said, done, end } = watching()
    await settled()
    state.rows = [healthy('cmp01', 500)]
    await clock.pass(2000)
    state.rows = [{ host: 'cmp01', verdict: 'suspect', silent: 9000 }, healthy('cmp02')]
    await clock.pass(2000)
    state.rows = [healthy('cmp02')]
    await clock.pass(2000)
    end()
    await done
    expect(said.out).toBe(
      [
        '2026-01-02T03:04:05.000Z cmp01  Verdict: healthy',
        '2026-01-02T03:04:09.000Z cmp01  Verdict: healthy → suspect',
        '2026-01-02T03:04:09.000Z cmp02  Verdict: healthy',
        '2026-01-02T03:04:11.000Z cmp01  gone',
        '',
      ].join('\n'),
    )
    expect(said.out).not.toContain('\u001b')
  })

  it('JSON is one document per line, and only when something changed; also an empty one at first', async () => {
    const { clock, state, said, done, end } = watching({ options: { format: 'json', column: ['Host'] }, first: [] })
    await settled()
    await clock.pass(2000)
    state.rows = [healthy('cmp01')]
    await clock.pass(2000)
    end()
    await done
    expect(said.out).toBe('[]\n[{"Host":"cmp01"}]\n')
  })

  it('documents are in the order that was asked for', async () => {
    const options = { format: 'json', column: ['Host'], sortColumn: ['Host'], sortDescending: true }
    const { said, done, end } = watching({ options, first: [healthy('a'), healthy('c'), healthy('b')] })
    await settled()
    end()
    await done
    expect(said.out).toBe('[{"Host":"c"},{"Host":"b"},{"Host":"a"}]\n')
  })

  it('YAML is one document per change', async () => {
    const { said, done, end } = watching({ options: { format: 'yaml', column: ['Host'] } })
    await settled()
    end()
    await done
    expect(said.out).toBe('---\n- Host: cmp01\n')
  })

  it('a daemon that goes away and comes back is said once each, on standard error', async () => {
    const { clock, state, said, done, end } = watching()
    await settled()
    state.rows = gone
    await clock.pass(2000)
    await clock.pass(2000)
    state.rows = [healthy('cmp01')]
    await clock.pass(2000)
    end()
    await done
    expect(said.err).toBe('2026-01-02T03:04:07.000Z no daemon answers on /x\n2026-01-02T03:04:11.000Z answers again\n')
    expect(said.out.split('\n')).toHaveLength(2)
  })

  it('a daemon that was never there is not waited for', async () => {
    const { done } = watching({ first: gone })
    await expect(done).rejects.toThrow('no daemon answers')
  })

  it('names of tenants cannot write to the terminal', async () => {
    const { said, done, end } = watching({ first: [healthy('evil\u001b[2J\nname')] })
    await settled()
    end()
    await done
    expect(said.out).toBe('2026-01-02T03:04:05.000Z evil\\x1b[2J\\x0aname  Verdict: healthy\n')
  })
})

describe('the option', () => {
  it.each([['0.1'], ['9999'], ['often']])('--watch %s is a slip', async (seconds) => {
    expect((await run(['status', '--watch', seconds])).exit).toBe(2)
  })
  it.each([['csv'], ['value']])('does not go with -f %s', async (format) => {
    const { exit, err } = await run(['incident', 'list', '--watch', '-f', format])
    expect([exit, err]).toEqual([2, expect.stringContaining(`--watch cannot be printed as ${format}`)])
  })
  it('a watch of one thing tells of its fields', () => {
    const frame = oneFrame(healthy('a'), columns, plainShape)
    expect(frame.things()).toEqual([
      {
        name: '',
        fields: [
          ['Host', 'a'],
          ['Verdict', 'healthy'],
        ],
      },
    ])
  })
  it('a daemon that is down at the start is 69', async () => {
    const config = `state_dir: ${mkdtempSync(join(tmpdir(), 'lb-'))}\n`
    expect((await run(['status', '--watch'], {}, { config })).exit).toBe(69)
  })
})
