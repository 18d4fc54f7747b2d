/** Nova's answer to a write is late, wrong or lost: reading settles what became of it, and nothing is sent twice (L3, L5). */
import { describe, expect, test } from 'vitest'
import type { ApiFault } from '../../src/simulator/api-faults.ts'
import { dead, withRig, type Rig } from './rig.ts'

const action = /servers\/[^/]+\/action/
const evacuateFault = (fault: Omit<ApiFault, 'path' | 'body' | 'times'>): ApiFault => ({
  path: action,
  body: /evacuate/,
  times: 1,
  ...fault,
})

/** The fault, and how many evacuate requests must have been sent for one evacuation record. */
const faults: [string, Omit<ApiFault, 'path' | 'body' | 'times'>, number][] = [
  ['409 after Nova acted, from a proxy that sent it twice', { kind: 'act-and-refuse', status: 409 }, 1],
  ['503 after Nova acted', { kind: 'act-and-refuse', status: 503 }, 1],
  ['500 after Nova acted', { kind: 'act-and-refuse', status: 500 }, 1],
  ['504 after Nova acted', { kind: 'act-and-refuse', status: 504 }, 1],
  ['a connection that breaks after Nova acted', { kind: 'drop-after' }, 1],
  ['an answer that never comes', { kind: 'hang-after' }, 1],
  ['an answer that is no JSON', { kind: 'malformed' }, 1],
  ['503 without acting', { kind: 'refuse', status: 503 }, 2],
  ['500 without acting', { kind: 'refuse', status: 500 }, 2],
  ['429 without acting', { kind: 'refuse', status: 429 }, 2],
  ['a connection that breaks before Nova saw it', { kind: 'drop-before' }, 2],
  ['a request that is swallowed', { kind: 'hang-before' }, 2],
]

const quick = { writeTimeoutMs: 400 }

async function recoveredOnce(rig: Rig, uuid: string): Promise<void> {
  expect(rig.outcome(uuid)).toMatchObject({ outcome: 'recovered' })
  expect(rig.simulator.evacuationsOf(uuid).map((at) => at.status)).toEqual(['done'])
}

describe.concurrent('evacuate', () => {
  for (const [what, fault, requests] of faults) {
    test(
      `${what}: one evacuation, ${requests} request${requests === 1 ? '' : 's'}`,
      withRig(quick, async (rig) => {
        const running = rig.simulator.addInstance({ host: dead }).uuid
        rig.simulator.apiFault(evacuateFault(fault))
        rig.hostDies()
        await rig.run()
        await recoveredOnce(rig, running)
        expect(rig.simulator.instance(running)).toMatchObject({ vmState: 'active', powerState: 1, taskState: null })
        expect(rig.sent('evacuate', running)).toBe(requests)
      }),
    )
  }

  test(
    'every answer of a whole host is lost: each instance is evacuated exactly once',
    withRig(quick, async (rig) => {
      const instances = Array.from({ length: 12 }, (_, i) =>
        rig.simulator.addInstance({ host: dead, state: i % 2 === 0 ? 'active' : 'stopped' }),
      )
      rig.simulator.apiFault({ kind: 'drop-after', path: action, body: /evacuate/ })
      rig.hostDies()
      await rig.run()
      for (const { uuid } of instances) {
        await recoveredOnce(rig, uuid)
        expect(rig.sent('evacuate', uuid)).toBe(1)
      }
    }),
  )
})

