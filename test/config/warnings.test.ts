/** What the loader says of a configuration that is valid and dangerous. */
import { describe, expect, it } from 'vitest'
import { parseConfiguration } from '../../src/config/index.ts'

function warnings(text: string, env: Record<string, string> = {}): string[] {
  return parseConfiguration(text, 'lifeboat.yaml', env).warnings.map(({ message }) => message)
}

const methods = `
fencing:
  bmc: { kind: redfish, system: 'https://{bmc}/Systems/1', username: u, password_env: PW }
  ipmi: { kind: fence-agent, agent: fence_ipmilan, options: { ip: '{ipmi}', port: '{port}' } }
  pdu: { kind: command, fence: [off, '{host}'], verify: [is-off, '{host}', '{outlet}'] }
  any: { kind: command, fence: [off, '{host}'], verify: [is-off, '{host}'] }`
// The loader refuses a variable that no host has.
const full = `full: { bmc: b-full, ipmi: i-full, port: '1', outlet: o }`
const env = { PW: 'x' }
const of = (hosts: string, segments: string, defaults = ''): string[] =>
  warnings(`hosts:\n${hosts}\n  ${full}${methods}\nsegments:\n${segments}\n${defaults}`, env)

describe('hosts that no method of their segment can fence', () => {
  it('one is named with its place, what is missing and what it means', () => {
    const [warning, ...more] = parseConfiguration(
      `hosts:\n  cmp01: { bmc: b1 }\n  cmp02: {}\n  ${full}${methods}\nsegments:\n  - { name: a, match: { hosts: [cmp*] }, fencing: [bmc] }\n`,
      'lifeboat.yaml',
      env,
    ).warnings
    expect(more).toEqual([])
    expect(warning).toEqual({
      message:
        "lifeboat.yaml:3:3: cmp02 of segment a lacks what its fencing needs (bmc needs {bmc}): cannot be fenced, so nothing there is recovered but on a person's word",
      advice: 'Give bmc under hosts.cmp02; until then: lifeboat recover cmp02 --by NAME --proof "how you know"',
    })
  })

  it('one that only its segment names is placed there', () => {
    expect(of('  cmp01: { bmc: b1 }', '  - { name: a, match: { hosts: [cmp01, cmp02] }, fencing: [bmc] }')).toEqual([
      expect.stringMatching(/^lifeboat\.yaml:10:40: cmp02 of segment a lacks/),
    ])
  })

  it('many are one warning', () => {
    const hosts = Array.from({ length: 40 }, (_, index) => `  cmp${index + 10}: { rack: r }`).join('\n')
    const found = of(hosts, '  - { name: a, match: { hosts: [cmp*] }, fencing: [bmc, ipmi] }')
    expect(found).toEqual([
      expect.stringContaining(
        'lifeboat.yaml:2:3: cmp10, cmp11, cmp12, cmp13, cmp14 and 35 more of segment a lack what its fencing needs (bmc needs {bmc}, ipmi needs {ipmi} and {port})',
      ),
    ])
  })

  it('one method that it can be fenced by is enough', () => {
    expect(
      of(
        '  c1: { bmc: b }\n  c2: { ipmi: i, port: "1" }',
        '  - { name: a, match: { hosts: [c*] }, fencing: [bmc, ipmi] }',
      ),
    ).toEqual([])
    expect(of('  c1: {}', '  - { name: a, match: { hosts: [c*] }, fencing: [bmc, any] }')).toEqual([])
  })

  it('the verification of a command counts too: without it there is no proof', () => {
    expect(of('  c1: { bmc: b }', '  - { name: a, match: { hosts: [c*] }, fencing: [pdu] }')[0]).toContain(
      'pdu needs {outlet}',
    )
  })

  it('where a zone decides, a host that one segment can fence is taken to be of that one', () => {
    const zones = `  - { name: a, match: { zones: [z1] }, fencing: [bmc] }\n  - { name: b, match: { zones: [z2] }, fencing: [ipmi] }`
    expect(of('  c1: { bmc: b }\n  c2: { ipmi: i, port: "1" }', zones)).toEqual([])
    expect(of('  c1: { bmc: b }\n  c3: { rack: r }', zones)).toEqual([
      expect.stringContaining('c3, if of segment a, lacks what its fencing needs (bmc needs {bmc})'),
    ])
  })

  it('hosts of no segment are under the defaults', () => {
    const segment = '  - { name: a, match: { hosts: [full] } }'
    expect(of('  c1: {}\n  c2: { bmc: b }', segment, 'defaults: { fencing: [bmc] }')).toEqual([
      expect.stringContaining('c1 of no segment lacks'),
    ])
  })

  it('a segment without fencing promises none', () => {
    expect(of('  c1: {}\n  c2: { bmc: b }', '  - { name: a, match: { hosts: [c*] } }')).toEqual([])
  })
})

describe('hosts whose probes look at the same machine', () => {
  const probes = `
probes:
  ssh: { kind: tcp, address: '{address}', port: 22 }
  ping: { kind: ping, address: '{address}' }
  agent: { kind: command, argv: [look, '{host}'] }
segments: [{ name: a, match: { hosts: ['*'] }, probes: [ssh, ping, agent] }]
`
  it('are named together, the last with its place', () => {
    expect(warnings(`hosts:\n  c1: { address: a }\n  c2: { address: b }\n  c3: { address: A }\n${probes}`)).toEqual([
      'lifeboat.yaml:4:3: probes look at a for c1 and c3: what it says of one is taken for the other',
    ])
  })

  it('are none where each has its own, lacks one, or only a program knows', () => {
    expect(warnings(`hosts:\n  c1: { address: a }\n  c2: { address: b }\n  c3: {}\n  c4: {}\n${probes}`)).toEqual([])
  })
})

describe('$LIFEBOAT_STATE_DIR', () => {
  const variable = { LIFEBOAT_STATE_DIR: '/elsewhere' }

  it('is said to count for nothing beside a state_dir that says otherwise', () => {
    expect(warnings('mode: observe\nstate_dir: /var/lib/lifeboat\n', variable)).toEqual([
      'lifeboat.yaml:2:12: state_dir is /var/lib/lifeboat, so $LIFEBOAT_STATE_DIR (/elsewhere) counts for nothing',
    ])
  })

  it.each([
    ['the file says the same', 'state_dir: /elsewhere\n', variable],
    ['the file says nothing', 'mode: observe\n', variable],
    ['it is empty', 'state_dir: /a\n', { LIFEBOAT_STATE_DIR: '' }],
  ])('is not spoken of when %s', (_when, text, given) => expect(warnings(text, given)).toEqual([]))
})
