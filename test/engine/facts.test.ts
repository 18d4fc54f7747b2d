/** What a condition may ask about an instance; what could not be read is taken the careful way. */
import { describe, expect, it } from 'vitest'
import type { Flavor, Instance, InstanceAction, Migration } from '../../src/domain/instance.ts'
import type { Segment } from '../../src/domain/segment.ts'
import type { ServiceRecord } from '../../src/domain/service.ts'
import type { Survey } from '../../src/domain/survey.ts'
import { factsOf, type Facts } from '../../src/engine/facts.ts'
import { initialStateOf } from '../../src/engine/initial-state.ts'
import { instance, segment, survey } from './surveys.ts'

const up: ServiceRecord = {
  id: 's',
  binary: 'nova-compute',
  host: 'alive',
  zone: null,
  status: 'enabled',
  state: 'up',
  updatedAt: null,
  forcedDown: false,
  disabledReason: null,
}

function facts(changes: Partial<Instance> = {}, rest: Partial<Survey> = {}, rules: Partial<Segment> = {}): Facts {
  const one = instance(changes)
  const found = survey([one], { services: [up], ...rest })
  const wish = { value: 'stopped', from: 'somewhere', priority: 7, notes: [] } as const
  return factsOf(one, initialStateOf(one, found), { ...wish, notes: [] }, found, segment(rules))
}

const flavor = (changes: Partial<Flavor>): Partial<Instance> => ({ flavor: { ...instance().flavor, ...changes } })

let count = 0
function migration(changes: Partial<Migration>): Migration {
  const id = ++count
  return {
    id,
    uuid: `m-${id}`,
    instanceId: 'i-1',
    type: 'resize',
    status: 'finished',
    sourceHost: 'dead',
    destHost: 'alive',
    createdAt: '2030-01-01T11:00:00Z',
    updatedAt: null,
    ...changes,
  }
}

function action(name: string): InstanceAction {
  return { action: name, requestId: name, userId: 'u', projectId: 'p', startedAt: '', message: null, events: [] }
}

it('a plain instance', () => {
  expect(facts()).toEqual({
    instance: {
      id: 'i-1',
      name: 'one',
      project: 'p-1',
      flavor: 'm1',
      availability_zone: 'nova',
      vm_state: 'active',
      task_state: '',
      power_state: 1,
      locked: false,
      launched: true,
      volume_backed: false,
      volumes: 0,
      local_disk: false,
      local_extra: false,
      encrypted: false,
      encryption_unknown: false,
      encrypted_key_available: false,
      vtpm: false,
      accelerators: false,
      user_rebuild: false,
      group_policy: '',
      metadata: {},
      tags: [],
      extra_specs: {},
      fault: '',
    },
    original: { wanted: 'running', because: 'Nova shows it active', flagged: false, locked: false, memory_lost: '' },
    resize: {
      pending: false,
      known: false,
      source: '',
      source_up: false,
      same_host: false,
      type: '',
      stale_records: 0,
    },
    migration: { live: false, status: '', destination: '', destination_up: false, leftover_accepted: false },
    evacuation: { under_way: false, destination: '' },
    wish: { value: 'stopped', from: 'somewhere', priority: 7 },
    policy: { stopped: 'evacuate', error_before: 'leave', memory_lost: 'stopped', unasked: 'recover' },
    segment: { name: 'az1', storage: 'shared' },
    cloud: { lands_stopped: true },
  })
})

it('an instance about which Nova says everything', () => {
  const told = facts(
    {
      availabilityZone: null,
      taskState: 'rebooting',
      locked: true,
      launchedAt: null,
      imageId: null,
      volumeIds: ['v'],
      metadata: { a: 'b' },
      tags: ['t'],
      fault: 'it broke',
      ...flavor({ extraSpecs: { c: 'd' } }),
    },
    {
      volumes: { v: { id: 'v', encrypted: false } },
      capabilities: { computeMaxMicroversion: '', landsStopped: false },
    },
  )
  expect(told.instance).toMatchObject({
    availability_zone: '',
    task_state: 'rebooting',
    locked: true,
    launched: false,
    volume_backed: true,
    volumes: 1,
    metadata: { a: 'b' },
    tags: ['t'],
    extra_specs: { c: 'd' },
    fault: 'it broke',
  })
  expect(told.original.locked).toBe(true)
  expect(told.cloud.lands_stopped).toBe(false)
})

describe('what was in memory when the host switched it off', () => {
  const lost = (vmState: string, ...history: string[]): string =>
    facts({ vmState }, { actions: { 'i-1': history.map(action) } }).original.memory_lost

  it.each([
    ['pause', 'paused'],
    ['suspend', 'suspended'],
    ['rescue', 'in rescue mode'],
    ['unpause', ''],
    ['reboot', ''],
    ['evacuate', ''],
  ])('is told by the last order of its owner: %s', (order, told) => {
    expect(lost('stopped', 'lock', order, 'suspend', 'create')).toBe(told)
  })

  it('is Nova to say of what it does not show stopped', () => {
    expect(lost('paused', 'pause')).toBe('')
  })
})

