/**
 * The prometheus probe: what a Prometheus (or one that speaks its API: Thanos, Mimir, VictoriaMetrics) last saw of a host,
 * by an instant query. Owns the HTTP and the meaning of answers. Whatever is not one clear, fresh answer is unknown.
 *
 * An instant query dates its result with the time of the query, not of the sample (a dead host's `up` stays 1 until the
 * next scrape, and other series for five minutes): so Prometheus itself, by its own clock, is asked to leave out what is
 * older than the limit.
 */
import { Agent } from 'node:https'
import axios, { isAxiosError } from 'axios'
import { deadline, type Clock } from '../../domain/clock.ts'
import { authorization, type HttpLogin } from '../../domain/http-login.ts'
import type { HostName } from '../../domain/service.ts'
import type { Probe, ProbeReading } from '../../domain/verdict.ts'
import { readNamedFile } from '../../system/regular-file.ts'
import { reader } from './address.ts'
import { span } from '../../domain/text/span.ts'

export interface PrometheusServer {
  /** Without /api/v1. */
  url: string
  login: HttpLogin | null
  /** Path of a PEM bundle. */
  caFile?: string
  verifyTls: boolean
}

export interface Meaning {
  /** Values that mean alive, and dead. Any other is unknown. */
  alive: readonly number[]
  dead: readonly number[]
  /** Samples older than this say nothing, and neither do answers whose own time is that far from ours. */
  sampleAgeLimitMs: number
}

/** A query for one host gives one series, or a few. More is not an answer about a host. */
const largestAnswer = 1_000_000

/** Throws CONFIG_INVALID when the CA file cannot be read. */
export function prometheusProbe(
  options: {
    name: string
    server: PrometheusServer
    /** Undefined: not covered. */
    query: (host: HostName) => string | undefined
    limitMs: number
    clock: Clock
  } & Meaning,
): Probe {
  const { name, clock, server, limitMs } = options
  const say = reader(name, 'prometheus', clock)
  const url = `${server.url.replace(/\/+$/, '')}/api/v1/query`
  const agent = agentFor(server)
  return {
    name,
    kind: 'prometheus',
    read: async (host, signal) => {
      const query = options.query(host)
      if (query === undefined) return say('unknown', 'this host lacks a variable of the query, or has an odd one')
      const limit = deadline(clock, limitMs, signal)
      try {
        const { status, data } = await axios.get<unknown>(url, {
          params: {
            query: onlyFresh(query, options.sampleAgeLimitMs),
            // What a query computes is dated with the query's own time. Of its samples, this leaves the old ones out.
            lookback_delta: `${options.sampleAgeLimitMs}ms`,
          },
          headers: { accept: 'application/json', ...authorization(server.login) },
          ...(agent ? { httpsAgent: agent } : {}),
          signal: limit.signal,
          // A redirect or a proxy would carry the password elsewhere.
          maxRedirects: 0,
          proxy: false,
          maxContentLength: largestAnswer,
          responseType: 'text',
          transformResponse: (body: unknown) => body,
          validateStatus: () => true,
        })
        const { answer, detail } = meaningOf(status, String(data), options, clock.wall())
        return say(answer, detail)
      } catch (thrown) {
        return say('unknown', whyNot(thrown, limit.expired(), limitMs))
      } finally {
        limit.release()
      }
    },
  }
}

/** `query` without series whose last sample is older than the limit. On lines of their own: a query may end in a comment. */
export function onlyFresh(query: string, sampleAgeLimitMs: number): string {
  return `(\n${query}\n) and (timestamp(\n${query}\n) >= time() - ${sampleAgeLimitMs / 1_000})`
}

