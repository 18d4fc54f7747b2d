/** One step: its rows, and what follows from where they stand (laws L2, L3). The driver is a test's: it only answers. */
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../../src/domain/entry.ts'
import type { RecipeStep } from '../../../src/domain/plan.ts'
import { stepKey } from '../../../src/executor/attempt.ts'
import type { VirtualClock } from '../../../src/simulator/virtual-clock.ts'
import { asked, failed, landed, Stage, was } from './stage.ts'
import type { Answer } from './actor.ts'
import { Actor, retry, run, ending, leftBehind } from './actor.ts'

describe('a step', () => {
  it('is intended, sent, issued, followed and confirmed, in this order', async () => {
    const stage = new Stage()
    const actor = new Actor()
    let rowsWhenSent: string[] = []
    actor.onSend = () => (rowsWhenSent = stage.rows())
    expect(await ending(stage, actor)).toEqual(landed)
    expect(rowsWhenSent).toEqual(['step.intended'])
    expect(stage.rows()).toEqual(['step.intended', 'step.issued', 'step.confirmed'])
    const [intended, issued, confirmed] = stage.entries.slice(2) as [Entry, Entry, Entry]
    expect(intended).toMatchObject({
      incident: 'inc-1',
      host: 'dead',
      instance: 'i-1',
      step: '0.go.go.1',
      data: { kind: 'evacuate', attempt: 1, before: was, request: asked },
    })
    const { globalRequestId } = intended.data as { globalRequestId: string }
    expect(actor.sentAs).toMatchObject([{ globalRequestId }])
    expect([issued.data, confirmed.data]).toEqual([
      { requestId: 'req-1', globalRequestId },
      { result: landed, globalRequestId },
    ])
    expect(actor.followedFrom).toEqual(['issued req-1'])
  })

  it('has a key of its own in each round, recipe and attempt', async () => {
    const stage = new Stage()
    const scene = stage.scene({ id: 'x' })
    expect(stepKey(scene, 2)).toBe('0.go.x.2')
    stage.recovery.round = 3
    stage.recovery.recipe = null
    expect(stepKey(scene, 1)).toBe('3.none.x.1')
  })

  it('with nothing to do is confirmed without being sent', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.prepares = [{ nothingToDo: was }]
    expect(await ending(stage, actor)).toEqual({ nothingToDo: was })
    expect([actor.sent, stage.rows()]).toEqual([0, ['step.intended', 'step.confirmed']])
  })

  it('that adopts an earlier write follows that one and sends nothing', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.prepares = [{ before: was, request: asked, adopt: 'm-1' }]
    expect(await ending(stage, actor)).toEqual(landed)
    expect([actor.sent, actor.followedFrom]).toEqual([0, ['issued null']])
    expect(stage.rows()).toEqual(['step.intended', 'step.issued', 'step.confirmed'])
  })

  it('that could not be prepared is written down as such, both rows at once', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.prepares = [failed('STATE_MISMATCH')]
    expect(await ending(stage, actor)).toBe('STATE_MISMATCH')
    expect([actor.sent, stage.rows()]).toEqual([0, ['step.intended', 'step.failed STATE_MISMATCH']])
  })

  it.each(['SHUTDOWN', 'JOURNAL_UNAVAILABLE'] as const)('leaves no row when %s ends its preparation', async (code) => {
    const stage = new Stage()
    const actor = new Actor()
    actor.prepares = [failed(code)]
    expect(await ending(stage, actor)).toBe(code)
    expect(stage.rows()).toEqual([])
  })
})

