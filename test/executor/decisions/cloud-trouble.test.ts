/** Trouble that is the cloud's and not an instance's: it costs no attempt, it is said, and what is not refused goes on. */
import { describe, expect, it } from 'vitest'
import { ensureError, type ErrorCode } from '../../../src/domain/errors.ts'
import { runStep } from '../../../src/executor/step-runner.ts'
import { Slots } from '../../../src/executor/slots.ts'
import type { StepScene } from '../../../src/executor/step-driver.ts'
import { Actor, ending, leftBehind, retry, run } from './actor.ts'
import { asked, failed, landed, Stage, was } from './stage.ts'

/** Refuses `times` times, then takes. */
function refusing(code: ErrorCode, times: number): Actor {
  const actor = new Actor()
  actor.sends = [...Array.from({ length: times }, () => failed(code)), 'well']
  return actor
}

/** The same step for another instance, maybe of another project. */
function another(stage: Stage, instanceId: string, projectId: string): StepScene {
  const scene = stage.scene()
  const own = { ...scene.plan, instanceId, projectId }
  const base = { incident: 'inc-1', host: 'dead', instance: instanceId }
  stage.run.journal.append([{ kind: 'plan.made', ...base, data: own }])
  return { ...scene, plan: own, recovery: stage.incident.instances.get(instanceId)! }
}

describe('a write that Nova refuses for no reason of the instance', () => {
  it.each(['AUTH_FAILED', 'AUTH_FORBIDDEN', 'CATALOG_MISSING', 'API_UNAVAILABLE', 'API_THROTTLED'] as const)(
    'as %s is sent again however often it fails, and costs no attempt',
    async (code) => {
      const stage = new Stage()
      const actor = refusing(code, 30)
      expect(await stage.clock.run(run(stage, actor, retry({ attempts: 2 })), 24 * 3_600_000)).toEqual(landed)
      expect(actor.sent).toBe(31)
    },
  )

  it('leaves the attempts for what is its own: they are not spent by an outage', async () => {
    const stage = new Stage()
    const actor = new Actor()
    const away = failed('API_THROTTLED')
    actor.sends = [away, away, away, failed('INSTANCE_BUSY'), away, failed('INSTANCE_BUSY'), 'well']
    expect(await ending(stage, actor, retry({ attempts: 2 }))).toBe('INSTANCE_BUSY')
    expect(actor.sent).toBe(6)
  })

  it('is tried ever more rarely, up to five minutes', async () => {
    const stage = new Stage()
    const actor = refusing('AUTH_FORBIDDEN', 8)
    const times: number[] = []
    actor.onSend = () => times.push(stage.clock.now() / 1000)
    await stage.clock.run(run(stage, actor), 3_600_000)
    expect(times).toEqual([0, 10, 30, 70, 150, 310, 610, 910, 1210])
  })

  it('is said once, and its end too', async () => {
    const stage = new Stage()
    await stage.clock.run(run(stage, refusing('AUTH_FORBIDDEN', 3)), 3_600_000)
    const holds = stage.entries.filter(({ kind }) => kind === 'incident.held' || kind === 'incident.continued')
    expect(holds).toMatchObject([
      { kind: 'incident.held', data: { code: 'NOVA_REFUSED' } },
      { kind: 'incident.continued', data: { because: 'NOVA_REFUSED is over' } },
    ])
  })

  it('that is only silence is said when it lasts', async () => {
    const short = new Stage()
    await short.ending(run(short, refusing('API_THROTTLED', 3)))
    expect(short.rows()).not.toContain('incident.held')
    const long = new Stage()
    await long.ending(run(long, refusing('API_THROTTLED', 4)))
    expect(long.entries.find(({ kind }) => kind === 'incident.held')?.data).toMatchObject({ code: 'CLOUD_UNAVAILABLE' })
  })

  it('is tried at once after a reload', async () => {
    let rules = {}
    const stage = new Stage({ rulesInForce: () => rules })
    const actor = refusing('AUTH_FORBIDDEN', 6)
    const running = run(stage, actor)
    await stage.clock.advance(320_000)
    expect(actor.sent).toBe(6)
    actor.sends = ['well']
    rules = {}
    await stage.clock.advance(1_000)
    expect(await running).toEqual(landed)
  })

  it('is not waited for any more once a person cancels', async () => {
    const stage = new Stage()
    const running = run(stage, refusing('AUTH_FORBIDDEN', 99))
    void running.catch(() => undefined)
    await stage.clock.advance(5_000)
    stage.cancel()
    expect(await stage.ending(running)).toBe('CANCELLED')
  })
})

