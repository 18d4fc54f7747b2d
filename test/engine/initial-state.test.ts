/** What an instance was before we touched it: each source, and which of them counts. */
import { describe, expect, it } from 'vitest'
import type { Instance, InstanceAction, Migration } from '../../src/domain/instance.ts'
import type { ServiceRecord } from '../../src/domain/service.ts'
import type { Survey } from '../../src/domain/survey.ts'
import { finishedResizes, hostUp, initialStateOf } from '../../src/engine/initial-state.ts'
import { instance, survey } from './surveys.ts'

const minute = 60_000
const takenAt = Date.parse('2030-01-01T12:00:00.000Z')
const ago = (minutes: number): string => new Date(takenAt - minutes * minute).toISOString()

function action(name: string, minutes: number, changes: Partial<InstanceAction> = {}): InstanceAction {
  return {
    action: name,
    requestId: `req-${name}-${minutes}`,
    userId: 'u',
    projectId: 'p',
    startedAt: ago(minutes),
    message: null,
    events: [],
    ...changes,
  }
}

const byNova = { userId: null, projectId: null }

function migration(id: number, changes: Partial<Migration> = {}): Migration {
  return {
    id,
    uuid: `m-${id}`,
    instanceId: 'i-1',
    type: 'resize',
    status: 'finished',
    sourceHost: 'alive',
    destHost: 'dead',
    createdAt: ago(40),
    updatedAt: null,
    ...changes,
  }
}

function service(host: string, changes: Partial<ServiceRecord> = {}): ServiceRecord {
  return {
    id: host,
    binary: 'nova-compute',
    host,
    zone: null,
    status: 'enabled',
    state: 'up',
    updatedAt: ago(0),
    forcedDown: false,
    disabledReason: null,
    ...changes,
  }
}

/** The original of one instance with this history. */
function original(changes: Partial<Instance>, history: InstanceAction[] | null, rest: Partial<Survey> = {}) {
  const one = instance(changes)
  return initialStateOf(one, survey([one], { ...(history !== null && { actions: { [one.id]: history } }), ...rest }))
}

