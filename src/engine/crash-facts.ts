/** Facts: what the conditions of the workflow for crashed guests may ask. Pure. */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { Instance } from '../domain/instance.ts'
import { byPowerSync, lastOrder, powerActions } from '../domain/power-history.ts'
import type { Declarations } from './conditions.ts'
import { isOfCancelled, isStartedSince, type CrashFacts, type CrashRules } from './crash.ts'
import { instanceDeclarations, plainInstanceFacts, type FactsOf } from './facts.ts'
import { ownerPolicyOf } from './owner-policy.ts'

/** Group -> fact -> CEL type. recovery-workflows/README.md says what each means; a test compares the two. */
export const crashDeclarations = {
  instance: { ...instanceDeclarations, encrypted: 'bool', encrypted_key_available: 'bool' },
  report: { host: 'string', age: 'int' },
  hypervisor: { says: 'string' },
  history: {
    read: 'bool',
    last_order: 'string',
    stopped_by_nova: 'bool',
    stopped_at: 'string',
    stopped_before: 'int',
    started_since: 'bool',
    cancelled: 'bool',
  },
  wish: { value: 'string', from: 'string' },
  policy: { error_before: 'string' },
  restart: { unasked: 'string' },
  segment: { name: 'string' },
} as const satisfies Declarations

type AskedFacts = FactsOf<typeof crashDeclarations>

export function crashFactsOf(instance: Instance, facts: CrashFacts, rules: CrashRules): AskedFacts {
  const early = earlyFactsOf(instance, facts, rules)
  return {
    ...early,
    instance: {
      ...early.instance,
      encrypted: facts.encrypted,
      encrypted_key_available: facts.mayActForProject,
    },
    hypervisor: { says: facts.live ?? '' },
    history: historyFacts(facts),
  }
}

/** All but what is read late: what asks for the hypervisor's word, the history or the volumes cannot be evaluated by these. */
export function earlyFactsOf(instance: Instance, facts: CrashFacts, rules: CrashRules) {
  const { value, from } = ownerPolicyOf(instance, facts.aggregates, rules.owner)
  return {
    instance: plainInstanceFacts(instance),
    report: { host: facts.host, age: Math.floor(facts.sinceMs / 1_000) },
    wish: { value, from },
    policy: { error_before: rules.policy.errorBefore },
    restart: { unasked: rules.restart.unasked },
    segment: { name: rules.segment },
  }
}

function historyFacts(facts: CrashFacts): AskedFacts['history'] {
  const { actions, crashedAt } = facts
  const [newest] = powerActions(actions ?? [])
  const byNova = newest !== undefined && byPowerSync(newest) ? newest : null
  // Begun seconds count, so that "more than" means it exactly. A time that cannot be read is no proof of an old stop.
  const beforeMs = byNova === null ? 0 : crashedAt - cloudTimeMs(byNova.startedAt)
  return {
    read: actions !== null,
    last_order: lastOrder(actions ?? []) ?? '',
    stopped_by_nova: byNova !== null,
    stopped_at: byNova?.startedAt ?? '',
    stopped_before: beforeMs > 0 ? Math.ceil(beforeMs / 1_000) : 0,
    started_since: isStartedSince(facts),
    cancelled: isOfCancelled(facts),
  }
}
