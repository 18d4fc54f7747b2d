/** Reading Nova for a whole host: what is asked, how often, and who is told. */
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Cloud } from '../../../src/domain/cloud.ts'
import type { Observer } from '../../../src/domain/observer.ts'
import { HostWatch, type Look } from '../../../src/executor/host-watch.ts'
import { instance } from '../../engine/surveys.ts'
import { evacuation, failed, Stage } from './stage.ts'

type Wait = Extract<Look<never>, { wait: unknown }>['wait']

/** Waits for `found` of the watch, asking for these readings meanwhile. */
function awaits(stage: Stage, id: string, needs: Wait, found: () => boolean = () => false, signal = stage.stop.signal) {
  return stage.watch.until(id, signal, (): Look<string> => (found() ? { found: id } : { wait: needs }))
}

const times = (stage: Stage, call: keyof Cloud): number[] =>
  stage.calls.filter((made) => made.call === call).map(({ at }) => at)

/** From now on Nova takes so long to answer this. */
function slow(stage: Stage, call: 'listMigrations' | 'listChangedInstances', tookMs: () => number): void {
  const { cloud } = stage.run
  const after = async <T>(answer: Promise<T>): Promise<T> => {
    const given = await answer
    await new Promise<void>((resolve) => stage.clock.after(tookMs(), resolve))
    return given
  }
  const { listMigrations, listChangedInstances } = cloud
  if (call === 'listMigrations') cloud.listMigrations = (...args) => after(listMigrations(...args))
  else cloud.listChangedInstances = (...args) => after(listChangedInstances(...args))
}

const quietly = (work: Promise<unknown>): void => void work.catch(() => undefined)

describe('readings', () => {
  it('are made each tick while someone waits, of the evacuations of this host alone', async () => {
    const stage = new Stage()
    let found = false
    const waiting = awaits(stage, 'i-1', 'migrations', () => found)
    await stage.clock.advance(350)
    expect(times(stage, 'listMigrations')).toEqual([100, 200, 300])
    expect(stage.calls[0]!.args).toEqual([{ sourceHost: 'dead', type: 'evacuation' }])
    found = true
    expect(await stage.ending(waiting)).toBe('i-1')
    await stage.clock.advance(1_000)
    expect(times(stage, 'listMigrations')).toEqual([100, 200, 300, 400])
    expect(stage.count('listChangedInstances')).toBe(0)
  })

  it('are cut off when the run stops: none waits for a slow answer', async () => {
    const stage = new Stage()
    stage.instances.clear()
    expect(await stage.ending(awaits(stage, 'i-1', 'instances'))).toBe('INSTANCE_GONE')
    expect(stage.calls.map(({ call }) => call)).toEqual(['listMigrations', 'listChangedInstances', 'getInstance'])
    expect(stage.uncut).toEqual([])
  })

  it('leave nothing at the signal of who waited: one host may have thousands of waiters', async () => {
    const stage = new Stage()
    await stage.ending(awaits(stage, 'i-1', 'migrations', () => true))
    expect(getEventListeners(stage.stop.signal, 'abort')).toEqual([])
  })

  it('begin again when someone waits again', async () => {
    const stage = new Stage()
    for (let time = 0; time < 2; time++)
      expect(await stage.ending(awaits(stage, 'i-1', 'migrations', () => true))).toBe('i-1')
    expect(times(stage, 'listMigrations')).toEqual([100, 200])
  })

  it('begin at once after a restart, and are a tick apart from then on, answered or not', async () => {
    const stage = new Stage()
    const { cloud, clock, observer, signal } = stage.run
    const options = { cloud, clock, observer, host: 'dead', tickMs: 100, signal, cloudTimeMs: 1_000_000 }
    const watch = new HostWatch({ ...options, resumed: true })
    stage.fails('listMigrations', failed('API_UNAVAILABLE'))
    quietly(watch.until('i-1', signal, () => ({ wait: 'migrations' })))
    await stage.clock.advance(450)
    expect(times(stage, 'listMigrations')).toEqual([0, 200, 300, 400])
  })

  it('are one for all that wait', async () => {
    const stage = new Stage()
    for (const id of ['i-1', 'i-2', 'i-3']) quietly(awaits(stage, id, 'migrations'))
    await stage.clock.advance(250)
    expect(times(stage, 'listMigrations')).toEqual([100, 200])
  })

  it('rest twice as long as the last one took, but not longer than five seconds', async () => {
    const stage = new Stage()
    let took = 1_000
    slow(stage, 'listMigrations', () => took)
    quietly(awaits(stage, 'i-1', 'migrations'))
    await stage.clock.advance(3_200)
    expect(times(stage, 'listMigrations')).toEqual([100, 3_100])
    took = 30_000
    await stage.clock.advance(75_000)
    expect(times(stage, 'listMigrations').slice(1)).toEqual([3_100, 6_100, 41_100, 76_100])
  })

  it('that fail are made less and less often, are said, and end nobody (law L7)', async () => {
    const said: unknown[] = []
    const log: Observer['log'] = (level, event, fields, error) =>
      said.push([level, event, fields, (error as Error).message])
    const stage = new Stage({ observer: { log } })
    stage.fails('listMigrations', ...Array.from({ length: 8 }, () => failed('API_FAULT')))
    const waiting = awaits(stage, 'i-1', 'migrations', () => stage.watch.migrationsReadAt > 0)
    expect(await stage.ending(waiting)).toBe('i-1')
    const at = times(stage, 'listMigrations')
    expect(at.map((time, index) => time - (at[index - 1] ?? 0))).toEqual([
      100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000,
    ])
    expect(said[0]).toEqual(['warn', 'watch.read_failed', { host: 'dead' }, 'it was API_FAULT'])
    expect(said).toHaveLength(8)
  })

  it('that fail are told with how many did, and so is the one that comes again', async () => {
    const stage = new Stage()
    const told: unknown[] = []
    stage.watch.tells({
      unread: ({ code }, inARow) => told.push([code, inARow]),
      readAgain: () => told.push('read again'),
    })
    stage.fails('listMigrations', failed('API_FAULT'), failed('AUTH_FORBIDDEN'))
    await stage.ending(awaits(stage, 'i-1', 'migrations', () => stage.watch.migrationsReadAt > 0))
    await stage.ending(awaits(stage, 'i-1', 'migrations', () => true))
    expect(told).toEqual([['API_FAULT', 1], ['AUTH_FORBIDDEN', 2], 'read again'])
  })

  it('that cannot be told of end everybody: the journal may be full', async () => {
    const stage = new Stage()
    const full = (): never => {
      throw failed('JOURNAL_UNAVAILABLE')
    }
    stage.watch.tells({ unread: full, readAgain: full })
    stage.fails('listMigrations', failed('API_FAULT'))
    expect(await stage.ending(awaits(stage, 'i-1', 'migrations'))).toBe('JOURNAL_UNAVAILABLE')
  })

  it('are as frequent as before once Nova answers again', async () => {
    const stage = new Stage()
    stage.fails('listMigrations', failed('API_FAULT'))
    quietly(awaits(stage, 'i-1', 'migrations'))
    await stage.clock.advance(550)
    expect(times(stage, 'listMigrations')).toEqual([100, 300, 400, 500])
  })
})

