/** The options of the probes ipmi and prometheus, and what is said of too few kinds of witness. */
import { describe, expect, it } from 'vitest'
import { withoutSecrets } from '../../src/config/index.ts'
import { detectionAdvice } from '../../src/config/detection-advice.ts'
import { parse, problemsIn } from './configurations.ts'

const prometheus = (more: string) =>
  `probes: { p: { kind: prometheus, url: 'https://prom:9090/x', query: 'up{instance="{host}:9100"}'${more && `, ${more}`} } }`
const ipmi = (more: string) => `probes: { b: { kind: ipmi, username: u, ${more} } }`

describe('a prometheus probe', () => {
  it('needs an address and a query', () => {
    expect(parse(prometheus('')).probes['p']).toEqual({
      kind: 'prometheus',
      url: 'https://prom:9090/x',
      query: 'up{instance="{host}:9100"}',
      alive: [1],
      dead: [0],
      maxSampleAgeMs: 30_000,
      login: null,
      caFile: null,
      verify: true,
      timeoutMs: 2_000,
    })
  })

  it('logs in with a name and a password, or a token', () => {
    expect(parse(prometheus('username: u, password: w')).probes['p']).toMatchObject({
      login: { username: 'u', password: 'w' },
    })
    expect(parse(prometheus('token_env: T'), { T: 'abc' }).probes['p']).toMatchObject({ login: { token: 'abc' } })
  })

  it('hides its secrets where the configuration is shown', () => {
    for (const login of ['username: u, password: hunter2', 'token: hunter2'])
      expect(JSON.stringify(withoutSecrets(parse(prometheus(login))))).not.toContain('hunter2')
    expect(withoutSecrets(parse(prometheus(''))).probes['p']).toMatchObject({ login: null })
  })

  it.each([
    ['alive: [1, 2], dead: [2]', '2 would mean alive too (each value in one list)'],
    ['alive: [], dead: []', 'no value means anything'],
    ['username: u, password: w, token: t', 'has a password and a token'],
    ['password: w', 'has a password but no username'],
    ['username: u', 'has no password (give exactly one of password, password_file, password_env)'],
    ['token: a, token_env: B', 'has several tokens (give exactly one of token, token_file, token_env)'],
    ['token_env: NOT_SET', 'environment variable NOT_SET is not set (the token is taken from it)'],
    ['token_file: /nowhere/token', 'there is no file /nowhere/token'],
    ['alive: [yes]', 'probes.p.alive[0]'],
    ['max_sample_age: 0s', 'out of range (1s to 1h)'],
  ])('%s is refused', (option, problem) => {
    expect(problemsIn(prometheus(option))).toEqual([expect.stringContaining(problem)])
  })

  it.each(['prom:9090', 'https://u:w@prom:9090', 'https://prom/api?x=1', 'ftp://prom'])(
    'the url %s is refused',
    (url) => {
      expect(problemsIn(`probes: { p: { kind: prometheus, url: '${url}', query: up } }`)[0]).toContain(
        'must be an http',
      )
    },
  )

  it('takes braces as PromQL, and refuses a variable that no host has', () => {
    const query = (text: string) => `probes: { p: { kind: prometheus, url: 'http://prom', query: '${text}' } }`
    expect(problemsIn(query('up{job=~"a{2}", instance="{host}"}'))).toEqual([])
    expect(problemsIn(query('up{instance="{adress}"}'))[0]).toContain('no host has the variable {adress}')
  })
})

describe('an ipmi probe', () => {
  it('asks the host itself at the usual port when nothing else is said', () => {
    const probe = parse(ipmi('password: hunter2'))
    expect(probe.probes['b']).toEqual({
      kind: 'ipmi',
      address: '{host}',
      port: 623,
      username: 'u',
      password: 'hunter2',
      interface: 'lanplus',
      cipherSuite: null,
      timeoutMs: 5_000,
    })
    expect(JSON.stringify(withoutSecrets(probe))).not.toContain('hunter2')
    expect(probe.monitor.probeLimitMs).toBe(5_000)
  })

  it.each([
    ['port: 0, password: w', 'probes.b.port'],
    ['cipher_suite: 18, password: w', 'probes.b.cipher_suite'],
    ['interface: open, password: w', 'probes.b.interface'],
    ["address: '{bcm}', password: w", 'no host has the variable {bcm}'],
    ['port: 623', 'has no password'],
  ])('%s is refused', (options, problem) => {
    expect(problemsIn(ipmi(options))).toEqual([expect.stringContaining(problem)])
  })
})

describe('the suspicion that is needed', () => {
  it.each([
    ['1', 1],
    ['12', 12],
    ['2.5', 2.5],
  ])('%s is taken', (text, value) => {
    expect(parse(`monitor: { suspicion_needed: ${text} }`).monitor.suspicionNeeded).toBe(value)
  })

  it.each(['0.9', '12.1', 'high'])('%s is refused', (text) => {
    expect(problemsIn(`monitor: { suspicion_needed: ${text} }`)[0]).toContain('monitor.suspicion_needed')
  })
})

describe('advice about witnesses', () => {
  const bmc = 'system: https://x/, username: u, password: w'
  const config = (monitor: string, probes: string) =>
    parse(`
monitor: { ${monitor} }
probes:
  ssh: { kind: tcp, port: 22 }
  agent: { kind: tcp, port: 10022 }
  ping: { kind: ping }
  power: { kind: redfish, ${bmc} }
  power-ipmi: { kind: ipmi, username: u, password: w }
segments: [{ name: s, match: { hosts: ['*'] }, probes: [${probes}] }]
`)
  const advice = (monitor: string, probes: string) => detectionAdvice(config(monitor, probes)).map(({ what }) => what)

  it('a single kind that may decide is warned of, with the reason', () => {
    const [first, ...others] = detectionAdvice(config('min_dead_probe_kinds: 1', 'ssh'))
    expect(first).toMatchObject({ what: 'min_dead_probe_kinds' })
    expect(first?.message).toContain('a single kind of probe may call a host dead before Nova does')
    expect(others).toEqual([])
  })

  it.each([
    ['ssh, agent', 'one kind of witness, 2 are needed'],
    ['power, power-ipmi', 'one kind of witness, 2 are needed'],
  ])('probes that count once are warned of: %s', (probes, message) => {
    expect(detectionAdvice(config('', probes))).toEqual([
      expect.objectContaining({ what: 'probes of segment s', message: expect.stringContaining(message) }),
    ])
  })

  it('three kinds needed of two', () => {
    expect(detectionAdvice(config('min_dead_probe_kinds: 3', 'ssh, ping'))[0]?.message).toContain('2 kinds of witness')
  })

  it('nothing is said of enough kinds, nor of a segment without probes', () => {
    expect(advice('', 'ssh, ping')).toEqual([])
    expect(advice('', 'ssh, power-ipmi')).toEqual([])
    expect(advice('', '')).toEqual([])
  })
})
