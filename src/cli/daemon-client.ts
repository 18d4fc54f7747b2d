/**
 * What the command line asks of a daemon: one client of its REST API, whichever way the questions travel (its Unix socket, or TLS). It never
 * falls back to acting itself.
 */
import type { IncidentComparison } from '../domain/incident-comparison.ts'
import type { CountedGroup, GroupOverride } from '../domain/brake.ts'
import { errorCodes, LifeboatError, type ErrorCode } from '../domain/errors.ts'
import type {
  DaemonStatus,
  HandOverAnswer,
  HostDetail,
  HostReturnDetail,
  HostStatus,
  IncidentDetail,
  IncidentFilter,
  IncidentSummary,
  LogLevel,
  LogLevelState,
  PauseState,
  RecoverOrder,
  ReloadReport,
} from '../domain/operations.ts'
import type { MaintenanceView } from '../domain/maintenance-view.ts'
import type { Order, PlannedOrder, Scope } from '../domain/order.ts'
import type { Readiness } from '../domain/readiness.ts'
import type {
  IncidentReview,
  InstanceHistory,
  ReviewNote,
  SearchResult,
  SegmentStatus,
  Welcome,
} from '../domain/review.ts'
import { takenPerhaps, type Question, type Transport } from './exchange.ts'
import { CliFailure, exitOf } from './exit-codes.ts'

/** The daemon answers from memory and the journal. Longer than any disk needs; shorter, and a busy daemon seems dead. */
const answerLimitMs = 15_000

/** A reload reads every file and may try new credentials (10 s). Shorter, and its answer is lost while it goes on. */
const reloadLimitMs = 60_000

export interface DaemonClient {
  /** Whom it takes the caller for. */
  me(): Promise<Welcome>
  status(): Promise<DaemonStatus>
  hosts(): Promise<HostStatus[]>
  host(name: string): Promise<HostDetail>
  returnHost(order: { host: string; by: string; reason: string; keepOut: boolean }): Promise<HostReturnDetail>
  recover(order: RecoverOrder): Promise<{ incident: string; held?: string | null }>
  pause(order: { by: string; reason: string; forSeconds?: number; scope?: Scope }): Promise<PauseState>
  resume(order: { by: string; reason: string; scope?: Scope }): Promise<void>
  startMaintenance(order: {
    by: string
    reason: string
    forSeconds?: number
    until?: string
    scope: Scope
  }): Promise<Order>
  planMaintenance(order: {
    by: string
    reason: string
    from: string
    forSeconds?: number
    scope: Scope
  }): Promise<PlannedOrder>
  withdrawMaintenance(order: { by: string; reason: string; plan: number }): Promise<void>
  endMaintenance(order: { by: string; reason: string; scope: Scope }): Promise<void>
  maintenance(): Promise<MaintenanceView>
  reload(order: { by: string; reason: string }): Promise<ReloadReport>
  handOver(order: { by: string; reason: string }): Promise<HandOverAnswer>
  logLevel(): Promise<LogLevelState>
  setLogLevel(order: { by: string; level: LogLevel; until: string | null }): Promise<LogLevelState>
  override(id: string, order: { by: string; reason: string }): Promise<void>
  heldGroups(): Promise<CountedGroup[]>
  overrideGroup(order: { by: string; reason: string; scope: string; incidents: string[] }): Promise<GroupOverride>
  cancel(id: string, order: { by: string; reason: string }): Promise<void>
  startInstances(id: string, order: { by: string; reason: string }): Promise<void>
  incidents(filter: IncidentFilter): Promise<IncidentSummary[]>
  incident(id: string): Promise<IncidentDetail>
  review(id: string): Promise<IncidentReview>
  compare(first: string, second: string): Promise<IncidentComparison>
  /** Hosts, incidents and instances by a part of their name or the beginning of their id, the best match of each first. */
  search(text: string, limit: number): Promise<SearchResult>
  instance(id: string): Promise<InstanceHistory>
  segments(): Promise<SegmentStatus[]>
  readiness(): Promise<Readiness>
  note(id: string, order: { by: string; text: string }): Promise<ReviewNote>
  signOff(id: string, order: { by: string; text: string }): Promise<ReviewNote>
}