describe('what was read', () => {
  it('of migrations: those of each instance, oldest first, and the time', async () => {
    const stage = new Stage()
    expect(stage.watch.migrationsReadAt).toBe(-Infinity)
    expect(stage.watch.evacuations('i-1')).toEqual([])
    stage.migrations = [evacuation(3), evacuation(1), evacuation(2, { instanceId: 'i-2' })]
    await stage.ending(awaits(stage, 'i-1', 'migrations', () => true))
    expect(stage.watch.evacuations('i-1').map(({ id }) => id)).toEqual([1, 3])
    expect(stage.watch.evacuations('i-2').map(({ id }) => id)).toEqual([2])
    expect(stage.watch.migrationsReadAt).toBe(100)
    stage.migrations = []
    await stage.ending(awaits(stage, 'i-1', 'migrations', () => true))
    expect(stage.watch.evacuations('i-1')).toEqual([])
  })

  it('of an instance: what was seen last, wherever it was read', async () => {
    const stage = new Stage()
    expect(stage.watch.instance('i-1')).toBeUndefined()
    stage.watch.saw({ ...stage.nova, vmState: 'seen' })
    expect(stage.watch.instance('i-1')?.vmState).toBe('seen')
    expect(await stage.watch.read('i-1')).toBe(stage.nova)
    expect(stage.watch.instance('i-1')).toBe(stage.nova)
    await expect(stage.watch.read('i-9')).rejects.toMatchObject({ code: 'INSTANCE_GONE' })
  })

  it("goes by the cloud's own time", async () => {
    const stage = new Stage()
    await stage.clock.advance(5_000)
    expect(stage.watch.cloudNow()).toBe(Date.parse('2030-01-01T12:00:05Z'))
  })
})

