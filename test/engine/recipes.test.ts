/** Which recipes a plan carries: the one it begins with and those that errors can lead to, and no others. */
import { expect, it } from 'vitest'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import { instance, segment, survey } from './surveys.ts'

const source = `
apiVersion: lifeboat/v1
kind: RecoveryWorkflow
metadata: { name: example, revision: 1, summary: An example }
failure: host
host: { fence: { deadline: 1m }, force-down: { deadline: 1m }, survey: { deadline: 1m } }
instances:
  order: []
  rules:
    - { id: off, when: instance.vm_state == "stopped", recover: other, expect: stopped, reason: OFF, because: It was off }
    - { id: on, recover: go, expect: running, reason: ON, because: It ran }
recipes:
  other:
    steps: [{ id: go, do: evacuate, landing: stopped, deadline: 1m }]
  go:
    steps: [{ id: go, do: evacuate, landing: as-before, deadline: 1m, onError: { default: again } }]
    finally: [{ id: unlock, do: unlock, deadline: 1m }]
  again:
    rounds: 3
    steps: [{ id: go, do: evacuate, landing: stopped, deadline: 1m, onError: { default: again, HOST_ALIVE: last } }]
  last:
    steps: [{ id: reset, do: reset-state, deadline: 1m }]
`

function recipesOf(vmState: string) {
  const workflow = parseWorkflow(source, 'example.yaml', { ownerPolicy: defaultOwnerPolicy })
  return workflow.plan(survey([instance({ vmState })]), segment()).instances[0]!.recipes
}

it('those that its errors lead to come with it, each with its rounds', () => {
  const recipes = recipesOf('active')
  expect(Object.keys(recipes).sort()).toEqual(['again', 'go', 'last'])
  expect(recipes['again']).toMatchObject({ name: 'again', rounds: 3 })
  expect(recipes['go']).not.toHaveProperty('rounds')
  expect(recipes['go']!.finally.map(({ id }) => id)).toEqual(['unlock'])
})

it('one that leads nowhere comes alone', () => {
  expect(Object.keys(recipesOf('stopped'))).toEqual(['other'])
})
