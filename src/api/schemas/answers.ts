/** Answers for reviewers: the record of an incident, the journal in pages. And all other answers by name. */
import { z } from 'zod'
import type { EntryKind } from '../../domain/entry.ts'
import { errorCodes } from '../../domain/errors.ts'
import { stepKinds } from '../../domain/plan.ts'
import type {
  Advice,
  ChainProof,
  EvidenceSeries,
  FoundInstance,
  IncidentReview,
  InstanceHistory,
  InstanceLine,
  InstanceReview,
  InstanceStay,
  JournalPage,
  RecoveryLine,
  Review,
  ReviewNote,
  SearchResult,
  StepReview,
  TimelineEvent,
  VerdictLine,
} from '../../domain/review.ts'
import { comparedParts, type IncidentComparison } from '../../domain/incident-comparison.ts'
import type { TryAgain } from '../../domain/operations.ts'
import { hostReturn, returnState } from './cloud.ts'
import { decidedShape, incidentShape, incidentSummary, outcomeKind } from './incidents.ts'
import { instancePlan } from './plans.ts'
import {
  codeAndMessage,
  count,
  errorRecord,
  mode,
  namesOf,
  probeReading,
  stepStatus,
  time,
  verdictKind,
  verdictReason,
  verdictShape,
  waitsUntil,
} from './shared.ts'

export {
  caller,
  welcome,
  daemonStatus,
  groupOverride,
  handOver,
  heldGroups,
  hostDetail,
  hostReturn,
  hostStatus,
  logLevelState,
  pauseState,
  reloadReport,
  segmentStatus,
  ssoBegun,
  ssoOffer,
} from './cloud.ts'
export { incidentDetail, incidentSummary } from './incidents.ts'
export { planRun } from './plans.ts'
export { hostReadiness, readiness } from './readiness.ts'
export { failure, order, plannedOrder } from './shared.ts'
export { maintenanceView, orderOrPlan } from './maintenance.ts'
export { noticeTestResult, receiverNotices } from './notices.ts'

const seq = count.describe('The journal entry')
// Newer releases add kinds: a reader takes each for what its sentence says.
const entryKind = z.string() as unknown as z.ZodType<EntryKind>
const json = z.unknown()

const timelineEvent: z.ZodType<TimelineEvent> = z
  .object({
    seq,
    at: time,
    kind: entryKind,
    actor: z.string(),
    text: z.string(),
    tone: z.enum(['plain', 'good', 'bad', 'wait']),
    instance: z.string().nullable(),
    requestId: z.string().nullable(),
  })
  .meta({ id: 'TimelineEvent' })

const evidence: z.ZodType<EvidenceSeries> = z
  .object({
    intervalMs: z.number().nullable(),
    gaps: z.array(z.object({ at: time, gapMs: z.number(), open: z.boolean() })),
    silence: z.array(
      z.object({ at: time, verdict: verdictKind, silentMs: z.number(), suspicion: z.number().nullable() }),
    ),
    readings: z.array(probeReading),
  })
  .meta({ id: 'EvidenceSeries', description: 'Heartbeats and probes of the host before its incident, for plotting' })

const stepReview: z.ZodType<StepReview> = z
  .object({
    key: z.string(),
    kind: z.string(),
    attempt: count,
    status: stepStatus,
    before: json.describe('What was found'),
    request: json.describe('What was sent'),
    requestId: z.string().nullable().describe('Nova’s own'),
    globalRequestId: z.string().nullable().describe('Ours; Nova’s log has it too'),
    result: json.describe('What was read back'),
    error: errorRecord.nullable(),
    intendedAt: time,
    endedAt: z.string().nullable(),
    waitsUntil,
    tookMs: z.number().nullable(),
  })
  .meta({ id: 'StepReview' })