describe('instances', () => {
  it('are listed by what changed since a minute before the survey, and one that is not listed is read', async () => {
    const stage = new Stage()
    stage.shows({ updatedAt: '2030-01-01T11:59:00' })
    stage.instances.set('i-2', instance({ id: 'i-2', updatedAt: '2030-01-01T11:58:59' }))
    const read = (id: string) => awaits(stage, id, 'instances', () => stage.watch.instance(id) !== undefined)
    const both = Promise.all([read('i-1'), read('i-2')])
    expect(await stage.ending(both)).toEqual(['i-1', 'i-2'])
    expect(
      stage.calls.filter(({ call }) => call !== 'listMigrations').map(({ call, args }) => [call, args[0]]),
    ).toEqual([
      ['listChangedInstances', '2030-01-01T11:59:00'],
      ['getInstance', 'i-2'],
    ])
  })

  it('are looked at every two seconds while others are still under way', async () => {
    const stage = new Stage()
    quietly(awaits(stage, 'i-1', 'instances'))
    quietly(awaits(stage, 'i-2', 'migrations'))
    await stage.clock.advance(4_550)
    expect(times(stage, 'listChangedInstances').length).toBe(3)
    const [first, second, third] = times(stage, 'listChangedInstances') as [number, number, number]
    expect([second - first, third - second]).toEqual([2_000, 2_000])
  })

  it('that take long to list are listed again after five times as long, and after four seconds at the latest', async () => {
    const stage = new Stage()
    let tookMs = 600
    slow(stage, 'listChangedInstances', () => tookMs)
    quietly(awaits(stage, 'i-1', 'instances'))
    quietly(awaits(stage, 'i-2', 'migrations'))
    await stage.clock.advance(3_000)
    tookMs = 2_000
    await stage.clock.advance(14_000)
    const at = times(stage, 'listChangedInstances')
    const took = [600, 2_000, 2_000]
    expect(at.slice(1).map((time, index) => time - at[index]! - took[index]!)).toEqual([3_000, 4_000, 4_000])
  })

  it('are listed at most half of the time, even when all wait for them', async () => {
    const stage = new Stage()
    slow(stage, 'listChangedInstances', () => 700)
    quietly(awaits(stage, 'i-1', 'instances'))
    await stage.clock.advance(3_000)
    expect(times(stage, 'listChangedInstances')).toEqual([100, 1_500, 2_900])
  })

  it('are looked at every tick when nobody is waiting for anything else', async () => {
    const stage = new Stage()
    quietly(awaits(stage, 'i-1', 'instances'))
    await stage.clock.advance(450)
    expect(times(stage, 'listChangedInstances')).toEqual([100, 200, 300, 400])
  })

  it('that are gone end those that wait for them, and nobody else', async () => {
    const stage = new Stage()
    const gone = awaits(stage, 'i-9', 'instances')
    let other: unknown = null
    void awaits(stage, 'i-1', 'instances').catch((error: unknown) => (other = error))
    expect(await stage.ending(gone)).toBe('INSTANCE_GONE')
    await stage.clock.advance(1_000)
    expect(other).toBeNull()
  })

  it('that cannot be read end nobody', async () => {
    const stage = new Stage()
    stage.shows({ updatedAt: '2029-01-01T00:00:00' })
    stage.fails('getInstance', failed('API_FAULT'))
    expect(await stage.ending(awaits(stage, 'i-1', 'instances', () => stage.watch.instance('i-1') !== undefined))).toBe(
      'i-1',
    )
  })
})