/** Each call throws CliFailure when no daemon answers, and the daemon's own LifeboatError when it refuses. */
export function daemonClient(transport: Transport, usualLimitMs = answerLimitMs): DaemonClient {
  const call = (method: string, path: string, body?: unknown, limitMs = usualLimitMs): Promise<unknown> =>
    ask(transport, { method, path, body: transport.named ? body : unnamed(body), limitMs })
  // Releases add fields and take none away: the shape is Operations'.
  return {
    me: () => call('GET', '/v1/me') as Promise<Welcome>,
    status: () => call('GET', '/v1/status') as Promise<DaemonStatus>,
    hosts: () => call('GET', '/v1/hosts') as Promise<HostStatus[]>,
    host: (name) => call('GET', `/v1/hosts/${encodeURIComponent(name)}`) as Promise<HostDetail>,
    returnHost: ({ host, ...order }) =>
      call('POST', `/v1/hosts/${encodeURIComponent(host)}/return`, order) as Promise<HostReturnDetail>,
    recover: (order) => call('POST', '/v1/recover', order) as Promise<{ incident: string }>,
    pause: (order) => call('POST', '/v1/pause', order) as Promise<PauseState>,
    resume: (order) => call('POST', '/v1/resume', order) as Promise<void>,
    startMaintenance: (order) => call('POST', '/v1/maintenance', order) as Promise<Order>,
    planMaintenance: (order) => call('POST', '/v1/maintenance', order) as Promise<PlannedOrder>,
    withdrawMaintenance: (order) => call('POST', '/v1/maintenance/withdraw', order) as Promise<void>,
    maintenance: () => call('GET', '/v1/maintenance') as Promise<MaintenanceView>,
    endMaintenance: (order) => call('POST', '/v1/maintenance/end', order) as Promise<void>,
    reload: (order) => call('POST', '/v1/reload', order, reloadLimitMs) as Promise<ReloadReport>,
    handOver: (order) => call('POST', '/v1/hand-over', order) as Promise<HandOverAnswer>,
    logLevel: () => call('GET', '/v1/log-level') as Promise<LogLevelState>,
    setLogLevel: (order) => call('POST', '/v1/log-level', order) as Promise<LogLevelState>,
    override: (id, order) => call('POST', `/v1/incidents/${encodeURIComponent(id)}/override`, order) as Promise<void>,
    heldGroups: () => call('GET', '/v1/brake') as Promise<CountedGroup[]>,
    overrideGroup: (order) => call('POST', '/v1/brake/override', order) as Promise<GroupOverride>,
    startInstances: (id, order) =>
      call('POST', `/v1/incidents/${encodeURIComponent(id)}/start`, order) as Promise<void>,
    cancel: (id, order) => call('POST', `/v1/incidents/${encodeURIComponent(id)}/cancel`, order) as Promise<void>,
    incidents: (filter) => call('GET', `/v1/incidents${queryOf({ ...filter })}`) as Promise<IncidentSummary[]>,
    incident: (id) => call('GET', `/v1/incidents/${encodeURIComponent(id)}`) as Promise<IncidentDetail>,
    review: (id) => call('GET', `/v1/incidents/${encodeURIComponent(id)}/review`) as Promise<IncidentReview>,
    compare: (first, second) =>
      call(
        'GET',
        `/v1/incidents/${encodeURIComponent(first)}/diff/${encodeURIComponent(second)}`,
      ) as Promise<IncidentComparison>,
    search: (q, limit) => call('GET', `/v1/search${queryOf({ q, limit })}`) as Promise<SearchResult>,
    instance: (id) => call('GET', `/v1/instances/${encodeURIComponent(id)}/record`) as Promise<InstanceHistory>,
    segments: () => call('GET', '/v1/segments') as Promise<SegmentStatus[]>,
    readiness: () => call('GET', '/v1/readiness') as Promise<Readiness>,
    note: (id, order) => call('POST', `/v1/incidents/${encodeURIComponent(id)}/notes`, order) as Promise<ReviewNote>,
    signOff: (id, order) =>
      call('POST', `/v1/incidents/${encodeURIComponent(id)}/sign-off`, order) as Promise<ReviewNote>,
  }
}

/** Whose token it is says who acts: the daemon takes no other name beside it. */
function unnamed(body: unknown): unknown {
  const { by: _by, unixUser: _unixUser, ...order } = (body ?? {}) as Record<string, unknown>
  return body === undefined ? undefined : order
}

async function ask(transport: Transport, question: Question): Promise<unknown> {
  const { status, text } = await transport.exchange(question)
  const answer = text === '' ? undefined : jsonOf(text)
  if (status < 300 && answer !== notJson) return answer
  const refusal = refusalOf(answer)
  if (refusal === null && gatewayStatuses.has(status))
    throw new CliFailure(
      'daemonDown',
      `${transport.place} answered ${status}: a proxy before the daemon does not reach it`,
      takenPerhaps(question),
    )
  if (refusal === null)
    throw new CliFailure(
      'failed',
      `${transport.place} answered ${status}, but not the way Lifeboat does: is it really the daemon?`,
    )
  const { code, message, details, certainty } = refusal
  const known = code in errorCodes
  if (certainty === 'unknown')
    throw new CliFailure(
      known ? exitOf(code as ErrorCode) : 'failed',
      `It may have been done: ${message} [${code}]`,
      takenPerhaps(question),
    )
  if (!known) throw new CliFailure('failed', `${message} [${code}]`)
  const error = new LifeboatError(code as ErrorCode, message, { details: (details ?? {}) as Record<string, unknown> })
  throw (await transport.explained(error)) ?? error
}

/** What every refusal of the API says of itself; null: this is none of them. */
function refusalOf(answer: unknown): { code: string; message: string; details: unknown; certainty: unknown } | null {
  const { error } = Object(answer) as { error?: Record<string, unknown> | null }
  const { code, message, details, certainty } = error ?? {}
  return typeof code === 'string' && typeof message === 'string' ? { code, message, details, certainty } : null
}

function queryOf(filter: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(filter)) if (value !== undefined) query.set(key, String(value))
  return query.size === 0 ? '' : `?${query.toString()}`
}

/** Words of something else than the daemon: a proxy's page, say. */
const notJson = Symbol('no JSON')

/** Of a proxy whose daemon restarts, or is taken over from. */
const gatewayStatuses: ReadonlySet<number> = new Set([502, 503, 504])

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return notJson
  }
}
