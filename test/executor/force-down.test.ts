/** Forcing the host down when its answer is lost: what the journal says must be what is known (laws L2, L3). */
import { describe, expect, it } from 'vitest'
import type { StepRecord } from '../../src/domain/incident.ts'
import { forceDown } from '../../src/executor/host-steps.ts'
import { failed } from './decisions/stage.ts'
import { ProofStage } from './decisions/proof-stage.ts'

/** A host that nobody has touched yet, proven dead. */
function untouched(): ProofStage {
  const stage = new ProofStage().proven()
  stage.service = { ...stage.service, status: 'enabled', forcedDown: false, disabledReason: null }
  return stage
}

const step = (stage: ProofStage): StepRecord | undefined => stage.incident.hostSteps.get('host.force-down.1')
const lost = failed('API_TIMEOUT', { certainty: 'unknown' })

describe('an order whose answer is missing', () => {
  it('is sent again: setting the same flags twice changes nothing', async () => {
    const stage = untouched()
    stage.fails('updateService', lost)
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect(stage.count('updateService')).toBe(2)
    expect(step(stage)).toMatchObject({ status: 'confirmed' })
  })

  it('has its mark on record before it is sent', async () => {
    const stage = untouched()
    stage.onWrite = () => expect(stage.incident.marked).not.toBeNull()
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect(stage.incident.marked).toMatchObject({ before: { forcedDown: false, status: 'enabled' } })
  })

  it('is unknown when a person cancels meanwhile: Nova may have set the flags all the same', async () => {
    const stage = untouched()
    stage.fails('updateService', lost)
    stage.onWrite = () => stage.cancel()
    expect(await stage.ending(forceDown(stage.run, stage.gate))).toBe('CANCELLED')
    expect(step(stage)?.error).toMatchObject({ code: 'CANCELLED', certainty: 'unknown', chain: [lost.message] })
    expect(stage.incident.marked).not.toBeNull()
  })

  it('is not unknown when nothing was sent before the cancel', async () => {
    const stage = untouched()
    stage.cancel()
    expect(await stage.ending(forceDown(stage.run, stage.gate))).toBe('CANCELLED')
    expect(step(stage)?.error).toMatchObject({ code: 'CANCELLED', certainty: 'not-applied' })
  })
})