describe('who waits', () => {
  it('is told what its look throws, and the others wait on', async () => {
    const stage = new Stage()
    const broken = stage.watch.until('i-1', stage.stop.signal, () => {
      throw failed('DESTINATION_DIED')
    })
    let other = false
    void awaits(stage, 'i-2', 'migrations', () => stage.clock.now() >= 300).then(() => (other = true))
    expect(await stage.ending(broken)).toBe('DESTINATION_DIED')
    await stage.clock.advance(500)
    expect(other).toBe(true)
  })

  it('is asked once more when instances were read in the same tick', async () => {
    const stage = new Stage()
    stage.shows({ updatedAt: '2030-01-01T12:00:01' })
    await stage.ending(awaits(stage, 'i-1', 'instances', () => stage.watch.instance('i-1') !== undefined))
    expect(stage.clock.now()).toBe(100)
  })

  it('ends with its own signal, and nobody else does', async () => {
    const stage = new Stage()
    const own = new AbortController()
    const waiting = awaits(stage, 'i-1', 'migrations', () => false, own.signal)
    let other = false
    void awaits(stage, 'i-2', 'migrations', () => stage.clock.now() >= 300).then(() => (other = true))
    await stage.clock.advance(50)
    own.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'SHUTDOWN', certainty: 'unknown' })
    await stage.clock.advance(300)
    expect(other).toBe(true)
    // Nobody waits any more, so nothing is read.
    await stage.clock.advance(1_000)
    expect(times(stage, 'listMigrations')).toEqual([100, 200, 300])
  })

  it('ends with the daemon', async () => {
    const stage = new Stage()
    const own = new AbortController()
    const waiting = awaits(stage, 'i-1', 'migrations', () => false, own.signal)
    await stage.clock.advance(50)
    stage.stop.abort()
    expect(await stage.ending(waiting)).toBe('SHUTDOWN')
    expect(stage.calls).toEqual([])
  })

  it('is not begun with a signal that has aborted', async () => {
    const stage = new Stage()
    await expect(awaits(stage, 'i-1', 'migrations', () => true, AbortSignal.abort())).rejects.toMatchObject({
      code: 'SHUTDOWN',
    })
    expect(stage.calls).toEqual([])
  })

  it('lets go of its signal when it is over: a recovery has thousands of them', async () => {
    const stage = new Stage()
    const held = new Set<unknown>()
    const own = new AbortController()
    own.signal.addEventListener = (_kind: string, listener: unknown) => void held.add(listener)
    own.signal.removeEventListener = (_kind: string, listener: unknown) => void held.delete(listener)
    await stage.ending(awaits(stage, 'i-1', 'migrations', () => true, own.signal))
    await stage.ending(awaits(stage, 'i-9', 'instances', () => false, own.signal))
    expect(held.size).toBe(0)
  })
})

it("the cloud's time goes on from the survey's, however long our own clock has run", async () => {
  const stage = new Stage()
  await stage.clock.advance(5_000)
  const { cloud, clock, observer, signal } = stage.run
  const watch = new HostWatch({ cloud, clock, observer, host: 'dead', tickMs: 100, signal, cloudTimeMs: 1_000_000 })
  await stage.clock.advance(300)
  expect(watch.cloudNow()).toBe(1_000_300)
})

it("the cloud's time is that of now though changes are listed from before a restart on: what is older proves nothing", async () => {
  const stage = new Stage()
  const { cloud, clock, observer, signal } = stage.run
  const told = { cloudTimeMs: Date.parse('2030-01-01T12:30:00Z'), changedSinceMs: Date.parse('2030-01-01T12:00:00Z') }
  const since: string[] = []
  cloud.listChangedInstances = (from) => (since.push(from), Promise.resolve([]))
  const watch = new HostWatch({ cloud, clock, observer, host: 'dead', tickMs: 100, signal, resumed: true, ...told })
  quietly(watch.until('i-1', signal, () => ({ wait: 'instances' })))
  await stage.clock.advance(300)
  expect([new Date(watch.cloudNow()).toISOString(), since[0]]).toEqual([
    '2030-01-01T12:30:00.300Z',
    '2030-01-01T11:59:00',
  ])
})

describe('how long ago an instance was known', () => {
  it('is never before it was seen, and then since it was asked for', async () => {
    const stage = new Stage()
    expect(stage.watch.knownAt('i-1')).toBe(-Infinity)
    await stage.clock.advance(300)
    stage.watch.saw(stage.nova, 200)
    expect(stage.watch.knownAt('i-1')).toBe(200)
    await stage.watch.read('i-1')
    expect(stage.watch.knownAt('i-1')).toBe(300)
  })

  it('is since the last listing of changes: what is not in it did not change', async () => {
    const stage = new Stage()
    stage.instances.set('i-2', instance({ id: 'i-2', updatedAt: '2029-01-01T00:00:00Z' }))
    stage.watch.saw(stage.instances.get('i-2')!, 0)
    quietly(awaits(stage, 'i-1', 'instances'))
    await stage.clock.advance(200)
    expect(stage.watch.knownAt('i-2')).toBe(200)
    expect(stage.watch.knownAt('never seen')).toBe(-Infinity)
  })

  it('is no later for a listing after which an instance could not be read: its cell may be away', async () => {
    const stage = new Stage()
    stage.watch.saw(stage.nova, 0)
    stage.shows({ updatedAt: '2029-01-01T00:00:00Z' })
    stage.fails('getInstance', failed('API_UNAVAILABLE'))
    quietly(awaits(stage, 'i-1', 'instances'))
    await stage.clock.advance(150)
    expect(stage.watch.knownAt('i-1')).toBe(0)
  })
})
