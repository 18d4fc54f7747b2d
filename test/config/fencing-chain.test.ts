import { describe, expect, it } from 'vitest'
import { parse, problemsIn } from './configurations.ts'

const methods = `
fencing:
  bmc: { kind: redfish, system: 'https://{host}/', username: u, password: p, off_timeout: 40s, attempts: 2 }
  agent: { kind: fence-agent, agent: fence_ipmilan, timeout: 30s }
  ceph: { kind: command, fence: [a], verify: [b, '{host}'], timeout: 20s, proves: storage, renew: 1h }
  pdu: { kind: command, fence: [a], verify: [b, '{host}'], attempt_timeout: 60s }
`

describe('fencing limits', () => {
  it('a try may take what its parts may take together, unless it is said', () => {
    const { fencing } = parse(methods)
    expect(fencing).toMatchObject({
      bmc: { limitMs: 60_000, attempts: 2 },
      agent: { limitMs: 90_000, attempts: 1 },
      ceph: { limitMs: 40_000, attempts: 1, proves: 'storage', renewEveryMs: 3_600_000 },
      pdu: { limitMs: 60_000, attempts: 1, proves: 'power', renewEveryMs: null },
    })
  })

  it('a segment says its own, else what defaults say, else the workflow decides', () => {
    const segments = `
defaults: { fencing_timeout: 5m, on_service_down: fence, fencing: [bmc] }
segments:
  - { name: a, match: { hosts: [a] }, fencing_timeout: 10m, on_service_down: hold }
  - { name: b, match: { hosts: [b] } }
`
    const [a, b] = parse(methods + segments).segments.map(({ segment }) => segment)
    expect(a).toMatchObject({ fencingLimitMs: 600_000, onServiceDown: 'hold' })
    expect(b).toMatchObject({ fencingLimitMs: 300_000, onServiceDown: 'fence' })
    expect(parse('').defaults).toMatchObject({ fencingLimitMs: null, onServiceDown: 'hold' })
    expect(parse('')).toMatchObject({ fenceRetryMs: 60_000, fenceRetryMaxMs: 900_000 })
  })

  it.each([
    ['exactly enough is enough', 'defaults: { fencing: [bmc, ceph], fencing_timeout: 160s }', null],
    [
      'a chain too short for its last method',
      'defaults: { fencing: [bmc, ceph], fencing_timeout: 159s }',
      'may take 2m40s',
    ],
    [
      'too short by what defaults say',
      'defaults: { fencing_timeout: 30s }\nsegments: [{ name: a, match: { hosts: [a] }, fencing: [bmc] }]',
      'segments[0].fencing',
    ],
    ['fencing living hosts without a method', 'defaults: { on_service_down: fence }', 'defaults.on_service_down'],
    ['fencing living hosts with one', 'defaults: { on_service_down: fence, fencing: [pdu] }', null],
    [
      'an isolated segment without a method',
      'defaults: { on_service_down: fence, fencing: [pdu] }\nsegments: [{ name: a, match: { hosts: [a] }, fencing: [] }]',
      'segments[0].fencing',
    ],
    ['a longest pause below the first', 'fence_retry: 2m\nfence_retry_max: 119s', 'fence_retry_max: is 1m59s'],
    ['pauses that do not grow', 'fence_retry: 2m\nfence_retry_max: 2m', null],
    ['what is neither', 'defaults: { on_service_down: evacuate }', 'on_service_down'],
  ])('%s', (_what, text, problem) => {
    const problems = text === '' ? [] : tryParse(methods + text)
    if (problem === null) expect(problems).toEqual([])
    else expect(problems.join('\n')).toContain(problem)
  })

  const command = (options: string): string[] =>
    tryParse(`fencing: { x: { kind: command, fence: [a], verify: [b, '{host}'], timeout: 60s, ${options} } }`)

  it.each([
    ['attempt_timeout: 59s', 'one part of a try alone may take 1m'],
    ['attempts: 0', 'attempts'],
    ['attempts: 11', 'attempts'],
    ['attempts: 1.5', 'attempts'],
    ['renew: 2m', 'renew: is 2m, but one try may take 2m'],
    ['renew: 30s', 'out of range'],
    ['proves: death', 'proves'],
  ])('a command with %s is refused', (options, problem) => expect(command(options).join('\n')).toContain(problem))

  it.each(['attempt_timeout: 60s', 'attempts: 10', 'renew: 121s'])('a command with %s is taken', (options) =>
    expect(command(options)).toEqual([]),
  )
})

function tryParse(text: string): string[] {
  try {
    parse(text)
    return []
  } catch {
    return problemsIn(text)
  }
}
