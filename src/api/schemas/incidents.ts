/** Answers about incidents, as lists and for the command line. */
import { z } from 'zod'
import type { FenceAttempt, ProofRecord } from '../../domain/fencing.ts'
import { incidentEnds } from '../../domain/entry.ts'
import { holdCodes, incidentPhases } from '../../domain/incident-phases.ts'
import type { RevokedProof, WatchedInstances } from '../../domain/incident.ts'
import type { IncidentDetail, IncidentSummary, InstanceSummary } from '../../domain/operations.ts'
import { outcomes, type Outcome, type OutcomeKind } from '../../domain/outcome.ts'
import { stepKinds } from '../../domain/plan.ts'
import {
  codeAndMessage,
  count,
  counts,
  hostCount,
  mode,
  namesOf,
  stepStatus,
  time,
  verdict,
  waitsUntil,
} from './shared.ts'

export const outcomeKind = namesOf(outcomes)
export const decision = z.enum(['recover', 'leave', 'hold'])

const summaryShape = {
  id: z.string(),
  host: z.string(),
  process: z.string().nullable().describe('The process that failed on that host; null: something else did'),
  crashed: z
    .object({ instance: z.string(), name: z.string(), event: z.string() })
    .nullable()
    .describe('The instance whose guest crashed on that host, which lives; null: something else failed'),
  segment: z.string(),
  mode,
  openedAt: time,
  openedBy: z.string(),
  phase: namesOf(incidentPhases),
  held: z.object({ code: namesOf(holdCodes), message: z.string(), since: time }).nullable(),
  fencing: z.string().nullable().describe('How far fencing has come; null before and after it'),
  ended: z
    .object({ outcome: namesOf(incidentEnds), message: z.string(), at: time })
    .nullable()
    .describe('null: it is open'),
  instances: count,
  outcomes: counts(['open', ...(Object.keys(outcomes) as OutcomeKind[])]),
  onHost: hostCount
    .nullable()
    .exactOptional()
    .describe('While Lifeboat has not listed its instances: what Nova shows on the host; null: not counted yet'),
}
export const incidentSummary: z.ZodType<IncidentSummary> = z
  .object({
    ...summaryShape,
    signedOff: z
      .object({ by: z.string(), at: time })
      .nullable()
      .exactOptional()
      .describe('Who signed it off; null: nobody yet; missing if it was not looked up'),
  })
  .meta({ id: 'IncidentSummary' })

const proof: z.ZodType<ProofRecord> = z.object({
  host: z.string(),
  method: z.string().describe('The configured method’s name, or operator'),
  strength: z.enum(['power-off', 'agent-verified', 'command-verified', 'statement']),
  provenAt: time,
  statedBy: z.string().nullable(),
  evidence: z.array(z.string()).describe('What was read'),
  proves: z.enum(['power', 'storage']).exactOptional(),
})

const voided: z.ZodType<RevokedProof> = z
  .object({
    method: z.string(),
    strength: z.enum(['power-off', 'agent-verified', 'command-verified', 'statement']),
    provenAt: time,
    code: z.string().describe("The sign of life: a verdict's reason, POWER_ON, or DISK_IN_USE"),
    message: z.string(),
    at: time,
  })
  .describe('A revoked proof: the host showed life after it')

const watched: z.ZodType<WatchedInstances> = z.object({
  to: z.enum(['watching', 'known']).describe('watching: more may turn out to be off'),
  off: count.describe('How many ran before and are off now'),
  message: z.string(),
  at: time,
})

const fenceAttempt: z.ZodType<FenceAttempt & { at: string }> = z.object({
  at: time,
  method: z.string(),
  phase: z.enum(['trying', 'succeeded', 'failed']),
  message: z.string(),
  position: count.exactOptional(),
  of: count.exactOptional(),
  attempt: count.exactOptional(),
  attempts: count.exactOptional(),
  limitMs: z.number().exactOptional(),
  startedAt: time.exactOptional(),
  endedAt: time.exactOptional(),
  certainty: z.enum(['not-applied', 'applied', 'unknown']).exactOptional(),
})

export const via = z
  .object({ by: z.enum(['token', 'session']), userId: z.string(), scope: z.string() })
  .exactOptional()
  .describe('Which Keystone user it was; missing: the operators’ socket')
const ordered = z.object({ by: z.string(), reason: z.string(), via }).nullable()

/** What the detail and the review of an incident have in common. */
export const incidentShape = {
  ...summaryShape,
  verdict: verdict.nullable(),
  proof: proof.nullable(),
  voided: voided.nullable(),
  statement: z
    .object({ by: z.string(), statement: z.string(), unixUser: z.string().exactOptional(), via })
    .nullable()
    .describe('A person’s attestation that the host is dead: weaker than a machine’s proof'),
  override: ordered.describe('Who overrode the brake'),
  cancelled: ordered,
  watched: watched.nullable().describe('Set if the host came back by itself: what is known of its instances since'),
  fenceAttempts: z.array(fenceAttempt),
}

const outcome: z.ZodType<Outcome> = z.object({
  outcome: outcomeKind,
  code: z.string(),
  message: z.string(),
  after: z
    .object({
      host: z.string().nullable(),
      vmState: z.string(),
      taskState: z.string().nullable(),
      powerState: z.number(),
      locked: z.boolean(),
    })
    .nullable(),
  crossed: z
    .object({
      destinations: z.array(z.string()).describe('Where its guest may run'),
      migrations: z.array(z.string()).describe('The records of its evacuations'),
    })
    .exactOptional()
    .describe('Set if another evacuation was carried out besides the one that had landed'),
})

/** What the summary and the line of an instance have in common. */
export const decidedShape = {
  id: z.string(),
  name: z.string(),
  projectId: z.string(),
  decision,
  rule: z.string(),
  reason: z.string(),
  message: z.string(),
}

const instanceSummary: z.ZodType<InstanceSummary> = z.object({
  ...decidedShape,
  original: z.object({
    vmState: z.string(),
    powerState: z.number(),
    taskState: z.string().nullable(),
    wanted: z.string(),
    wantedBecause: z.string(),
    flagged: z.boolean(),
    locked: z.boolean(),
  }),
  recipe: z.string().nullable(),
  steps: z.array(
    z.object({
      key: z.string(),
      kind: namesOf(stepKinds),
      attempt: count,
      status: stepStatus,
      requestId: z.string().nullable(),
      intendedAt: time,
      endedAt: z.string().nullable(),
      waitsUntil,
      error: codeAndMessage.nullable(),
    }),
  ),
  outcome: outcome.nullable(),
  endedAt: z.string().nullable(),
  notes: z.array(z.string()),
  debts: z.array(codeAndMessage),
})

export const incidentDetail: z.ZodType<IncidentDetail> = z
  .object({ ...incidentShape, instanceList: z.array(instanceSummary) })
  .meta({ id: 'IncidentDetail' })