describe('a stopped instance', () => {
  const stopped = (history: InstanceAction[] | null, rest: Partial<Survey> = {}) =>
    original({ vmState: 'stopped', powerState: 4 }, history, rest)

  it('was stopped by a user, whenever that was', () => {
    for (const minutes of [1, 14, 16, 5_000])
      expect(stopped([action('stop', minutes)])).toMatchObject({ wanted: 'stopped', flagged: false })
  })

  it.each([
    ['an unread history', null],
    ['an empty history', []],
    ['a history that holds neither a start nor a stop', [action('create', 900), action('reboot', 5)]],
    ['a history whose last word is a start', [action('start', 5), action('stop', 900)]],
    ['a history whose only stop failed', [action('stop', 5, { message: 'Error' })]],
  ])('stays stopped with %s, and it is flagged', (_what, history) => {
    expect(stopped(history)).toMatchObject({ wanted: 'stopped', flagged: true })
  })

  it('a history of another instance is none', () => {
    expect(stopped(null, { actions: { 'i-2': [action('stop', 5)] } }).flagged).toBe(true)
    expect(initialStateOf(instance({ id: 'toString', vmState: 'stopped' }), survey([])).flagged).toBe(true)
  })

  it("Nova's power sync up to fifteen minutes before the last sign of the host is the host's own shutdown", () => {
    expect(stopped([action('stop', 15, byNova)])).toMatchObject({ wanted: 'running', flagged: false })
    expect(stopped([action('stop', 15.01, byNova)])).toMatchObject({ wanted: 'stopped', flagged: false })
  })

  it('the last sign of the host is the stamp of its nova-compute, when that is earlier than the survey', () => {
    const sync = [action('stop', 20, byNova)]
    const services = (...found: ServiceRecord[]) => ({ services: found })
    const wanted = (rest: Partial<Survey>) => stopped(sync, rest).wanted
    expect(wanted({})).toBe('stopped')
    expect(wanted(services(service('dead', { updatedAt: ago(6) })))).toBe('running')
    expect(wanted(services(service('alive', { updatedAt: ago(6) })))).toBe('stopped')
    expect(wanted(services(service('dead', { binary: 'nova-conductor', updatedAt: ago(6) })))).toBe('stopped')
    expect(wanted(services(service('dead', { updatedAt: null })))).toBe('stopped')
    expect(wanted(services(service('dead', { updatedAt: 'nonsense' })))).toBe('stopped')
    // A stamp that cannot be read, or that runs ahead, moves nothing.
    expect(stopped([action('stop', 14, byNova)], services(service('dead', { updatedAt: 'nonsense' }))).wanted).toBe(
      'running',
    )
    expect(stopped([action('stop', 14, byNova)], services(service('dead', { updatedAt: ago(-30) }))).wanted).toBe(
      'running',
    )
  })

  it('what was seen of the host before it died counts, though our own write moved the stamp since', () => {
    const sync = [action('stop', 70, byNova)]
    const moved = { services: [service('dead', { updatedAt: ago(0) })] }
    expect(stopped(sync, moved).wanted).toBe('stopped')
    expect(stopped(sync, { ...moved, lastSeenAt: ago(60) }).wanted).toBe('running')
    expect(stopped(sync, { ...moved, lastSeenAt: ago(50) }).wanted).toBe('stopped')
    expect(stopped(sync, { ...moved, lastSeenAt: null }).wanted).toBe('stopped')
  })

  it.each(['reboot', 'unshelve', 'unrescue', 'unpause', 'resume', 'restore'])(
    "a user's stop is over with the %s that came after it",
    (name) => {
      expect(stopped([action('stop', 3, byNova), action(name, 200), action('stop', 300)]).wanted).toBe('running')
      expect(stopped([action('stop', 3, byNova), action('stop', 100), action(name, 200)]).wanted).toBe('stopped')
    },
  )

  it("a user's stop is no stop by Nova, whatever they ordered after it", () => {
    const rebooted = [action('reboot', 1), action('stop', 5_000)]
    expect(stopped(rebooted)).toMatchObject({ wanted: 'stopped', flagged: true })
    expect(stopped(rebooted).wantedBecause).toBe('Nova shows it stopped; its history does not say who did it')
  })

  it.each(['rebooting_hard', 'reboot_pending_hard', 'reboot_started_hard'])(
    'its task %s says that its owner wants it running: a hard reboot starts what was stopped',
    (taskState) => {
      const busy = instance({ vmState: 'stopped', taskState })
      const history = survey([busy], { actions: { [busy.id]: [action('reboot', 1), action('stop', 5_000)] } })
      expect(initialStateOf(busy, history)).toMatchObject({ wanted: 'running', flagged: false })
    },
  )

  it("a user's stop before the power sync counts: the guest was off already", () => {
    expect(stopped([action('stop', 3, byNova), action('stop', 300)])).toMatchObject({ wanted: 'stopped' })
    expect(stopped([action('stop', 3, byNova), action('start', 200), action('stop', 300)]).wanted).toBe('running')
    // A start is nobody's power sync, anyone who is named for it.
    expect(stopped([action('stop', 3, byNova), action('start', 200, byNova), action('stop', 300)]).wanted).toBe(
      'running',
    )
    // One that failed did not.
    expect(stopped([action('stop', 3, byNova), action('stop', 300, { message: 'Error' })]).wanted).toBe('running')
  })

  it.each([
    ['without a user but with a project', { userId: null }],
    ['without a project but with a user', { projectId: null }],
  ])('a stop %s is no power sync', (_what, changes) => {
    expect(stopped([action('stop', 3, changes)])).toMatchObject({ wanted: 'stopped', flagged: false })
  })

  it('the order in which Nova lists a history means nothing', () => {
    const history = [action('stop', 300), action('stop', 3, byNova), action('start', 200)]
    expect(stopped(history).wanted).toBe('running')
    expect(stopped(history.toReversed()).wanted).toBe('running')
    const unreadable = { startedAt: 'nonsense' }
    expect(stopped([action('start', 0, unreadable), action('stop', 3)])).toMatchObject({ flagged: false })
    expect(stopped([action('stop', 3), action('start', 0, unreadable)])).toMatchObject({ flagged: false })
  })
})

describe('what its owner had asked for last', () => {
  it.each([
    ['active', 'powering-off', 'stopped'],
    ['stopped', 'powering-on', 'running'],
    ['stopped', 'powering-off', 'stopped'],
    ['active', 'shelving', 'stopped'],
    ['active', 'shelving_image_pending_upload', 'stopped'],
    ['active', 'shelving_image_uploading', 'stopped'],
    ['active', 'rebooting', 'running'],
    ['active', null, 'running'],
    ['active', 'toString', 'running'],
  ])('%s with the task %s: %s', (vmState, taskState, wanted) => {
    expect(original({ vmState, taskState }, [action('stop', 900)])).toMatchObject({ wanted, flagged: false })
  })

  it("a stop that nova-compute had ordered itself and did not live to carry out is its host's", () => {
    const dying = (...history: InstanceAction[]) => original({ vmState: 'active', taskState: 'powering-off' }, history)
    expect(dying(action('stop', 0, byNova), action('start', 90))).toMatchObject({ wanted: 'running', flagged: false })
    expect(dying(action('stop', 0), action('start', 90))).toMatchObject({ wanted: 'stopped', flagged: false })
    expect(original({ vmState: 'active', taskState: 'powering-off' }, null)).toMatchObject({ wanted: 'stopped' })
  })

  it('a task that says nothing leaves it to the history', () => {
    expect(original({ vmState: 'stopped', taskState: 'toString' }, null).flagged).toBe(true)
  })

  it.each(['paused', 'suspended', 'rescued'])('%s: it was in use', (vmState) => {
    expect(original({ vmState, powerState: 4 }, [action('stop', 5)])).toMatchObject({
      wanted: 'running',
      flagged: false,
    })
  })

  it.each(['building', 'shelved', 'hibernated'])('%s: nobody knows', (vmState) => {
    expect(original({ vmState }, [action('start', 5)])).toMatchObject({ wanted: 'unknown', flagged: false })
  })
})

