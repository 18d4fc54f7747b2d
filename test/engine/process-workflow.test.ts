/** What a workflow of one's own may say of a nova-compute that is down. */
import { describe, expect, it } from 'vitest'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import type { ProcessRuleFacts } from '../../src/engine/process-workflow.ts'
import { parseWorkflowOf } from '../../src/engine/workflow.ts'
import { shippedProcesses } from './shipped.ts'

const facts: ProcessRuleFacts = {
  host: { name: 'cmp01', zone: 'az1', aggregates: ['ssd', 'lab'] },
  service: { missed_beats: 12 },
  report: { by: '' },
  failures: { recent: 1 },
  segment: { name: 'rack-a' },
}

function own(rules: string): typeof shippedProcesses {
  const source = shippedProcesses.source.replace(/^ {2}rules:\n[^]*/m, `  rules:\n${rules}`)
  return parseWorkflowOf('process', source, 'own.yaml', { ownerPolicy: defaultOwnerPolicy })
}

const rest = '    - { id: rest, disable: true, because: it is down }\n'

describe('a workflow of one’s own', () => {
  it.each<[string, Partial<ProcessRuleFacts>, string]>([
    ['an aggregate of the host', {}, '"lab" in host.aggregates'],
    ['its name and zone', {}, 'host.name == "cmp01" && host.zone == "az1"'],
    ['its segment', {}, 'segment.name == "rack-a"'],
    ['how often it failed lately', { failures: { recent: 3 } }, 'failures.recent > 2'],
    ['who reported it', { report: { by: 'ann' } }, 'report.by == "ann"'],
    ['how long it has been silent', { service: { missed_beats: 40 } }, 'service.missed_beats >= 40'],
  ])('may leave a service to people by %s', (_what, changes, when) => {
    const { decide } = own(`    - { id: lab, when: '${when}', leave: true, because: '\${host.name} is left' }\n${rest}`)
    const left = { rule: 'lab', do: 'leave', enable: null, because: 'cmp01 is left' }
    expect(decide({ ...facts, ...changes })).toEqual(left)
    const other = { ...facts, host: { name: 'cmp02', zone: 'az2', aggregates: [] }, segment: { name: 'other' } }
    expect(decide(other)).toMatchObject({ rule: 'rest', do: 'disable' })
  })

  it('may say how a service is enabled again, and otherwise its segment does', () => {
    const { decide } = own(
      `    - { id: flaps, when: failures.recent > 1, disable: true, enable: confirm, because: again }\n${rest}`,
    )
    expect(decide({ ...facts, failures: { recent: 2 } })).toMatchObject({ do: 'disable', enable: 'confirm' })
    expect(decide(facts)).toEqual({ rule: 'rest', do: 'disable', enable: null, because: 'it is down' })
  })

  it('leaves a service alone when a rule cannot be evaluated for it', () => {
    const { decide } = own(`    - { id: first, when: 'host.aggregates[7] == "x"', disable: true, because: x }\n${rest}`)
    expect(decide(facts)).toMatchObject({ rule: 'first', do: 'leave', enable: null })
    expect(decide(facts).because).toMatch(/^rule first could not be evaluated: /)
  })
})
