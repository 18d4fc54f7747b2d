/**
 * What reviewers ask of a running daemon, done: the record of an incident, the journal in pages, plans of live hosts, notes and
 * sign-off. Everything comes from the journal; only what stands now (segments, the host's return) from the daemon itself.
 */
import type { HostCount } from '../domain/brake.ts'
import type { HostName } from '../domain/service.ts'
import type { Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import type { Entry, IncidentId } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Incident } from '../domain/incident.ts'
import { incidentOf } from '../domain/return-record.ts'
import { sleep } from '../domain/clock.ts'
import type { HostReturnDetail, TryAgain } from '../domain/operations.ts'
import type { ReceiverHealth } from '../domain/notice.ts'
import type { HostPlan, PlanSubject } from '../domain/plan.ts'
import type {
  ChainProof,
  IncidentReview,
  RecoveryLine,
  ReportFormat,
  Review,
  SegmentStatus,
  VerdictLine,
} from '../domain/review.ts'
import { exportLine } from '../journal/export.ts'
import { postMortem } from './post-mortem.ts'
import { incidentReportParts } from './report.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { IncidentStore } from '../control/incident-store.ts'
import { incidentFacts, incidentSummary } from './incident-views.ts'
import { returnDetail } from './host-views.ts'
import { adviceFor, type FenceRetry } from './advice.ts'
import { evidenceSeries } from './evidence-series.ts'
import { Followers } from './followers.ts'
import { countedGroup, HostCounts, withCount } from './host-counts.ts'
import { headline, lead } from './headline.ts'
import { summaryOfLine, type ReviewedJournal } from './incident-listing.ts'
import { compareIncidents, courseKinds, type Compared } from './incident-comparison.ts'
import type { IncidentRecord } from './incident-record.ts'
import type { IncidentRecords } from './incident-records.ts'
import { instanceHistory, instanceReview } from './instance-reviews.ts'
import { instanceRecord } from './instance-record.ts'
import { journalPage, withInstance } from './journal-pages.ts'
import { PlanRuns } from './plan-runs.ts'
import { ProvenTimes } from './proven-times.ts'
import type { ReadinessReads } from './readiness-reads.ts'
import { readinessOf, readinessOfHost, type ReadinessParts } from './readiness-view.ts'
import { noticeListing } from './notice-listing.ts'
import { noteActs } from './review-notes.ts'
import { search } from './search.ts'
import { stepReview } from './step-review.ts'

/** Lines of a list when nobody says how many. */
const defaultLimit = 100

export interface ReviewParts {
  clock: Clock
  cloud: Cloud
  journal: ReviewedJournal
  store: IncidentStore
  records: IncidentRecords
  monitor: Pick<Monitor, 'segments'> & ReadinessParts['monitor']
  settings: FenceRetry
  /** Where people find the pages as of now; null: nobody said. */
  pages: () => string | null
  /** What could be tried again as of now. */
  again: (incident: Incident) => TryAgain | null
  /** How each receiver of notices stands. */
  receivers: () => ReceiverHealth[]
  /** The plan of a live host, read from this cloud. */
  plan: (cloud: Cloud, subject: PlanSubject) => Promise<HostPlan>
  orders: ReadinessParts['orders']
  brake: ReadinessParts['brake']
  mode: ReadinessParts['mode']
  reads: Pick<ReadinessReads, 'fencing' | 'plan' | 'notePlan'>
}

export function createReview(parts: ReviewParts): Review {
  const { journal, store, records, monitor } = parts
  const plans = new PlanRuns({
    ...parts,
    plan: async (cloud, subject) => {
      const plan = await parts.plan(cloud, subject)
      if (subject.failure === 'host') parts.reads.notePlan(plan)
      return plan
    },
  })
  const counts = new HostCounts(parts)
  const countOf = (host: HostName): HostCount | null => counts.of(host)
  const followers = new Followers(journal)
  const proven = new ProvenTimes(journal)
  const readiness = { ...parts, proven }
  let verifying: Promise<ChainProof> | null = null

  return {
    segments: () => segmentsOf(monitor, store),
    verdicts: ({ host, after, limit = defaultLimit }) => verdictLines(journal, { host, after, limit }),
    recoveries: ({ open, host, limit = defaultLimit }) => recoveryLines(parts, proven, { open, host, limit }),
    load: (id) => records.load(id),
    incident: (id) => withCount(reviewOf(records.get(id), parts), countOf),
    compare: (first, second) => {
      const compared = (id: IncidentId): Compared => ({
        record: records.get(id),
        course: journal.read({ incident: id, kinds: [...courseKinds] }),
      })
      return compareIncidents(compared(first), compared(second))
    },
    instance: (incident, instance) => instanceReview(journal, incident, instance),
    instanceHistory: (instance) => instanceHistory(journal, instance),
    instanceRecord: (instance) => instanceRecord(journal, instance),
    listed: (incidents) => incidents.map((incident) => withCount(incident, countOf)),
    counted: (groups) => groups.map((group) => countedGroup(group, countOf)),
    search: (text, limit) => search({ ...parts, namedOn: (host) => counts.namedOn(host) }, text, limit),
    notices: (filter) => noticeListing(parts, filter),
    journal: (query) => journalPage(journal, journal.head(), withInstance(journal, query)),
    verify: () => {
      // One walk serves everybody who asks meanwhile: it reads the whole journal.
      verifying ??= walk(parts).finally(() => {
        verifying = null
      })
      return verifying
    },
    report: (id, format) => report(parts, id, format),
    startPlan: (subject) => {
      if (!monitor.verdicts().some((verdict) => verdict.host === subject.host))
        throw new LifeboatError('NOT_FOUND', `Nova shows no nova-compute on ${subject.host}`)
      return plans.start(subject)
    },
    finishedPlan: (id, withinMs) => plans.finished(id, withinMs),
    plan: (id) => plans.find(id),
    readiness: () => readinessOf(readiness),
    hostReadiness: (host) => readinessOfHost(host, readiness),
    ...noteActs(journal),
    follow: (seq, listen) => followers.follow(seq, listen),
  }
}

