/** What `lifeboat check` says: of a cloud that answers, and of one that does not. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CheckLine } from '../../src/preflight/check-lines.ts'
import { checkUp, type Looks } from '../../src/preflight/check-up.ts'
import type { Clock } from '../../src/domain/clock.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { parseConfig } from '../../src/config/index.ts'
import { systemClock } from '../../src/system/system-clock.ts'
import { startSimulator, VirtualClock, type Simulator } from '../../src/simulator/index.ts'

let directory: string
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'lb-'))))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const looks: Looks = {
  lookAtNode: () => Promise.reject(new Error('no journal is shared')),
  journalProblem: () => Promise.resolve(null),
}

async function checked(
  config: string,
  env: Record<string, string>,
  { clock = systemClock, ...more }: Partial<Looks & { clock: Clock }> = {},
): Promise<CheckLine[]> {
  const parsed = parseConfig(`state_dir: ${directory}\n${config}`, join(directory, 'lifeboat.yaml'), env)
  const lines: CheckLine[] = []
  for await (const line of checkUp(parsed, { clock, env, ...looks, ...more })) lines.push(line)
  return lines
}

/** `fail what: message` of the lines about this. */
const about = (lines: readonly CheckLine[], what: RegExp): string[] =>
  lines.filter((line) => what.test(line.what)).map(({ result, what: of, message }) => `${result} ${of}: ${message}`)

describe('when it is not said which cloud', () => {
  const clouds = 'clouds: { east: { region_name: e }, west: { region_name: w } }\n'

  it.each([
    ['no cloud is chosen', '', clouds, 'choose one of east, west'],
    ['one that is not there is chosen', 'cloud: north\n', clouds, 'cloud "north" was not found; there is: east, west'],
    ['clouds.yaml is wrong', 'cloud: east\n', 'clouds: [', 'clouds.yaml:'],
  ])('%s: it says where clouds are chosen, and asks nobody', async (_what, config, text, message) => {
    const file = join(directory, 'named-clouds.yaml')
    writeFileSync(file, text)
    const clock = new VirtualClock()
    const lines = await checked(config, { OS_CLIENT_CONFIG_FILE: file }, { clock })
    expect(lines.find(({ what }) => what === 'cloud')).toEqual({
      what: 'cloud',
      result: 'fail',
      message: expect.stringContaining(message),
      advice: 'Check clouds.yaml, cloud in the configuration, and the OS_* variables',
    })
    expect(about(lines, /^(compute|list services)$/)).toEqual([
      'skip compute: not checked: no cloud is chosen',
      'skip list services: not checked: no cloud is chosen',
    ])
  })
})

const hosts = `
hosts: { cmp01: { name: cmp01 }, cmp02: {}, cmp99: { name: cmp99 } }
fencing:
  pdu: { kind: command, fence: ['false'], verify: ['sh', '-c', 'exit 1', '{name}'] }
probes: { agent: { kind: command, argv: ['true', '{host}'] } }
segments:
  - { name: racks, match: { hosts: [cmp*] }, storage: shared, fencing: [pdu], probes: [agent] }
  - { name: ghosts, match: { aggregates: [nobody] } }
`
const unfenceable = (host: string): string =>
  `fail fencing of ${host}: it lacks what the fencing of segment racks needs (pdu needs {name}): cannot be fenced, so nothing there is recovered but on a person's word`

