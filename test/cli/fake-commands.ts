import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli, type Commands, type Terminal } from '../../src/cli/index.ts'
import { unpainted } from '../../src/cli/output/words.ts'
import type { JournalAccess } from '../../src/review/journal-access.ts'
import type { Entry } from '../../src/domain/entry.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { IncidentDetail } from '../../src/domain/operations.ts'

export const wallNow = Date.parse('2026-01-02T03:04:05Z')

/** Of a server that only reads the time. */
export const standingClock = { now: () => wallNow, wall: () => wallNow, after: () => () => undefined }

const realClock = {
  now: () => performance.now(),
  wall: () => wallNow,
  after: (delayMs: number, fire: () => void) => {
    const timer = setTimeout(fire, delayMs)
    return () => clearTimeout(timer)
  },
}

export function fakeJournal(replace: Partial<JournalAccess> = {}): JournalAccess {
  return {
    read: () => [],
    each: () => [],
    verify: () => ({ entries: 3, head: 'abc', broken: null }),
    close: () => undefined,
    incidents: ({ host }) => (host === undefined || host === anIncident.host ? [anIncident] : []),
    incident: (id) => {
      if (id !== anIncident.id) throw new LifeboatError('NOT_FOUND', `There is no incident ${id}`)
      return anIncident
    },
    compare: (first, second) => ({
      first,
      second,
      open: [],
      facts: [
        { part: 'incident', fact: 'mode', unit: 'text', first: 'armed', second: 'armed' },
        { part: 'time', fact: 'phase fencing', unit: 'ms', first: 4_200, second: null },
        { part: 'instances', fact: 'failed', unit: 'count', first: 0, second: 3 },
      ],
    }),
    advice: () => [],
    instances: () => [],
    instance: (id) => {
      throw new LifeboatError('NOT_FOUND', `No incident is about an instance ${id}`)
    },
    period: ({ from, to }) => ({ from, to, modes: [], verdicts: [], suspicions: 0, incidents: [], now: null }),
    periodText: ({ from }) => `since ${from}\n`,
    briefText: ({ from }) => `in brief, since ${from}\n`,
    sentence: (entry) => `said ${entry.kind}`,
    export: (format, incident) => [`${format} of ${incident ?? 'everything'}\n`, 'end\n'],
    ...replace,
  }
}

export function fakeCommands(replace: Partial<Commands> = {}): Commands {
  return {
    version: '0.1.0',
    build: '0.1.0, bundle of commit 0123abcd (2026-01-02), built with Node.js 20.19.0',
    clock: realClock,
    runDaemon: (read) => {
      read()
      return Promise.resolve('stopped')
    },
    async *check() {
      yield { what: 'compute API', result: 'ok', message: '2.100', advice: null }
    },
    planFailure: (_config, { host, failure }) =>
      Promise.resolve({
        ...{ host, workflow: { name: 'w', revision: 1, digest: 'd' }, instances: [] },
        ...(failure === 'process' && { service: { rule: 'down', do: 'disable', enable: null, because: 'it is down' } }),
      }),
    testNotice: () => Promise.resolve({ ok: true, detail: 'HTTP 204' }),
    logIn: () => Promise.reject(new Error('not rehearsed')),
    openReader: () => fakeJournal(),
    sharedJournalScript: (_config, from) => Promise.resolve(`GRANT USAGE ON *.* TO 'lifeboat'@'${from}';\n`),
    moveJournal: (_config, { to }) => Promise.resolve({ to, entries: 7, head: 'abc' }),
    checkWorkflows: () => Promise.resolve([]),
    testWorkflows: () => Promise.resolve([]),
    importMasakari: () => Promise.reject(new Error('not rehearsed')),
    scenarios: () => Promise.resolve([{ name: 'host-crashes', title: 'A host crashes' }]),
    rehearse: () => Promise.resolve(),
    rehearseOwn: () => Promise.resolve(),
    demo: () => Promise.resolve(),
    demoPages: () => Promise.resolve(),
    generate: () => Promise.resolve([]),
    ...replace,
  }
}

export interface Ran {
  exit: number
  out: string
  err: string
}

/** Runs one command line against a configuration of its own. */
export async function run(
  argv: string[],
  commands: Partial<Commands> = {},
  options: { config?: string; env?: Record<string, string>; terminal?: Partial<Terminal> } = {},
): Promise<Ran> {
  const ran = { out: '', err: '' }
  const terminal = {
    env: { USER: 'alice', LIFEBOAT_CONFIG: configFile(options.config ?? ''), ...options.env },
    stdout: (text: string) => void (ran.out += text),
    stderr: (text: string) => void (ran.err += text),
    paint: unpainted,
    screen: null,
    onInterrupt: () => () => undefined,
    ...options.terminal,
  }
  const exit = await runCli(argv, terminal, fakeCommands(commands))
  return { exit, ...ran }
}

