/** One machine that stands for two hosts: its power-off would prove the death of both, and one of them may live. */
import { describe, expect, it } from 'vitest'
import { problemsIn } from './configurations.ts'

const methods = `fencing:
  bmc: { kind: redfish, system: 'https://{bmc}/Systems/1', username: u, password_env: PW }
  chassis: { kind: redfish, system: 'https://chassis/Systems/{slot}', username: u, password_env: PW }
  ipmi: { kind: fence-agent, agent: fence_ipmilan, options: { ip: '{bmc}' } }
  pdu: { kind: command, fence: [off, '{host}'], verify: [is-off, '{outlet}'] }
  one: { kind: redfish, system: 'https://192.0.2.1/Systems/1', username: u, password_env: PW }
`
const variables = `hosts:
  cmp01: { bmc: b1, slot: '1', outlet: o1 }
`
const problems = (hosts: string, segments: string): string[] => {
  const text = `${methods}${variables}${hosts}segments:\n${segments}\n`
  return problemsIn(text, { PW: 'x' })
}
const all = (fencing: string): string => `  - { name: a, match: { hosts: ['*'] }, fencing: [${fencing}] }`

describe('two hosts at which one method aims alike are refused, the second with its place', () => {
  it.each([
    ['the same controller', 'bmc', "  cmp02: { bmc: b1, slot: '2', outlet: o2 }", 'https://b1/Systems/1'],
    ['the same, spelled otherwise', 'bmc', "  cmp02: { bmc: B1, slot: '2', outlet: o2 }", 'https://b1/Systems/1'],
    ['the same slot', 'chassis', "  cmp02: { bmc: b2, slot: '1', outlet: o2 }", 'https://chassis/Systems/1'],
    ['the same address of an agent', 'ipmi', "  cmp02: { bmc: b1, slot: '2', outlet: o2 }", 'fence_ipmilan ip=b1'],
    ['what verifies is the same', 'pdu', "  cmp02: { bmc: b2, slot: '2', outlet: o1 }", 'is-off o1'],
  ])('%s', (_what, method, host, target) => {
    expect(problems(`${host}\n`, all(method))).toEqual([expect.stringMatching(/^lifeboat\.yaml:9:\d+: hosts\.cmp02: /)])
    expect(problems(`${host}\n`, all(method))[0]).toContain(
      `${method} aims at ${target} for cmp02 as for cmp01: the power-off of one would prove the death of both`,
    )
  })

  it('also when they are of different segments, and by methods of different names', () => {
    const other = methods.replace(
      '  ipmi:',
      "  bmc2: { kind: redfish, system: 'https://{bmc}/Systems/1/', username: u, password_env: PW }\n  ipmi:",
    )
    const text = `${other}${variables}  cmp02: { bmc: b1 }\nsegments:
  - { name: a, match: { hosts: [cmp01] }, fencing: [bmc] }
  - { name: b, match: { hosts: [cmp02] }, fencing: [bmc2] }\n`
    expect(problemsIn(text, { PW: 'x' })).toEqual([
      expect.stringContaining('bmc aims at https://b1/Systems/1 for cmp02 as for cmp01'),
    ])
  })
})

describe('a method in which nothing is of the host is refused for a second host', () => {
  const segments = (second: string): string => `  - { name: a, match: { hosts: [cmp01] }, fencing: [one] }
  - { name: b, match: { hosts: [cmp09] }, fencing: [${second}] }`

  it('in a segment of its own, by its name', () => {
    expect(problems('', segments('one'))).toEqual([
      expect.stringContaining('one aims at https://192.0.2.1/Systems/1 for cmp09 as for cmp01'),
    ])
  })

  it('by the name of another method that aims at the same', () => {
    const two = methods.replace(
      '  one:',
      "  two: { kind: redfish, system: 'https://192.0.2.1/Systems/1', username: u, password_env: PW }\n  one:",
    )
    expect(problemsIn(`${two}${variables}segments:\n${segments('two')}\n`, { PW: 'x' })).toEqual([
      expect.stringContaining('aims at https://192.0.2.1/Systems/1 for cmp09 as for cmp01'),
    ])
  })
})

describe('what is each host’s own is let through', () => {
  it.each([
    ['controllers of their own', 'bmc, chassis, ipmi, pdu', "  cmp02: { bmc: b2, slot: '2', outlet: o2 }\n"],
    ['the same variable in a method that no segment uses', 'chassis', "  cmp02: { bmc: b1, slot: '2' }\n"],
    ['a host that lacks the variable', 'bmc', '  cmp02: {}\n  cmp03: {}\n'],
  ])('%s', (_what, fencing, hosts) => {
    expect(problems(hosts, all(fencing))).toEqual([])
  })
})

describe('a method in which nothing is of the host', () => {
  it('is refused where more than one host may use it', () => {
    for (const match of ["hosts: ['*']", 'hosts: [cmp01, cmp02]', 'zones: [z]'])
      expect(problems('', `  - { name: a, match: { ${match} }, fencing: [one] }`)).toEqual([
        expect.stringMatching(/^lifeboat\.yaml:6:\d+: fencing\.one: aims at the same machine for every host/),
      ])
  })

  it('is refused as everybody’s default', () => {
    const text = `${methods}${variables}defaults: { fencing: [one] }\n`
    expect(problemsIn(text, { PW: 'x' })).toHaveLength(1)
  })

  it('is let through for one host', () => {
    expect(problems('', '  - { name: a, match: { hosts: [cmp01] }, fencing: [one] }')).toEqual([])
  })
})