describe('a step that was refused', () => {
  it('has failed, and the error keeps what is known of it', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [failed('HOST_STILL_UP', { retry: 'after', details: { why: 'task' } })]
    await expect(run(stage, actor)).rejects.toMatchObject({
      code: 'HOST_STILL_UP',
      certainty: 'not-applied',
      retry: 'after',
      details: { why: 'task' },
      message: 'it was HOST_STILL_UP',
    })
    expect(stage.rows()).toEqual(['step.intended', 'step.failed HOST_STILL_UP'])
    expect(actor.quiet).toEqual([])
  })

  it.each(['INSTANCE_BUSY', 'API_REFUSED'] as const)(
    'with %s is looked for: a proxy that sends twice hands on the refusal of the second',
    async (code) => {
      const stage = new Stage()
      const actor = new Actor()
      actor.sends = [failed(code)]
      expect(await ending(stage, actor)).toBe(code)
      expect(actor.quiet).toHaveLength(1)
    },
  )

  it('is tried again as its policy says: on these codes, so often, with growing pauses', async () => {
    const stage = new Stage()
    const actor = new Actor()
    const times: number[] = []
    actor.onSend = () => times.push(stage.clock.now())
    actor.sends = [failed('INSTANCE_BUSY')]
    expect(await ending(stage, actor, retry())).toBe('INSTANCE_BUSY')
    expect(times).toEqual([0, 1_000, 3_000, 6_000])
    expect([...stage.recovery.steps.keys()]).toEqual(['0.go.go.1', '0.go.go.2', '0.go.go.3', '0.go.go.4'])
    expect([...stage.recovery.steps.values()].map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4])
  })

  it('is not tried again on another code', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [failed('API_REFUSED')]
    expect(await ending(stage, actor, retry())).toBe('API_REFUSED')
    expect(actor.sent).toBe(1)
  })

  it('is not tried again while nobody knows whether it was taken (law L3)', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.follows = [failed('INSTANCE_BUSY', { certainty: 'unknown' })]
    expect(await ending(stage, actor, retry())).toBe('INSTANCE_BUSY')
    expect(actor.sent).toBe(1)
  })

  it('that failed before a restart is not sent again under the same key, and its pause is not waited for again', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [failed('INSTANCE_BUSY')]
    await ending(stage, actor, retry({ attempts: 2, firstMs: 0 }))
    actor.sends = ['well']
    const from = stage.clock.now()
    expect(await ending(stage, actor, retry())).toEqual(landed)
    expect([actor.sent, stage.clock.now() - from]).toEqual([3, 0])
    expect(stage.recovery.steps.get('0.go.go.3')?.status).toBe('confirmed')
  })

  it('is not tried again when the daemon stops in the pause', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [failed('INSTANCE_BUSY')]
    const running = run(stage, actor, retry())
    void running.catch(() => undefined)
    await stage.clock.advance(500)
    stage.stop.abort()
    expect(await stage.ending(running)).toBe('SHUTDOWN')
    expect(actor.sent).toBe(1)
  })
})

describe('a step whose answer was lost (law L3)', () => {
  const unknown = failed('API_TIMEOUT', { certainty: 'unknown' })

  it('is reconciled by reading: taken, so it is followed and never sent again', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [unknown]
    actor.settles = [{ applied: true }]
    expect(await ending(stage, actor, retry())).toEqual(landed)
    expect([actor.sent, actor.quiet, actor.followedFrom]).toEqual([1, [1_000], ['issued found']])
    expect(stage.rows()).toEqual(['step.intended', 'step.issued', 'step.confirmed'])
  })

  it('is reconciled by reading: not taken, so it may be sent again', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [unknown, 'well']
    expect(await ending(stage, actor, retry())).toEqual(landed)
    expect(actor.sent).toBe(2)
    expect(stage.rows().slice(0, 2)).toEqual(['step.intended', 'step.failed API_UNAVAILABLE'])
    expect(stage.recovery.steps.get('0.go.go.1')?.error).toMatchObject({ certainty: 'not-applied', retry: 'backoff' })
  })

  it('is looked for after a 503 too, though not for so long, and the 503 stays the reason', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [failed('API_UNAVAILABLE', { retry: 'after' }), 'well']
    expect(await ending(stage, actor)).toEqual(landed)
    expect(actor.quiet).toEqual([200])
    expect(stage.recovery.steps.get('0.go.go.1')?.error).toMatchObject({
      message: 'it was API_UNAVAILABLE',
      retry: 'after',
    })
  })

  it('that Nova has begun is waited for whatever was answered: a proxy may refuse a second copy of it', async () => {
    const stage = new Stage()
    stage.run.settings.longestRequestMs = 60_000
    const actor = new Actor()
    actor.sends = [failed('API_UNAVAILABLE', { details: { status: 503 } }), 'well']
    actor.settles = [{ applied: false, begun: true }, { applied: false, begun: true }, { applied: true }]
    expect(await ending(stage, actor, retry())).toEqual(landed)
    expect([actor.sent, stage.clock.now() > 10_000]).toEqual([1, true])
  })

  it('that cannot be settled has failed as what kept it from being settled', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [unknown]
    actor.settles = [failed('NOT_FOUND')]
    expect(await ending(stage, actor)).toBe('NOT_FOUND')
    expect(stage.rows()).toEqual(['step.intended', 'step.failed NOT_FOUND'])
  })

  it('and may not be read back is unknown, whatever the certainty of the read was', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [unknown]
    actor.settles = [failed('NOT_FOUND', { certainty: 'not-applied', retry: 'backoff', details: { at: 'nova' } })]
    await ending(stage, actor)
    expect(stage.recovery.steps.get('0.go.go.1')?.error).toMatchObject({
      code: 'NOT_FOUND',
      certainty: 'unknown',
      retry: 'never',
      details: { at: 'nova' },
      chain: ['it was API_TIMEOUT'],
      message:
        'nobody knows what became of evacuate: Nova cannot be asked (it was NOT_FOUND); it was answered with: it was API_TIMEOUT',
    })
  })

  it('and whose following may not be read is unknown as well', async () => {
    const stage = new Stage()
    await leftBehind(stage, 'intended')
    const actor = new Actor()
    actor.settles = [failed('NOT_FOUND', { certainty: 'not-applied' })]
    await ending(stage, actor)
    expect(stage.recovery.steps.get('0.go.go.1')?.error).toMatchObject({
      certainty: 'unknown',
      message: 'nobody knows what became of evacuate: Nova cannot be asked (it was NOT_FOUND)',
    })
  })

  it.each([
    ['INSTANCE_GONE', 'not-applied'],
    ['EVACUATION_FAILED', 'applied'],
  ] as const)('and that the reading shows to be %s stays what was learnt', async (code, certainty) => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [unknown]
    actor.settles = [failed(code, { certainty })]
    await ending(stage, actor)
    expect(stage.recovery.steps.get('0.go.go.1')?.error).toMatchObject({ code, certainty, message: `it was ${code}` })
  })

  it('stays open when the journal goes while it is reconciled', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [unknown]
    actor.settles = [failed('JOURNAL_UNAVAILABLE')]
    expect(await ending(stage, actor)).toBe('JOURNAL_UNAVAILABLE')
    expect(stage.rows()).toEqual(['step.intended'])
  })

  it('stays open when the daemon stops before it is reconciled', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [unknown]
    actor.settles = [failed('SHUTDOWN')]
    expect(await ending(stage, actor)).toBe('SHUTDOWN')
    expect(stage.rows()).toEqual(['step.intended'])
  })

  it('with the journal gone nothing is reconciled and nothing is done', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [failed('JOURNAL_UNAVAILABLE', { certainty: 'unknown' })]
    expect(await ending(stage, actor)).toBe('JOURNAL_UNAVAILABLE')
    expect([actor.quiet, stage.rows()]).toEqual([[], ['step.intended']])
  })
})

