/** The last look at an instance before its first evacuation: nobody else's is doubled (law L5), and it costs little. */
import { describe, expect, it } from 'vitest'
import { errorRecord } from '../../../src/domain/errors.ts'
import type { Instance } from '../../../src/domain/instance.ts'
import { evacuate } from '../../../src/executor/steps/evacuate.ts'
import { asked as sent, evacuation, failed, record, Stage } from './stage.ts'

const prepared = (stage: Stage, step = {}) => stage.ending(evacuate.before(stage.scene(step)))
const asked = (stage: Stage): string[] => stage.calls.map(({ call }) => call)

/** Surveyed, and then nothing was heard of it for so long. */
async function waited(ms: number, changes: Partial<Instance> = {}): Promise<Stage> {
  const stage = new Stage()
  stage.watch.surveyed([stage.nova], [], 0)
  await stage.clock.advance(ms)
  stage.shows(changes)
  return stage
}

const long = 60_000

describe('what was read a moment ago', () => {
  it('is good for a second: nothing is asked', async () => {
    const stage = await waited(1_000)
    expect(await prepared(stage)).toHaveProperty('request')
    expect(asked(stage)).toEqual([])
  })

  it('is good also long after the start of the daemon', async () => {
    const stage = await waited(long)
    stage.watch.surveyed([stage.nova], [], stage.clock.now())
    await stage.clock.advance(1_000)
    expect(await prepared(stage)).toHaveProperty('request')
    expect(asked(stage)).toEqual([])
  })

  it('is listed again after that, the host and its evacuations', async () => {
    const stage = await waited(1_001, { powerState: 4 })
    expect(await prepared(stage)).toMatchObject({ before: { powerState: 4 } })
    expect(asked(stage)).toEqual(['listInstances', 'listMigrations'])
    expect(stage.calls[1]?.args).toEqual([{ sourceHost: 'dead', type: 'evacuation' }])
    expect(stage.uncut).toEqual([])
  })

  it('is listed once for all who ask within a second', async () => {
    const stage = await waited(long)
    await Promise.all([prepared(stage), prepared(stage)])
    await stage.clock.advance(1_000)
    await prepared(stage)
    expect(asked(stage)).toEqual(['listInstances', 'listMigrations'])
  })

  it.each([
    { tookMs: 1_500, isGoodForMs: 3_000 },
    { tookMs: 4_000, isGoodForMs: 5_000 },
  ])('is good for $isGoodForMs ms where Nova needs $tookMs ms to answer', async ({ tookMs, isGoodForMs }) => {
    const stage = await waited(long)
    stage.watch.surveyed([stage.nova], [], stage.clock.now() - tookMs)
    await stage.clock.advance(isGoodForMs - tookMs)
    await prepared(stage)
    expect(asked(stage)).toEqual([])
    await stage.clock.advance(1)
    await prepared(stage)
    expect(asked(stage)).toEqual(['listInstances', 'listMigrations'])
  })

  it('is read by itself where the listing of the host does not have it', async () => {
    const stage = await waited(long, { host: 'elsewhere' })
    await prepared(stage)
    expect(asked(stage)).toEqual(['listInstances', 'listMigrations', 'getInstance', 'listMigrations'])
    expect(stage.calls[3]?.args).toEqual([{ sourceHost: 'dead', type: 'evacuation', instanceId: 'i-1' }])
  })

  it('of the instance alone is not enough: its own steps read it again and again, and not its evacuations', async () => {
    const stage = await waited(long)
    stage.watch.saw(stage.nova)
    stage.migrations = [evacuation(1)]
    expect(await prepared(stage)).toBe('EVACUATION_STALLED')
  })

  it('is nothing after a restart', async () => {
    const stage = new Stage()
    await prepared(stage)
    expect(asked(stage)).toEqual(['listInstances', 'listMigrations'])
  })

  it.each(['rebuilding', 'rebuild_block_device_mapping'])(
    'is not enough where a task says %s: its owner may do that, an evacuation of others may not',
    async (taskState) => {
      const stage = await waited(1_000)
      stage.watch.saw({ ...stage.nova, taskState })
      stage.shows({ taskState: 'rebuild_spawning' })
      expect(await prepared(stage)).toMatchObject({ before: { taskState: 'rebuild_spawning' } })
      expect(asked(stage)).toEqual(['listInstances', 'listMigrations', 'getInstance', 'listMigrations'])
    },
  )

  it('is enough where it was being rebuilt in the survey', async () => {
    const stage = new Stage()
    const { original } = stage.recovery.plan
    stage.plans({ original: { ...original, instance: { ...original.instance, taskState: 'rebuilding' } } })
    stage.watch.surveyed([{ ...stage.nova, taskState: 'rebuilding' }], [], 0)
    expect(await prepared(stage)).toHaveProperty('request')
    expect(asked(stage)).toEqual([])
  })
})