describe('instances of one project', () => {
  async function refusedFor(scenes: StepScene[], stage: Stage, actor: Actor): Promise<Promise<unknown>[]> {
    const runs = scenes.map((scene) => runStep(actor, scene, stage.gate, stage.slots))
    await stage.clock.advance(600_000)
    return runs
  }

  it('try one at a time once five were refused, and all at once when one is taken', async () => {
    const stage = new Stage()
    const actor = refusing('AUTH_FORBIDDEN', 1_000)
    const scenes = Array.from({ length: 50 }, (_, at) => another(stage, `i-${at + 10}`, 'p'))
    const runs = await refusedFor(scenes, stage, actor)
    // Those that had begun together, then one after another.
    expect(actor.sent).toBeLessThan(20)
    actor.sends = ['well']
    expect(await stage.clock.run(Promise.all(runs), 301_000)).toHaveLength(50)
  })

  it('hold up nobody of another project', async () => {
    const stage = new Stage()
    const refused = refusing('AUTH_FORBIDDEN', 1_000)
    const scenes = Array.from({ length: 9 }, (_, at) => another(stage, `i-${at + 10}`, 'p'))
    for (const waiting of await refusedFor(scenes, stage, refused)) void waiting.catch(() => undefined)
    const other = runStep(new Actor(), another(stage, 'i-99', 'q'), stage.gate, stage.slots)
    expect(await stage.ending(other)).toEqual(landed)
    expect(stage.incident.held?.code).toBe('NOVA_REFUSED')
    stage.stop.abort()
  })
})

describe('the one that tries for all of its project', () => {
  it('leaves the door to another when it is left itself', async () => {
    let left: string | null = null
    const stage = new Stage({
      plans: {
        stands: () => true,
        refresh: ({ plan }) => (plan.instanceId === left ? Promise.reject(failed('RULES_CHANGED')) : Promise.resolve()),
      },
    })
    const actor = refusing('API_UNAVAILABLE', 1_000)
    const runs = Array.from({ length: 6 }, (_, at) => {
      const scene = another(stage, `i-${at + 10}`, 'p')
      return runStep(actor, scene, stage.gate, stage.slots).catch((error: unknown) => ensureError(error).code)
    })
    left = 'i-10'
    await stage.clock.advance(600_000)
    actor.sends = ['well']
    expect(await stage.clock.run(Promise.all(runs), 120_000)).toEqual(['RULES_CHANGED', ...Array(5).fill(landed)])
    expect(stage.incident.held).toBeNull()
  })

  it('tells of the outage when it is refused as well: no instance need be refused four times', async () => {
    const stage = new Stage()
    const actor = refusing('API_THROTTLED', 1_000)
    const scenes = Array.from({ length: 9 }, (_, at) => another(stage, `i-${at + 10}`, 'p'))
    for (const scene of scenes) void runStep(actor, scene, stage.gate, stage.slots).catch(() => undefined)
    await stage.clock.advance(900)
    expect([actor.sent, stage.incident.held]).toEqual([9, null])
    await stage.clock.advance(60_000)
    expect(stage.incident.held?.code).toBe('CLOUD_UNAVAILABLE')
    stage.stop.abort()
  })
})

describe('an instance that cannot be read', () => {
  it('keeps no room: others go on, and it is tried again without end', async () => {
    const stage = new Stage()
    const narrow = new Slots(Slots.shared(1), 1, 0)
    const unread = new Actor()
    unread.prepares = [...Array.from({ length: 20 }, () => failed('API_FAULT')), { before: was, request: asked }]
    const first = runStep(unread, stage.scene(), stage.gate, narrow)
    expect(await stage.ending(runStep(new Actor(), another(stage, 'i-9', 'q'), stage.gate, narrow))).toEqual(landed)
    expect(await stage.ending(first, 3_600_000)).toEqual(landed)
    expect(stage.rows()).toContain('incident.held')
  })

  it('is not waited for after a cancel where nothing of ours is on it', async () => {
    const stage = new Stage()
    const unread = new Actor()
    unread.prepares = [failed('API_FAULT')]
    const unlocks = run(stage, unread, {}, 'closes')
    await stage.clock.advance(1_000)
    stage.cancel()
    const from = stage.clock.now()
    expect(await stage.ending(unlocks)).toBe('API_FAULT')
    expect(stage.clock.now() - from).toBeLessThan(60_000)
  })

  it('is waited for a while after a cancel where something of ours is: a hiccup leaves no lock', async () => {
    const stage = new Stage()
    await leftBehind(stage, 'intended', 'issued', 'confirmed')
    const unread = new Actor()
    unread.prepares = [...Array.from({ length: 8 }, () => failed('API_FAULT')), { before: was, request: asked }]
    stage.cancel()
    expect(await stage.ending(run(stage, unread, { id: 'undo' }, 'closes'))).toEqual(landed)
  })
})

