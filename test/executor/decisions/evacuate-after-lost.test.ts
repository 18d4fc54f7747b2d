/** Why an evacuation failed where an earlier order of the instance was given up: that one may have moved its record (law L5). */
import { describe, expect, it } from 'vitest'
import { errorRecord } from '../../../src/domain/errors.ts'
import type { StepRecord } from '../../../src/domain/incident.ts'
import type { InstanceAction, InstanceActionEvent, Migration } from '../../../src/domain/instance.ts'
import { evacuate } from '../../../src/executor/steps/evacuate.ts'
import { action, evacuation, failed, record, Stage, was } from './stage.ts'

const event = (name: string): InstanceActionEvent => ({
  ...{ event: name, result: 'Error', host: 'alive', details: null, startedAt: '', finishedAt: null },
})
const refused = { ...event('compute_rebuild_instance'), details: 'no memory' }

async function how(stage: Stage, changes: Partial<StepRecord<'evacuate'>>): Promise<unknown> {
  const outcome = evacuate.follow(stage.scene(), record(changes)).catch((error: unknown) => error)
  await stage.clock.advance(1_000)
  return outcome
}

describe('an evacuation that ended badly after an earlier one that was taken for lost', () => {
  const afterLost = (changes: Partial<Migration>, events: InstanceAction['events']): Stage => {
    const stage = new Stage()
    const details = { spare: ['m-1'], request: 'req-0' }
    const error = errorRecord(failed('EVACUATION_LOST', { details }))
    stage.recovery.steps.set('0', record({ key: '0', requestId: 'req-0', status: 'failed', error }))
    stage.migrations = [evacuation(1, { status: 'failed', ...changes }), evacuation(2, { destHost: null })]
    stage.actions = [action('req-1', { events }), action('req-0', { events: [refused] })]
    return stage
  }
  const waits = { spentEvacuations: ['m-1'], waitingEvacuations: [{ migration: 'm-1', destination: null }] }

  it('and was taken up: the events of that order tell why', async () => {
    const stage = afterLost({}, [])
    stage.migrations.pop()
    stage.actions.shift()
    const knownRequests = ['req-0']
    expect(await how(stage, { requestId: null, before: { ...was, knownRequests } })).toMatchObject({
      code: 'EVACUATION_FAILED',
      message: expect.stringContaining('no memory'),
    })
  })

  it.each([
    ['another host has begun ours', [{ ...event('compute_rebuild_instance'), host: 'other', result: null }], 'other'],
    ['nobody has taken ours yet', [], 'an unknown host'],
  ])('and has moved its record, while %s: its guest may be started there', async (_what, events, host) => {
    const stage = afterLost({}, events)
    expect(await how(stage, { before: { ...was, ...waits } })).toMatchObject({
      code: 'GUEST_ON_DESTINATION',
      message: expect.stringMatching(new RegExp(`went to alive; ours may start the guest on ${host}$`)),
    })
  })

  it('and another that waits elsewhere has moved its record: whichever took its order counts', async () => {
    const stage = afterLost({}, [])
    stage.actions[1]!.events = []
    const details = { migration: 'm-2', destination: 'alive', queued: true }
    const error = errorRecord(failed('DESTINATION_DIED', { details }))
    stage.recovery.steps.set('1', record({ key: '1', requestId: 'req-2', status: 'failed', error }))
    stage.actions.push(action('req-2', { events: [refused] }))
    expect(await how(stage, { before: { ...was, ...waits } })).toMatchObject({ code: 'GUEST_ON_DESTINATION' })
  })

  it.each([
    ['ours moved it, and failed', [refused]],
    ['the conductor gave ours up', [event('rebuild_server')]],
    ['ours went to a host that is proven dead', [{ ...event('compute_rebuild_instance'), host: 'fenced' }]],
  ])('and whose record has failed can be tried again where %s', async (_what, events) => {
    const stage = afterLost({}, events)
    stage.fenced.add('fenced')
    expect(await how(stage, { before: { ...was, ...waits } })).toMatchObject({ code: 'EVACUATION_FAILED' })
  })
})
