/** An evacuation by someone else that Nova took beside ours (law L5): the history shows what the records hide. */
import { describe, expect, it } from 'vitest'
import type { InstanceAction } from '../../../src/domain/instance.ts'
import { evacuate } from '../../../src/executor/steps/evacuate.ts'
import { leftBehind } from './actor.ts'
import { errorRecord } from '../../../src/domain/errors.ts'
import { action, evacuation, failed, record, Stage, was } from './stage.ts'

const event = (
  name: string,
  host: string | null,
  result: string | null = 'Success',
): InstanceAction['events'][number] => ({
  ...{ event: name, host, result, details: null },
  ...{ startedAt: '2030-01-01T12:00:01', finishedAt: null },
})
const taken = (host: string): InstanceAction['events'] => [event('compute_rebuild_instance', host)]

const refused = (details: string | null): InstanceAction['events'][number] => ({
  ...event('compute_rebuild_instance', 'cmp09', 'Error'),
  details,
})

/** Ours has landed on `alive`; the other order's record names another source, and is not listed. */
async function landed(theirs: InstanceAction['events'], ours = taken('alive')): Promise<Stage> {
  const stage = new Stage()
  await leftBehind(stage, 'intended', 'issued')
  stage.actions = [action('req-other', { events: theirs }), action('req-old', { events: ours })]
  stage.migrations = [evacuation(1, { status: 'done' })]
  stage.shows({ host: 'alive', vmState: 'active', updatedAt: '2030-01-01T12:00:09' })
  return stage
}

const follow = (stage: Stage): ReturnType<typeof evacuate.follow> =>
  evacuate.follow(stage.scene(), record({ requestId: 'req-old' }))

describe('an evacuation that someone else ordered beside ours', () => {
  it('may have the guest run on both hosts: neither is called recovered, and both are named', async () => {
    const stage = await landed(taken('cmp09'))
    const seen = expect(follow(stage)).rejects.toMatchObject({
      code: 'GUEST_ON_DESTINATION',
      certainty: 'unknown',
      message: expect.stringContaining('running on alive and on cmp09'),
      details: { migrations: ['m-1'], destinations: ['alive', 'cmp09'] },
    })
    await stage.clock.advance(5_000)
    await seen
  })

  it.each([
    ['failed after its guest was started', refused('Conflict updating instance: unexpected task state')],
    ['failed for no reason that Nova tells', refused(null)],
  ])('also where it %s', async (_what, theirs) => {
    const stage = await landed([theirs])
    const seen = expect(follow(stage)).rejects.toMatchObject({ details: { destinations: ['alive', 'cmp09'] } })
    await stage.clock.advance(5_000)
    await seen
  })

  it('is no matter where it came once ours had landed: someone moved the instance on', async () => {
    const stage = await landed(taken('cmp09'))
    const ours = { ...taken('alive')[0]!, finishedAt: '2030-01-01T12:00:05' }
    stage.actions = [
      action('req-other', { events: taken('cmp09'), startedAt: '2030-01-01T12:00:11' }),
      action('req-old', { events: [ours] }),
    ]
    stage.shows({ host: 'cmp09', vmState: 'active', updatedAt: '2030-01-01T12:00:20' })
    expect(await stage.ending(follow(stage))).toMatchObject({ host: 'cmp09' })
  })

  it('also where Nova shows the instance where theirs went, and ours went elsewhere', async () => {
    const stage = await landed(taken('alive'), taken('cmp09'))
    const seen = expect(follow(stage)).rejects.toMatchObject({ details: { destinations: ['alive', 'cmp09'] } })
    await stage.clock.advance(5_000)
    await seen
  })

  it.each([
    ['went to the same host', taken('alive')],
    ['went to a host that is proven dead', taken('fenced')],
    ['failed before a host took it', [event('rebuild_server', null, 'Error')]],
    ['was refused by its destination', [refused('Insufficient compute resources')]],
  ])('is no matter where it %s', async (_what, theirs) => {
    const stage = await landed(theirs)
    stage.fenced.add('fenced')
    expect(await stage.ending(follow(stage))).toMatchObject({ host: 'alive' })
  })

  it('is waited for while nobody has taken it; after a minute the other host is told as unknown', async () => {
    const stage = await landed([])
    let ended: unknown = null
    void follow(stage).catch((error: unknown) => (ended = error))
    await stage.clock.advance(59_000)
    expect(ended).toBe(null)
    await stage.clock.advance(3_000)
    expect(ended).toMatchObject({
      code: 'GUEST_ON_DESTINATION',
      message: expect.stringContaining('alive and on an unknown host'),
    })
  })

  it('is judged once both have ended: until then Nova moves the instance', async () => {
    const stage = await landed(taken('cmp09'))
    stage.shows({ host: 'alive', vmState: 'active', updatedAt: '2030-01-01T12:00:09' })
    const read = stage.run.cloud.getInstance
    let reads = 0
    stage.run.cloud.getInstance = async (...args) => {
      reads += 1
      const found = await read(...args)
      return reads < 3 ? { ...found, taskState: 'rebuild_spawning' } : { ...found, host: 'cmp09' }
    }
    const seen = expect(follow(stage)).rejects.toMatchObject({ details: { destinations: ['cmp09', 'alive'] } })
    await stage.clock.advance(5_000)
    await seen
    expect(reads).toBe(3)
  })

  it('is not looked for where it began long before our last look, or is our own', async () => {
    const stage = await landed(taken('cmp09'))
    stage.actions[0]!.startedAt = '2030-01-01T11:59:00'
    expect(await stage.ending(follow(stage))).toMatchObject({ host: 'alive' })
    const calm = await landed([])
    calm.actions = [action('req-old', { events: taken('alive') })]
    expect(await calm.ending(follow(calm))).toMatchObject({ host: 'alive' })
    expect([stage.count('getAction'), calm.count('getAction')]).toEqual([0, 0])
  })
})