describe('an instance in ERROR', () => {
  const error = (powerState: number, history: InstanceAction[] | null) =>
    original({ vmState: 'error', powerState }, history)

  it.each([
    ['the last user action before the power state', 1, [action('stop', 5), action('start', 9)], 'stopped'],
    ['a start', 4, [action('start', 5), action('stop', 9)], 'running'],
    ['the power sync is no user', 1, [action('stop', 5, byNova)], 'running'],
    ['the power state where the history says nothing', 4, [action('create', 5)], 'stopped'],
    ['the power state where the history is unread', 1, null, 'running'],
    ['nothing where neither tells', 0, [], 'unknown'],
  ])('counts %s, and is always flagged', (_what, power, history, wanted) => {
    expect(error(power, history)).toMatchObject({ wanted, flagged: true })
  })

  it('says what it went by', () => {
    expect(error(1, []).wantedBecause).toBe('its power state was 1')
    expect(error(0, []).wantedBecause).toContain('neither')
  })
})

describe('a resized instance', () => {
  const resized = (powerState: number, history: InstanceAction[] | null, rest: Partial<Survey> = {}) =>
    original({ vmState: 'resized', powerState }, history, { migrations: [migration(1)], ...rest })

  it.each([
    ['agree on running', 1, [action('resize', 40), action('start', 60)], 'running', false],
    ['agree on stopped', 4, [action('resize', 40), action('stop', 60)], 'stopped', false],
    ['disagree, so the history counts', 1, [action('resize', 40), action('stop', 60)], 'stopped', true],
    ['disagree the other way', 4, [action('resize', 40), action('start', 60)], 'running', true],
    ['a start after the stop', 1, [action('resize', 40), action('start', 50), action('stop', 60)], 'running', false],
    ['a whole history without a stop', 1, [action('resize', 40), action('create', 60)], 'running', false],
    ['a whole history, the power says off', 4, [action('resize', 40), action('create', 60)], 'running', true],
    [
      'a stop after the resize says nothing of before',
      1,
      [action('stop', 5), action('migrate', 40), action('create', 60)],
      'running',
      false,
    ],
    [
      'the power sync is no user',
      1,
      [action('resize', 40), action('stop', 50, byNova), action('create', 60)],
      'running',
      false,
    ],
  ] as const)('power state and history %s', (_what, power, history, wanted, flagged) => {
    expect(resized(power, [...history])).toMatchObject({ wanted, flagged })
  })

  it.each([
    ['the history is unread', null, [migration(1)]],
    ['the history is cut off before the resize', [action('resize', 40)], [migration(1)]],
    ['the history shows no resize and there is no record', [action('create', 900), action('stop', 50)], []],
  ])('the power state counts where %s, and it is flagged', (_what, history, migrations) => {
    expect(resized(4, history, { migrations })).toMatchObject({ wanted: 'stopped', flagged: true })
    expect(resized(1, history, { migrations })).toMatchObject({ wanted: 'running', flagged: true })
    expect(resized(0, history, { migrations })).toMatchObject({ wanted: 'unknown', flagged: true })
  })

  it.each(['resize', 'migrate'])('what shares a second with its %s came before it or after it by its place', (move) => {
    expect(resized(1, [action('stop', 40), action(move, 40), action('create', 41)])).toMatchObject({
      wanted: 'running',
      flagged: false,
    })
    expect(resized(4, [action(move, 40), action('stop', 40), action('create', 41)])).toMatchObject({
      wanted: 'stopped',
      flagged: false,
    })
  })

  it('a history that begins in the middle is not whole, whatever else it holds', () => {
    expect(resized(4, [action('resize', 40), action('lock', 50)])).toMatchObject({ wanted: 'stopped', flagged: true })
  })

  it('says what it went by', () => {
    const because = (...history: InstanceAction[]) => resized(1, history).wantedBecause
    expect(because(action('resize', 40), action('create', 60))).toContain('no user had stopped it')
    expect(because(action('resize', 40), action('start', 60))).toContain('was start')
  })

  it('goes by the record of this resize, and of no other', () => {
    const migrations = [migration(7, { instanceId: 'i-2', createdAt: ago(1) }), migration(1)]
    expect(resized(1, [action('stop', 20), action('create', 900)], { migrations })).toMatchObject({
      wanted: 'running',
      flagged: false,
    })
  })

  it('a history that begins with the resize needs no record of it', () => {
    const history = [action('resize', 40), action('stop', 60)]
    expect(resized(4, history, { migrations: [] })).toMatchObject({ wanted: 'stopped', flagged: false })
  })

  it('where the history shows no resize, its record tells what came before', () => {
    expect(resized(4, [action('start', 5), action('stop', 40)])).toMatchObject({ wanted: 'stopped', flagged: false })
    expect(resized(1, [action('stop', 39), action('create', 900)])).toMatchObject({ wanted: 'running', flagged: false })
  })
})

