/** Speaks to the daemon through its Unix socket. Only the command line uses it; it never falls back to acting itself. */
import { request } from 'node:http'
import type { CountedGroup, GroupOverride } from '../domain/brake.ts'
import type { Clock } from '../domain/clock.ts'
import { errorCodes, LifeboatError, type ErrorCode } from '../domain/errors.ts'
import type {
  DaemonStatus,
  HandOverAnswer,
  HostDetail,
  HostReturnDetail,
  HostStatus,
  IncidentSummary,
  LogLevel,
  LogLevelState,
  PauseState,
  RecoverOrder,
  ReloadReport,
} from '../domain/operations.ts'
import type { Readiness } from '../domain/readiness.ts'
import type { ReviewNote, SegmentStatus } from '../domain/review.ts'
import type { Scope, Order } from '../domain/order.ts'
import { CliFailure } from './exit-codes.ts'

/** The daemon answers from memory and the journal. Longer than any disk needs; shorter, and a busy daemon seems dead. */
const answerLimitMs = 15_000

/** A reload reads every file and may try new credentials (10 s). Shorter, and its answer is lost while it goes on. */
const reloadLimitMs = 60_000

export interface DaemonClient {
  status(): Promise<DaemonStatus>
  hosts(): Promise<HostStatus[]>
  host(name: string): Promise<HostDetail>
  returnHost(order: { host: string; by: string; reason: string; keepOut: boolean }): Promise<HostReturnDetail>
  recover(order: RecoverOrder): Promise<{ incident: string; held?: string | null }>
  pause(order: { by: string; reason: string; until: string | null; scope?: Scope }): Promise<PauseState>
  resume(order: { by: string; reason: string; scope?: Scope }): Promise<void>
  startMaintenance(order: { by: string; reason: string; until: string | null; scope: Scope }): Promise<Order>
  endMaintenance(order: { by: string; reason: string; scope: Scope }): Promise<void>
  reload(order: { by: string; reason: string }): Promise<ReloadReport>
  handOver(order: { by: string; reason: string }): Promise<HandOverAnswer>
  logLevel(): Promise<LogLevelState>
  setLogLevel(order: { by: string; level: LogLevel; until: string | null }): Promise<LogLevelState>
  override(id: string, order: { by: string; reason: string }): Promise<void>
  heldGroups(): Promise<CountedGroup[]>
  overrideGroup(order: { by: string; reason: string; scope: string; incidents: string[] }): Promise<GroupOverride>
  cancel(id: string, order: { by: string; reason: string }): Promise<void>
  startInstances(id: string, order: { by: string; reason: string }): Promise<void>
  incidents(filter: { open?: boolean; limit?: number }): Promise<IncidentSummary[]>
  segments(): Promise<SegmentStatus[]>
  readiness(): Promise<Readiness>
  note(id: string, order: { by: string; text: string }): Promise<ReviewNote>
  signOff(id: string, order: { by: string; text: string }): Promise<ReviewNote>
}

/** Each call throws CliFailure when no daemon answers, and the daemon's own LifeboatError when it refuses. */
export function daemonClient(socketPath: string, clock: Clock, usualLimitMs = answerLimitMs): DaemonClient {
  const call = (method: string, path: string, body?: unknown, limitMs = usualLimitMs): Promise<unknown> =>
    ask(socketPath, clock, { method, path, body, limitMs })
  // The answers are made by the same release of the same program: their shape is Operations'.
  return {
    status: () => call('GET', '/v1/status') as Promise<DaemonStatus>,
    hosts: () => call('GET', '/v1/hosts') as Promise<HostStatus[]>,
    host: (name) => call('GET', `/v1/hosts/${encodeURIComponent(name)}`) as Promise<HostDetail>,
    returnHost: ({ host, ...order }) =>
      call('POST', `/v1/hosts/${encodeURIComponent(host)}/return`, order) as Promise<HostReturnDetail>,
    recover: (order) => call('POST', '/v1/recover', order) as Promise<{ incident: string }>,
    pause: (order) => call('POST', '/v1/pause', order) as Promise<PauseState>,
    resume: (order) => call('POST', '/v1/resume', order) as Promise<void>,
    startMaintenance: (order) => call('POST', '/v1/maintenance', order) as Promise<Order>,
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
    incidents: (filter) => call('GET', `/v1/incidents${queryOf(filter)}`) as Promise<IncidentSummary[]>,
    segments: () => call('GET', '/v1/segments') as Promise<SegmentStatus[]>,
    readiness: () => call('GET', '/v1/readiness') as Promise<Readiness>,
    note: (id, order) => call('POST', `/v1/incidents/${encodeURIComponent(id)}/notes`, order) as Promise<ReviewNote>,
    signOff: (id, order) =>
      call('POST', `/v1/incidents/${encodeURIComponent(id)}/sign-off`, order) as Promise<ReviewNote>,
  }
}

interface Question {
  method: string
  path: string
  body: unknown
  limitMs: number
}

async function ask(socketPath: string, clock: Clock, question: Question): Promise<unknown> {
  const { status, text } = await exchange(socketPath, clock, question)
  const answer = text === '' ? undefined : jsonOf(text)
  if (status < 300) return answer
  const refusal = refusalOf(answer)
  if (refusal === null) throw new CliFailure('failed', `the daemon answered ${status}, and the answer cannot be read`)
  const { code, message, details } = refusal
  if (!(code in errorCodes)) throw new CliFailure('failed', `${message} [${code}]`)
  throw new LifeboatError(code as ErrorCode, message, { details: (details ?? {}) as Record<string, unknown> })
}

/** What every refusal of the API says of itself; null: this is none of them. */
function refusalOf(answer: unknown): { code: string; message: string; details: unknown } | null {
  const { error } = (answer ?? {}) as { error?: Record<string, unknown> | null }
  const { code, message, details } = error ?? {}
  return typeof code === 'string' && typeof message === 'string' ? { code, message, details } : null
}

function exchange(
  socketPath: string,
  clock: Clock,
  { method, path, body, limitMs }: Question,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? null : JSON.stringify(body)
    const headers =
      payload === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }
    // A connection of its own: one kept from before may lead to a daemon that has restarted since.
    const sent = request({ socketPath, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', fail)
      response.on('end', () => {
        cancel()
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') })
      })
    })
    const cancel = clock.after(limitMs, () => sent.destroy(new Error(`no answer within ${limitMs / 1000} s`)))
    function fail(error: NodeJS.ErrnoException): void {
      cancel()
      reject(unreachable(socketPath, error, method))
    }
    sent.on('error', fail)
    sent.end(payload ?? undefined)
  })
}

function unreachable(socketPath: string, error: NodeJS.ErrnoException, method: string): CliFailure {
  if (error.code === 'EACCES' || error.code === 'EPERM') {
    return new CliFailure('noPermission', `you may not talk to the daemon (${socketPath})`, [
      'join the group that owns the socket, or use sudo',
    ])
  }
  if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') {
    return new CliFailure('daemonDown', `no daemon answers on ${socketPath}`, [
      'start it with `lifeboat run` or `systemctl start lifeboat`',
      'if it runs with another configuration, pass that with --config',
    ])
  }
  const hint =
    method === 'GET'
      ? []
      : ['the daemon may have taken the order: check with `lifeboat status` and `lifeboat journal list`']
  return new CliFailure('daemonDown', `the connection to the daemon failed: ${error.message}`, hint)
}

function queryOf(filter: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(filter)) if (value !== undefined) query.set(key, String(value))
  return query.size === 0 ? '' : `?${query.toString()}`
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