describe('of a cloud that does not answer', () => {
  const access = {
    OS_AUTH_URL: 'http://127.0.0.1:1/v3',
    OS_USERNAME: 'u',
    OS_PASSWORD: 'p',
    OS_PROJECT_NAME: 'p',
    OS_USER_DOMAIN_NAME: 'Default',
    OS_PROJECT_DOMAIN_NAME: 'Default',
  }
  let lines: CheckLine[]
  beforeAll(async () => void (lines = await checked(`brake: { failure_domain: { key: rack } }${hosts}`, access)))

  it('says why, down to the cause', () =>
    expect(about(lines, /^cloud$/)).toEqual([
      expect.stringMatching(
        /^fail cloud: POST \/auth\/tokens at 127\.0\.0\.1:1: not reached, because: connect ECONNREFUSED/,
      ),
    ]))

  it('names every check that was not made, and why', () => {
    const skipped = lines.filter(({ result }) => result === 'skip')
    expect(skipped.map(({ what }) => what)).toEqual([
      ...['compute', 'landing', 'volumes', 'placement', 'list services', 'list aggregates', 'list server groups'],
      ...[
        'list migrations',
        'list instances of all projects',
        'read allocations',
        'brake',
        'failure domains',
        'segments',
      ],
      'fencing and probes of all other hosts',
    ])
    for (const { message } of skipped) expect(message).toMatch(/^not checked: (the cloud could|only the cloud knows) /)
  })

  it('checks what needs no cloud: fencing and probes of the hosts that the configuration names', () =>
    expect(about(lines, /of cmp/)).toEqual([
      'ok fencing of cmp01: pdu: verify: exit 1',
      'ok probe agent of cmp01: alive: exit 0',
      unfenceable('cmp02'),
      'ok probe agent of cmp02: alive: exit 0',
      'ok fencing of cmp99: pdu: verify: exit 1',
      'ok probe agent of cmp99: alive: exit 0',
    ]))
})

describe('of a cloud that answers', () => {
  let simulator: Simulator
  let lines: CheckLine[]
  beforeAll(async () => {
    simulator = await startSimulator({ clock: systemClock, hosts: 3, reportIntervalMs: 60_000 })
    const access = Object.entries(simulator.cloud()).map(([key, value]) => [`OS_${key.toUpperCase()}`, String(value)])
    lines = await checked(hosts, Object.fromEntries(access) as Record<string, string>)
  })
  afterAll(() => simulator.close())

  it('a host known only from Nova that lacks a variable cannot be fenced, and that fails', () =>
    expect(about(lines, /^fencing of/)).toEqual([
      'ok fencing of cmp01: pdu: verify: exit 1',
      unfenceable('cmp02'),
      unfenceable('cmp03'),
    ]))

  it('hosts in the file that Nova does not have, and segments that nobody is of, are slips', () =>
    expect(about(lines, /^(hosts|segment .*)$/)).toEqual([
      'warn hosts: Nova has no nova-compute on cmp99',
      'warn segment ghosts: it has no host',
    ]))

  it('nothing is left out', () => expect(lines.filter(({ result }) => result === 'skip')).toEqual([]))
})

it('a state directory that is a file, or in one, is no place for a journal', async () => {
  const file = join(directory, 'file')
  writeFileSync(file, '')
  const config = parseConfig(`state_dir: ${file}/state\n`, join(directory, 'lifeboat.yaml'), {})
  const lines: CheckLine[] = []
  for await (const line of checkUp(config, {
    clock: systemClock,
    ...looks,
    env: { OS_CLIENT_CONFIG_FILE: '/dev/null' },
  }))
    lines.push(line)
  expect(about(lines, /^journal$/)).toEqual([`fail journal: ${file} is not a directory`])
})

describe("the daemon's journal", () => {
  const journal = async (journalProblem: Looks['journalProblem']): Promise<string[]> =>
    about(await checked('', { OS_CLIENT_CONFIG_FILE: '/dev/null' }, { journalProblem }), /^journal$/)

  it('is well where its file can be written and the daemon goes on with what is in it', async () =>
    expect(await journal(() => Promise.resolve(null))).toEqual([`ok journal: ${directory}/journal.db can be written`]))

  it('is not, whoever may write it, where the daemon would not start with what is in it', async () =>
    expect(await journal(() => Promise.resolve(new LifeboatError('JOURNAL_UNAVAILABLE', 'it is its own')))).toEqual([
      'fail journal: it is its own',
    ]))

  it('is not where it cannot be read', async () =>
    expect(await journal(() => Promise.reject(new LifeboatError('JOURNAL_CORRUPT', 'it is damaged')))).toEqual([
      'fail journal: it is damaged',
    ]))

  it('is not taken for well where nobody could say', async () =>
    expect(await journal(() => Promise.resolve('unknown'))).toEqual([
      `skip journal: not checked: whether the entries of ${directory}/journal.db are in the shared journal: it does not answer`,
    ]))
})