export function configFile(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'lb-cli-'))
  const path = join(directory, 'lifeboat.yaml')
  writeFileSync(path, text.includes('state_dir') ? text : `state_dir: ${directory}\n${text}`)
  return path
}

export const anEntry = {
  seq: 5,
  at: '2026-01-02T03:04:05.678Z',
  actor: 'daemon',
  incident: 'i-1',
  host: 'cmp01',
  instance: null,
  step: null,
  kind: 'incident.phase',
  data: { from: 'confirming', to: 'fencing' },
  prevHash: 'a',
  hash: 'b',
} as Entry

export const anIncident: IncidentDetail = {
  id: 'i-1',
  host: 'cmp01',
  process: null,
  crashed: null,
  segment: 'ceph',
  mode: 'armed',
  openedAt: '2026-01-02T03:00:00.000Z',
  openedBy: 'daemon',
  phase: 'closed',
  held: null,
  fencing: null,
  ended: { outcome: 'done', message: 'Every instance has its outcome', at: '2026-01-02T03:00:12.000Z' },
  instances: 2,
  outcomes: { recovered: 1, stuck: 1 },
  verdict: {
    host: 'cmp01',
    segment: 'ceph',
    kind: 'host-down',
    reason: 'SILENT_AND_PROBES_DEAD',
    message: 'Silent, and every probe says dead',
    at: '2026-01-02T03:00:00.000Z',
    evidence: {
      status: 'enabled',
      state: 'up',
      forcedDown: false,
      updatedAt: '2026-01-02T02:59:50.000Z',
      silentMs: 25_000,
      intervalMs: 10_000,
      missedBeats: 2.5,
      probes: [
        { probe: 'ssh', kind: 'tcp', answer: 'dead', detail: 'no answer within 1 s', at: '2026-01-02T03:00:00.000Z' },
      ],
    },
  },
  proof: {
    host: 'cmp01',
    method: 'bmc',
    strength: 'power-off',
    provenAt: '2026-01-02T03:00:03.000Z',
    statedBy: null,
    evidence: ['PowerState Off'],
  },
  voided: null,
  watched: null,
  statement: null,
  override: null,
  cancelled: null,
  fenceAttempts: [
    { at: '2026-01-02T03:00:01.000Z', method: 'bmc', phase: 'succeeded', message: 'ForceOff, then read Off' },
  ],
  instanceList: [
    {
      id: 'aaaa-1',
      name: 'web',
      projectId: 'p',
      decision: 'recover',
      rule: 'running',
      reason: 'RUNNING',
      message: 'It was running',
      original: {
        vmState: 'active',
        powerState: 1,
        taskState: null,
        wanted: 'running',
        wantedBecause: 'vm_state active',
        flagged: false,
        locked: false,
      },
      recipe: 'as-before',
      steps: [],
      outcome: {
        outcome: 'recovered',
        code: 'RUNNING',
        message: 'Runs again',
        after: { host: 'cmp02', vmState: 'active', taskState: null, powerState: 1, locked: false },
      },
      endedAt: '2026-01-02T03:00:09.000Z',
      notes: [],
      debts: [],
    },
    {
      id: 'bbbb-2',
      name: 'evil\u001b[2Jname',
      projectId: 'p',
      decision: 'recover',
      rule: 'paused',
      reason: 'PAUSED',
      message: 'It was paused',
      original: {
        vmState: 'paused',
        powerState: 3,
        taskState: null,
        wanted: 'unknown',
        wantedBecause: 'paused',
        flagged: false,
        locked: true,
      },
      recipe: 'stopped',
      steps: [
        {
          key: 's',
          kind: 'evacuate',
          attempt: 1,
          status: 'failed',
          requestId: 'req-77',
          intendedAt: '2026-01-02T03:00:04.000Z',
          endedAt: '2026-01-02T03:00:08.000Z',
          waitsUntil: null,
          error: { code: 'EVACUATION_STALLED', message: 'It did not end' },
        },
      ],
      outcome: { outcome: 'stuck', code: 'EVACUATION_STALLED', message: 'It did not end in time', after: null },
      endedAt: '2026-01-02T03:00:11.000Z',
      notes: ['Its memory was lost'],
      debts: [{ code: 'LEFTOVER_MIGRATION', message: 'a finished migration stays' }],
    },
  ],
}
