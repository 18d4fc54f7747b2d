/**
 * Expected plans for crashed guests. Each case says how one instance differs from a plain one: active on the host that reported it, asked
 * for by its owner, reported three seconds ago, and its hypervisor says that it does not run. Pure.
 */
import { z } from 'zod'
import { builtInSettings } from '../domain/segment.ts'
import { isJudgedByHypervisor, planOfCrash, type CrashFacts, type CrashRules, type CrashWorkflow } from './crash.ts'
import { actionOf, Differences, instanceKeys, instanceOf } from './expectation-parts.ts'
import type { OwnerPolicySettings } from './owner-policy.ts'

const decisions = ['restart', 'leave', 'ignore', 'done', 'wait'] as const

export const crashCase = z.strictObject({
  name: z.string(),
  ...instanceKeys,
  /** Nova shows it on another host, or no longer. */
  shown: z.enum(['elsewhere', 'gone']).optional(),
  hypervisor: z.enum(['running', 'off', 'forbidden', 'silent']).optional(),
  reportedSecondsAgo: z.int().optional(),
  /** Newest first. `by: nova` is the power sync; `secondsAfter` counts from the crash, and may be below zero. */
  actions: z
    .array(z.strictObject({ action: z.string(), by: z.enum(['user', 'nova']).optional(), secondsAfter: z.int() }))
    .optional(),
  actionsUnread: z.boolean().optional(),
  /** A person cancelled its last incident, which had begun so long before this crash. */
  cancelledSecondsBefore: z.int().optional(),
  policy: z
    .strictObject({ errorBefore: z.enum(['leave', 'evacuate']), unasked: z.enum(['recover', 'leave']) })
    .partial()
    .optional(),
  expect: z.strictObject({
    decision: z.enum(decisions),
    reason: z.string().optional(),
    rule: z.string().optional(),
    recipe: z.string().nullable().optional(),
    asProject: z.boolean().optional(),
    says: z.string().optional(),
  }),
})

type Case = z.infer<typeof crashCase>

const crashedAt = Date.parse('2030-01-01T12:00:00.000Z')

export function crashDifferences(one: Case, workflow: CrashWorkflow, owner: OwnerPolicySettings): string[] {
  const { expect } = one
  const facts = factsOf(one)
  const decision = workflow.decide(facts, rulesOf(one, owner))
  const { instance } = facts
  const plan =
    instance !== null && (decision.do === 'restart' || decision.do === 'leave')
      ? planOfCrash(instance, decision, facts)
      : null
  const is = decision.do === 'nothing' ? (decision.status === 'finished' ? 'done' : 'ignore') : decision.do
  const differences = new Differences()
  differences.same('decision', expect.decision, is)
  differences.same('reason', expect.reason, 'code' in decision ? decision.code : undefined)
  differences.same('rule', expect.rule, decision.rule)
  differences.same('recipe', expect.recipe, plan?.recipe ?? null)
  differences.same('asProject', expect.asProject, (plan?.asProject ?? null) !== null)
  differences.says(expect.says, decision.message)
  return differences.found
}

function factsOf(one: Case): CrashFacts {
  const { instance = {}, volumes = [] } = one
  const asked = { HA_Enabled: 'true' }
  const made = instanceOf({ ...one, instance: { ...instance, metadata: instance.metadata ?? asked } }, 'host')
  const shown = { ...made, host: one.shown === 'elsewhere' ? 'another' : 'host' }
  const actions = (one.actions ?? []).map(({ action, by, secondsAfter }, index) =>
    actionOf(action, by, index, new Date(crashedAt + secondsAfter * 1_000).toISOString()),
  )
  const before = one.cancelledSecondsBefore
  const cancelled = before === undefined ? null : crashedAt - before * 1_000
  return {
    host: 'host',
    instance: one.shown === 'gone' ? null : shown,
    live: isJudgedByHypervisor(shown) ? (one.hypervisor ?? 'off') : null,
    actions: one.actionsUnread === true ? null : actions,
    aggregates:
      one.aggregate === undefined
        ? []
        : [{ name: 'aggregate', availabilityZone: null, hosts: ['host'], metadata: one.aggregate }],
    encrypted: volumes.some((kind) => kind !== 'plain'),
    mayActForProject: one.mayActForProject ?? false,
    ...{ crashedAt, reportedAt: crashedAt, sinceMs: (one.reportedSecondsAgo ?? 3) * 1_000, requests: [] },
    evacuatedFrom: [],
    cancelled: cancelled === null ? null : { openedAt: cancelled, closedAt: cancelled, requests: [] },
  }
}

function rulesOf({ policy }: Case, owner: OwnerPolicySettings): CrashRules {
  const usual = builtInSettings
  return {
    segment: 'segment',
    restart: { ...usual.restart, unasked: policy?.unasked ?? usual.restart.unasked },
    policy: { ...usual.policy, errorBefore: policy?.errorBefore ?? usual.policy.errorBefore },
    owner,
  }
}