describe('a service that refuses every second call', () => {
  const busy = (certainty: 'not-applied' | 'unknown' = 'not-applied') =>
    failed('API_UNAVAILABLE', { certainty, details: { status: 503 } })

  it('is asked twice at once after an attempt whose 503 had told the truth', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [busy(), busy(), 'well']
    expect(await ending(stage, actor, retry())).toEqual(landed)
    expect([actor.sent, stage.recovery.steps.size]).toEqual([3, 2])
  })

  it('is read after a 503 whose second try was refused for good: the first one may have been taken', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [busy(), busy(), failed('AUTH_FORBIDDEN'), 'well']
    expect(await ending(stage, actor, retry())).toEqual(landed)
    expect(stage.rows().filter((row) => row.startsWith('step.failed'))).toEqual([
      'step.failed API_UNAVAILABLE',
      'step.failed API_UNAVAILABLE',
    ])
  })

  it.each([
    ['on the first attempt', [busy()], 1],
    ['when the attempt before failed otherwise', [failed('INSTANCE_BUSY'), busy()], 2],
    [
      'when the answer of the attempt before was lost',
      [failed('CONNECTION_LOST', { certainty: 'unknown' }), busy()],
      2,
    ],
    ['when the attempt before never reached Nova', [failed('API_UNAVAILABLE'), busy()], 2],
    ['when the error is another one now', [busy(), failed('INSTANCE_BUSY')], 2],
    ['when nobody knows whether it was taken now', [busy(), busy('unknown')], 2],
  ] as [string, Answer[], number][])('but not %s', async (_what, sends, sent) => {
    const stage = new Stage()
    const actor = new Actor()
    const last = failed('API_REFUSED')
    actor.sends = [...sends, last]
    await ending(stage, actor, retry())
    // Each send is an attempt of its own, the last one too.
    expect([actor.sent, stage.recovery.steps.size]).toEqual([sent + 1, sent + 1])
  })
})

