/** `lifeboat rehearse --config FILE`: an operator's own rules on a simulated cloud that is made to fit them. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config/index.ts'
import { loadWorkflows } from '../../src/preflight/workflow-files.ts'
import { ownCloud } from '../../src/rehearsal/own-cloud.ts'
import { performOwn, type OwnRehearsal } from '../../src/rehearsal/own-performance.ts'
import type { RehearsalLine } from '../../src/rehearsal/performance.ts'
import { standingClock } from '../cli/fake-commands.ts'

function written(text: string, name = 'lifeboat.yaml'): string {
  const file = join(mkdtempSync(join(tmpdir(), 'lb-own-')), name)
  writeFileSync(file, text)
  return file
}

async function rehearsed(config: string, other: Partial<OwnRehearsal> = {}): Promise<RehearsalLine[]> {
  const lines: RehearsalLine[] = []
  const order = {
    config,
    scenario: null,
    raw: false,
    live: false,
    clock: standingClock,
    env: {},
    workflows: loadWorkflows,
  }
  await performOwn((line) => lines.push(line), { ...order, ...other })
  return lines
}

const titles = (lines: RehearsalLine[]): string[] =>
  lines.filter(({ kind }) => kind === 'scenario').map(({ message }) => message)

/** What is said of how one scenario ended. */
function ending(lines: RehearsalLine[], title: string): string {
  const from = lines.findIndex(({ kind, message }) => kind === 'scenario' && message === title)
  const next = lines.findIndex(({ kind }, at) => at > from && kind === 'scenario')
  const played = lines.slice(from, next === -1 ? undefined : next)
  return played.flatMap(({ kind, message }) => (kind === 'end' ? [message] : [])).join('\n')
}

const threeSegments = `
brake: { max_hosts: 4, failure_domain: { key: rack, max_hosts: 2, max_share: 1 } }
wishes: { key: ha }
hosts:
  cmp01: { bmc: 192.0.2.1 }
  cmp02: { bmc: 192.0.2.2 }
  cmp03: { bmc: 192.0.2.3 }
  cmp04: { bmc: 192.0.2.4 }
  cmp05: {}
probes:
  ssh: { kind: tcp, port: 22 }
  up: { kind: prometheus, url: 'https://prom.example.org', query: 'up{host="{host}"}', alive: [1], dead: [0], token_env: TOKEN }
fencing:
  bmc: { kind: redfish, system: 'https://{bmc}/1', username: root, password_env: BMC_PASSWORD }
  ipmi: { kind: fence-agent, agent: fence_ipmilan, options: { ip: '{bmc}' }, secret_options_files: { password: nowhere } }
  pdu: { kind: command, fence: [/opt/off, '{host}'], verify: [/opt/is-off, '{host}'] }
defaults: { storage: shared, fencing: [bmc], probes: [ssh, up] }
segments:
  - { name: bare, match: { hosts: [cmp05] } }
  - { name: edge, match: { hosts: ['edge-*'] }, storage: local, fencing: [pdu] }
  - { name: databases, match: { zones: [az2] }, fencing: [ipmi] }
`

describe('a rehearsal on an operator’s own rules', () => {
  it('lets one host of each segment die, lets fencing fail, and lets more hosts die than the brake allows', async () => {
    expect(titles(await rehearsed(written(threeSegments)))).toEqual([
      'cmp01 of segment databases loses its power',
      'cmp05 of segment bare loses its power',
      'edge-1 of segment edge loses its power',
      'cmp01 loses its power, and no fencing method of it answers',
      '3 hosts of one rack lose their power at once',
    ])
  })

  it('goes by the segment’s storage and fencing, the owner policy and the brake of the file', async () => {
    const lines = await rehearsed(written(threeSegments))
    expect(ending(lines, 'cmp01 of segment databases loses its power')).toMatch(
      /proven dead by ipmi.*4 of 6 instances recovered, 2 left[^]*cmp01-leave: left \(WISH_LEAVE\)/,
    )
    expect(ending(lines, 'edge-1 of segment edge loses its power')).toContain('edge-1-running: left (LOCAL_DISK)')
    expect(ending(lines, '3 hosts of one rack lose their power at once')).toMatch(
      /Held: .*3 of 4 hosts of rack 1 are down \(limit 2\)[^]*To do: The brake holds cmp03/,
    )
  })

  it('does not fence a host that lacks what its fencing needs', async () => {
    expect(ending(await rehearsed(written(threeSegments)), 'cmp05 of segment bare loses its power')).toMatch(
      /It is not proven dead yet\. Held: .*cmp05/,
    )
  })

  it('ends where a person has to confirm the death, when no fencing method answers', async () => {
    const end = ending(
      await rehearsed(written(threeSegments)),
      'cmp01 loses its power, and no fencing method of it answers',
    )
    expect(end).toMatch(/Held: cmp01 could not be fenced[^]*To do: No fencing method could prove the host dead/)
  })

  it('says that a host with which nothing happens has no incident', async () => {
    const config = written(
      'hosts: { a: {}, b: {}, c: {} }\nprobes: { ssh: { kind: tcp, port: 22 } }\ndefaults: { probes: [ssh] }\nmonitor: { poll_interval: 10s }\n',
    )
    const scenario = written(
      'title: Its guests live on\nscript:\n  - { at: 2m, isolate: [a] }\n  - { after: 5m, crash: [b] }\n',
      'scenario.yaml',
    )
    expect(ending(await rehearsed(config, { scenario }), 'Its guests live on')).toMatch(/^ {2}b: no incident\./m)
  })

  it('plays a scenario of the operator’s on the hosts of the configuration', async () => {
    const scenario = written(
      'title: Two at once\ninstances: [{ name: web, host: cmp02 }]\nscript:\n' +
        '  - { at: 2m, crash: [cmp02] }\n  - { when: { closed: cmp02 } }\n',
      'scenario.yaml',
    )
    const lines = await rehearsed(written(threeSegments), { scenario })
    expect(titles(lines)).toEqual(['Two at once'])
    expect(ending(lines, 'Two at once')).toContain('web: recovered (RUNNING)')
  })

  it('reaches nothing that the configuration names', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const here = `http://127.0.0.1:${port}`
    const config = written(`
hosts: { a: { address: 127.0.0.1 }, b: { address: 127.0.0.1 } }
probes:
  ssh: { kind: tcp, address: '{address}', port: ${port} }
  up: { kind: prometheus, url: '${here}', query: 'up{host="{host}"}', alive: [1], dead: [0] }
  power: { kind: redfish, system: '${here}/{host}', username: root, password: secret }
fencing: { bmc: { kind: redfish, system: '${here}/{host}', username: root, password: secret } }
defaults: { storage: shared, fencing: [bmc], probes: [ssh, up, power] }
notices: { receivers: { hook: { kind: webhook, url: '${here}/hook', secret: 0123456789abcdef0123456789abcdef } } }
`)
    const env = { OS_AUTH_URL: `${here}/identity`, OS_USERNAME: 'x', OS_PASSWORD: 'x', OS_PROJECT_NAME: 'x' }
    const lines = await rehearsed(config, { env })
    await new Promise((resolve) => server.close(resolve))
    expect(ending(lines, 'a that is in no segment loses its power')).toContain('proven dead by bmc')
    expect(connections).toBe(0)
  })
})

