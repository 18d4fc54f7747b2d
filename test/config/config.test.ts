import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostVariable, loadConfig, segmentOf, withoutSecrets } from '../../src/config/index.ts'
import { parse, problemsIn } from './configurations.ts'

const bmc = (password: string): string =>
  `fencing: { bmc: { kind: redfish, system: 'https://{host}/', username: u, ${password} } }`

describe('defaults', () => {
  it('an empty file observes and sends nothing', () => {
    const config = parse('')
    expect(config.mode).toBe('observe')
    expect(config.defaults).toMatchObject({ storage: 'local', fencing: [], onDisabledDown: 'hold' })
    expect(config.monitor).toMatchObject({ pollIntervalMs: 5000, quietAfterFreezeMs: 150_000, minDeadProbeKinds: 2 })
    expect(config.http).toEqual({ host: '127.0.0.1', port: 9393 })
  })

  it('the state directory: the file, then LIFEBOAT_STATE_DIR, then the first of systemd, then ./.lifeboat', () => {
    const env = { LIFEBOAT_STATE_DIR: '/own', STATE_DIRECTORY: '/var/lib/lifeboat:/other' }
    expect(parse('state_dir: /file', env).stateDir).toBe('/file')
    expect(parse('', env).stateDir).toBe('/own')
    expect(parse('', { STATE_DIRECTORY: env.STATE_DIRECTORY }).stateDir).toBe('/var/lib/lifeboat')
    expect(parse('').stateDir).toBe(resolve('.lifeboat'))
    expect(parse('', env).socket).toBe('/own/lifeboat.sock')
  })

  it('a probe is never cut off before its own time limit', () => {
    expect(parse('probes: { slow: { kind: command, argv: [a], timeout: 20s } }').monitor.probeLimitMs).toBe(20_000)
  })

  it('a socket path that the system would cut off is refused', () => {
    expect(problemsIn(`socket: /${'x'.repeat(120)}`)[0]).toContain('is too long (at most 107 bytes')
  })

  it.each([
    ['"[::1]:9393"', { host: '::1', port: 9393 }],
    ['false', null],
  ])('http.listen %s', (listen, expected) => expect(parse(`http: { listen: ${listen} }`).http).toEqual(expected))
})

describe('the brake', () => {
  it('knows no failure domains unless told, counts for 10 minutes, settles for 5, and takes more than half for a site', () => {
    expect(parse('').brake).toEqual({
      maxHosts: 4,
      maxShare: 0.25,
      failureDomain: null,
      coolDownMs: 600_000,
      steadyMs: 300_000,
      siteLossShare: 0.5,
    })
  })

  it('a failure domain needs only its key', () => {
    expect(parse('brake: { failure_domain: { key: rack } }').brake.failureDomain).toEqual({
      key: 'rack',
      maxHosts: 2,
      maxShare: 0.25,
    })
    expect(problemsIn('brake: { failure_domain: { max_hosts: 3 } }')[0]).toContain(
      'brake.failure_domain.key is missing',
    )
  })

  it.each([
    ['cool_down: 25h', '"25h" is out of range (0s to 1d)'],
    ['settle: 2d', '"2d" is out of range (0s to 1d)'],
    ['site_loss_share: 0', 'brake.site_loss_share'],
    ['site_loss_share: 1.1', 'brake.site_loss_share'],
    ['failure_domain: { key: "" }', 'brake.failure_domain.key'],
    ['failure_domain: { key: rack, max_hosts: 0 }', 'brake.failure_domain.max_hosts'],
  ])('%s is refused', (option, problem) => expect(problemsIn(`brake: { ${option} }`)[0]).toContain(problem))

  it.each(['cool_down: 0s', 'cool_down: 1d', 'settle: 0s', 'settle: 1d', 'site_loss_share: 1'])(
    '%s is allowed',
    (option) => expect(problemsIn(`brake: { ${option} }`)).toEqual([]),
  )
})

