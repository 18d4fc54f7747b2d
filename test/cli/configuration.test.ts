import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { listenForOperators } from '../../src/api/index.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { Operations } from '../../src/domain/operations.ts'
import { fakeOperations } from '../api/fake-operations.ts'
import { fakeReview } from '../api/fake-review.ts'
import { type Ran, run, standingClock } from './fake-commands.ts'

describe('config show', () => {
  const config = `monitor: { poll_interval: 7s }
fencing: { bmc: { kind: redfish, system: "https://{host}", username: lab, password: hunter2 } }
segments: [{ name: ceph, match: { zones: [a] } }]
`
  const show = (argv: string[] = []): Promise<Ran> => run(['config', 'show', ...argv], {}, { config })

  it('lists every option with its value, secrets masked', async () => {
    const { exit, out } = await show()
    expect(exit).toBe(0)
    expect(out).toMatch(/\| monitor\.poll_interval +\| 7s +\|/)
    expect(out).toMatch(/\| segments\[ceph\]\.match\.zones +\| \["a"\] +\|/)
    expect(out).toMatch(/\| fencing\.bmc\.password +\| \*\*\* +\|/)
    expect(out).not.toContain('hunter2')
  })

  it('with --origins says the line it is from and whether a reload changes it', async () => {
    const rows = JSON.parse((await show(['--origins', '-f', 'json'])).out) as Record<string, string>[]
    const of = (name: string): unknown => rows.find(({ Option }) => Option === name)
    expect(of('monitor.poll_interval')).toMatchObject({
      Value: '7s',
      Origin: expect.stringMatching(/lifeboat\.yaml:2$/),
      Reload: 'live',
    })
    expect(of('http.listen')).toMatchObject({ Origin: 'default', Reload: 'restart' })
  })

  it('as yaml and json is one document in the form of the file', async () => {
    const document = parse((await show(['-f', 'yaml'])).out) as Record<string, unknown>
    const { monitor, segments, mode } = JSON.parse((await show(['-f', 'json'])).out) as Record<string, unknown>
    expect(document).toMatchObject({ monitor, segments, mode })
    expect(document).toMatchObject({ monitor: { poll_interval: '7s' }, segments: [{ name: 'ceph' }], mode: 'observe' })
  })

  it('as csv and value has a line for each', async () => {
    expect((await show(['-f', 'csv'])).out).toContain('"monitor.poll_interval","7s"')
    expect((await show(['-f', 'value', '-c', 'Option'])).out).toContain('monitor.poll_interval\n')
  })
})

describe('config check', () => {
  it('says valid, or every problem with 78', async () => {
    const good = await run(['config', 'check'], {}, { config: '' })
    expect([good.exit, good.out]).toEqual([0, expect.stringMatching(/^valid: .*lifeboat\.yaml; mode observe/)])
    const bad = await run(['config', 'check'], {}, { config: 'mode: armd\n' })
    expect([bad.exit, bad.err]).toEqual([78, expect.stringContaining('lifeboat.yaml:2:7: mode: "armd" is wrong')])
  })

  it('says so when the file sets nothing', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lb-'))
    const empty = join(directory, 'empty.yaml')
    writeFileSync(empty, '# nothing yet\n')
    const { exit, out } = await run(['config', 'check', '--config', empty])
    expect([exit, out]).toEqual([
      0,
      `valid: ${empty}; it sets nothing, so every option has its default: no host is fenced, no probe is asked; mode observe, 0 workflows\n`,
    ])
    expect((await run(['check', '--config', empty])).out).toContain('warn  configuration: the file sets nothing')
  })

  it('counts one workflow as one', async () => {
    const checkWorkflows = () =>
      Promise.resolve([{ file: 'w.yaml', name: 'w', revision: 1, digest: 'd', problems: [] as string[] }])
    expect((await run(['config', 'check'], { checkWorkflows })).out).toMatch(/, 1 workflow\n$/)
  })

  it('shows warnings with what to do, and is content all the same', async () => {
    const config = `hosts: { c1: {}, c2: { bmc: b } }
fencing: { bmc: { kind: redfish, system: "https://{bmc}", username: u, password: hunter2 } }
segments: [{ name: a, match: { hosts: [c1] }, fencing: [bmc] }]
`
    const { exit, out } = await run(['config', 'check'], {}, { config })
    expect(exit).toBe(0)
    expect(out).toMatch(/^warning: \S+:2:10: c1 of segment a lacks .*\n {2}→ Give bmc under hosts\.c1; /m)
  })

  it('is 78 also for a workflow', async () => {
    const checkWorkflows = () =>
      Promise.resolve([{ file: 'w.yaml', name: null, revision: null, digest: null, problems: ['w.yaml:1:1: bad'] }])
    const { exit, out } = await run(['config', 'check'], { checkWorkflows })
    expect([exit, out]).toEqual([78, 'w.yaml:1:1: bad\n'])
  })
})

