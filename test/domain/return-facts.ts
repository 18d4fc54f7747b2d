/** Facts of a returning host, from which each test departs by one of them. */
import {
  decideReturn,
  leastHealthyPolls,
  type EvacuationLeft,
  type OurFlags,
  type ReturnDecision,
  type ReturnFacts,
  type ReturnRules,
} from '../../src/domain/host-return.ts'

export const now = 10_000_000
export const ours = 'lifeboat: incident 1'
export const rules: ReturnRules = {
  ...{ mode: 'automatic', healthyMs: 300_000, maxReturns: 3, withinMs: 1_800_000, startStopped: 'ask' },
}
export const confirm: ReturnRules = { ...rules, mode: 'confirm' }
export const ourFlags: OurFlags = {
  incidents: ['i-1'],
  serviceId: 's-1',
  forcedDown: true,
  disabled: true,
  reasons: [ours],
}
export const forced = { id: 's-1', status: 'disabled', state: 'down', forcedDown: true, disabledReason: ours } as const
export const up = { ...forced, forcedDown: false, state: 'up' } as const
export const enabled = { ...up, status: 'enabled', disabledReason: null } as const
export const settled = { inFlight: [], done: [] }
export const longHealthy = { since: now - rules.healthyMs, polls: leastHealthyPolls }
export const ann = { by: 'ann', reason: 'repaired', keepOut: false }

/** Forced down by us, beating again, everything settled. */
export const ready: ReturnFacts = {
  state: 'settling',
  ourFlags,
  unansweredUntil: null,
  readAt: now,
  isRefused: false,
  service: forced,
  pulse: 'beating',
  healthy: null,
  evacuations: settled,
  cleared: false,
  enabledAt: null,
  trait: null,
  failures: [now - 3_600_000],
  order: null,
  strays: [],
  failed: null,
  blocked: null,
}
/** Our forced_down is taken back, and it was healthy for exactly as long as it must be. */
export const proven: ReturnFacts = { ...ready, state: 'proving', service: up, cleared: true, healthy: longHealthy }
/** Everything of ours is taken back. */
export const done: ReturnFacts = {
  ...proven,
  state: 'enabling',
  service: enabled,
  enabledAt: now - 5_000,
  trait: 'gone',
}

export function decided(facts: Partial<ReturnFacts>, from: ReturnFacts = ready, under = rules): ReturnDecision | null {
  return decideReturn({ ...from, ...facts }, under, now)
}

export const refused = (agoMs: number) => ({ kind: 'clear-forced-down' as const, at: now - agoMs, message: '400' })

export function short(decision: ReturnDecision | null): string | null {
  return decision === null ? null : `${decision.state} ${decision.code} ${decision.act ?? '-'}`
}

export const left = (name: string, status: string): EvacuationLeft => ({
  migration: `m-${name}`,
  instance: name,
  name,
  status,
})
export const flying = { inFlight: [left('web', 'pre-migrating')], done: [] }
export const unsettled = { inFlight: [], done: [left('web', 'done')] }
export const both = { inFlight: flying.inFlight, done: unsettled.done }
