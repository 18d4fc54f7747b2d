/** One step that a crash, its time limit, a stop or the gate came between: what its rows say then (laws L2, L3, L10). */
import { describe, expect, it } from 'vitest'
import { failed, landed, Stage } from './stage.ts'
import { Actor, retry, run, ending, landedBefore, leftBehind } from './actor.ts'

describe('a step that a crash left behind', () => {
  it('confirmed: its result stands', async () => {
    const stage = new Stage()
    const actor = new Actor()
    await leftBehind(stage, 'intended', 'issued', 'confirmed')
    expect(await ending(stage, actor)).toEqual(landedBefore)
    expect([actor.sent, actor.followedFrom]).toEqual([0, []])
  })

  it('issued: it is followed', async () => {
    const stage = new Stage()
    const actor = new Actor()
    await leftBehind(stage, 'intended', 'issued')
    expect(await ending(stage, actor)).toEqual(landed)
    expect([actor.sent, actor.quiet, actor.followedFrom]).toEqual([0, [], ['issued req-old']])
  })

  it('intended, and it was taken: it is followed and not sent again', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.settles = [{ applied: true }]
    await leftBehind(stage, 'intended')
    expect(await ending(stage, actor)).toEqual(landed)
    expect([actor.sent, actor.quiet, actor.followedFrom]).toEqual([0, [1_000], ['issued found']])
  })

  it('intended, and it was not taken: the attempt has failed, and only another may send', async () => {
    const stage = new Stage()
    const actor = new Actor()
    await leftBehind(stage, 'intended')
    expect(await ending(stage, actor, retry())).toEqual(landed)
    expect(stage.recovery.steps.get('0.go.go.1')?.error).toMatchObject({
      code: 'API_UNAVAILABLE',
      certainty: 'not-applied',
      retry: 'backoff',
    })
    expect([actor.sent, stage.recovery.steps.get('0.go.go.2')?.status]).toEqual([1, 'confirmed'])
  })

  it('intended, and it cannot be settled: it has failed', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.settles = [failed('INSTANCE_GONE')]
    await leftBehind(stage, 'intended')
    expect(await ending(stage, actor)).toBe('INSTANCE_GONE')
    expect(stage.rows().at(-1)).toBe('step.failed INSTANCE_GONE')
  })

  it('is reconciled whatever holds: its write is out', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.settles = [{ applied: true }]
    stage.permission = { allowed: false, hold: 'PAUSED', message: '' }
    await leftBehind(stage, 'intended')
    expect(await ending(stage, actor)).toEqual(landed)
  })
})

describe('the time limit of a step', () => {
  it.each([
    ['evacuate', 'EVACUATION_STALLED'],
    ['start', 'STEP_TIMEOUT'],
  ] as const)('over %s says %s, and nobody knows', async (kind, code) => {
    const stage = new Stage()
    const actor = new Actor()
    actor.following = new Promise(() => undefined)
    const running = run(stage, actor, { do: kind, deadlineMs: 5_000, ...retry({ on: [code] }) })
    const seen = expect(running).rejects.toMatchObject({
      code,
      certainty: 'unknown',
      message: expect.stringContaining('5 s'),
    })
    await stage.clock.advance(4_999)
    expect(stage.rows()).toEqual(['step.intended', 'step.issued'])
    await stage.clock.advance(1)
    expect(actor.followedBy!.aborted).toBe(true)
    await seen
    expect(stage.rows().at(-1)).toBe(`step.failed ${code}`)
  })

  it('is whole again after the process stood still: nothing was read meanwhile', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.following = new Promise(() => undefined)
    const running = run(stage, actor, { deadlineMs: 5_000 })
    const seen = expect(running).rejects.toMatchObject({ code: 'EVACUATION_STALLED' })
    await stage.clock.advance(4_000)
    stage.stoodStillUntil = stage.clock.now()
    await stage.clock.advance(4_999)
    expect(stage.rows()).toEqual(['step.intended', 'step.issued'])
    await stage.clock.advance(1)
    await seen
  })

  it('is whole again once, not after each standstill: a machine that is frozen every hour ends no step otherwise', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.following = new Promise(() => undefined)
    const running = run(stage, actor, { deadlineMs: 3_600_000 })
    const seen = expect(running).rejects.toMatchObject({ code: 'EVACUATION_STALLED' })
    for (let hours = 0; hours < 2; hours++) {
      await stage.clock.advance(3_000_000)
      stage.stoodStillUntil = stage.clock.now()
    }
    await stage.clock.advance(600_000)
    await seen
  })

  it('leaves a minute to read how it ended, after one more standstill that outlasted it', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.following = new Promise(() => undefined)
    const running = run(stage, actor, { deadlineMs: 600_000 })
    const seen = expect(running).rejects.toMatchObject({ code: 'EVACUATION_STALLED' })
    await stage.clock.advance(300_000)
    stage.stoodStillUntil = stage.clock.now()
    await stage.clock.advance(500_000)
    stage.clock.leap(3_600_000)
    await stage.clock.advance(59_999)
    expect(stage.rows()).toEqual(['step.intended', 'step.issued'])
    await stage.clock.advance(1)
    await seen
  })

  it('is over with the step', async () => {
    const stage = new Stage()
    await ending(stage, new Actor(), { deadlineMs: 5_000 })
    await stage.clock.advance(10_000)
    expect(stage.rows().at(-1)).toBe('step.confirmed')
  })

  it('is not what ended it when the daemon stops: the rows stay open', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.following = new Promise(() => undefined)
    const running = run(stage, actor)
    void running.catch(() => undefined)
    await stage.clock.advance(1_000)
    stage.stop.abort()
    expect(await stage.ending(running)).toBe('SHUTDOWN')
    expect(stage.rows()).toEqual(['step.intended', 'step.issued'])
  })
})