describe('beside a running daemon', () => {
  let directory = ''
  let server: { close(): Promise<void> } | null = null
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'lb-'))
  })
  afterEach(async () => {
    await server?.close()
    server = null
    rmSync(directory, { recursive: true, force: true })
  })
  const listen = async (replace: Partial<Operations> = {}): Promise<unknown[][]> => {
    const { operations, asked } = fakeOperations(replace)
    server = await listenForOperators(
      {
        operations,
        review: fakeReview(),
        clock: standingClock,
      },
      join(directory, 'lifeboat.sock'),
    )
    return asked
  }
  const lifeboat = (argv: string[], more = ''): Promise<Ran> =>
    run(argv, {}, { config: `state_dir: ${directory}\n${more}` })

  it('reload says what is in force, what waits, and that it armed', async () => {
    const asked = await listen({
      reload: () =>
        Promise.resolve({
          changed: ['mode', 'brake.max_hosts'],
          waiting: ['http.listen'],
          mode: { from: 'observe', to: 'armed' },
          files: ['/etc/lifeboat/lifeboat.yaml'],
          warnings: ['c.yaml: everybody may read it'],
        }),
    })
    const { exit, out } = await lifeboat(['reload'])
    expect(exit).toBe(0)
    expect(out.split('\n')).toEqual([
      'Armed: from now on Lifeboat recovers hosts',
      'In force: mode, brake.max_hosts',
      'Takes effect at the next restart: http.listen',
      'warning: c.yaml: everybody may read it',
      '',
    ])
    expect(JSON.parse((await lifeboat(['reload', '-f', 'json'])).out)).toMatchObject({
      'Waiting For Restart': ['http.listen'],
    })
    expect(asked).toEqual([])
  })

  it('reload gives who and why', async () => {
    const asked = await listen()
    await lifeboat(['reload', '--by', 'ann', '--reason', 'new brake'])
    expect(asked).toEqual([['reload', { by: 'ann', reason: 'new brake' }]])
  })

  it('reload is 78 with every problem when it is refused', async () => {
    await listen({
      reload: () => {
        throw new LifeboatError('CONFIG_INVALID', 'c.yaml is not valid', {
          details: { problems: ['c.yaml:1:7: mode'] },
        })
      },
    })
    const { exit, err } = await lifeboat(['reload'])
    expect([exit, err]).toEqual([78, expect.stringContaining('  c.yaml:1:7: mode\n')])
  })

  it('a daemon is reached also when its configuration was broken since', async () => {
    await listen()
    const { exit, out, err } = await lifeboat(['status'], 'mode: armd\n')
    expect([exit, out]).toEqual([0, expect.stringContaining('armed')])
    expect(err).toContain('runs with an earlier configuration')
  })

  it('without a daemon a broken configuration is what is told', async () => {
    expect((await lifeboat(['status'], 'mode: armd\n')).exit).toBe(78)
  })

  it('log-level shows and orders', async () => {
    const asked = await listen()
    expect(JSON.parse((await lifeboat(['log-level', '-f', 'json'])).out)).toEqual({
      Level: 'info',
      Configured: 'info',
      Until: null,
    })
    const { out } = await lifeboat(['log-level', 'debug', '--for', '10m', '-f', 'json'])
    expect(JSON.parse(out)).toMatchObject({ Level: 'debug', Until: '2026-01-02T03:14:05.000Z' })
    expect(asked).toEqual([['setLogLevel', { by: 'alice', level: 'debug', until: '2026-01-02T03:14:05.000Z' }]])
    expect((await lifeboat(['log-level', 'loud'])).exit).toBe(2)
  })

  it('status says a refused reload and what waits for a restart', async () => {
    const { operations } = fakeOperations()
    const status = operations.status()
    const refused = {
      at: '2026-01-02T03:04:05.000Z',
      by: 'SIGHUP',
      code: 'CONFIG_INVALID',
      message: 'not valid',
      problems: ['c.yaml:1:1: x'],
    }
    await listen({
      status: () => ({ ...status, configuration: { ...status.configuration, refused, waiting: ['http.listen'] } }),
    })
    const { out } = await lifeboat(['status'])
    expect(out).toMatch(/REFUSED .*\(SIGHUP\): not valid/)
    expect(out).toContain('c.yaml:1:1: x')
    expect(out).toContain('waiting for a restart: http.listen')
  })
})
