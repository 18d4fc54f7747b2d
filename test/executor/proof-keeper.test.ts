/** A proof that lapses is made again while the incident runs; while it cannot be, no write passes. */
import { expect, test } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { Fencer } from '../../src/domain/fencing.ts'
import { dead, withRig, type Rig } from './rig.ts'

/** The rig's own fencer, whose proofs lapse; `restore` is what happens when one is made again. */
function lapsing(rig: Rig, everyMs: number, restore: (fencer: Fencer) => Fencer['restore']): void {
  rig.wrapFencer = (fencer) => ({ ...fencer, renewEveryMs: () => everyMs, restore: restore(fencer) })
}

test(
  'a renewal that fails shuts the gate, is tried again, and opens it',
  withRig({ segment: { maxParallelPerHost: 1 } }, async (rig) => {
    const instances = Array.from({ length: 4 }, () => rig.simulator.addInstance({ host: dead }).uuid)
    for (const host of ['cmp02', 'cmp03']) rig.simulator.fault(host, { slowSpawnMs: 150 })
    let broken = true
    lapsing(rig, 50, (fencer) => (record, signal) => {
      if (broken) return Promise.reject(new LifeboatError('FENCE_UNVERIFIED', 'no quorum', { certainty: 'unknown' }))
      return fencer.restore(record, signal)
    })
    rig.hostDies()
    const run = rig.run()
    await rig.until(() => rig.incident.held?.code === 'FENCE_FAILED', 'held')
    expect(rig.incident.held?.message).toContain('expired and could not be renewed: no quorum')
    const sent = rig.sent('evacuate')
    expect(sent).toBeLessThan(4)
    const rows = (): number =>
      rig.entries(['fence.attempt']).filter(({ data }) => 'phase' in data && data.phase === 'failed').length
    await rig.until(() => rows() >= 2, 'tried again')
    expect(rig.sent('evacuate')).toBe(sent)
    broken = false
    await run
    expect(instances.map((uuid) => rig.outcome(uuid).outcome)).toEqual(Array(4).fill('recovered'))
    expect(rig.incident.proof).toMatchObject({ method: 'bmc' })
  }),
)

test(
  'nothing is renewed once the incident is over',
  withRig({}, async (rig) => {
    rig.simulator.addInstance({ host: dead })
    let renewals = 0
    lapsing(rig, 30, (fencer) => (record, signal) => {
      renewals += 1
      return fencer.restore(record, signal)
    })
    rig.hostDies()
    await rig.run()
    expect(renewals).toBeGreaterThan(0)
    const after = renewals
    await new Promise((resolve) => setTimeout(resolve, 120))
    expect(renewals).toBe(after)
  }),
)

test(
  'a person whose word takes the place of a proof that is gone: recorded as the weaker proof, and used from then on',
  withRig({}, async (rig) => {
    const { uuid } = rig.simulator.addInstance({ host: dead })
    const stop = new AbortController()
    rig.beforeWrite = () => stop.abort()
    rig.hostDies()
    await rig.run(stop.signal)
    rig.beforeWrite = () => undefined
    rig.simulator.bmc(dead, { reachable: false })
    // A word from before the hold does not answer it.
    const data = { by: 'ann', statement: 'it looked dead' }
    rig.journal.append([{ kind: 'operator.statement', incident: rig.id, host: dead, data }])
    rig.restart()
    const run = rig.run()
    await rig.until(() => rig.incident.held?.code === 'FENCE_FAILED', 'held')
    expect(rig.incident.held?.message).toContain(`lifeboat recover ${dead} --by NAME`)
    const again = { by: 'ann', statement: 'I pulled the plug' }
    rig.journal.append([{ kind: 'operator.statement', incident: rig.id, host: dead, data: again }])
    await run
    expect(rig.incident.proof).toMatchObject({ strength: 'statement', statedBy: 'ann', method: 'operator' })
    expect(rig.outcome(uuid).outcome).toBe('recovered')
    expect(rig.sent('evacuate', uuid)).toBe(1)
  }),
)