describe('disks that die with the host', () => {
  it.each([
    ['an image disk on local storage', { imageId: 'image' }, 'local', true, false],
    ['an image disk on shared storage', { imageId: 'image' }, 'shared', false, false],
    ['a volume on local storage', { imageId: null }, 'local', false, false],
    ['a volume with an ephemeral disk', { imageId: null, ...flavor({ ephemeralGb: 1 }) }, 'local', false, true],
    ['a volume with swap', { imageId: null, ...flavor({ swapMb: 1 }) }, 'local', false, true],
    ['extra disks on shared storage', flavor({ ephemeralGb: 1, swapMb: 1 }), 'shared', false, false],
  ] as const)('%s', (_what, changes, storage, disk, extra) => {
    expect(facts(changes, {}, { storage }).instance).toMatchObject({ local_disk: disk, local_extra: extra })
  })
})

describe('encryption', () => {
  const volumes = { plain: { id: 'plain', encrypted: false }, secret: { id: 'secret', encrypted: true } }

  it.each([
    [['plain'], false, false],
    [['plain', 'secret'], true, false],
    [['plain', 'unread'], true, true],
    [['secret', 'unread'], true, false],
    [['toString'], true, true],
  ])('of the volumes %s', (volumeIds, encrypted, unknown) => {
    expect(facts({ volumeIds }, { volumes }).instance).toMatchObject({ encrypted, encryption_unknown: unknown })
  })

  it('its key is there only when we may act for the project of the instance', () => {
    const available = (mayActFor: Record<string, boolean>, projectId = 'p-1') =>
      facts({ projectId }, { mayActFor }).instance.encrypted_key_available
    expect(available({ 'p-1': true })).toBe(true)
    expect(available({ 'p-1': false })).toBe(false)
    expect(available({ 'p-2': true })).toBe(false)
    expect(available({}, 'toString')).toBe(false)
  })
})

it.each([
  [{ 'hw:tpm_version': '2.0' }, true, false],
  [{ 'hw:tpm_version': '' }, false, false],
  [{ 'hw:tpm_model': 'crb' }, false, false],
  [{ 'x:hw:tpm_version': '2.0' }, false, false],
  [{ other: 'x', 'hw:tpm_version': '1.2' }, true, false],
  [{ 'accel:device_profile': 'gpu', other: 'x' }, false, true],
  [{ 'accel:device_profile_x': 'gpu' }, false, false],
])('the extra specs %o: vTPM %s, accelerators %s', (extraSpecs, vtpm, accelerators) => {
  expect(facts(flavor({ extraSpecs: { ...extraSpecs } })).instance).toMatchObject({
    vtpm,
    accelerators,
  })
})

it('the policy of its group, and no other', () => {
  const group = (id: string, policy: string, members: string[]) => ({ id, name: id, policy, members })
  const serverGroups = [group('a', 'affinity', ['i-2']), group('b', 'anti-affinity', ['i-3', 'i-1'])]
  expect(facts({}, { serverGroups }).instance.group_policy).toBe('anti-affinity')
})

describe("a user's rebuild", () => {
  const rebuild = (taskState: string | null, ...history: string[]) =>
    facts({ taskState }, { actions: { 'i-1': history.map(action) } }).instance.user_rebuild

  it.each(['rebuilding', 'rebuild_spawning', 'rebuild_block_device_mapping'])('is one with the task %s', (task) => {
    expect(rebuild(task, 'reboot', 'rebuild', 'evacuate')).toBe(true)
  })

  it('is none without a task of rebuilding, after an evacuation, or with a history that does not tell', () => {
    expect(rebuild(null, 'rebuild')).toBe(false)
    expect(rebuild('xrebuild_', 'rebuild')).toBe(false)
    expect(rebuild('rebuilding', 'evacuate', 'rebuild')).toBe(false)
    expect(rebuild('rebuilding', 'reboot')).toBe(false)
    expect(facts({ taskState: 'rebuilding' }).instance.user_rebuild).toBe(false)
    expect(facts({ taskState: 'rebuilding', id: 'toString' }).instance.user_rebuild).toBe(false)
  })
})

describe('a resize that waits for its confirmation', () => {
  const resize = (...migrations: Migration[]) => facts({ vmState: 'resized' }, { migrations }).resize

  it('is told with its source, and the older ones that wait as well', () => {
    const pending = migration({ sourceHost: 'alive', destHost: 'dead' })
    expect(resize(migration({}), pending)).toEqual({
      pending: true,
      known: true,
      source: 'alive',
      source_up: true,
      same_host: false,
      type: 'resize',
      stale_records: 1,
    })
    expect(resize(pending).stale_records).toBe(0)
    expect(resize(migration({ type: 'migration', sourceHost: 'dead', destHost: 'dead' }))).toMatchObject({
      same_host: true,
      source_up: false,
      type: 'migration',
    })
  })

  it('is told with the type of its own record', () => {
    const pending = migration({ sourceHost: 'alive', destHost: 'dead' })
    expect(resize(migration({ type: 'migration', status: 'confirmed' }), pending).type).toBe('resize')
  })

  it('is not known when no record ended here; those that wait are all stale', () => {
    expect(resize(migration({}))).toMatchObject({ pending: true, known: false, same_host: false, stale_records: 1 })
    expect(resize()).toMatchObject({ known: false, source: '', type: '', stale_records: 0 })
  })
})