describe('the pending resize', () => {
  const resize = (migrations: Migration[], changes: Partial<Instance> = {}, services: ServiceRecord[] = []) =>
    original({ vmState: 'resized', ...changes }, null, { migrations, services }).resize

  it('is the newest finished one that ended here', () => {
    const found = resize([migration(1, { sourceHost: 'old' }), migration(3, { destHost: 'alive' }), migration(2)])
    expect(found).toEqual({ migrationUuid: 'm-2', sourceHost: 'alive', destHost: 'dead', sourceUp: false })
    expect(resize([migration(2), migration(1, { sourceHost: 'old' })])?.migrationUuid).toBe('m-2')
    expect(resize([migration(1, { type: 'migration' })])?.migrationUuid).toBe('m-1')
  })

  it.each([
    ['of another instance', { instanceId: 'i-2' }],
    ['that ended elsewhere', { destHost: 'alive' }],
    ['that is not finished', { status: 'confirmed' }],
    ['without a source', { sourceHost: null }],
    ['of another type', { type: 'evacuation' as const }],
    ['that was a live migration', { type: 'live-migration' as const }],
  ])('is none with a record %s', (_what, changes) => {
    expect(resize([migration(1, changes)])).toBeNull()
  })

  it('is none for an instance that is not resized', () => {
    expect(resize([migration(1)], { vmState: 'active' })).toBeNull()
  })

  it('knows whether its source is up', () => {
    expect(resize([migration(1)], {}, [service('alive')])?.sourceUp).toBe(true)
    expect(resize([migration(1)], {}, [service('alive', { state: 'down' })])?.sourceUp).toBe(false)
  })

  it('all that wait for a confirmation are listed newest first, whatever host they ended on', () => {
    const migrations = [migration(1), migration(3, { destHost: 'alive' }), migration(2, { status: 'confirmed' })]
    const one = instance()
    expect(finishedResizes(one, survey([one], { migrations })).map(({ id }) => id)).toEqual([3, 1])
  })
})

describe('a host is up', () => {
  const up = (host: string | null, ...services: ServiceRecord[]) => hostUp(survey([], { services }), host)

  it('when its nova-compute is up and nobody forced it down', () => {
    expect(up('alive', service('alive', { binary: 'nova-consoleauth', state: 'down' }), service('alive'))).toBe(true)
  })

  it.each([
    ['its service is down', 'alive', service('alive', { state: 'down' })],
    ['its cell is unreachable', 'alive', service('alive', { state: null })],
    ['it was forced down', 'alive', service('alive', { forcedDown: true })],
    ['only another service of it is up', 'alive', service('alive', { binary: 'nova-conductor' })],
    ['only another host is up', 'gone', service('alive')],
    ['it is the dead one, whatever Nova says', 'dead', service('dead')],
    ['it is none', null, service('alive')],
  ])('never when %s', (_what, host, record) => {
    expect(up(host, record)).toBe(false)
  })
})

describe('what was there before us', () => {
  it('is every evacuation of the instance on record, and no other', () => {
    const migrations = [
      migration(3, { type: 'evacuation', status: 'done' }),
      migration(2, { type: 'evacuation', status: 'accepted' }),
      migration(1, { type: 'evacuation', instanceId: 'i-2' }),
      migration(4),
    ]
    expect(original({}, null, { migrations }).knownEvacuations).toEqual(['m-2', 'm-3'])
  })

  it('is the lock with its reason', () => {
    expect(original({ locked: true, lockedReason: 'audit' }, null)).toMatchObject({
      locked: true,
      lockedReason: 'audit',
    })
    expect(original({}, null)).toMatchObject({ locked: false, lockedReason: null })
  })
})
