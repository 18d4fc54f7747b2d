/** Several files laid over each other: what holds, where it is from, and where problems are told. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  changesBetween,
  loadConfiguration,
  parseConfig,
  parseConfiguration,
  socketOf,
  type LoadedConfig,
} from '../../src/config/index.ts'
import { effectiveDocument, shownValue } from '../../src/config/shown-options.ts'
import { problemsOf } from './configurations.ts'

const root = mkdtempSync(join(tmpdir(), 'lifeboat-merge-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let count = 0
/** Writes files into a directory of their own; gives it. */
function files(texts: Record<string, string>): string {
  const directory = join(root, String((count += 1)))
  for (const [name, text] of Object.entries(texts)) {
    const path = join(directory, name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text, { mode: 0o644 })
  }
  return directory
}

const originsOf = ({ options }: LoadedConfig): Record<string, string> =>
  Object.fromEntries(options.map(({ name, origin }) => [name, origin.replace(`${root}/`, '').replace(/^\d+\//, '')]))

const bmc = (password: string): string =>
  `fencing: { bmc: { kind: redfish, system: "https://{host}", username: lab, ${password} } }\n`

describe('a file and the directory beside it', () => {
  const directory = files({
    'lifeboat.yaml': [
      'monitor: { poll_interval: 3s }',
      'probes: { ssh: { kind: tcp, port: 22 } }',
      'segments: [{ name: a, match: { zones: [a] } }, { name: b, match: { zones: [b] } }]',
    ].join('\n'),
    'lifeboat.d/10-monitor.yaml': 'monitor:\n  poll_interval: 4s\n  quiet_after_freeze: 200s\n',
    'lifeboat.d/20-site.yaml': 'monitor: { poll_interval: 7s }\nsegments: [{ name: c, match: { zones: [c] } }]\n',
    'lifeboat.d/30-empty.yaml': '# nothing yet\n',
    'lifeboat.d/.hidden.yaml': 'mode: armed\n',
    'lifeboat.d/old.yaml~': 'mode: armed\n',
    'lifeboat.d/README': 'mode: armed\n',
  })
  const loaded = loadConfiguration(join(directory, 'lifeboat.yaml'), {})

  it('merge in lexical order: maps by key, a later value replaces, a list replaces as a whole', () => {
    const { monitor, probes, segments, mode } = loaded.config
    expect(monitor).toMatchObject({ pollIntervalMs: 7_000, quietAfterFreezeMs: 200_000 })
    expect(Object.keys(probes)).toEqual(['ssh'])
    expect(segments.map(({ segment }) => segment.name)).toEqual(['c'])
    expect(mode).toBe('observe')
    expect(loaded.files.map((file) => file.slice(directory.length + 1))).toEqual([
      'lifeboat.yaml',
      'lifeboat.d/10-monitor.yaml',
      'lifeboat.d/20-site.yaml',
      'lifeboat.d/30-empty.yaml',
    ])
  })

  it('tell where each option is from, to the line', () => {
    expect(originsOf(loaded)).toMatchObject({
      'monitor.poll_interval': 'lifeboat.d/20-site.yaml:1',
      'monitor.quiet_after_freeze': 'lifeboat.d/10-monitor.yaml:3',
      'probes.ssh.port': 'lifeboat.yaml:2',
      'segments[c].match.zones': 'lifeboat.d/20-site.yaml:2',
      'monitor.suspicion_needed': 'default',
      'defaults.policy.memory_lost': 'default',
      mode: 'default',
    })
  })

  it('as a directory alone, give the same', () => {
    const alone = loadConfiguration(join(directory, 'lifeboat.d'), {})
    expect(alone.config.monitor.pollIntervalMs).toBe(7_000)
    expect(alone.files).toHaveLength(3)
  })
})

describe('problems', () => {
  it('are told with the file that the value is in, in the order of the files', () => {
    const directory = files({
      'lifeboat.yaml': 'mode: observe\ndefaults: { fencing: [ilo] }\nmonitor:\n  confirm_after_beats: 2\n',
      'lifeboat.d/10.yaml': 'monitor:\n  suspect_after_beats: 3\n',
      'lifeboat.d/20.yaml': 'fencing:\n  bmc: { kind: redfish, system: x, username: y }\n',
    })
    expect(problemsOf(() => loadConfiguration(join(directory, 'lifeboat.yaml'), {}))).toEqual([
      'lifeboat.yaml:2:23: defaults.fencing[0]: fencing has no "ilo" (defined: bmc)',
      expect.stringContaining(
        'lifeboat.yaml:4:24: monitor.confirm_after_beats: is 2, but a host is only suspect after 3',
      ),
      expect.stringContaining('20.yaml:2:8: fencing.bmc: has no password'),
    ])
  })

  it('of the schema are told in the file that made them, also inside a list that replaced another', () => {
    const directory = files({
      'lifeboat.yaml': 'segments:\n  - { name: a, match: { zones: [a] } }\n  - { name: b, match: { zones: [b] } }\n',
      'lifeboat.d/10.yaml': 'mode: armd\nmonitr: {}\nsegments:\n  - { name: a }\n',
    })
    expect(problemsOf(() => loadConfiguration(join(directory, 'lifeboat.yaml'), {}))).toEqual([
      '10.yaml:1:7: mode: "armd" is wrong (allowed: observe, armed)',
      expect.stringContaining('10.yaml:2:1: monitr is not an option (did you mean monitor?'),
      expect.stringContaining('10.yaml:4:5: segments[0].match is missing'),
    ])
  })

  it('of YAML are told for every file', () => {
    const directory = files({ 'a.yaml': 'mode: [\n', 'b.yaml': 'mode: observe\nmode: armed\n' })
    expect(problemsOf(() => loadConfiguration(directory, {})).map((line) => line.split(':')[0])).toEqual([
      'a.yaml',
      'b.yaml',
    ])
  })

  it.each([
    ['an empty directory', { 'x/readme.txt': '' }, 'x', 'has no *.yaml'],
    [
      'a name that would not be read',
      { 'x/a.yaml': '', 'x/b.yml': '' },
      'x',
      'b.yml: would not be read (call it *.yaml)',
    ],
    ['a directory in place of a file', { 'x/a.yaml/b': '' }, 'x', 'a.yaml: it is a directory, and no file'],
    ['what is not there', { 'x/a.yaml': '' }, 'y', 'no such file'],
  ])('%s', (_, texts, name, problem) => {
    expect(problemsOf(() => loadConfiguration(join(files(texts), name), {})).join('\n')).toContain(problem)
  })

  it.each([
    ['the configuration itself', 'lifeboat.yaml', { '.hidden': '' }, 'lifeboat.yaml: it is a pipe'],
    ['one of its files', 'lifeboat.d/b.yaml', { 'lifeboat.yaml': '', 'lifeboat.d/a.yaml': '' }, 'b.yaml: it is a pipe'],
    ['a secret', 'pw', { 'lifeboat.yaml': bmc('password_file: pw') }, 'fencing.bmc.password_file: '],
    [
      'the words of a receiver',
      'words',
      { 'lifeboat.yaml': 'notices: { receivers: { r: { kind: email, from: a@b, to: [a@b], texts: words } } }\n' },
      'notices.receivers.r.texts: ',
    ],
  ])('a pipe in place of %s is refused, and not waited for', (_, pipe, texts, problem) => {
    const directory = files({ ...texts })
    execFileSync('mkfifo', ['-m', '600', join(directory, pipe)])
    const problems = problemsOf(() => loadConfiguration(join(directory, 'lifeboat.yaml'), {})).join('\n')
    expect(problems).toContain(problem)
    expect(problems).toContain('it is a pipe')
  })

  it('a file or directory that everybody may write is refused: anyone who writes it arms the daemon', () => {
    const directory = files({ 'lifeboat.yaml': '', 'lifeboat.d/a.yaml': '' })
    const main = join(directory, 'lifeboat.yaml')
    chmodSync(join(directory, 'lifeboat.d/a.yaml'), 0o666)
    expect(problemsOf(() => loadConfiguration(main, {}))).toEqual([
      expect.stringContaining('everybody may write it (mode 0666'),
    ])
    chmodSync(join(directory, 'lifeboat.d'), 0o777)
    expect(problemsOf(() => loadConfiguration(main, {}))).toEqual([expect.stringContaining('chmod o-w')])
  })
})

describe('secrets', () => {
  it('a file that others may read is refused; a group may read it', () => {
    const directory = files({ 'c.yaml': bmc('password_file: pw'), pw: 'hunter2\n' })
    const load = (): LoadedConfig => loadConfiguration(join(directory, 'c.yaml'), {})
    expect(problemsOf(load)).toEqual([
      expect.stringMatching(/fencing\.bmc\.password_file: everybody may read .* at most 0640/),
    ])
    chmodSync(join(directory, 'pw'), 0o640)
    expect(load().config.fencing['bmc']).toMatchObject({ password: 'hunter2' })
  })

  it('a file is looked for beside the file that names it', () => {
    const directory = files({
      'c.yaml': 'mode: observe\n',
      'c.d/10.yaml': bmc('password_file: pw'),
      'c.d/pw': 'beside',
    })
    chmodSync(join(directory, 'c.d/pw'), 0o600)
    expect(loadConfiguration(join(directory, 'c.yaml'), {}).config.fencing['bmc']).toMatchObject({ password: 'beside' })
  })

  it('in a file that others may read are warned of, by name', () => {
    const directory = files({ 'c.yaml': bmc('password: hunter2') })
    const load = (): LoadedConfig => loadConfiguration(join(directory, 'c.yaml'), {})
    expect(load().warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('it holds fencing.bmc.password (chmod o= '),
    ])
    chmodSync(join(directory, 'c.yaml'), 0o640)
    expect(load().warnings).toEqual([])
  })

  it.each([
    ['the pages', 'web: { tls: { certificate: some.crt, key: some.key } }', 'the private key of the pages'],
    [
      'a receiver of notices',
      'notices: { receivers: { r: { kind: chat, url: "https://h/", cert_file: some.crt, key_file: some.key } } }',
      "Lifeboat's private key for r (notices.receivers.r.key_file",
    ],
  ])('a private key for %s that everybody may read is told', (_for, option, what) => {
    const directory = files({ 'c.yaml': `${option}\n`, 'some.crt': 'x', 'some.key': 'x' })
    const load = (): LoadedConfig => loadConfiguration(join(directory, 'c.yaml'), {})
    expect(load().warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining(`some.key: everybody may read it, and it is ${what}`),
    ])
    chmodSync(join(directory, 'some.key'), 0o640)
    expect(load().warnings).toEqual([])
  })

  it('are never in what is shown, wherever they stand', () => {
    const text = `${bmc('password: hunter2')}hosts: { cmp01: { bmc_password: hunter2 } }\nprobes: { p: { kind: prometheus, url: "http://x", query: up, token: hunter2 } }`
    const { options } = parseConfiguration(text, 'c.yaml', {})
    expect(JSON.stringify([effectiveDocument(options), options.map(shownValue)])).not.toContain('hunter2')
    expect(effectiveDocument(options)).toMatchObject({ fencing: { bmc: { username: 'lab', password: '***' } } })
  })

  it.each(['password: 12345', 'password: []', 'password: ""'])('are never in a problem (%s)', (password) => {
    const problems = problemsOf(() => parseConfig(bmc(password), 'c.yaml', {})).join('\n')
    expect(problems).toContain('fencing.bmc.password')
    expect(problems).not.toContain('12345')
  })

  it('the login of an address is none of a problem either', () => {
    const text = 'probes: { p: { kind: prometheus, url: "http://me:hunter2@prom", query: up } }'
    const problems = problemsOf(() => parseConfig(text, 'c.yaml', {})).join('\n')
    expect(problems).toContain('probes.p.url')
    expect(problems).not.toContain('hunter2')
  })
})

describe('the effective document', () => {
  const text =
    'mode: armed\nsegments: [{ name: a, match: { hosts: [x, y] }, policy: { stopped: leave } }]\nhosts: { x: { address: 10.0.0.1 } }\n'

  it('is a configuration that loads to the same', () => {
    const loaded = parseConfiguration(text, '/x/c.yaml', {})
    const again = parseConfig(JSON.stringify(effectiveDocument(loaded.options)), '/x/c.yaml', {})
    expect(again).toEqual(loaded.config)
  })

  it('says which environment variable decided', () => {
    const { options } = parseConfiguration('', 'c.yaml', { STATE_DIRECTORY: '/var/lib/l', OS_CLOUD: 'prod' })
    const of = (name: string): unknown => options.find((option) => option.name === name)
    expect(of('state_dir')).toMatchObject({ value: '/var/lib/l', origin: '$STATE_DIRECTORY', reload: 'restart' })
    expect(of('cloud')).toMatchObject({ value: 'prod', origin: '$OS_CLOUD' })
  })
})

describe('what changed between two', () => {
  const changes = (from: string, to: string): ReturnType<typeof changesBetween> =>
    changesBetween(parseConfiguration(from, 'c.yaml', {}).options, parseConfiguration(to, 'c.yaml', {}).options)
  const a = '{ name: a, match: { zones: [a] } }'
  const b = '{ name: b, match: { zones: [b] } }'

  it.each([
    ['a default written down is no change', '', 'monitor: { poll_interval: 5s }', [], []],
    ['a value', 'mode: observe', 'mode: armed', ['mode'], []],
    ['a value that is taken away', 'monitor: { poll_interval: 9s }', '', ['monitor.poll_interval'], []],
    ['what waits for a restart', '', 'http: { listen: false }\nfence_retry: 5s', ['fence_retry'], ['http.listen']],
    ['a segment that comes', `segments: [${a}]`, `segments: [${a}, ${b}]`, ['segments[b] (new)'], []],
    ['the first segment', '', `segments: [${a}]`, ['segments[a] (new)'], []],
    ['a segment that goes', `segments: [${a}, ${b}]`, `segments: [${b}]`, ['segments[a] (gone)'], []],
    ['their order', `segments: [${a}, ${b}]`, `segments: [${b}, ${a}]`, ['segments (order)'], []],
    ['a probe', '', 'probes: { ssh: { kind: tcp, port: 22 } }', ['probes.ssh (new)'], []],
    [
      'an option of a probe',
      'probes: { ssh: { kind: tcp, port: 22 } }',
      'probes: { ssh: { kind: tcp, port: 23 } }',
      ['probes.ssh.port'],
      [],
    ],
    ['a host', 'hosts: { x: { a: 1 } }', 'hosts: { x: { a: 1 }, y: { a: 2 } }', ['hosts.y (new)'], []],
  ])('%s', (_, from, to, live, restart) => {
    expect(changes(from, to)).toEqual({ live, restart })
  })
})

describe('the socket of a daemon whose configuration someone broke', () => {
  it.each([
    ['state_dir: /run/x\nmode: armd\n', '/run/x/lifeboat.sock'],
    ['socket: s.sock\nmode: [\n', null],
    ['socket: s.sock\nnonsense: 1\n', 's.sock'],
  ])('%j', (text, expected) => {
    const directory = files({ 'c.yaml': text })
    const found = socketOf(join(directory, 'c.yaml'), { STATE_DIRECTORY: '/state' })
    if (expected === null) expect(found).toBe('/state/lifeboat.sock')
    else expect(found).toContain(expected)
  })
})