describe('what is refused', () => {
  it('a configuration that is not valid, with its place', async () => {
    await expect(rehearsed(written('brake: { max_hosts: -1 }'))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      details: { problems: [expect.stringContaining(':1:21: brake.max_hosts: -1 is too small')] },
    })
  })

  it('workflows that are not there', async () => {
    await expect(rehearsed(written('workflows: /nowhere'))).rejects.toMatchObject({
      code: 'WORKFLOW_INVALID',
      message: expect.stringContaining('/nowhere'),
    })
  })

  it.each([
    ['an instance on', 'title: t\ninstances: [{ name: web, host: web-1 }]\nscript: [{ at: 1m, crash: [cmp01] }]'],
    ['the death of', 'title: t\nscript: [{ at: 1m, crash: [web-1] }]'],
    ['the BMC of', 'title: t\nscript: [{ at: 1m, bmc: { host: web-1, reachable: false } }]'],
  ])('a scenario with %s a host that the configuration does not have', async (_what, text) => {
    const scenario = written(text, 'scenario.yaml')
    await expect(rehearsed(written(threeSegments), { scenario })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${scenario} is about web-1, which the configuration does not have`,
    })
  })
})

describe('the cloud that is made to fit a configuration', () => {
  const cloudOf = (text: string): [string[], string[]] => {
    const { hosts, assumptions } = ownCloud(parseConfig(text, null, {}))
    return [hosts.map(({ name, segment }) => `${name} ${segment.name}`), assumptions]
  }

  it('has made-up hosts where a segment names none, enough for the brake to trip', () => {
    const [hosts, assumptions] = cloudOf(
      'segments: [{ name: gpu, match: { hosts: ["gpu-??"] }, brake: { max_hosts: 3 } }]',
    )
    expect(hosts).toEqual(['gpu-10 gpu', 'gpu-20 gpu', 'gpu-30 gpu', 'gpu-40 gpu', 'gpu-50 gpu'])
    expect(assumptions).toEqual([
      'Which hosts are in segment gpu: here gpu-10, gpu-20, gpu-30, gpu-40, gpu-50, made up',
    ])
  })

  it('shares hosts out among segments that only zones and aggregates tell apart, and says so', () => {
    const [hosts, assumptions] = cloudOf(
      'hosts: { a: {}, b: {}, c: {} }\nsegments: [{ name: one, match: { zones: [z1] } }, { name: two, match: { aggregates: [ssd] } }]',
    )
    expect(hosts).toEqual(['a one', 'b two', 'c one'])
    expect(assumptions).toEqual([
      'In which zone and aggregates a, c are: here those of segment one',
      'In which zone and aggregates b are: here those of segment two',
    ])
  })

  it('says of a segment that no host can be in it, where an earlier one takes them all', () => {
    const [hosts, assumptions] = cloudOf(
      'segments: [{ name: all, match: { hosts: ["*"] } }, { name: late, match: { hosts: ["x*"] } }]',
    )
    expect(hosts.filter((host) => host.endsWith(' late'))).toEqual([])
    expect(assumptions).toContain('Which hosts are in segment late: each falls to an earlier segment, so none is')
  })

  it('has a second host where the configuration names one: its instances have to go somewhere', () => {
    expect(cloudOf('hosts: { a: {} }')[0]).toEqual(['a default:nova', 'spare-1 default:nova'])
  })
})