/** `query` with {name} filled in; other braces are PromQL's. Undefined: a variable is missing, or could change the query. */
export function queryFor(query: string, variables: Readonly<Record<string, string>>): string | undefined {
  const valueOf = (key: string): string | undefined => {
    const value = Object.hasOwn(variables, key) ? variables[key] : undefined
    // A quote, a backslash or a line break would end the string that the value stands in.
    return value === undefined || /["'`\\\p{Cc}]/u.test(value) ? undefined : value
  }
  const variable = /\{([A-Za-z_]\w*)\}/g
  if ([...query.matchAll(variable)].some(([, key = '']) => valueOf(key) === undefined)) return undefined
  return query.replace(variable, (_all, key: string) => valueOf(key) ?? '')
}

/** What an answer means. `wallMs`: our own time, to tell an answer out of some cache. */
export function meaningOf(
  status: number,
  body: string,
  { alive, dead, sampleAgeLimitMs }: Meaning,
  wallMs: number,
): Pick<ProbeReading, 'answer' | 'detail'> {
  const unknown = (detail: string) => ({ answer: 'unknown' as const, detail })
  const parsed = parse(body)
  if (text(parsed, 'status') === 'error')
    return unknown(`Prometheus refused the query (HTTP ${status}): ${brief(text(parsed, 'error') ?? 'no reason')}`)
  if (status !== 200) return unknown(`Prometheus answered HTTP ${status}${hint(status)}`)
  const data = field(parsed, 'data')
  const result = field(data, 'result')
  if (text(parsed, 'status') !== 'success' || !Array.isArray(result)) return unknown('not an answer of Prometheus')
  if (text(data, 'resultType') !== 'vector') return unknown(`the query gives a ${text(data, 'resultType')}, no vector`)
  const warnings = field(parsed, 'warnings')
  if (Array.isArray(warnings) && warnings.length > 0)
    return unknown(`the answer may be incomplete: ${brief(String(warnings[0]))}`)
  if (result.length === 0) return unknown(`no series, or its last sample is older than ${span(sampleAgeLimitMs)}`)
  const samples = result.map(sampleOf)
  if (samples.some((sample) => sample === null)) return unknown('not an answer of Prometheus')
  const read = samples.flatMap((sample) => sample ?? [])
  const off = read.find(({ atMs }) => Math.abs(wallMs - atMs) > sampleAgeLimitMs)
  if (off) {
    const behindMs = wallMs - off.atMs
    return unknown(`the answer is ${span(Math.abs(behindMs))} ${behindMs < 0 ? 'ahead of' : 'behind'} our clock`)
  }
  return together(read, { alive, dead })
}

function together(
  samples: readonly { series: string; value: string }[],
  { alive, dead }: Pick<Meaning, 'alive' | 'dead'>,
): Pick<ProbeReading, 'answer' | 'detail'> {
  const answers = new Set(
    samples.map(({ value }) =>
      value.trim() === ''
        ? 'unknown'
        : alive.includes(Number(value))
          ? 'alive'
          : dead.includes(Number(value))
            ? 'dead'
            : 'unknown',
    ),
  )
  const shown = brief(samples.map(({ series, value }) => `${series} is ${value}`).join(', '))
  const [answer = 'unknown'] = answers
  if (answers.size > 1) return { answer: 'unknown', detail: `its series disagree: ${shown}` }
  return { answer, detail: answer === 'unknown' ? `${shown}, which means neither` : shown }
}

function sampleOf(one: unknown): { series: string; value: string; atMs: number } | null {
  const pair: unknown = field(one, 'value')
  if (!Array.isArray(pair) || pair.length !== 2) return null
  const [at, value] = pair as [unknown, unknown]
  if (typeof at !== 'number' || typeof value !== 'string') return null
  const metric = field(one, 'metric')
  return { series: seriesName(metric), value, atMs: at * 1_000 }
}

function seriesName(metric: unknown): string {
  if (typeof metric !== 'object' || metric === null) return 'it'
  const { __name__: name = '', ...labels } = metric as Record<string, unknown>
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${String(value)}"`)
  return `${String(name)}{${pairs.join(',')}}`
}

function agentFor(server: PrometheusServer): Agent | undefined {
  if (!server.url.startsWith('https:')) return undefined
  return new Agent({
    rejectUnauthorized: server.verifyTls,
    ...(server.caFile !== undefined && { ca: readNamedFile('The CA file of Prometheus', server.caFile) }),
  })
}

/** Never axios's own message: its error holds the request, with the password. */
function whyNot(thrown: unknown, late: boolean, limitMs: number): string {
  if (late) return `Prometheus did not answer within ${span(limitMs)}`
  const code = isAxiosError(thrown) ? thrown.code : undefined
  return code === 'ERR_CANCELED' ? 'stopped' : `Prometheus could not be reached (${code ?? 'no connection'})`
}

function hint(status: number): string {
  if (status === 401 || status === 403) return ': check its login'
  if (status >= 300 && status < 400) return ': a redirect is not followed, give the address it points to'
  return status === 404 ? ': check the url, without /api/v1' : ''
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

/** Evidence in the journal, not a copy of the answer. */
function brief(said: string): string {
  return said.replace(/\s+/g, ' ').slice(0, 200)
}

function text(value: unknown, name: string): string | null {
  const found = field(value, name)
  return typeof found === 'string' ? found : null
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.getOwnPropertyDescriptor(value, name)?.value as unknown
}