describe('secrets', () => {
  it('come from the environment, or the first line of a file beside the configuration', () => {
    const directory = mkdtempSync(join(tmpdir(), 'lifeboat-config-'))
    writeFileSync(join(directory, 'pw'), 'from file\n', { mode: 0o600 })
    writeFileSync(join(directory, 'c.yaml'), bmc('password_file: pw'))
    expect(loadConfig(join(directory, 'c.yaml'), {}).fencing['bmc']).toMatchObject({ password: 'from file' })
    expect(parse(bmc('password_env: PW'), { PW: 'from env' }).fencing['bmc']).toMatchObject({ password: 'from env' })
  })

  it("a bare name is looked for in systemd's credentials first", () => {
    const directory = mkdtempSync(join(tmpdir(), 'lifeboat-credentials-'))
    writeFileSync(join(directory, 'pw'), 'credential')
    expect(parse(bmc('password_file: pw'), { CREDENTIALS_DIRECTORY: directory }).fencing['bmc']).toMatchObject({
      password: 'credential',
    })
  })

  it('that cannot be had are told with what is wrong: not set, empty, no such file', () => {
    expect(problemsIn(bmc('password_env: PW'))[0]).toContain('environment variable PW is not set')
    expect(problemsIn(bmc('password_env: PW'), { PW: '' })[0]).toContain('environment variable PW is empty')
    expect(problemsIn(bmc('password_file: /nonexistent'))[0]).toMatch(
      /fencing\.bmc\.password_file: there is no file \/nonexistent, whose first line is to be the secret: create it/,
    )
  })

  it('two ways at once are refused: nobody would know which one holds', () => {
    expect(problemsIn(bmc('password: a, password_env: B'))[0]).toContain('has several passwords')
  })

  it('are not needed by those who only talk to the daemon', () => {
    const directory = mkdtempSync(join(tmpdir(), 'lifeboat-config-'))
    writeFileSync(join(directory, 'c.yaml'), bmc('password_file: /nonexistent'))
    expect(loadConfig(join(directory, 'c.yaml'), {}, { withSecrets: false }).fencing['bmc']).toMatchObject({
      password: '',
    })
  })

  it('are not in what may be shown', () => {
    const config = parse(bmc('password: hunter2'))
    expect(JSON.stringify(config)).toContain('hunter2')
    expect(JSON.stringify(withoutSecrets(config))).not.toContain('hunter2')
  })
})

describe('segments', () => {
  const config = parse(`
defaults: { storage: shared, policy: { stopped: leave, memory_lost: start } }
segments:
  - { name: rack1, match: { hosts: [cmp0?, 'gpu.1'] }, policy: { stopped: evacuate }, brake: { max_hosts: 7 } }
  - { name: both, match: { zones: [az1], aggregates: [ssd, nvme] } }
  - { name: late, match: { hosts: ['cmp*'] } }
`)
  const of = segmentOf(config)

  it('the first that fits wins', () => expect(of('cmp01', 'az1', []).name).toBe('rack1'))
  it('a glob fits the whole name, and its dots are dots', () => {
    expect(of('cmp001', null, []).name).toBe('late')
    expect(of('gpux1', 'nova', []).name).toBe('default:nova')
    expect(of('xcmp1', 'nova', []).name).toBe('default:nova')
  })
  it('every list that is given must fit', () => {
    expect(of('h', 'az1', ['nvme']).name).toBe('both')
    expect(of('h', 'az1', ['hdd']).name).toBe('default:az1')
    expect(of('h', 'az2', ['ssd']).name).toBe('default:az2')
  })
  it('what a segment does not say comes from defaults, then from the built-in values', () => {
    const { storage, policy, brake, onDeclaredDown } = of('cmp01', null, [])
    expect({ storage, policy, brake, onDeclaredDown }).toEqual({
      storage: 'shared',
      policy: { stopped: 'evacuate', memoryLost: 'start', errorBefore: 'leave', unasked: 'recover' },
      brake: { maxHosts: 7, maxShare: 0.25 },
      onDeclaredDown: 'recover',
    })
  })
  it('a priority is its own, else that of defaults, else 0; a whole number from -1000 to 1000', () => {
    const some = segmentOf(
      parse(`
defaults: { priority: -5 }
segments: [{ name: first, match: { hosts: [a] }, priority: 1000 }, { name: other, match: { hosts: [b] } }]`),
    )
    expect(['a', 'b', 'c'].map((host) => some(host, null, []).priority)).toEqual([1000, -5, -5])
    expect(of('cmp01', null, []).priority).toBe(0)
    for (const wrong of ['1001', '-1001', '0.5'])
      expect(problemsIn(`defaults: { priority: ${wrong} }`)[0]).toContain('defaults.priority')
  })

  it('how hosts return comes option by option from the segment, then from defaults, then from the built-in values', () => {
    const config = parse(
      'defaults: { return: { healthy: 10m, mode: confirm } }\nsegments: [{ name: lab, match: { zones: [lab] }, return: { mode: automatic, max_returns: 9, within: 2h, start_stopped: always } }]',
    )
    const rules = (zone: string): unknown => segmentOf(config)('h', zone, []).return
    expect(rules('lab')).toEqual({
      mode: 'automatic',
      healthyMs: 600_000,
      maxReturns: 9,
      withinMs: 7_200_000,
      startStopped: 'always',
    })
    expect(rules('other')).toEqual({
      mode: 'confirm',
      healthyMs: 600_000,
      maxReturns: 3,
      withinMs: 1_800_000,
      startStopped: 'ask',
    })
    const builtIn = segmentOf(parse(''))('h', null, []).return
    expect(builtIn).toEqual({
      mode: 'automatic',
      healthyMs: 300_000,
      maxReturns: 3,
      withinMs: 1_800_000,
      startStopped: 'ask',
    })
  })
  it.each([
    ['mode: manual', 'mode'],
    ['healthy: 2d', 'healthy'],
    ['healthy: 5', 'healthy'],
    ['max_returns: 0', 'max_returns'],
    ['max_returns: 51', 'max_returns'],
    ['within: 30s', 'within'],
    ['max_return: 3', 'max_return is not an option (did you mean max_returns?'],
  ])('return: { %s } is refused at its place', (option, names) => {
    expect(problemsIn(`defaults:\n  return: { ${option} }`)).toEqual([
      expect.stringContaining(`defaults.return.${names}`),
    ])
  })
  it('a host of no segment and no zone has the segment default', () => expect(of('h', null, []).name).toBe('default'))
})

