/** Answers about readiness: whether hosts, and the cloud, could fail safely now. */
import { z } from 'zod'
import {
  fencingStates,
  gapCodes,
  type FenceReading,
  type HostReadiness,
  type PlanCounts,
  type Readiness,
} from '../../domain/readiness.ts'
import { returnState } from './cloud.ts'
import { count, namesOf, probeReading, time, verdictKind, verdictReason } from './shared.ts'

const fenceReading: z.ZodType<FenceReading> = z.object({
  method: z.string(),
  power: z
    .enum(['on', 'off', 'unknown'])
    .nullable()
    .describe('unknown: the device does not answer; null: not read yet, or the method is not configured for the host'),
  detail: z.string(),
  at: z.string().nullable().describe('When it was read'),
})

const planCounts: z.ZodType<PlanCounts> = z.object({
  at: time.describe('When Nova was read'),
  instances: count,
  back: count.describe('Those that would be recovered'),
  left: z
    .array(
      z.object({
        decision: z.enum(['leave', 'hold']),
        reason: z.string(),
        message: z.string(),
        instances: count,
        names: z.array(z.string()).describe('The first of them'),
      }),
    )
    .describe('The others by reason, the largest group first'),
  onLocalDisks: count.describe('Of the others, those on disks of the host'),
})

export const hostReadiness: z.ZodType<HostReadiness> = z
  .object({
    host: z.string(),
    segment: z.string(),
    verdict: verdictKind,
    reason: verdictReason,
    returning: returnState
      .nullable()
      .exactOptional()
      .describe('While something of ours is set on it: how far its return is'),
    incident: z.string().nullable(),
    plan: planCounts.nullable().describe('Null: not read yet'),
    fencing: z.object({ state: namesOf(fencingStates), methods: z.array(fenceReading) }),
    probes: z.array(z.object({ probe: z.string(), last: probeReading.nullable() })),
    holds: z
      .array(z.object({ code: z.enum(['MAINTENANCE', 'PAUSED', 'FROZEN', 'BRAKE']), message: z.string() }))
      .describe('Why its recovery would wait'),
    estimateMs: z
      .number()
      .nullable()
      .describe('From the verdict until its last instance is back, as earlier recoveries took; null: unknown'),
    missing: z.array(z.object({ code: namesOf(gapCodes), message: z.string() })),
  })
  .meta({ id: 'HostReadiness' })

export const readiness: z.ZodType<Readiness> = z
  .object({
    at: time,
    sentences: z.array(z.string()).describe('The first says how many host failures can be taken now'),
    failures: count.describe('Hosts that may fail now, wherever they are. In observe mode: if Lifeboat were armed'),
    limit: z
      .object({ scope: z.string(), title: z.string(), down: count, allowed: count })
      .nullable()
      .describe('The scope of the brake with the least room'),
    segments: z.array(
      z.object({
        name: z.string(),
        hosts: count,
        fenceable: count.describe('Hosts that a fencing method can prove dead, as far as is known'),
        onLocalDisks: count.describe('Instances on local disks that would be left'),
      }),
    ),
    hosts: z.array(hostReadiness),
  })
  .meta({ id: 'Readiness', description: 'Whether each host, and the cloud, could fail safely now' })