const lineShape = {
  ...decidedShape,
  original: z.string().describe('The state its owner left it in'),
  wanted: z.string(),
  flagged: z.boolean(),
  expected: z.enum(['running', 'stopped']).nullable().describe('The power state that it is to end in'),
  landing: z.enum(['stopped', 'as-before']).nullable(),
  outcome: z.union([outcomeKind, z.literal('open')]),
  code: z.string().nullable(),
  outcomeMessage: z.string().nullable(),
  landedOn: z.string().nullable(),
  endedAs: z.string().nullable().describe('The state there, read back from Nova'),
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  stages: z
    .array(z.object({ kind: namesOf(stepKinds), from: time, to: z.string().nullable().describe('null: under way') }))
    .describe('Its steps, oldest first; tries of one step that follow each other are one'),
  downSince: z.string().nullable().describe('When it was last known to run; null: it did not run, or nobody saw it'),
  upAt: z.string().nullable().describe('When Nova showed it running again'),
  current: z.object({ kind: namesOf(stepKinds), status: stepStatus, since: time, waitsUntil }).nullable(),
  debts: z.array(codeAndMessage),
  notes: z.array(z.string()),
}
const instanceLine: z.ZodType<InstanceLine> = z.object(lineShape).meta({ id: 'InstanceLine' })

export const instanceReview: z.ZodType<InstanceReview> = z
  .object({
    ...lineShape,
    incident: z.string(),
    plan: instancePlan,
    steps: z.array(stepReview),
    timeline: z.array(timelineEvent),
  })
  .meta({ id: 'InstanceReview' })

export const instanceHistory: z.ZodType<ReturnType<Review['instanceHistory']>> = z.array(
  z.object({ ...lineShape, incident: z.string(), host: z.string(), openedAt: time }),
)

const stay: z.ZodType<InstanceStay> = z
  .object({
    ...lineShape,
    incident: z.string(),
    host: z.string().describe('Where the incident found it'),
    segment: z.string(),
    mode,
    failure: z.enum(['host', 'process', 'instance']).describe('What failed'),
    openedAt: time,
    lastBeatAt: z.string().nullable().describe('The last heartbeat of its host before the incident'),
  })
  .meta({ id: 'InstanceStay', description: 'An instance in one incident' })

export const instanceRecord: z.ZodType<InstanceHistory> = z
  .object({
    id: z.string(),
    name: z.string(),
    projectId: z.string(),
    headline: z.string(),
    now: z.object({
      host: z.string().nullable().describe('Where it was seen last; null: nobody knows'),
      state: z.string().nullable(),
      at: time,
      outcome: lineShape.outcome,
      code: z.string(),
      message: z.string(),
    }),
    stays: z.array(stay).describe('The newest first'),
  })
  .meta({ id: 'InstanceRecord' })

const foundInstance: z.ZodType<FoundInstance> = z
  .object({
    id: z.string(),
    name: z.string(),
    projectId: z.string(),
    incident: z.string().describe('The newest that it was in'),
    host: z.string().describe('Where that incident found it'),
    openedAt: time,
    outcome: lineShape.outcome,
    landedOn: z.string().nullable(),
    incidents: count.describe('In how many incidents it was'),
  })
  .meta({ id: 'FoundInstance' })

export const searchResult: z.ZodType<SearchResult> = z
  .object({
    hosts: z.array(
      z.object({
        host: z.string(),
        segment: z.string(),
        verdict: verdictKind,
        reason: verdictReason,
        returning: returnState.nullable(),
      }),
    ),
    incidents: z.array(incidentSummary),
    instances: z.array(foundInstance),
    more: z.boolean().describe('More was found than is listed'),
    unlisted: z
      .array(
        z.object({
          host: z.string(),
          incident: z.string(),
          instances: z.array(z.object({ id: z.string(), name: z.string() })),
        }),
      )
      .describe(
        'Hosts under an open incident whose instances are not on record yet, with those of them that fit, as far as Nova was asked',
      ),
  })
  .meta({ id: 'SearchResult' })

export const reviewNote: z.ZodType<ReviewNote> = z
  .object({ seq, at: time, by: z.string(), text: z.string() })
  .meta({ id: 'ReviewNote' })

const advice: z.ZodType<Advice> = z
  .object({ code: z.string(), text: z.string(), command: z.string().nullable(), instances: z.array(z.string()) })
  .meta({ id: 'Advice', description: 'What a person must do about it' })

const again: z.ZodType<TryAgain> = z.object({
  instances: z.array(z.string()).describe('What a new incident would bring back, if it is still on the host'),
  unsure: z.array(z.string()).describe('What may be running elsewhere: not touched until Nova shows where it runs'),
  needsStatement: z.boolean().describe('No machine can prove the host dead again: a person must attest it'),
  later: z.string().nullable().describe('The incident of the host that came after this one'),
  refused: z
    .object({ code: namesOf(errorCodes), message: z.string() })
    .nullable()
    .describe('Why it cannot be ordered now; null: it can be'),
})

