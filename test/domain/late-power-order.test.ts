/** What came of an order on a guest that waited in a dead host's queue, by its event and where its instance is. */
import { describe, expect, it } from 'vitest'
import {
  decideLatePower,
  standingAt,
  takenAt,
  lateOrderIn,
  type LatePower,
  type LatePowerFacts,
} from '../../src/domain/late-power-order.ts'
import { instance } from '../engine/surveys.ts'

const conflict =
  "Conflict updating instance i-1. Expected: {'task_state': ['powering-on']}. Actual: {'task_state': None}"

function facts(power: LatePower, changes: Partial<LatePowerFacts> = {}): LatePowerFacts {
  return {
    order: { host: 'dead', power },
    instance: instance({ id: 'i-1', host: 'new', vmState: 'active' }),
    ...{ event: null, lastOrder: 'start', beatingForMs: 10_000, watchedForMs: 300_000 },
    ...changes,
  }
}

function what(power: LatePower, changes: Partial<LatePowerFacts> = {}): string {
  const decision = decideLatePower(facts(power, changes))
  return decision.do === 'close' ? decision.end : decision.do
}
const failed = (details: string | null): Pick<LatePowerFacts, 'event'> => ({ event: { result: 'Error', details } })
const done = { event: { result: 'Success', details: null } }
const stopped = { instance: instance({ id: 'i-1', host: 'new', vmState: 'stopped' }) }

describe('an order that waits', () => {
  it('is waited for until its host has run for a while', () => {
    expect(what('start')).toBe('wait')
    expect(what('start', { beatingForMs: 300_000 })).toBe('harmless')
  })

  it('is waited for while its host is at work on it, and told when that never ends: nova-compute may have died over it', () => {
    const taken = { event: { result: null, details: null } }
    expect(what('start', taken)).toBe('wait')
    expect(what('start', { ...taken, beatingForMs: 300_000 })).toBe('struck')
  })

  it('is over with its instance', () => {
    expect(what('start', { instance: null })).toBe('gone')
    expect(what('start', { instance: instance({ status: 'DELETED' }) })).toBe('gone')
  })
})

describe('an order that was carried out', () => {
  it.each<[string, LatePower, Partial<LatePowerFacts>]>([
    ['a start, which nova-compute carries out before it looks at the task', 'start', failed(conflict)],
    ['a start that found its task', 'start', done],
    ['a resume, carried out before the task is looked at', 'resume', failed(conflict)],
    ['an unrescue, likewise', 'unrescue', failed(conflict)],
    ['a rescue, likewise', 'rescue', failed(conflict)],
    ['a start whose failure Nova gives no reason for', 'start', failed(null)],
    [
      'a start after which nova-compute could not save what it had done',
      'start',
      failed('Timed out waiting for a reply'),
    ],
    ['a reboot in the middle of another', 'reboot', done],
    ['a reboot that failed on the way', 'reboot', failed('libvirt is away')],
  ])('may have a guest run twice: %s', (_which, power, changes) => {
    expect(decideLatePower(facts(power, changes))).toMatchObject({
      end: 'struck',
      straysOn: 'dead',
      message: expect.stringContaining('may run on dead as well as on new') as string,
    })
  })

  it.each<[string, LatePower, Partial<LatePowerFacts>]>([
    ['a start that the hypervisor refused', 'start', failed('Failed to get "write" lock')],
    ['a rescue that the hypervisor refused', 'rescue', failed('Failed to get "write" lock')],
    // Of an error that is not Nova's own the event has the name of its class alone, and the instance's fault the text.
    [
      'a resume that the hypervisor refused',
      'resume',
      { ...failed('libvirtError'), instance: instance({ id: 'i-1', host: 'new', vmState: 'error', diskInUse: true }) },
    ],
    ['a reboot that Nova refused before the guest was touched', 'reboot', failed(conflict)],
    ['an order whose instance is on that host', 'start', { ...done, instance: instance({ host: 'dead' }) }],
    ['a stop that Nova refused', 'stop', { ...stopped, ...failed(conflict) }],
    ['a stop of what its owner wants off', 'stop', { ...stopped, ...done, lastOrder: 'stop' }],
    ['a stop whose instance was started since', 'stop', done],
  ])('is harmless: %s', (_which, power, changes) => expect(what(power, changes)).toBe('harmless'))

  it('may have a guest run that is to be off', () => {
    expect(decideLatePower(facts('resume', { ...stopped, ...failed(conflict) }))).toMatchObject({
      end: 'struck',
      message: expect.stringContaining('although it is to be off on new') as string,
    })
  })

  it('has an instance shown stopped that runs: a stop, where its owner has started it since', () => {
    const decision = decideLatePower(facts('stop', { ...stopped, ...done }))
    expect(decision).toMatchObject({
      end: 'struck',
      message: expect.stringContaining('although it runs on new') as string,
    })
    expect(decision).not.toHaveProperty('straysOn')
  })
})

describe('that an order waits', () => {
  const at = (...hosts: string[]) =>
    hosts.map((host) => ({
      ...{ event: 'compute_start_instance', result: null, host, details: null, startedAt: '', finishedAt: null },
    }))

  it('is told by an action without an event: nova-compute opens one before it does anything', () => {
    expect([standingAt('dead', []), standingAt('dead', at('dead')), standingAt('dead', at('new'))]).toEqual([
      ...['waits', 'taken', 'elsewhere'],
    ])
  })

  it('is told of a rebuild although the conductor has opened an event of its own: that only sends the order on', () => {
    const sent = at('controller').map((one) => ({ ...one, event: 'rebuild_server' }))
    expect(standingAt('dead', sent)).toBe('waits')
    expect(standingAt('dead', [...at('dead'), ...sent])).toBe('taken')
    expect(standingAt('dead', [{ ...sent[0]!, result: 'Error' }])).toBe('elsewhere')
    // On a controller that is a compute host too both bear its name.
    const own = { ...sent[0]!, host: 'dead' }
    expect([standingAt('dead', [own]), takenAt('dead', [own])]).toEqual(['waits', null])
  })

  it('is worth asking where a task of Nova’s API was seen, and not one of nova-compute', () => {
    const filed = [
      ['powering-on', 'start'],
      ['powering-off', 'stop'],
      ['rebooting_hard', 'reboot'],
      ['rebooting', 'reboot'],
      ['resuming', 'resume'],
      ['rescuing', 'rescue'],
      ['unrescuing', 'unrescue'],
      ['rebuilding', 'rebuild'],
    ]
    for (const [task = '', order] of filed) expect(lateOrderIn(task)).toBe(order)
    for (const task of [null, 'reboot_started_hard', 'rebuild_spawning']) expect(lateOrderIn(task)).toBeNull()
  })
})