describe('the last moment before a write leaves', () => {
  /** Time that passes while the row is committed, once for each attempt. */
  function slowDisk(stage: Stage, ...took: number[]): void {
    const { journal, clock } = stage.run
    const { append } = journal
    journal.append = (entries) => {
      const written = append(entries)
      if (entries.some(({ kind }) => kind === 'step.intended')) (clock as VirtualClock).leap(took.shift() ?? 0)
      return written
    }
  }

  it('is too late after a commit of more than two seconds: nothing is sent, and the next look decides', async () => {
    const stage = new Stage()
    const actor = new Actor()
    slowDisk(stage, 2_001)
    expect(await ending(stage, actor, { retry: { on: [], attempts: 1, firstMs: 0, capMs: 0 } })).toEqual(landed)
    expect([actor.sent, stage.rows()]).toEqual([
      1,
      ['step.intended', 'step.failed HELD_BACK', 'step.intended', 'step.issued', 'step.confirmed'],
    ])
    expect(stage.recovery.steps.get('0.go.go.1')?.error).toMatchObject({ certainty: 'not-applied' })
  })

  it('is not too late after two seconds', async () => {
    const stage = new Stage()
    const actor = new Actor()
    slowDisk(stage, 2_000)
    await ending(stage, actor)
    expect(stage.rows()).toEqual(['step.intended', 'step.issued', 'step.confirmed'])
  })

  it('asks the gate again, which may have shut during the commit', async () => {
    const stage = new Stage()
    const actor = new Actor()
    slowDisk(stage, 1)
    stage.clock.after(0.5, () => (stage.permission = { allowed: false, hold: 'FROZEN', message: 'old' }))
    const running = run(stage, actor)
    await stage.clock.advance(60_000)
    expect([actor.sent, stage.rows()]).toEqual([0, ['step.intended', 'step.failed HELD_BACK', 'incident.held']])
    stage.permission = { allowed: true }
    expect(await stage.ending(running)).toEqual(landed)
  })

  it('counts as no attempt, also of a step that is picked up after a restart', async () => {
    const stage = new Stage()
    const actor = new Actor()
    actor.sends = [failed('INSTANCE_BUSY')]
    slowDisk(stage, 3_000, 3_000, 0, 3_000)
    expect(await ending(stage, actor, retry({ attempts: 2 }))).toBe('INSTANCE_BUSY')
    expect(actor.sent).toBe(2)
    expect(await ending(stage, actor, retry({ attempts: 3 }))).toBe('INSTANCE_BUSY')
    expect(actor.sent).toBe(3)
  })

  it('is asked by the cloud again: a token may take longer than the commit', async () => {
    const stage = new Stage()
    const actor = new Actor()
    await ending(stage, actor)
    const [as] = actor.sentAs
    expect(as?.mayLeave).not.toThrow()
    await stage.clock.advance(2_001)
    expect(as?.mayLeave).toThrow('not sent: 2 s passed since it was allowed')
  })

  it('leaves a write that was refused with a 503 to be looked for, when the second one of the same step is held back', async () => {
    const stage = new Stage()
    const actor = new Actor()
    const busy = failed('API_UNAVAILABLE', { details: { status: 503 } })
    actor.sends = [busy, busy, failed('HELD_BACK'), 'well']
    expect(await ending(stage, actor, retry())).toEqual(landed)
    // One look for each 503, the one whose resending was held back included.
    expect(actor.quiet).toHaveLength(2)
    expect(stage.rows().filter((row) => row.startsWith('step.failed'))).toEqual([
      'step.failed API_UNAVAILABLE',
      'step.failed API_UNAVAILABLE',
    ])
  })
})

describe('what came while a write was refused', () => {
  it('keeps a 503 that told the truth before from being sent again at once', async () => {
    const stage = new Stage()
    const actor = new Actor()
    const busy = failed('API_UNAVAILABLE')
    actor.sends = [busy, busy, 'well']
    actor.onSend = () => {
      if (actor.sent === 1) stage.permission = { allowed: false, hold: 'PAUSED', message: '' }
    }
    const running = run(stage, actor, retry())
    await stage.clock.advance(60_000)
    expect(actor.sent).toBe(2)
    stage.permission = { allowed: true }
    expect(await stage.ending(running)).toEqual(landed)
    expect([actor.sent, stage.recovery.steps.size]).toEqual([3, 3])
  })

  it('also keeps a closing step of a cancelled incident from being sent again, when the daemon stops', async () => {
    const stage = new Stage()
    stage.cancel()
    const actor = new Actor()
    actor.sends = [failed('INSTANCE_BUSY'), 'well']
    const running = run(stage, actor, retry(), 'closes')
    void running.catch(() => undefined)
    await stage.clock.advance(500)
    stage.stop.abort()
    expect(await stage.ending(running)).toBe('SHUTDOWN')
    expect(actor.sent).toBe(1)
  })
})

describe('members of one anti-affinity group', () => {
  /** Whether a step of a member runs while another member of its group is evacuated. */
  const runsBeside = async (kind: RecipeStep['do']): Promise<boolean> => {
    const stage = new Stage()
    stage.plans({ exclusive: 'apart' })
    let arrived = (): void => undefined
    void stage.slots.runAlone(stage.recovery.plan, () => new Promise<void>((resolve) => (arrived = resolve)))
    const actor = new Actor()
    const running = run(stage, actor, { do: kind })
    await stage.clock.advance(1_000)
    const beside = actor.sent === 1
    arrived()
    expect(await stage.ending(running)).toEqual(landed)
    return beside
  }

  it('are evacuated one after another: Nova looks late, at the destination', async () => {
    expect(await runsBeside('evacuate')).toBe(false)
  })

  it.each(['start', 'lock', 'confirm-resize'] as const)('go on with their %s side by side', async (kind) => {
    expect(await runsBeside(kind)).toBe(true)
  })
})