describe('a live migration', () => {
  const during = (taskState: string | null, ...migrations: Partial<Migration>[]) =>
    facts({ taskState }, { migrations: migrations.map((changes) => migration({ type: 'live-migration', ...changes })) })
      .migration
  const live = (...migrations: Partial<Migration>[]) => during('migrating', ...migrations)

  it.each(['accepted', 'queued', 'preparing', 'running', 'running (post-copy)', 'post-migrating'])(
    'is under way at %s',
    (status) => {
      expect(live({ status })).toMatchObject({ live: true, status, destination: 'alive', destination_up: true })
    },
  )

  it.each(['completed', 'error', 'cancelled', 'failed'])('is over at %s', (status) => {
    expect(live({ status })).toMatchObject({ live: false, status: '', destination: '', destination_up: false })
  })

  it('is the newest of this instance, wherever it stands in the list', () => {
    const [older, newer] = [{ status: 'queued', destHost: 'gone' }, { status: 'running' }]
    expect(live(older, newer)).toMatchObject({ status: 'running', destination_up: true })
    expect(live({ ...newer, id: 2_000 }, { ...older, id: 1_999 })).toMatchObject({ status: 'running' })
    expect(live({ status: 'running', instanceId: 'i-2' }).live).toBe(false)
    expect(live({ status: 'running', type: 'resize' }).live).toBe(false)
    expect(live({ status: 'queued', destHost: null })).toMatchObject({
      live: true,
      destination: '',
      destination_up: false,
    })
  })

  it.each([
    ['had not begun', [{ status: 'queued' }], false],
    ['was being prepared', [{ status: 'preparing' }], false],
    ['ran, for someone may have reset the state', [{ status: 'running' }], true],
    ['has arrived where the instance is', [{ status: 'post-migrating', destHost: 'dead' }], false],
    [
      'a later move has followed',
      [
        { status: 'running', id: 5 },
        { status: 'done', id: 6, type: 'evacuation' },
      ],
      false,
    ],
    [
      'a later move has failed to follow',
      [
        { status: 'running', id: 5 },
        { status: 'error', id: 6 },
      ],
      true,
    ],
    [
      'came after the last move',
      [
        { status: 'running', id: 7 },
        { status: 'completed', id: 6 },
      ],
      true,
    ],
  ] as const)(
    'without its task is under way only where nothing says that it is over: one that %s',
    (_what, records, isUnderWay) => {
      expect(during(null, ...records).live).toBe(isUnderWay)
      expect(during('migrating', ...records).live).toBe(true)
    },
  )

  it('any old record at accepted but an evacuation could be mistaken for one', () => {
    const leftover = (changes: Partial<Migration>) =>
      facts({}, { migrations: [migration({}), migration(changes)] }).migration.leftover_accepted
    expect(leftover({ type: 'migration', status: 'accepted' })).toBe(true)
    expect(leftover({ type: 'evacuation', status: 'accepted' })).toBe(false)
    expect(leftover({ type: 'migration', status: 'finished' })).toBe(false)
    expect(leftover({ type: 'migration', status: 'accepted', instanceId: 'i-2' })).toBe(false)
  })
})

describe("someone else's evacuation", () => {
  const evacuation = (changes: Partial<Migration>, taskState: string | null = null) =>
    facts({ taskState }, { migrations: [migration({ type: 'evacuation', ...changes })] }).evacuation

  it.each([
    ['it is only accepted', { status: 'accepted', destHost: null }, null, { under_way: true, destination: '' }],
    [
      'the instance is being rebuilt',
      { status: 'pre-migrating', destHost: 'gone' },
      'rebuilding',
      { under_way: true, destination: 'gone' },
    ],
    ['its destination is alive', { status: 'pre-migrating' }, null, { under_way: true, destination: 'alive' }],
  ])('is under way when %s', (_what, changes, task, expected) => {
    expect(evacuation(changes, task)).toEqual(expected)
  })

  it.each([
    ['its destination died long ago', { status: 'pre-migrating', destHost: 'gone' }],
    ['it ended', { status: 'done' }],
    ['it is of another instance', { status: 'accepted', instanceId: 'i-2' }],
    ['it is no evacuation', { status: 'accepted', type: 'live-migration' as const }],
  ])('is not when %s', (_what, changes) => {
    expect(evacuation(changes)).toEqual({ under_way: false, destination: '' })
  })
})
