/** Shared set-up of the journal tests: a directory that goes with the test, a clock, and a small incident's entries. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach } from 'vitest'
import type { Clock } from '../../src/domain/clock.ts'
import type { Landing } from '../../src/domain/cloud.ts'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { Instance } from '../../src/domain/instance.ts'
import type { InstancePlan } from '../../src/domain/plan.ts'
import type { StepIntention } from '../../src/domain/step-payloads.ts'
import type { Verdict } from '../../src/domain/verdict.ts'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'

const releases: (() => void)[] = []
afterEach(() => {
  for (const release of releases.splice(0).reverse()) release()
})

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-journal-'))
  releases.push(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A clock that stands at 2026-01-02T03:04:05Z and moves by one second each time it is read. */
export function testClock(startMs = Date.UTC(2026, 0, 2, 3, 4, 5)): Clock {
  let at = startMs - 1000
  const read = (): number => (at += 1000)
  return { now: read, wall: read, after: () => () => undefined }
}

export function newJournal(path = join(temporaryDirectory(), 'journal.db'), clock = testClock()): JournalWriter {
  const journal = openJournal(path, { clock })
  releases.push(() => journal.close())
  return journal
}

/** Raw access, as a tool of someone's has it. */
export function rawDatabase(path: string): Database.Database {
  const db = new Database(path)
  releases.push(() => db.close())
  return db
}

const verdict: Verdict = {
  host: 'c1',
  segment: 'az1',
  kind: 'host-down',
  reason: 'SILENT_AND_PROBES_DEAD',
  message: 'c1 has been silent for 6 s and does not answer',
  at: '2026-01-02T03:04:00.000Z',
  evidence: {
    status: 'enabled',
    state: 'up',
    forcedDown: false,
    updatedAt: '2026-01-02T03:03:54.000Z',
    silentMs: 6_000,
    intervalMs: 2_000,
    missedBeats: 3,
    suspicion: 4.3,
    probes: [
      { probe: 'mgmt-tcp', kind: 'tcp', answer: 'dead', detail: 'no answer | in 1 s', at: '2026-01-02T03:04:00.000Z' },
    ],
  },
}

export function instance(id: string, over: Partial<Instance> = {}): Instance {
  return {
    id,
    name: `vm-${id}`,
    projectId: 'project-1',
    userId: 'user-1',
    host: 'c1',
    status: 'ACTIVE',
    vmState: 'active',
    taskState: null,
    powerState: 1,
    locked: false,
    lockedReason: null,
    launchedAt: '2026-01-01T00:00:00Z',
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-01T00:00:00Z',
    metadata: {},
    tags: [],
    flavor: { name: 'm1', vcpus: 1, ramMb: 512, diskGb: 0, ephemeralGb: 0, swapMb: 0, extraSpecs: {} },
    imageId: null,
    volumeIds: ['v1'],
    availabilityZone: 'az1',
    fault: null,
    ...over,
  }
}

export function plan(id: string, over: Partial<InstancePlan> = {}): InstancePlan {
  return {
    instanceId: id,
    name: `vm-${id}`,
    projectId: 'project-1',
    rule: 'running',
    decision: 'recover',
    reason: 'RUNNING',
    message: 'It was running',
    original: {
      instance: instance(id),
      wanted: 'running',
      wantedBecause: 'it was active and running',
      flagged: false,
      locked: false,
      lockedReason: null,
      knownEvacuations: [],
      resize: null,
    },
    recipe: 'evacuate-running',
    recipes: {},
    expected: 'running',
    asProject: null,
    priority: 0,
    exclusive: null,
    debts: [],
    notes: [],
    ...over,
  }
}

const of = { incident: 'i1', host: 'c1' }

export const started: NewEntry = { kind: 'daemon.started', data: { version: '0.1.0', mode: 'armed', pid: 7 } }

/** The row before an evacuation, of its attempt and how it is to land. */
function evacuation(attempt: number, landing: Landing): StepIntention<'evacuate'> {
  const seen = { vmState: 'active', taskState: null, powerState: 1, host: 'c1' }
  const before = { ...seen, spentEvacuations: [], knownRequests: [], cloudTime: '2026-01-02T03:04:10.000Z' }
  return { kind: 'evacuate', attempt, before, request: { landing, asProject: null, fencedBy: 'bmc' } }
}