function segmentsOf(monitor: ReviewParts['monitor'], store: IncidentStore): SegmentStatus[] {
  const open = store.openOfAnyKind()
  const verdicts = monitor.verdicts()
  return monitor.segments().map((rules) => {
    const own = verdicts.filter(({ segment }) => segment === rules.name)
    const counts: SegmentStatus['verdicts'] = {}
    for (const { kind } of own) counts[kind] = (counts[kind] ?? 0) + 1
    return {
      name: rules.name,
      hosts: own.map(({ host }) => host),
      verdicts: counts,
      openIncidents: open.filter(({ segment }) => segment === rules.name).map(({ id }) => id),
      rules,
    }
  })
}

/** The newest first; `after` goes on below that sequence. */
function verdictLines(
  journal: ReviewedJournal,
  { host, after, limit }: { host: string | undefined; after: number | undefined; limit: number },
): VerdictLine[] {
  const entries = journal.read({
    kinds: ['verdict.changed'],
    newestFirst: true,
    limit,
    ...(host !== undefined && { host }),
    ...(after !== undefined && { before: after }),
  })
  return entries.flatMap((entry) =>
    entry.kind === 'verdict.changed' ? [{ ...entry.data, seq: entry.seq, incident: entry.incident }] : [],
  )
}

function recoveryLines(
  { journal, store }: Pick<ReviewParts, 'journal' | 'store'>,
  proven: ProvenTimes,
  { open, host, limit }: { open: boolean | undefined; host: string | undefined; limit: number },
): RecoveryLine[] {
  const current = new Map(store.open().map((incident) => [incident.id, incident]))
  const workflows = new Map(
    journal
      .read({ kinds: ['workflow.pinned'] })
      .flatMap((entry) => (entry.kind === 'workflow.pinned' ? [[entry.data.digest, entry.data.name] as const] : [])),
  )
  const lines = journal.incidents({ limit, openOnly: open === true, ...(host !== undefined && { host }) })
  return lines.map((line) => {
    const incident = current.get(line.id)
    const provenAt = proven.of(line.id)
    const finishedAt = line.closedAt === null ? null : (line.lastLineAt ?? line.closedAt)
    return {
      incident: incident === undefined ? summaryOfLine(line) : incidentSummary(incident),
      workflow: workflows.get(line.workflowDigest) ?? line.workflowDigest.slice(0, 12),
      provenAt,
      finishedAt,
      tookMs: provenAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(provenAt),
    }
  })
}

function reviewOf(record: IncidentRecord, { journal, store, settings, again }: ReviewParts): IncidentReview {
  const { incident } = record
  const instances = [...incident.instances.values()]
  const hostReturn = hostReturnOf(store, incident)
  return {
    ...incidentFacts(incident),
    fenceAttempts: [...record.attempts],
    headline: headline(incident),
    lead: lead(incident),
    // Copies: the record goes on while this is sent.
    timeline: [...record.timeline],
    evidence: evidenceSeries(record.verdicts.read(journal, incident, record), incident.verdict),
    hostSteps: [...incident.hostSteps.values()].map(stepReview),
    lines: [...incident.instances.keys()].flatMap((id) => record.line(id) ?? []),
    debts: instances.flatMap(({ plan, leftovers }) =>
      leftovers.map((one) => ({ ...one, instance: plan.instanceId, name: plan.name })),
    ),
    advice: adviceFor(incident, hostReturn, record.signOff !== null, settings),
    hostReturn,
    again: again(incident),
    notes: [...record.notes],
    signOff: record.signOff,
    lastSeq: record.lastSeq,
  }
}

/** Null when another incident set our flags on the host, or none did. */
function hostReturnOf(store: IncidentStore, { id, host }: Incident): HostReturnDetail | null {
  const record = store.returnOf(host)
  return incidentOf(record) === id ? returnDetail(record) : null
}

async function walk({ clock, journal }: ReviewParts): Promise<ChainProof> {
  const began = clock.now()
  const { entries, head, broken } = await journal.verifyInPieces(() => sleep(clock, 0))
  return { entries, head, broken, tookMs: Math.round(clock.now() - began) }
}

/** Entries read, and lines or parts made, before others get their turn: a few ms, and for a part of thousands of instances more. */
const pieceSize = 250

async function* report(
  { clock, journal, settings, pages }: Pick<ReviewParts, 'clock' | 'journal' | 'settings' | 'pages'>,
  id: IncidentId,
  format: ReportFormat,
): AsyncGenerator<string> {
  const entries: Entry[] = []
  for (let after = 0; ; await sleep(clock, 0)) {
    const piece = journal.read({ incident: id, after, limit: pieceSize })
    after = piece.at(-1)?.seq ?? after
    if (after === 0) throw new LifeboatError('NOT_FOUND', `There is no incident ${id}`)
    if (format === 'json') yield piece.map(exportLine).join('')
    else entries.push(...piece)
    if (piece.length < pieceSize) break
  }
  if (format === 'json') return
  if (format === 'post-mortem') {
    yield postMortem(id, entries, { retry: settings, pages: pages() })
    return
  }
  for (const part of incidentReportParts(id, entries)) {
    yield part
    await sleep(clock, 0)
  }
}
