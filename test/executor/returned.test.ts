/** A host that beats again while its incident waits, before anything was done to it. */
import { expect, test } from 'vitest'
import type { Verdict } from '../../src/domain/verdict.ts'
import type { Permissions, Permission } from '../../src/executor/context.ts'
import { dead, withRig, type Rig } from './rig.ts'

/** What the rest of the daemon says, as a test changes it. */
class Told {
  kind: Verdict['kind'] = 'host-down'
  permission: Permission = { allowed: true }
  looks = 0

  wrap(rig: Rig): void {
    rig.wrapPermissions = (permissions: Permissions): Permissions => ({
      ...permissions,
      of: () => this.permission,
      lookAgain: async (host, signal) => {
        this.looks += 1
        const { verdict, frozen } = await permissions.lookAgain(host, signal)
        return { verdict: { ...verdict, kind: this.kind, message: 'as told' }, frozen }
      },
    })
  }
}

test(
  'held by the brake: its incident ends by itself as returned, and says why it went on',
  withRig({}, async (rig) => {
    const told = new Told()
    told.wrap(rig)
    told.permission = { allowed: false, hold: 'BRAKE', message: 'too many' }
    rig.simulator.crash(dead)
    rig.seed('confirming')
    const run = rig.run()
    await rig.until(() => rig.incident.held?.code === 'BRAKE', 'held')
    expect(told.looks).toBe(0)
    told.kind = 'healthy'
    told.permission = { allowed: true, hostIsBack: 'the host is back: it beats' }
    await run
    expect(rig.incident.closed).toMatchObject({ outcome: 'returned' })
    expect(rig.entries(['incident.continued'])).toMatchObject([{ data: { because: 'the host is back: it beats' } }])
    expect(rig.entries(['step.intended', 'fence.attempt'])).toEqual([])
    expect(rig.simulator.bmc(dead).power).toBe('On')
    // Nova is not even asked what is on it: when a site returns it has other work.
    expect(rig.simulator.requests().filter((at) => at.path.startsWith('compute/'))).toEqual([])
  }),
)

test(
  'seen dead a moment ago and beating now: it is looked at again, not fenced',
  withRig({}, async (rig) => {
    const told = new Told()
    told.wrap(rig)
    rig.simulator.crash(dead)
    rig.seed('confirming')
    rig.journal.onAppend((entry) => {
      if (entry.kind !== 'incident.phase' || entry.data.to !== 'fencing') return
      // Confirmed dead, and in the same moment a poll sees it beat.
      told.kind = 'healthy'
      told.permission = { allowed: true, hostIsBack: 'it beats' }
    })
    await rig.run()
    expect(told.looks).toBe(2)
    expect(rig.incident.closed).toMatchObject({ outcome: 'returned' })
    expect(rig.entries(['fence.attempt'])).toEqual([])
  }),
)

test(
  'that falls silent again between the two looks is held again before it is fenced',
  withRig({}, async (rig) => {
    const told = new Told()
    told.wrap(rig)
    told.permission = { allowed: true, hostIsBack: 'it beats' }
    rig.hostDies()
    const { wrapPermissions } = rig
    rig.wrapPermissions = (permissions) => {
      const wrapped = wrapPermissions(permissions)
      return {
        ...wrapped,
        lookAgain: (host, signal) => {
          told.permission = { allowed: false, hold: 'BRAKE', message: 'too many' }
          return wrapped.lookAgain(host, signal)
        },
      }
    }
    const stop = new AbortController()
    const run = rig.run(stop.signal)
    await rig.until(() => rig.incident.held?.code === 'BRAKE', 'held')
    expect(rig.entries(['fence.attempt'])).toEqual([])
    stop.abort()
    await run
  }),
)
