import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/index.ts'
import { bad, problemsIn, problemsOf, problemsOfFile } from './configurations.ts'

describe('a bad configuration file says every problem with its place and what is allowed', () => {
  it('an unknown key, with the one that was meant', () => {
    expect(problemsOfFile('unknown-key.yaml')).toEqual([
      expect.stringMatching(
        /^unknown-key\.yaml:3:3: monitor\.poll_intervall is not an option \(did you mean poll_interval\? allowed: poll_interval, /,
      ),
    ])
  })

  it('many problems at once, in the order of the file', () => {
    const places = problemsOfFile('many.yaml').map((problem) => problem.split(': ').slice(0, 2).join(' '))
    expect(places).toEqual([
      'many.yaml:1:7 mode',
      'many.yaml:3:18 monitor.poll_interval',
      'many.yaml:4:23 monitor.quiet_after_freeze',
      'many.yaml:5:25 monitor.min_dead_probe_kinds',
      'many.yaml:6:24 monitor.confirm_after_beats',
      'many.yaml:8:14 brake.max_share',
      'many.yaml:10:11 http.listen',
      'many.yaml:12:3 probes.ssh.port is missing',
      'many.yaml:14:5 probes.ssh.prot is not an option (did you mean port? allowed',
      'many.yaml:16:11 probes.pong.kind',
      'many.yaml:18:5 segments[0].name is missing (Its name for people, metrics and the journal)',
      'many.yaml:19:14 segments[0].match.hosts',
    ])
  })

  it('names that nothing defines, secrets that cannot be had, contradictions', () => {
    const text = problemsOfFile('references.yaml').join('\n')
    for (const expected of [
      'references.yaml:1:1: monitor.confirm_after_beats: is 2.5, but a host is only suspect after 3',
      'references.yaml:6:30: probes.ssh.address: no host has the variable {adress} (known: {host}, {address};',
      'references.yaml:7:39: probes.odd.argv[1]: "a}b" has a stray }',
      'references.yaml:9:33: fencing.bmc.system: no host has the variable {bmc}',
      'references.yaml:9:81: fencing.bmc.password_env: environment variable BMC_PASSWORD is not set',
      'references.yaml:13:39: fencing.ipmi.secret_options_files.password: there is no file ',
      'references.yaml:14:9: fencing.none: has no password (give exactly one of',
      'references.yaml:16:17: defaults.probes[1]: probes has no "ping" (defined: ssh, odd)',
      'references.yaml:16:23: defaults.probes[2]: names "ssh" a second time (each once)',
      'references.yaml:20:25: segments[0].fencing[2]: names "bmc" a second time (each once)',
      'references.yaml:20:20: segments[0].fencing[1]: fencing has no "ilo" (defined: bmc, ipmi, none)',
      'references.yaml:21:11: segments[1].name: there are two segments called "a"',
      'references.yaml:22:12: segments[1].match: matches nothing',
      'references.yaml:23:11: segments[2].name: "default:nova" is the name of hosts without a segment',
    ]) {
      expect(text).toContain(expected)
    }
    expect(text.split('\n')).toHaveLength(14)
  })

  it('calendar windows that never open, never close, or take in nothing', () => {
    expect(problemsOfFile('windows.yaml')).toEqual([
      expect.stringContaining(
        'windows.yaml:4:26: maintenance_windows[0].schedule: "0 25 * * *" is no schedule: hour: 25',
      ),
      'windows.yaml:5:13: maintenance_windows[1].name: there are two windows called "a" (each name once)',
      'windows.yaml:5:26: maintenance_windows[1].schedule: "0 0 2 * * 6" has 6 fields (minute, hour, day of month, month, day of week; e.g. 0 2 * * 6)',
      'windows.yaml:6:47: maintenance_windows[2].duration: is 7d, but it opens again after 7d: it would never be closed (must be shorter than the time between two openings)',
      expect.stringContaining('windows.yaml:7:47: maintenance_windows[3].duration: is 1d, but it opens again after 1d'),
      expect.stringContaining(
        'windows.yaml:7:58: maintenance_windows[3].scope: says several things (exactly one of hosts, segments, cloud)',
      ),
      expect.stringContaining('windows.yaml:8:26: maintenance_windows[4].schedule: "0 2 L-30 2 *" never happens'),
      expect.stringContaining('windows.yaml:8:61: maintenance_windows[4].scope: says nothing'),
      expect.stringContaining('windows.yaml:8:86: maintenance_windows[4].timezone: "Europe/Atlantis" is no time zone'),
      'windows.yaml:12:47: maintenance_windows[5].scope.segments[2]: there is no segment "rust" (defined: ceph; or default:ZONE)',
    ])
  })

  it('UUIDs that are none, that name two things, and that of a segment that is not there', () => {
    const [a, b] = ['0c5a3c54-0bcd-4b0c-9f4f-7a3a2c1b5d11', '7f2b8d5e-6f0a-4c2e-8a66-1d2f3e4c5b6a']
    const given = (uuids: string): string[] => problemsIn(`masakari_api: { uuids: { ${uuids} } }\n`)
    expect(given('hosts: { cmp01: one }')).toEqual([expect.stringContaining('masakari_api.uuids.hosts.cmp01: ')])
    expect(given(`hosts: { cmp01: ${a}, cmp02: ${a.toUpperCase()} }`)).toEqual([
      expect.stringContaining('masakari_api.uuids.hosts.cmp02: "cmp01" has this UUID too (each UUID once)'),
    ])
    expect(given(`segments: { ceph: ${b} }`)).toEqual([
      expect.stringContaining('masakari_api.uuids.segments.ceph: there is no segment "ceph" (defined: none)'),
    ])
  })

  it.each([
    ['duration: 59s', '"59s" is out of range (1m to 7d)'],
    ['duration: 7d1s', '"7d1s" is out of range (1m to 7d)'],
    ['kind: freeze', 'allowed: maintenance, pause'],
    ['scope: { hosts: [] }', 'is too small (at least 1 items)'],
    ['scope: { cloud: false }', 'maintenance_windows[0].scope.cloud'],
    ["reason: ''", 'must not be empty'],
  ])('a window with %s', (change, problem) => {
    const lines = ['name: w', 'schedule: 0 2 1 * *', 'duration: 1h', 'scope: { cloud: true }', 'reason: x']
    const others = lines.filter((line) => line.split(':')[0] !== change.split(':')[0])
    const text = `maintenance_windows:\n  - ${[change, ...others].join('\n    ')}\n`
    expect(problemsIn(text)).toEqual([expect.stringContaining(problem)])
  })

  it.each([
    ['duplicate-key.yaml', 'duplicate-key.yaml:4:3: this key is here twice (each key once)'],
    ['not-yaml.yaml', 'not-yaml.yaml:3:1: a tab indents here (YAML takes only spaces)'],
    ['empty-section.yaml', 'empty-section.yaml:2:1: monitor is empty (give it a value, or remove the key)'],
    ['list.yaml', 'list.yaml:1:1: the file: a list is wrong (must be a section with keys)'],
  ])('%s', (name, problem) => {
    expect(problemsOfFile(name)).toEqual([problem])
  })

  it('no fixture of this directory loads', () => {
    for (const name of readdirSync(bad(''))) expect(problemsOfFile(name), name).not.toEqual([])
  })

  it('a file that is not there, and one that is not text', () => {
    expect(problemsOf(() => loadConfig('/nonexistent/lifeboat.yaml', {}))[0]).toContain('no such file or directory')
  })
})

describe('durations', () => {
  it.each(['30', '30 s', '1s1m', '5x', '-5s', '""', 's', '1h1h'])('%s is refused', (text) => {
    expect(problemsIn(`fence_retry: ${text}`)[0]).toMatch(/^lifeboat\.yaml:1:14: fence_retry/)
  })

  it('out of range names the range', () => {
    expect(problemsIn('monitor: { poll_interval: 1h }')[0]).toContain('"1h" is out of range (100ms to 5m)')
  })
})

describe('hostile YAML', () => {
  it('aliases that multiply are refused', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let level = 1; level < 8; level += 1)
      lines.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      )
    expect(problemsIn(lines.join('\n'))[0]).toContain('is not valid YAML')
  })

  it('a second document is refused, not ignored', () => {
    expect(problemsIn('mode: observe\n---\nmode: armed\n')).toEqual([
      expect.stringMatching(/^lifeboat\.yaml:2:1: a second document/),
    ])
  })

  it('keys such as __proto__ are unknown keys like any other', () => {
    expect(problemsIn('constructor: 1\n')[0]).toContain('constructor is not an option')
    expect(problemsIn('__proto__: { mode: armed }\n')[0]).toContain('__proto__')
  })

  it('a wrong value is named without being repeated when it is a secret', () => {
    const problems = problemsIn('fencing: { bmc: { kind: redfish, system: x, username: y, password: [hunter2] } }')
    expect(problems.join('\n')).not.toContain('hunter2')
  })
})
