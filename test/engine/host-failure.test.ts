/** The shipped workflow against its expected plans: one case for every row of the design's table and of docs/nova.md §2.6, §3.3. */
import { describe, expect, it } from 'vitest'
import { checkExpectations } from '../../src/engine/expectations.ts'
import { problemsIn, readShipped, shipped, shippedSource } from './shipped.ts'
import { instance, segment, survey } from './surveys.ts'

const file = 'tests/host-failure.yaml'
const results = checkExpectations(readShipped(file), file, shipped)

describe('host-failure decides as expected:', () => {
  for (const { name, line, differences } of results) {
    it(`${name} (line ${line})`, () => {
      expect(differences).toEqual([])
    })
  }

  it('every rule but the last has a case of its own', () => {
    const reasons = [...shippedSource.matchAll(/^ {6}reason: (\w+)/gm)].map((found) => found[1])
    const tested = readShipped(file)
    expect(
      reasons.filter((reason) => !tested.includes(`reason: ${reason},`) && !tested.includes(`reason: ${reason} `)),
    ).toEqual([])
  })
})

describe('expected plans', () => {
  const head = 'apiVersion: lifeboat/v1\nkind: WorkflowTest\nworkflow: host-failure\ncases:\n'

  it('a plan that differs is said, with what the plan has', () => {
    const wrong = `${head}  - name: wrong\n    expect: { decision: leave, reason: RUNNING }\n`
    expect(checkExpectations(wrong, 'x.yaml', shipped)).toEqual([
      { name: 'wrong', line: 5, differences: ['decision: expected "leave", the plan has "recover"'] },
    ])
  })

  it('a mistake in the file is named by line and column', () => {
    const bad = `${head}  - name: bad\n    instance: { vm_state: active }\n    expect: { decision: leave, reason: X }\n`
    const found = problemsIn(() => checkExpectations(bad, 'x.yaml', shipped))
    expect(found).toEqual([expect.stringMatching(/^x\.yaml:6:\d+: .*vm_state/)])
  })
})

describe('error routes of the shipped workflow', () => {
  const running = shipped.plan(survey([instance()]), segment()).instances[0]!

  it('whatever leaves the instance in ERROR is tried again from a reset, never by sending evacuate again', () => {
    const evacuate = running.recipes['evacuate-running']!.steps[0]!
    for (const code of ['NO_VALID_HOST', 'EVACUATION_FAILED', 'DESTINATION_DIED', 'EVACUATION_LOST'] as const)
      expect(evacuate.onError![code]).toBe('retry-clean')
    expect(running.recipes['retry-clean']!.steps.map((step) => step.do)).toEqual([
      'lock',
      'reset-state',
      'evacuate',
      'start',
    ])
    expect(running.recipes['retry-clean']!.rounds).toBeGreaterThan(20)
  })

  it('a guest that may run on the destination stops everything for a person', () => {
    for (const recipe of Object.values(running.recipes))
      for (const step of recipe.steps.filter(({ do: kind }) => kind === 'evacuate'))
        expect(step.onError!.GUEST_ON_DESTINATION).toBe('stuck')
  })

  it('an instance that its owner deleted meanwhile is left, not failed', () => {
    for (const recipe of Object.values(running.recipes))
      for (const step of [...recipe.steps, ...recipe.finally]) expect(step.onError!.INSTANCE_GONE).toBe('left')
  })

  it('a retried instance that was stopped is stopped again where Nova cannot land it stopped', () => {
    const old = survey([instance({ vmState: 'stopped', powerState: 4 })], {
      capabilities: { computeMaxMicroversion: '2.90', landsStopped: false },
    })
    const stopped = shipped.plan(old, segment()).instances[0]!
    expect(stopped.recipes['retry-clean']!.steps.map((step) => step.landing ?? step.do)).toEqual([
      'lock',
      'reset-state',
      'as-before',
      'stop',
    ])
  })

  it('lead to recipes that the plan holds, with the rounds they may go, and to no other', () => {
    const { recipes } = shipped.plan(survey([instance()]), segment()).instances[0]!
    expect(Object.keys(recipes).sort()).toEqual([
      'evacuate-as-before',
      'evacuate-running',
      'retry-as-before',
      'retry-clean',
    ])
    expect(recipes['evacuate-running']).not.toHaveProperty('rounds')
    expect(recipes['retry-clean']!.rounds).toBe(40)
  })
})
