/** `lifeboat check`: what people are shown, and what programs get. */
import { describe, expect, it } from 'vitest'
import type { CheckLine } from '../../src/preflight/check-lines.ts'
import { run, type Ran } from './fake-commands.ts'
import { FakeScreen } from './screens.ts'

const good: CheckLine = { what: 'compute API', result: 'ok', message: '2.100', advice: null }
const weak: CheckLine = {
  ...{ what: 'fencing', result: 'warn', message: 'none for cmp09', advice: 'Give its segment a method' },
}
const bad: CheckLine = { what: 'role', result: 'fail', message: 'os-evacuate is forbidden', advice: 'Grant admin' }
const fenced = (host: string): CheckLine => ({
  ...{ what: `fencing of ${host}`, result: 'ok', message: 'bmc: On', advice: null },
  each: { what: 'fencing by bmc', host },
})

function check(lines: CheckLine[], words: string[] = [], screen?: FakeScreen): Promise<Ran> {
  const checked = async function* () {
    yield* lines
  }
  return run(['check', ...words], { check: checked }, { terminal: screen?.terminal() ?? {} })
}

const weakText = ['warn  fencing: none for cmp09', '      → Give its segment a method']
const badText = ['fail  role: os-evacuate is forbidden', '      → Grant admin']
const text = (...lines: string[]): string => `${lines.join('\n')}\n`

describe('people', () => {
  it('see one line for each check, with what to do, and how many failed', async () => {
    expect(await check([good, weak, bad])).toEqual({
      ...{ exit: 1, err: '' },
      out: text('ok    compute API: 2.100', ...weakText, ...badText, '', '3 checks: 1 failed, 1 with a warning'),
    })
  })

  it('see problems again at the end, failures first, when others came after them', async () => {
    const { out } = await check([weak, bad, good])
    expect(out).toMatch(text('ok    compute API: 2.100', '', 'What needs a person:', ...badText, ...weakText, ''))
  })

  it('see what was not made counted apart', async () => {
    const skipped: CheckLine = { what: 'compute', result: 'skip', message: 'not checked: no cloud', advice: null }
    expect((await check([skipped, good])).out).toBe(
      text(
        'skip  compute: not checked: no cloud',
        'ok    compute API: 2.100',
        '',
        '1 check: 0 failed, 0 with a warning; 1 not made',
      ),
    )
  })

  it('see what is in order on many hosts as one line', async () => {
    const { out } = await check([fenced('cmp01'), fenced('cmp02'), fenced('cmp02'), bad])
    expect(out).toBe(text(...badText, 'ok    fencing by bmc: 2 hosts', '', '4 checks: 1 failed, 0 with a warning'))
  })

  it('see that line grow on a terminal, below what came before', async () => {
    const screen = new FakeScreen()
    screen.write('$ lifeboat check\n')
    await check([good, fenced('cmp01'), bad, fenced('cmp02')], [], screen)
    expect(screen.text).toBe(
      text(
        ...['$ lifeboat check', 'ok    compute API: 2.100', ...badText, 'ok    fencing by bmc: 2 hosts', ''],
        ...['What needs a person:', ...badText, '', '4 checks: 1 failed, 0 with a warning'],
      ).trimEnd(),
    )
  })
})

describe('--quiet', () => {
  it('shows what needs a person, and nothing else', async () => {
    expect(await check([good, weak, fenced('cmp01'), bad], ['--quiet'])).toEqual({
      ...{ exit: 1, err: '', out: text(...weakText, ...badText) },
    })
  })

  it('shows nothing when nobody is needed', async () => {
    expect(await check([good, fenced('cmp01')], ['--quiet'])).toEqual({ exit: 0, err: '', out: '' })
  })

  it('leaves out the others for programs too', async () => {
    const { out } = await check([good, weak, bad], ['--quiet', '-f', 'value', '-c', 'Result'])
    expect(out).toBe('warn\nfail\n')
  })
})

it.each(['check', 'check --quiet'])('%s does not fail for warnings alone', async (line) => {
  expect((await check([good, weak], line.split(' ').slice(1))).exit).toBe(0)
})

it('programs get every line', async () => {
  expect(JSON.parse((await check([good, fenced('cmp01'), fenced('cmp02')], ['-f', 'json'])).out)).toHaveLength(3)
  expect((await check([good, weak, bad], ['-f', 'value', '-c', 'Result'])).out).toBe('ok\nwarn\nfail\n')
})