describe('readings by which all evacuations are followed', () => {
  it('are told when four in a row failed, and when they come again', () => {
    const stage = new Stage()
    const away = failed('API_FAULT')
    for (const inARow of [1, 2, 3]) stage.trouble.unread(away, inARow)
    expect(stage.incident.held).toBeNull()
    stage.trouble.unread(away, 4)
    expect(stage.incident.held?.code).toBe('CLOUD_UNAVAILABLE')
    stage.trouble.readAgain()
    expect(stage.incident.held).toBeNull()
  })

  it.each([
    ['FROZEN', 'API_FAULT'],
    ['FROZEN', 'AUTH_FAILED'],
    ['PAUSED', 'AUTH_FORBIDDEN'],
    ['FENCE_FAILED', 'API_FAULT'],
  ] as const)(
    'say nothing over what the gate says: %s and %s would be written in turn, without end',
    (held, unread) => {
      const stage = new Stage()
      const data = { code: held, message: 'it waits' }
      stage.run.journal.append([{ kind: 'incident.held', incident: 'inc-1', host: 'dead', data }])
      stage.trouble.unread(failed(unread), 9)
      expect(stage.incident.held?.code).toBe(held)
    },
  )
})

describe('a write of which nobody may be asked what became', () => {
  it('is waited for ten minutes of silence once a person cancels, and is not sent again', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [failed('API_TIMEOUT', { certainty: 'unknown' })]
    actor.settles = [failed('API_FAULT')]
    const running = run(stage, actor)
    void running.catch(() => undefined)
    await stage.clock.advance(1_000)
    stage.cancel()
    await stage.clock.advance(590_000)
    expect(stage.rows()).not.toContain('step.failed API_FAULT')
    await expect(stage.clock.run(running, 120_000)).rejects.toMatchObject({ certainty: 'unknown' })
    expect(actor.sent).toBe(1)
  })

  it('has its time and no more once a person cancels, however long it cannot be read', async () => {
    const stage = new Stage()
    await leftBehind(stage, 'intended', 'issued')
    const actor = new Actor()
    actor.follows = [failed('API_FAULT')]
    const running = run(stage, actor, { deadlineMs: 60_000 })
    void running.catch(() => undefined)
    await stage.clock.advance(300_000)
    expect(stage.rows()).not.toContain('step.failed EVACUATION_STALLED')
    stage.cancel()
    expect(await stage.ending(running, 61_000)).toBe('EVACUATION_STALLED')
  })

  it('is read on after a cancel while a proxy answers in the place of Nova', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [failed('API_TIMEOUT', { certainty: 'unknown' })]
    actor.settles = [...Array.from({ length: 3 }, () => failed('API_MALFORMED')), { applied: true }]
    const running = run(stage, actor)
    await stage.clock.advance(1_000)
    stage.cancel()
    expect(await stage.ending(running)).toEqual(landed)
  })

  it('waits until Nova may be read, and is not sent again', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [failed('API_TIMEOUT', { certainty: 'unknown' })]
    actor.settles = [failed('AUTH_FORBIDDEN'), failed('AUTH_FORBIDDEN'), { applied: true }]
    expect(await ending(stage, actor)).toEqual(landed)
    expect(actor.sent).toBe(1)
  })

  it('may take longer than its time: what nobody could see does not count', async () => {
    const stage = new Stage()
    await leftBehind(stage, 'intended', 'issued')
    const actor = new Actor()
    actor.follows = [...Array.from({ length: 9 }, () => failed('AUTH_FORBIDDEN')), 'well']
    expect(await stage.clock.run(run(stage, actor, { deadlineMs: 60_000 }), 3_600_000)).toEqual(landed)
  })
})