export const incidentReview: z.ZodType<IncidentReview> = z
  .object({
    ...incidentShape,
    headline: z.string(),
    lead: z.string().describe('The headline without the current state'),
    timeline: z.array(timelineEvent),
    evidence,
    hostSteps: z.array(stepReview),
    lines: z.array(instanceLine),
    debts: z.array(z.object({ code: z.string(), message: z.string(), instance: z.string(), name: z.string() })),
    advice: z.array(advice).describe('The most urgent first; empty: nothing to do'),
    hostReturn: hostReturn
      .nullable()
      .describe('How far the return of the host is; null: it carries no flag of this incident'),
    again: again
      .nullable()
      .describe('What could be tried again; null: the incident is open, or nothing is left to try'),
    notes: z.array(reviewNote),
    signOff: reviewNote.nullable(),
    lastSeq: seq,
  })
  .meta({ id: 'IncidentReview' })

export const verdictLine: z.ZodType<VerdictLine> = z
  .object({ ...verdictShape, seq, from: verdictKind, incident: z.string().nullable() })
  .meta({ id: 'VerdictLine' })

export const recoveryLine: z.ZodType<RecoveryLine> = z
  .object({
    incident: incidentSummary,
    workflow: z.string(),
    provenAt: z.string().nullable(),
    finishedAt: z.string().nullable(),
    tookMs: z.number().nullable(),
  })
  .meta({ id: 'RecoveryLine' })

const journalEntry = z
  .object({
    seq,
    at: time,
    actor: z.string().describe('daemon, calendar:NAME or operator:NAME'),
    incident: z.string().nullable(),
    host: z.string().nullable(),
    instance: z.string().nullable(),
    step: z.string().nullable(),
    kind: entryKind,
    data: z.record(z.string(), z.unknown()),
    prevHash: z.string(),
    hash: z.string(),
    sentence: z.string().nullable(),
  })
  .meta({ id: 'JournalEntry' })

export const journalPage = z
  .object({
    entries: z.array(journalEntry),
    next: seq.nullable().describe('`after` of the next page; null at the end'),
    head: z.object({ seq, hash: z.string() }),
  })
  .meta({ id: 'JournalPage' }) as unknown as z.ZodType<JournalPage>

export const chainProof: z.ZodType<ChainProof> = z
  .object({
    entries: count,
    head: z.string(),
    broken: z.object({ seq, problem: z.string() }).nullable(),
    tookMs: z.number(),
  })
  .meta({ id: 'ChainProof' })

const comparedValue = z.union([z.string(), z.number()]).nullable()
export const incidentComparison: z.ZodType<IncidentComparison> = z
  .object({
    first: z.string(),
    second: z.string(),
    open: z.array(z.string()).describe('Those of the two that are not over: their figures still move'),
    facts: z.array(
      z.object({
        part: namesOf(comparedParts),
        fact: z.string(),
        unit: z.enum(['text', 'ms', 'count']),
        first: comparedValue.describe('null: the first has none of that'),
        second: comparedValue,
      }),
    ),
  })
  .meta({ id: 'IncidentComparison' })

export const eventStream = {
  description: 'Events named `entry`: `id` is the sequence, `data` a JournalEntry. Comments are heartbeats',
  content: { 'text/event-stream': { schema: z.string() } },
}
export const reportText = {
  description: 'The report',
  content: {
    'text/markdown': { schema: z.string() },
    'application/jsonl': { schema: z.string() },
  },
}
export const document = z.record(z.string(), z.unknown()).describe('OpenAPI 3.1')
export const opened = z.object({
  incident: z.string(),
  held: z
    .string()
    .nullable()
    .describe('Why the brake still holds it; nothing happens until the brake opens or someone overrides it'),
})
const namedInstance = z.object({ id: z.string(), name: z.string() })
export const openedAgain = opened.extend({
  instances: z.array(namedInstance).describe('What the new incident brings back, if it is still on the host'),
  unsure: z.array(namedInstance).describe('What may be running elsewhere: not touched until Nova shows where it runs'),
})