/** One incident with a hold, a failed fence, one instance recovered at the second attempt, one left, one failed with a debt. */
export function incidentEntries(): NewEntry[] {
  const error = {
    code: 'NO_VALID_HOST' as const,
    message: 'No valid host was found',
    certainty: 'applied' as const,
    retry: 'after' as const,
    chain: ['HTTP 400'],
    details: {},
  }
  const after = { host: 'c2', vmState: 'active', taskState: null, powerState: 1, locked: false }
  return [
    {
      kind: 'incident.opened',
      ...of,
      data: { verdict, segment: 'az1', failure: 'host', mode: 'armed', openedBy: 'monitor', workflowDigest: 'd1g35t' },
    },
    { kind: 'incident.held', ...of, data: { code: 'BRAKE', message: 'Two of three hosts failed at once' } },
    {
      kind: 'operator.override',
      actor: 'operator:ada',
      ...of,
      data: { by: 'ada', reason: 'Rack power is known to be lost' },
    },
    { kind: 'incident.continued', ...of, data: { because: 'ada let it past the brake' } },
    { kind: 'incident.phase', ...of, data: { from: 'confirming', to: 'fencing' } },
    {
      kind: 'step.intended',
      ...of,
      step: 'fence',
      data: { kind: 'fence', attempt: 1, before: null, request: { methods: ['bmc'] } },
    },
    { kind: 'fence.attempt', ...of, data: { method: 'bmc', phase: 'trying', message: 'Sending ForceOff' } },
    { kind: 'fence.attempt', ...of, data: { method: 'bmc', phase: 'succeeded', message: 'Power reads Off' } },
    {
      kind: 'proof.recorded',
      ...of,
      data: {
        proof: {
          host: 'c1',
          method: 'bmc',
          strength: 'power-off',
          provenAt: '2026-01-02T03:04:09.000Z',
          statedBy: null,
          evidence: ['PowerState: Off'],
        },
      },
    },
    { kind: 'step.confirmed', ...of, step: 'fence', data: { result: { method: 'bmc', strength: 'power-off' } } },
    { kind: 'incident.phase', ...of, data: { from: 'fencing', to: 'isolating' } },
    {
      kind: 'service.marked',
      ...of,
      data: {
        serviceId: 's1',
        before: { forcedDown: false, status: 'enabled', disabledReason: null },
        reason: 'lifeboat i1',
        updatedAt: null,
      },
    },
    { kind: 'incident.phase', ...of, data: { from: 'isolating', to: 'surveying' } },
    { kind: 'plan.made', ...of, instance: 'a', data: plan('a') },
    {
      kind: 'plan.made',
      ...of,
      instance: 'b',
      data: plan('b', {
        decision: 'leave',
        reason: 'LOCAL_DISK',
        message: 'Its disk is only on c1',
        recipe: null,
        expected: null,
      }),
    },
    { kind: 'plan.made', ...of, instance: 'c', data: plan('c', { name: 'db|1', notes: ['Its memory was lost'] }) },
    { kind: 'incident.phase', ...of, data: { from: 'surveying', to: 'recovering' } },
    {
      kind: 'outcome.recorded',
      ...of,
      instance: 'b',
      data: { outcome: 'left', code: 'LOCAL_DISK', message: 'Its disk is only on c1', after: null },
    },
    {
      kind: 'step.intended',
      ...of,
      instance: 'a',
      step: 'evacuate#1',
      data: evacuation(1, 'as-before'),
    },
    { kind: 'step.failed', ...of, instance: 'a', step: 'evacuate#1', data: { error } },
    { kind: 'recipe.entered', ...of, instance: 'a', data: { recipe: 'after-failure', because: 'NO_VALID_HOST' } },
    {
      kind: 'step.intended',
      ...of,
      instance: 'a',
      step: 'evacuate#2',
      data: evacuation(2, 'as-before'),
    },
    { kind: 'step.issued', ...of, instance: 'a', step: 'evacuate#2', data: { requestId: 'req-a2' } },
    {
      kind: 'step.confirmed',
      ...of,
      instance: 'a',
      step: 'evacuate#2',
      data: { result: { migration: 'm-a2', host: 'c2', vmState: 'active', powerState: 1 } },
    },
    {
      kind: 'outcome.recorded',
      ...of,
      instance: 'a',
      data: { outcome: 'recovered', code: 'RUNNING', message: 'It runs on c2', after },
    },
    {
      kind: 'step.intended',
      ...of,
      instance: 'c',
      step: 'evacuate#1',
      data: evacuation(1, 'stopped'),
    },
    { kind: 'step.failed', ...of, instance: 'c', step: 'evacuate#1', data: { error } },
    {
      kind: 'debt.recorded',
      ...of,
      instance: 'c',
      data: { code: 'LEFTOVER_MIGRATION', message: 'Migration 17 holds an allocation' },
    },
    {
      kind: 'outcome.recorded',
      ...of,
      instance: 'c',
      data: { outcome: 'failed', code: 'NO_VALID_HOST', message: 'No destination was found', after: null },
    },
    { kind: 'incident.phase', ...of, data: { from: 'recovering', to: 'sweeping' } },
    {
      kind: 'incident.closed',
      ...of,
      data: {
        outcome: 'done',
        message: 'One recovered, one left, one failed',
        counts: { recovered: 1, left: 1, failed: 1 },
      },
    },
  ]
}
