/** The shipped workflow for crashed guests against its expected plans. */
import { describe, expect, it } from 'vitest'
import { checkExpectations } from '../../src/engine/expectations.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflowOf } from '../../src/engine/workflow.ts'
import { readShipped, shippedCrashes } from './shipped.ts'

const file = 'tests/instance-failure.yaml'

describe('instance-failure decides as expected:', () => {
  for (const { name, line, differences } of checkExpectations(readShipped(file), file, shippedCrashes))
    it(`${name} (line ${line})`, () => {
      expect(differences).toEqual([])
    })

  it('every rule has a case of its own', () => {
    const ids = [...readShipped('instance-failure.yaml').matchAll(/^ {4}- id: ([\w-]+)/gm)].map((found) => found[1])
    const untested = ids.filter((id) => {
      const without = shippedCrashes.source.replace(`    - id: ${id}\n`, `    - id: ${id}-renamed\n`)
      const renamed = parseWorkflowOf('instance', without, 'x.yaml', { ownerPolicy: defaultOwnerPolicy })
      const reworded = { ...renamed, decide: reasonless(renamed.decide, `${id}-renamed`) }
      return checkExpectations(readShipped(file), file, reworded).every(({ differences }) => differences.length === 0)
    })
    expect(untested).toEqual([])
  })
})

/** As `decide`; what this rule decides comes out otherwise. */
function reasonless(decide: typeof shippedCrashes.decide, rule: string): typeof shippedCrashes.decide {
  return (facts, rules) => {
    const decision = decide(facts, rules)
    return decision.rule === rule ? { do: 'wait', rule, message: 'otherwise' } : decision
  }
}