describe('an evacuation that someone else began', () => {
  it.each(['accepted', 'pre-migrating', 'failed'])(
    'forbids ours (%s), and nobody may route around it',
    async (status) => {
      const stage = await waited(long)
      stage.migrations = [evacuation(1, { status, destHost: null })]
      await expect(evacuate.before(stage.scene())).rejects.toMatchObject({
        code: 'EVACUATION_STALLED',
        certainty: 'unknown',
        message: expect.stringContaining(`no host yet, ${status}`),
        details: { foreign: 'm-1' },
      })
    },
  )

  it('is seen without being asked for while the watch reads', async () => {
    const stage = await waited(0)
    stage.migrations = [evacuation(1)]
    void stage.watch.until('i-2', stage.stop.signal, () => ({ wait: 'migrations' as const })).catch(() => undefined)
    await stage.clock.advance(100)
    expect(await prepared(stage)).toBe('EVACUATION_STALLED')
    expect(asked(stage)).toEqual(['listMigrations'])
  })

  it('and that has arrived is told as such', async () => {
    const stage = await waited(long, { host: 'elsewhere' })
    stage.migrations = [evacuation(1, { status: 'done' })]
    expect(await prepared(stage)).toBe('EVACUATION_STALLED')
  })

  it.each([
    { status: 'failed', prevents: true },
    { status: 'error', prevents: false },
  ])('since the incident began is no leftover, unless it found no host ($status)', async ({ status, prevents }) => {
    const stage = await waited(long)
    stage.plans({ original: { ...stage.recovery.plan.original, knownEvacuations: ['m-1'] } })
    const createdAt = new Date(Date.parse(stage.incident.openedAt) + 1_000).toISOString()
    stage.migrations = [evacuation(1, { status, createdAt })]
    const found = await prepared(stage)
    if (prevents) expect(found).toBe('EVACUATION_STALLED')
    else expect(found).toHaveProperty('request')
  })

  it("before the survey is the plan's to judge", async () => {
    const stage = await waited(long)
    stage.plans({ original: { ...stage.recovery.plan.original, knownEvacuations: ['m-1'] } })
    stage.migrations = [evacuation(1, { status: 'done' })]
    expect(await prepared(stage)).toMatchObject({ before: { spentEvacuations: ['m-1'] } })
  })

  it('is looked for also after a try that could not be prepared: that one sent nothing', async () => {
    const stage = await waited(long)
    stage.recovery.steps.set('0.go.go.1', record({ status: 'failed', before: null }))
    stage.migrations = [evacuation(1)]
    expect(await prepared(stage)).toBe('EVACUATION_STALLED')
  })
})

describe('an instance that', () => {
  it.each(['elsewhere', null])(
    'was moved meanwhile (to %s) is not evacuated from where it is no more',
    async (host) => {
      const stage = await waited(long, { host })
      await expect(evacuate.before(stage.scene())).rejects.toMatchObject({
        code: 'STATE_MISMATCH',
        message: expect.stringContaining(host ?? 'no host'),
      })
    },
  )

  it('went to ERROR meanwhile is reset first: from there it would land running whatever is asked for', async () => {
    const stage = await waited(long, { vmState: 'error' })
    await expect(evacuate.before(stage.scene())).rejects.toMatchObject({ code: 'EVACUATION_FAILED', retry: 'backoff' })
    const { original } = stage.recovery.plan
    stage.plans({ original: { ...original, instance: { ...original.instance, vmState: 'error' } } })
    expect(await prepared(stage)).toHaveProperty('request')
  })

  it('is gone is gone', async () => {
    const stage = await waited(long)
    stage.instances.clear()
    expect(await prepared(stage)).toBe('INSTANCE_GONE')
    // As an admin sees it for a while: on no host, which is no move.
    expect(await prepared(await waited(long, { vmState: 'deleted', host: null }))).toBe('INSTANCE_GONE')
  })

  it('may not be read is not evacuated blindly, and the step is tried again', async () => {
    const stage = await waited(long)
    const refused = failed('NOT_FOUND')
    stage.fails('listInstances', refused)
    await expect(evacuate.before(stage.scene())).rejects.toMatchObject({
      code: 'API_UNAVAILABLE',
      certainty: 'not-applied',
      retry: 'backoff',
      cause: refused,
    })
  })

  it('may not be read by anybody keeps the reason, which is not its own', async () => {
    const stage = await waited(long)
    stage.fails('listInstances', failed('AUTH_FORBIDDEN'))
    expect(await prepared(stage)).toBe('AUTH_FORBIDDEN')
  })

  it('cannot be read as the daemon stops is left for the next start', async () => {
    const stage = await waited(long)
    stage.stop.abort()
    expect(await prepared(stage)).toBe('SHUTDOWN')
  })
})

describe('an order of its owner that came after the survey', () => {
  it('to stop it is kept on record, and it lands stopped', async () => {
    const stage = await waited(long, { taskState: 'powering-off' })
    expect(await prepared(stage, { landing: 'as-before' })).toMatchObject({
      request: { landing: 'stopped', ordered: 'stop' },
    })
  })

  it('holds for later attempts and for what is sent, although Nova has forgotten it by then', async () => {
    const stage = await waited(long)
    stage.recovery.steps.set('0.go.go.1', record({ status: 'failed', request: { ...sent, ordered: 'stop' } }))
    expect(await prepared(stage, { landing: 'as-before' })).toMatchObject({ request: { landing: 'stopped' } })
    await evacuate.send(stage.scene({ landing: 'as-before' }), {})
    expect(stage.calls.at(-1)?.args[1]).toEqual({ landing: 'stopped' })
  })

  it('gives way where this Nova cannot land it stopped: it must come back all the same', async () => {
    const stage = await waited(long)
    const error = errorRecord(failed('MICROVERSION_UNSUPPORTED'))
    stage.recovery.steps.set('0.go.go.1', record({ status: 'failed', request: { ...sent, ordered: 'stop' }, error }))
    expect(await prepared(stage, { landing: 'as-before' })).toMatchObject({ request: { landing: 'as-before' } })
  })

  it('to start it changes no landing', async () => {
    const stage = await waited(long, { taskState: 'powering-on' })
    stage.plans({ expected: 'stopped' })
    expect(await prepared(stage)).toMatchObject({ request: { landing: 'stopped', ordered: 'start' } })
  })
})