describe('what ends the whole run', () => {
  it('is no failure of the step: its rows stay open', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.follows = [failed('JOURNAL_UNAVAILABLE')]
    expect(await ending(stage, actor)).toBe('JOURNAL_UNAVAILABLE')
    expect(stage.rows()).toEqual(['step.intended', 'step.issued'])
  })

  it.each(['SHUTDOWN', 'JOURNAL_UNAVAILABLE'] as const)('is passed on as it is: %s', async (code) => {
    const end = failed(code)
    const stage = new Stage()
    const actor = new Actor()
    actor.follows = [end]
    await expect(run(stage, actor)).rejects.toBe(end)
  })

  it('leaves it unknown what became of the step', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.onSend = () => stage.stop.abort()
    actor.following = new Promise(() => undefined)
    await expect(run(stage, actor)).rejects.toMatchObject({ code: 'SHUTDOWN', certainty: 'unknown' })
  })

  it('is seen also when it came while the write was sent', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.onSend = () => stage.stop.abort()
    actor.following = new Promise(() => undefined)
    expect(await ending(stage, actor)).toBe('SHUTDOWN')
    expect(stage.rows()).toEqual(['step.intended', 'step.issued'])
  })
})

describe('what the gate holds', () => {
  const paused = { allowed: false, hold: 'PAUSED', message: '' } as const

  it('waits without a slot, so that others go on', async () => {
    const stage = new Stage()
    const actor = new Actor()
    stage.permission = paused
    const running = run(stage, actor)
    await stage.clock.advance(1_000)
    let other = false
    await stage.slots.run(stage.recovery.plan, async () => (other = true))
    expect([other, actor.sent]).toEqual([true, 0])
    stage.permission = { allowed: true }
    expect(await stage.ending(running)).toEqual(landed)
  })

  it('is not sent when it is held while it is prepared, and is prepared again afterwards', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.onBefore = () => (stage.permission = paused)
    const running = run(stage, actor)
    await stage.clock.advance(1_000)
    expect([actor.sent, stage.rows()]).toEqual([0, ['incident.held']])
    actor.onBefore = () => undefined
    stage.permission = { allowed: true }
    expect(await stage.ending(running)).toEqual(landed)
    expect(stage.rows()).toEqual([
      'incident.held',
      'incident.continued',
      'step.intended',
      'step.issued',
      'step.confirmed',
    ])
  })

  it('is not begun when the gate shut while it waited for its slot', async () => {
    const stage = new Stage()
    const actor = new Actor()
    let prepared = 0
    actor.onBefore = () => prepared++
    let letGo = (): void => undefined
    const { slots } = stage
    for (let count = 0; count < 8; count++)
      void slots.run(stage.recovery.plan, () => new Promise<void>((resolve) => (letGo = both(letGo, resolve))))
    const running = run(stage, actor)
    await stage.clock.advance(10)
    stage.permission = paused
    letGo()
    await stage.clock.advance(1_000)
    expect([prepared, stage.rows()]).toEqual([0, ['incident.held']])
    stage.permission = { allowed: true }
    expect(await stage.ending(running)).toEqual(landed)
  })

  it('a closing step of a cancelled incident goes on', async () => {
    const stage = new Stage()
    stage.cancel()
    expect(await stage.ending(run(stage, new Actor(), {}, 'closes'))).toEqual(landed)
    const other = new Stage()
    other.cancel()
    expect(await other.ending(Promise.resolve().then(() => run(other, new Actor())))).toBe('CANCELLED')
  })
})

function both(first: () => void, second: () => void): () => void {
  return () => {
    first()
    second()
  }
}

describe('a step whose time is over', () => {
  it('is followed on while what it waits for has an end of its own, and is given up with where it stands when that is over', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.following = new Promise(() => undefined)
    actor.late = { goesOn: true, where: null, details: {} }
    const running = run(stage, actor, { deadlineMs: 10_000 }).catch((error: unknown) => error)
    await stage.clock.advance(35_000)
    expect([actor.followedFrom.length, stage.rows()]).toEqual([4, ['step.intended', 'step.issued']])
    actor.late = { goesOn: false, where: 'it stands at accepted', details: { migration: 'm-1' } }
    await stage.clock.advance(10_000)
    expect(await running).toMatchObject({ code: 'EVACUATION_STALLED' })
    expect(stage.entries.at(-1)?.data).toMatchObject({
      error: { message: 'evacuate did not end within 10 s: it stands at accepted', details: { migration: 'm-1' } },
    })
  })
})