describe.concurrent('the other writes', () => {
  for (const [name, body] of [
    ['lock', /"lock"/],
    ['reset-state', /os-resetState/],
    ['unlock', /unlock/],
  ] as const) {
    test(
      `${name}: an answer lost after Nova acted is reconciled by reading`,
      withRig(quick, async (rig) => {
        const { uuid } = rig.simulator.addInstance({ host: dead, state: 'paused' })
        rig.simulator.apiFault({ kind: 'drop-after', path: action, body, times: 1 })
        rig.hostDies()
        await rig.run()
        await recoveredOnce(rig, uuid)
        expect(rig.simulator.instance(uuid)).toMatchObject({ vmState: 'stopped', locked: false })
      }),
    )
  }

  test(
    'lock: its answer is lost and the owner deletes the instance: left, with no step open',
    withRig(quick, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead, state: 'paused' })
      rig.simulator.apiFault({ kind: 'drop-after', path: action, body: /"lock"/, times: 1 })
      rig.onWrite = (kind) => {
        if (kind === 'lock')
          rig.simulator.world.save(rig.simulator.instance(uuid), { vmState: 'deleted', deletedAt: Date.now() })
      }
      rig.hostDies()
      await rig.run()
      expect(rig.outcome(uuid)).toMatchObject({ outcome: 'left', code: 'INSTANCE_GONE' })
    }),
  )

  test(
    'confirm-resize: an answer lost after Nova acted is reconciled by reading',
    withRig(quick, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead, state: 'resized-stopped', otherHost: 'cmp02' })
      rig.simulator.apiFault({ kind: 'drop-after', path: action, body: /confirmResize/, times: 1 })
      rig.hostDies()
      await rig.run()
      await recoveredOnce(rig, uuid)
      expect(rig.sent('confirmResize', uuid)).toBe(1)
      expect(rig.simulator.instance(uuid)).toMatchObject({ vmState: 'stopped', locked: false })
    }),
  )

  test(
    'start: an answer lost after Nova acted is reconciled by reading',
    withRig(
      {
        ...quick,
        segment: { policy: { stopped: 'evacuate', errorBefore: 'leave', memoryLost: 'start', unasked: 'recover' } },
      },
      async (rig) => {
        const { uuid } = rig.simulator.addInstance({ host: dead, state: 'suspended' })
        rig.simulator.apiFault({ kind: 'drop-after', path: action, body: /os-start/, times: 1 })
        rig.hostDies()
        await rig.run()
        await recoveredOnce(rig, uuid)
        expect(rig.sent('os-start', uuid)).toBe(1)
        expect(rig.simulator.instance(uuid)).toMatchObject({ vmState: 'active', powerState: 1 })
      },
    ),
  )

  test(
    'stop: an answer lost after Nova acted is reconciled by reading, on a Nova that cannot land stopped',
    withRig({ ...quick, simulator: { maxMicroversion: '2.93' } }, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead, state: 'paused' })
      rig.simulator.apiFault({ kind: 'drop-after', path: action, body: /os-stop/, times: 1 })
      rig.hostDies()
      await rig.run()
      await recoveredOnce(rig, uuid)
      expect(rig.sent('os-stop', uuid)).toBe(1)
      expect(rig.simulator.instance(uuid)).toMatchObject({ vmState: 'stopped', powerState: 4 })
    }),
  )

  test(
    'the PUT that forces the host down is repeated when its answer is lost: it changes nothing the second time',
    withRig(quick, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      rig.simulator.apiFault({ kind: 'act-and-refuse', status: 500, method: 'PUT', path: /os-services/, times: 1 })
      rig.hostDies()
      await rig.run()
      await recoveredOnce(rig, uuid)
      expect(rig.simulator.world.host(dead).service).toMatchObject({ forcedDown: true, status: 'disabled' })
      expect(rig.incident.ourFlags?.before).toMatchObject({ forcedDown: false, status: 'enabled' })
    }),
  )
})

describe.concurrent('reads that fail prove nothing (L7)', () => {
  for (const skip of [0, 3, 12, 16]) {
    test(
      `every read answers 503 for two seconds, from the ${skip + 1}th on: the recovery waits and ends well`,
      withRig({}, async (rig) => {
        const running = rig.simulator.addInstance({ host: dead }).uuid
        const stopped = rig.simulator.addInstance({ host: dead, state: 'stopped' }).uuid
        rig.simulator.apiFault({ kind: 'refuse', status: 503, method: 'GET', path: /^compute/, skip })
        rig.hostDies()
        const run = rig.run()
        setTimeout(() => rig.simulator.clearApiFaults(), 2_000)
        await run
        await recoveredOnce(rig, running)
        await recoveredOnce(rig, stopped)
      }),
    )
  }

  test(
    'lists that come back empty in the middle of an evacuation are not taken for an end of it',
    withRig({}, async (rig) => {
      const { uuid } = rig.simulator.addInstance({ host: dead })
      for (const host of ['cmp02', 'cmp03']) rig.simulator.fault(host, { slowSpawnMs: 400 })
      rig.onWrite = (kind) => {
        if (kind === 'evacuate')
          rig.simulator.apiFault({ kind: 'empty', method: 'GET', path: /os-migrations/, times: 5 })
      }
      rig.hostDies()
      await rig.run()
      await recoveredOnce(rig, uuid)
    }),
  )
})
