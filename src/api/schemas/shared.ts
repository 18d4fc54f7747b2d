/** Pieces that several answers share. Answers may grow: readers must take no offence at fields that they do not know. */
import { z } from 'zod'
import type { HostCount } from '../../domain/brake.ts'
import { errorCodes, type ErrorCode, type ErrorRecord } from '../../domain/errors.ts'
import { scopeKinds, orderKinds, type Order, type PlannedOrder } from '../../domain/order.ts'
import { stepStatuses, type StepStatus } from '../../domain/step-states.ts'
import { verdictKinds, type Evidence, type ProbeReading, type Verdict, type VerdictKind } from '../../domain/verdict.ts'
import type { VerdictReason } from '../../domain/verdict-reasons.ts'

/** The names of a table of the domain, as an enum. */
export function namesOf<K extends string>(table: Readonly<Record<K, unknown>>): z.ZodType<K> {
  return z.enum(Object.keys(table) as [K, ...K[]])
}

export const time = z.string().describe('ISO, our wall clock')
export const waitsUntil = z
  .string()
  .nullable()
  .describe('Set if the answer was lost: Nova may still carry it out until then, and Lifeboat sends nothing before')
export const count = z.number().int().min(0)
export const mode = z.enum(['observe', 'armed'])
export const codeAndMessage = z.object({ code: z.string(), message: z.string() })
export const verdictKind: z.ZodType<VerdictKind> = namesOf(verdictKinds)
/** Any text: a journal of another release may have a reason that this one does not know. */
export const verdictReason = z
  .string()
  .describe('A stable code: docs/reference/verdict-reasons.md') as z.ZodType<VerdictReason>
export const stepStatus: z.ZodType<StepStatus> = namesOf(stepStatuses)

/** A record of counts that may lack names. */
export const counts = <K extends string>(names: readonly K[]): z.ZodType<Partial<Record<K, number>>> =>
  z.partialRecord(z.enum(names as [K, ...K[]]), count)

export const failure = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      details: z.unknown(),
      certainty: z
        .literal('unknown')
        .exactOptional()
        .describe('Of an order: it may have been carried out, or may be yet. Missing: it was not'),
    }),
  })
  .meta({
    id: 'Failure',
    description: 'Every refusal and failure has this shape; the codes are in docs/reference/errors.md',
  })

export const errorRecord: z.ZodType<ErrorRecord> = z
  .object({
    code: namesOf<ErrorCode>(errorCodes),
    message: z.string(),
    certainty: z.enum(['not-applied', 'applied', 'unknown']).describe('Whether the cloud acted'),
    retry: z.enum(['never', 'backoff', 'after']),
    chain: z.array(z.string()).describe('Messages of its causes'),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'ErrorRecord' })

export const probeReading: z.ZodType<ProbeReading> = z
  .object({
    probe: z.string(),
    kind: z.enum(['tcp', 'ping', 'command', 'prometheus', 'redfish', 'ipmi']),
    answer: z.enum(['alive', 'dead', 'unknown']),
    detail: z.string(),
    at: time,
    power: z.enum(['on', 'off', 'unknown']).exactOptional(),
  })
  .meta({ id: 'ProbeReading', description: 'What a probe said about a host' })

const evidence: z.ZodType<Evidence> = z.object({
  status: z.string(),
  state: z.string().nullable(),
  forcedDown: z.boolean(),
  disabledReason: z.string().nullable().exactOptional().describe('Of a host that is forced down'),
  updatedAt: z.string().nullable().describe('The last heartbeat seen, cloud time'),
  silentMs: z.number(),
  intervalMs: z.number().describe('The learnt heartbeat interval'),
  missedBeats: z.number(),
  suspicion: z
    .number()
    .exactOptional()
    .describe('0 to 15; 4: a living host is silent for this long once in ten thousand silences'),
  sinceBeatMs: z.number().exactOptional(),
  watched: z
    .object({ since: time.exactOptional(), first: z.string().nullable(), lives: z.number() })
    .exactOptional()
    .describe('When this daemon first read it, the stamp that it read, and how often the host has lived since'),
  gaps: z.array(z.number()).exactOptional().describe('Of a silent host: its last intervals between heartbeats, ms'),
  probes: z.array(probeReading),
})

export const verdictShape = {
  host: z.string(),
  segment: z.string(),
  kind: verdictKind,
  reason: verdictReason,
  message: z.string(),
  at: time,
  evidence,
}
export const verdict: z.ZodType<Verdict> = z.object(verdictShape).meta({ id: 'Verdict' })

export const scope = z.object({ kind: z.enum(scopeKinds), name: z.string().nullable() })
export const order: z.ZodType<Order> = z
  .object({
    kind: namesOf(orderKinds),
    scope,
    by: z.string(),
    reason: z.string(),
    since: time,
    until: z.string().nullable(),
    source: z.string().nullable().describe('calendar:NAME of a configured window, or null: a person'),
    plan: count.exactOptional().describe('The journal entry that planned it; missing: it was not planned'),
  })
  .meta({ id: 'Order', description: 'A pause or maintenance that is in force' })

export const plannedOrder: z.ZodType<PlannedOrder> = z
  .object({
    plan: count.describe('The journal entry that planned it: its number, by which it is withdrawn'),
    kind: z.literal('maintenance'),
    scope,
    by: z.string(),
    reason: z.string(),
    orderedAt: time,
    from: time.describe('When it begins, UTC'),
    until: z.string().nullable(),
  })
  .meta({ id: 'PlannedOrder', description: 'A maintenance for a later time' })

export const hostCount: z.ZodType<HostCount> = z.object({
  instances: count,
  running: count,
  projects: count,
  at: time.describe('When Nova showed it'),
})