describe('maintenance windows', () => {
  const windows = (text: string) =>
    parse(`maintenance_windows:\n  - { name: w, reason: x, ${text} }`).maintenanceWindows

  it('without any there are none', () => expect(parse('').maintenanceWindows).toEqual([]))
  it('are maintenance in the machine’s own zone unless they say otherwise', () =>
    expect(windows('schedule: " 0 2 * * 6 ", duration: 4h, scope: { hosts: [b, a, b] }')).toEqual([
      {
        name: 'w',
        kind: 'maintenance',
        schedule: '0 2 * * 6',
        durationMs: 14_400_000,
        timezone: null,
        scopes: [
          { kind: 'host', name: 'b' },
          { kind: 'host', name: 'a' },
        ],
        reason: 'x',
      },
    ]))
  it('take in segments, or the whole cloud', () => {
    expect(windows('schedule: "@weekly", duration: 1m, kind: pause, scope: { segments: [default] }')).toMatchObject([
      { kind: 'pause', durationMs: 60_000, scopes: [{ kind: 'segment', name: 'default' }] },
    ])
    expect(windows('schedule: 0 2 1 * *, duration: 7d, timezone: Europe/Berlin, scope: { cloud: true }')).toMatchObject(
      [{ timezone: 'Europe/Berlin', durationMs: 604_800_000, scopes: [{ kind: 'cloud', name: null }] }],
    )
  })
})

describe('templates', () => {
  const config = parse('hosts: { cmp01: { bmc: 10.0.0.1, slot: 3 }, constructor: {} }')

  it('take the variables of the host, and {host}', () => {
    expect(hostVariable(config, 'https://{bmc}/Systems/{slot}?h={host}', 'cmp01')).toBe(
      'https://10.0.0.1/Systems/3?h=cmp01',
    )
  })
  it('doubled braces are braces', () => expect(hostVariable(config, '{{"h": "{host}"}}', 'x')).toBe('{"h": "x"}'))
  it('a host that lacks a variable is an error that names what it has, never an empty text', () => {
    expect(() => hostVariable(config, 'https://{bmc}/', 'cmp02')).toThrow(
      '"https://{bmc}/" needs {bmc}, which host cmp02 does not have (it has {host}; add it under hosts.cmp02)',
    )
  })
  it('variables of a host named like a built-in property are only its own', () => {
    expect(() => hostVariable(config, '{name}', 'constructor')).toThrow(/needs \{name\}/)
  })
  it('a value that looks like a template is not expanded again', () => {
    expect(hostVariable(parse("hosts: { h: { a: '{host}' } }"), '{a}', 'h')).toBe('{host}')
  })
})
