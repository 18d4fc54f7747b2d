/** What a good document gives: its digest, its deadlines, its sentences. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { checkWorkflow, parseWorkflow } from '../../src/engine/workflow.ts'
import { shipped, shippedSource } from './shipped.ts'
import { instance, segment, survey } from './surveys.ts'

describe('a good document', () => {
  const source = readFileSync(new URL('good.yaml', import.meta.url), 'utf8')
  const workflow = parseWorkflow(source, 'good.yaml', { ownerPolicy: defaultOwnerPolicy })

  it('has no problems, and neither has the shipped one', () => {
    expect(checkWorkflow(source, 'good.yaml')).toEqual([])
    expect(checkWorkflow(shippedSource, 'host-failure.yaml')).toEqual([])
  })

  it('is pinned by the digest of its very text', () => {
    expect(workflow.digest).toBe(createHash('sha256').update(source).digest('hex'))
    expect(workflow.source).toBe(source)
    expect(parseWorkflow(`${source}# changed\n`, 'good.yaml', { ownerPolicy: defaultOwnerPolicy }).digest).not.toBe(
      workflow.digest,
    )
  })

  it('gives its host deadlines in milliseconds', () => {
    expect(workflow.hostDeadlineMs).toEqual({ fence: 600_000, 'force-down': 300_000, survey: 600_000 })
  })

  it.each([
    ['1h30m', 5_400_000],
    ['90s', 90_000],
    ['500ms', 500],
    ['2d', 172_800_000],
  ])('may say %s, as lifeboat.yaml may', (text, ms) => {
    const written = source.replaceAll(/deadline: \w+/g, `deadline: ${text}`)
    const own = parseWorkflow(written, 'good.yaml', { ownerPolicy: defaultOwnerPolicy })
    expect(own.hostDeadlineMs).toEqual({ fence: ms, 'force-down': ms, survey: ms })
    const [plan] = own.plan(survey([instance()]), segment()).instances
    expect(plan!.recipes[plan!.recipe!]!.steps[0]!.deadlineMs).toBe(ms)
  })

  it('fills facts into its sentences', () => {
    expect(workflow.plan(survey([instance({ id: 'abc' })]), segment()).instances[0]!.message).toBe('It ran on abc')
  })

  it('a condition that cannot be evaluated holds that instance, and only that one', () => {
    const needsKey = parseWorkflow(
      source.replace('instance.vm_state == "active"', 'instance.metadata["tier"] == "gold"'),
      'needs-key.yaml',
      { ownerPolicy: defaultOwnerPolicy },
    )
    const plans = needsKey.plan(
      survey([instance({ id: 'a', name: 'a' }), instance({ id: 'b', name: 'b', metadata: { tier: 'gold' } })]),
      segment(),
    ).instances
    expect(plans.map(({ instanceId, decision, reason }) => [instanceId, decision, reason])).toEqual([
      ['a', 'hold', 'CONDITION_FAILED'],
      ['b', 'recover', 'RUNNING'],
    ])
    expect(plans[0]!.message).toBe('rule running could not be evaluated: No such key: tier')
  })
})

describe('the order of a plan', () => {
  it('is by priority, then what ran before what did not, then by name', () => {
    const stopped = instance({ id: '1', name: 'a-stopped', vmState: 'stopped', powerState: 4 })
    const plan = shipped.plan(
      survey([
        stopped,
        instance({ id: '2', name: 'c' }),
        instance({ id: '3', name: 'b' }),
        instance({ id: '4', name: 'z', metadata: { lifeboat_priority: '5' } }),
        instance({ id: '5', name: 'a', metadata: { lifeboat_priority: '-5' } }),
      ]),
      segment(),
    )
    expect(plan.instances.map(({ name }) => name)).toEqual(['z', 'b', 'c', 'a-stopped', 'a'])
  })
})
