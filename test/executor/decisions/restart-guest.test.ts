/** A crashed guest is restarted on its living host by what is so when the order leaves, and its owner's later word stands. */
import { beforeEach, describe, expect, it } from 'vitest'
import { afterReturnRule } from '../../../src/domain/after-return.ts'
import { sleep } from '../../../src/domain/clock.ts'
import type { Instance, InstanceAction } from '../../../src/domain/instance.ts'
import type { NewEntry } from '../../../src/domain/entry.ts'
import { obeyOwner } from '../../../src/executor/restart-guest.ts'
import { startWhereItIs } from '../../../src/executor/steps/power.ts'
import { reboot } from '../../../src/executor/steps/reboot.ts'
import { plan, Stage } from './stage.ts'

let stage: Stage
let runs: boolean
beforeEach(() => {
  stage = new Stage()
  stage.shows({ host: 'dead', vmState: 'active', taskState: null, powerState: 1 })
  runs = false
  stage.run.cloud.guestRuns = () => Promise.resolve(runs)
})

const action = (name: string, second: number, userId: string | null = 'owner'): InstanceAction => {
  const startedAt = `2030-01-01T12:00:${String(second).padStart(2, '0')}.000000`
  return {
    action: name,
    requestId: `req-${name}-${second}`,
    startedAt,
    userId,
    projectId: userId,
    message: null,
    events: [],
  }
}

/** Nova reads the instance when it is asked, and answers so much later. */
function slowToShow(ms: number): void {
  const { getInstance } = stage.run.cloud
  stage.run.cloud.getInstance = async (id, options) => {
    const seen: Instance = await getInstance(id, options)
    await sleep(stage.clock, ms)
    return seen
  }
}

describe('the reboot of a crashed guest', () => {
  const before = () => stage.ending(reboot.before(stage.scene({ do: 'reboot' })))

  it('is dated by when Nova was asked, so that an order given since then counts as crossing it', async () => {
    slowToShow(1_000)
    expect(await before()).toMatchObject({
      before: { cloudTime: '2030-01-01T12:00:00.000Z' },
      request: { type: 'HARD' },
    })
  })

  it('does not leave where Nova was slow to show the instance, and someone has stopped or rebooted it meanwhile', async () => {
    slowToShow(20_000)
    stage.actions = [action('stop', 2)]
    expect(await before()).toBe('STATE_MISMATCH')
  })

  it('leaves where Nova was slow and nobody has acted', async () => {
    slowToShow(20_000)
    stage.actions = [{ ...action('create', 0), startedAt: '2029-12-31T12:00:00.000000' }]
    expect(await before()).toMatchObject({ request: { type: 'HARD' } })
  })

  it('of an instance in ERROR is not over while Nova is at work on it', async () => {
    stage.shows({ vmState: 'error', taskState: 'rebooting_hard' })
    stage.clock.after(5_000, () => stage.shows({ vmState: 'active', taskState: null }))
    const follow = reboot.follow(stage.scene({ do: 'reboot' }), { requestId: null } as never)
    expect(await stage.ending(follow)).toMatchObject({ vmState: 'active' })
  })

  it('has failed where it ends in ERROR', async () => {
    stage.shows({ vmState: 'error', taskState: null, fault: 'no disk' })
    const follow = reboot.follow(stage.scene({ do: 'reboot' }), { requestId: null } as never)
    expect(await stage.ending(follow)).toBe('STATE_MISMATCH')
  })
})

describe('the stop of an owner that crossed the reboot', () => {
  const said = (kind: string, step: string, data: object): NewEntry =>
    ({ kind, incident: 'inc-1', host: 'dead', instance: 'i-1', step, data }) as NewEntry
  beforeEach(() => {
    const state = { host: 'dead', vmState: 'active', taskState: null, powerState: 1 }
    const before = { ...state, cloudTime: '2030-01-01T12:00:00.000Z' }
    stage.run.journal.append([
      said('recipe.entered', '', { recipe: 'reboot', because: 'it crashed' }),
      said('step.intended', '1.reboot.go.1', { kind: 'reboot', attempt: 1, before, request: { type: 'HARD' } }),
      said('step.issued', '1.reboot.go.1', { requestId: 'req-ours' }),
      said('step.confirmed', '1.reboot.go.1', { result: state }),
    ])
    stage.onWrite = () => stage.shows({ vmState: 'stopped', powerState: 4 })
  })
  const obeyed = () => {
    const { run, watch, recovery, gate, slots, trouble } = stage
    return stage.ending(obeyOwner({ run, watch, recovery, gate, slots, trouble }))
  }
  const begun = (): void => {
    stage.run.journal.append([
      said('step.intended', '1.reboot.stop-again.1', {
        ...{ kind: 'stop', attempt: 1, request: { power: 'stopped' } },
        before: { host: 'dead', vmState: 'active', taskState: null, powerState: 1 },
      }),
      said('step.failed', '1.reboot.stop-again.1', {
        error: { code: 'API_UNAVAILABLE', message: '503', certainty: 'not-applied', retry: 'backoff', details: {} },
      }),
    ])
  }

  it('is given again', async () => {
    stage.actions = [action('stop', 2)]
    expect(await obeyed()).toMatchObject({ vmState: 'stopped' })
    expect(stage.count('stop')).toBe(1)
  })

  it('is given again after Nova refused it', async () => {
    begun()
    stage.actions = [action('stop', 2)]
    expect(await obeyed()).toMatchObject({ vmState: 'stopped' })
    expect(stage.count('stop')).toBe(1)
  })

  it('is not given again once the owner has started the guest, however often it was tried', async () => {
    begun()
    stage.actions = [action('start', 30), action('stop', 2)]
    expect(await obeyed()).toBeNull()
    expect(stage.count('stop')).toBe(0)
  })

  it('is not what turned a guest off that its owner has started since', async () => {
    begun()
    stage.shows({ vmState: 'stopped', powerState: 4 })
    stage.actions = [action('stop', 40, null), action('start', 30), action('stop', 2)]
    expect(await obeyed()).toBeNull()
  })

  it('is not owed to a guest that its owner deleted', async () => {
    stage.actions = [action('delete', 30), action('stop', 2)]
    stage.instances.delete('i-1')
    expect(await obeyed()).toBeNull()
  })
})

describe('a guest that is off since its host came back', () => {
  const before = () => stage.ending(startWhereItIs.before(stage.scene({ do: 'start' })))
  beforeEach(() => {
    const { original } = plan()
    const off = { ...original.instance, vmState: 'stopped', updatedAt: '2030-01-01T12:00:01Z' }
    stage.plans({ rule: afterReturnRule, original: { ...original, instance: off } })
    stage.shows({ vmState: 'stopped', powerState: 4 })
  })

  it('is started', async () => {
    stage.actions = [action('stop', 1, null)]
    expect(await before()).toMatchObject({ request: { power: 'active' } })
  })

  it('stays off where someone has started it since, and it went off by itself', async () => {
    stage.actions = [action('stop', 40, null), action('start', 20), action('stop', 1, null)]
    expect(await before()).toBe('CANCELLED')
  })
})