describe('an earlier evacuation of ours that was given up', () => {
  const again = async (code: 'EVACUATION_LOST' | 'NO_VALID_HOST', first: InstanceAction['events']): Promise<Stage> => {
    const stage = await landed([])
    stage.actions = [action('req-first', { events: first }), action('req-old', { events: taken('alive') })]
    const error = { ...errorRecord(failed(code)), details: { spare: ['m-0'] } }
    stage.recovery.steps.set('0.go.go.0', record({ key: '0.go.go.0', requestId: 'req-first', status: 'failed', error }))
    return stage
  }
  const follows = (stage: Stage, spent: string[]): ReturnType<typeof evacuate.follow> =>
    evacuate.follow(stage.scene(), record({ requestId: 'req-old', before: { ...was, spentEvacuations: spent } }))

  it('and was carried out all the same may have its guest run on both hosts', async () => {
    const stage = await again('EVACUATION_LOST', taken('cmp09'))
    const seen = expect(follows(stage, ['m-0'])).rejects.toMatchObject({
      code: 'GUEST_ON_DESTINATION',
      message: expect.stringMatching(/^an earlier evacuation that was given up .* on alive and on cmp09$/),
    })
    await stage.clock.advance(5_000)
    await seen
  })

  it.each([
    ['is on another host', [event('compute_rebuild_instance', 'cmp08', null)], 'cmp08'],
    ['has been taken by nobody', [], 'an unknown host'],
  ])('may have landed in the place of ours, which %s: that may start the guest yet', async (_what, ours, host) => {
    const stage = await again('EVACUATION_LOST', taken('alive'))
    stage.actions[1]!.events = ours
    const seen = expect(follows(stage, ['m-0'])).rejects.toMatchObject({
      code: 'GUEST_ON_DESTINATION',
      message: expect.stringContaining(`on alive and on ${host}`),
    })
    await stage.clock.advance(5_000)
    await seen
  })

  it('is no matter where it was someone else’s, which was taken up and lost without an end', async () => {
    const stage = await again('EVACUATION_LOST', [event('rebuild_server', 'vm', null)])
    const details = { spare: ['m-0'], request: 'req-first' }
    const error = { ...errorRecord(failed('EVACUATION_LOST')), details }
    stage.recovery.steps.set('0.go.go.0', record({ key: '0.go.go.0', requestId: null, status: 'failed', error }))
    expect(await stage.ending(follows(stage, ['m-0']))).toMatchObject({ host: 'alive' })
  })

  it.each([
    ['the instance was moved on from where it landed', taken('cmp08')],
    ['an old Nova does not say which host took ours', [event('compute_rebuild_instance', null)]],
  ])('is no matter where nobody took it, and %s', async (_what, ours) => {
    for (const first of [[], [event('compute_rebuild_instance', 'cmp09', null)]]) {
      const stage = await again('EVACUATION_LOST', first)
      stage.actions[1]!.events = ours
      expect(await stage.ending(follows(stage, ['m-0']))).toMatchObject({ host: 'alive' })
    }
  })

  it('is no matter where Nova has no such request any more', async () => {
    const stage = await again('EVACUATION_LOST', taken('cmp09'))
    stage.actions = stage.actions.slice(1)
    expect(await stage.ending(follows(stage, ['m-0']))).toMatchObject({ host: 'alive' })
  })

  it.each([
    [
      'has no end on the host that began it',
      'EVACUATION_LOST',
      [event('compute_rebuild_instance', 'cmp09', null)],
      ['m-0'],
    ],
    ['landed where this one did', 'EVACUATION_LOST', taken('alive'), ['m-0']],
    ['is on a host that is proven dead', 'EVACUATION_LOST', taken('fenced'), ['m-0']],
    ['failed, and was explained then', 'NO_VALID_HOST', taken('cmp09'), ['m-0']],
    ['was taken up by this one, and moved on since', 'EVACUATION_LOST', taken('cmp09'), []],
  ] as const)('is no matter where it %s', async (_what, code, events, spent) => {
    const stage = await again(code, [...events])
    stage.fenced.add('fenced')
    expect(await stage.ending(follows(stage, [...spent]))).toMatchObject({ host: 'alive' })
  })
})
