/** What is said of an instance that has landed, where Nova's history shows someone else's evacuation beside ours (law L5). */
import { describe, expect, it } from 'vitest'
import type { InstanceActionEvent } from '../../src/domain/instance.ts'
import { decideLateEvacuation, type LandedFacts } from '../../src/executor/late-evacuations.ts'
import { instance } from '../engine/surveys.ts'

const rebuilt = (host: string, change: Partial<InstanceActionEvent> = {}): InstanceActionEvent => ({
  ...{ event: 'compute_rebuild_instance', host, result: 'Success', details: null },
  ...{ startedAt: '2030-01-01T12:00:01', finishedAt: '2030-01-01T12:00:05' },
  ...change,
})

/** Ours landed at second 5. */
const decide = (
  startedAtS: number,
  theirs: InstanceActionEvent[],
  change: Partial<LandedFacts> = {},
  isLastLook = false,
): unknown => {
  const startedAt = `2030-01-01T12:00:${String(startedAtS).padStart(2, '0')}`
  const facts: LandedFacts = {
    ...{ landedOn: 'ours', ours: [rebuilt('ours')], others: [{ startedAt, events: theirs }] },
    ...{ instance: instance({ id: 'i-1', host: 'theirs' }), wasAway: false, isProvenDead: () => false },
    ...change,
  }
  return decideLateEvacuation(facts, isLastLook)
}

describe('someone else’s evacuation that is carried out after ours has landed', () => {
  it('is reported with the host where ours landed', () => {
    expect(decide(5, [rebuilt('theirs')])).toEqual({ is: 'twice', hosts: ['ours'] })
  })

  it('is reported with the host where theirs went, if Nova has the instance where ours landed', () => {
    const at = { instance: instance({ id: 'i-1', host: 'ours' }) }
    expect(decide(5, [rebuilt('theirs')], at)).toEqual({ is: 'twice', hosts: ['theirs'] })
  })

  it('is reported also if Nova recorded it long after: Nova refuses to evacuate a host that is up', () => {
    expect(decide(55, [rebuilt('theirs')])).toEqual({ is: 'twice', hosts: ['ours'] })
  })

  it('is not reported if the host where ours landed went down in between', () => {
    expect(decide(55, [rebuilt('theirs')], { wasAway: true })).toEqual({ is: 'none' })
  })

  it('is reported even if that host went down, where Nova had recorded the order by our landing', () => {
    expect(decide(5, [rebuilt('theirs')], { wasAway: true })).toEqual({ is: 'twice', hosts: ['ours'] })
  })

  it('is not reported for a host that is proven dead', () => {
    expect(decide(5, [rebuilt('theirs')], { isProvenDead: (host) => host === 'ours' })).toEqual({ is: 'none' })
  })

  it.each([
    ['a host refused it', [rebuilt('theirs', { result: 'Error', details: 'Insufficient compute resources' })]],
    ['no host was found for it', [rebuilt('theirs', { event: 'rebuild_server', result: 'Error' })]],
    ['it went where ours had landed', [rebuilt('ours')]],
  ])('is not reported if %s', (_why, events) => {
    expect(decide(5, events, { instance: instance({ id: 'i-1', host: 'ours' }) })).toEqual({ is: 'none' })
  })

  it('is waited for while no host has taken it, or Nova still rebuilds or moves the instance', () => {
    const at = { instance: instance({ id: 'i-1', host: 'theirs', taskState: 'rebuild_spawning' }) }
    const open = rebuilt('theirs', { result: null, finishedAt: null })
    const all = [decide(5, []), decide(5, [rebuilt('theirs')], at), decide(5, [open])]
    expect(all).toEqual([{ is: 'wait' }, { is: 'wait' }, { is: 'wait' }])
  })

  it('is reported with an unknown host if none has taken it by the last look', () => {
    const at = { instance: instance({ id: 'i-1', host: 'ours' }) }
    expect(decide(5, [], at, true)).toEqual({ is: 'twice', hosts: [null] })
  })
})
