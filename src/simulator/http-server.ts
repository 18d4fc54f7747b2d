/**
 * The simulator's HTTP server: one port, services below their prefixes, API faults, the request log and the word to the
 * virtual clock that someone is being served. Knows HTTP; knows nothing of OpenStack.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { sleep, type Clock } from '../domain/clock.ts'
import type { ApiFault, ApiFaults } from './api-faults.ts'
import type { Wire } from '../domain/wire.ts'
import type { Answer, Exchange, Service } from './exchange.ts'
import { InProcessLine, type Line } from './line.ts'
import { VirtualClock } from './virtual-clock.ts'

/** One request that reached the server, faults included. */
export interface LoggedRequest {
  /** Wall-clock milliseconds. */
  at: number
  method: string
  /** Service and path, e.g. "compute/v2.1/servers/detail". */
  path: string
  /** The same with ids replaced: "compute/v2.1/servers/{id}/action". */
  route: string
  query: string
  /** The first key of a server action's body, e.g. "evacuate". */
  action: string | null
  /** What was sent, parsed; undefined where nothing was. */
  body: unknown
  microversion: string | null
  user: string | null
  /** 0 when no answer was given. */
  status: number
  fault: string | null
  requestId: string
  /** What the caller sent along, kept only in oslo.middleware's form: anything else is ignored there. */
  globalRequestId: string | null
}

export interface HttpServerOptions {
  clock: Clock
  ids: () => string
  /** The API node's own clock, in ms. */
  apiWall: () => number
  faults: ApiFaults
  services: Record<string, (exchange: Exchange) => ReturnType<Service> | null>
  userOf: (exchange: Exchange) => string | null
}

interface Asked {
  method: string
  url: URL
  headers: IncomingHttpHeaders
  text: string
  host: string
}

/** A simulator that runs for days must not grow without end; no test sends as many between two looks. */
const keptRequests = 200_000
const inbound = /^req-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$/
const idForm = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

export class HttpServer {
  readonly log: LoggedRequest[] = []
  private readonly options: HttpServerOptions
  private readonly server: Server

  constructor(options: HttpServerOptions) {
    this.options = options
    this.server = createServer((request, response) => {
      void this.handle(request, response)
    })
    // Long: clients keep connections for as long as they like; a restart of them is a fault to ask for, not a surprise.
    this.server.keepAliveTimeout = 600_000
  }

  /** Starts listening on a free port of the loopback address and gives the root URL. */
  listen(port: number): Promise<string> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      this.server.listen(port, '127.0.0.1', () => {
        resolve(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}`)
      })
    })
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => {
        resolve()
      })
      this.server.closeAllConnections()
    })
  }

  /** Answers a request of this process without a socket, with the same faults and the same log. */
  readonly wire: Wire = async (request) => {
    const { clock } = this.options
    const done = clock instanceof VirtualClock ? clock.busy() : (): void => undefined
    const line = new InProcessLine(request, done)
    const url = new URL(request.url ?? '/')
    const text = typeof request.data === 'string' ? request.data : ''
    const method = (request.method ?? 'GET').toUpperCase()
    void this.serve({ method, url, headers: line.headers, text, host: url.host }, line)
    return line.answer
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock } = this.options
    const done = clock instanceof VirtualClock ? clock.serve() : (): void => undefined
    response.once('close', done)
    let text: string
    try {
      text = await readText(request)
    } catch {
      // The client left in the middle of its own request: there is nobody to answer and nothing to do.
      return
    }
    const { method = 'GET', headers } = request
    const host = headers.host ?? '127.0.0.1'
    const line: Line = {
      gone: () => response.destroyed,
      send: (status, head, body) => response.writeHead(status, head).end(body),
      cut: () => request.socket.destroy(),
      hold: () => {
        const release = clock instanceof VirtualClock ? clock.hold() : (): void => undefined
        response.once('close', release)
        done()
      },
    }
    await this.serve({ method, url: new URL(request.url ?? '/', 'http://simulator'), headers, text, host }, line)
  }

  private async serve(asked: Asked, line: Line): Promise<void> {
    const { exchange, name } = this.exchangeOf(asked)
    const entry = this.record(exchange, name)
    const fault = this.options.faults.strike(exchange.method, entry.path, asked.text)
    entry.fault = fault?.kind ?? null
    if (fault?.kind === 'drop-before') line.cut()
    else if (fault?.kind === 'hang-before') line.hold()
    else if (fault?.kind === 'act-late') {
      line.cut()
      await sleep(this.options.clock, fault.delayMs ?? 1_000)
      const answer = await this.work(exchange, name, () => undefined)
      if (answer !== null) entry.status = answer.status
    } else if (fault?.kind === 'refuse') this.send(line, entry, refusal(fault))
    else {
      const answer = await this.work(exchange, name, () => line.hold())
      if (answer === null) return
      if (fault === null) this.send(line, entry, answer)
      else await this.sendFaulty(line, entry, answer, fault)
    }
  }

  private async work(exchange: Exchange, name: string, hold: () => void): Promise<Answer | null> {
    const service = this.options.services[name]
    if (service === undefined) return { status: 404, body: { message: 'no such service' } }
    try {
      const outcome = service(exchange)
      if (outcome === null) {
        hold()
        return null
      }
      // A service that waits, waits for the clock: anyone who does not answer within a turn is held.
      const settled = await Promise.race([outcome, laterTurn()])
      if (settled !== pending) return settled
      hold()
      return await outcome
    } catch (thrown) {
      const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
      return { status: 500, body: { computeFault: { code: 500, message: `the simulator failed: ${message}` } } }
    }
  }

  private async sendFaulty(line: Line, entry: LoggedRequest, answer: Answer, fault: ApiFault): Promise<void> {
    switch (fault.kind) {
      case 'slow':
        line.hold()
        await sleep(this.options.clock, fault.delayMs ?? 1_000)
        if (!line.gone()) this.send(line, entry, answer)
        return
      case 'act-and-refuse':
        this.send(line, entry, refusal(fault))
        return
      case 'drop-after':
        line.cut()
        return
      case 'hang-after':
        line.hold()
        return
      case 'malformed':
        entry.status = answer.status
        line.send(answer.status, { 'Content-Type': 'application/json' }, '{"servers": [{"id": "')
        return
      case 'empty':
        this.send(line, entry, { ...answer, body: {} })
        return
      case 'refuse':
      case 'drop-before':
      case 'hang-before':
      case 'act-late':
        throw new Error(`${fault.kind} strikes before the service acts`)
    }
  }

  private send(line: Line, entry: LoggedRequest, answer: Answer): void {
    entry.status = answer.status
    const body = answer.html ?? (answer.body === undefined ? '' : JSON.stringify(answer.body))
    const head = {
      'Content-Type': answer.html === undefined ? 'application/json' : 'text/html; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      Date: new Date(this.options.apiWall()).toUTCString(),
      ...answer.headers,
    }
    line.send(answer.status, head, body)
  }

  private exchangeOf({ method, url, headers, text, host }: Asked): { exchange: Exchange; name: string } {
    const name = url.pathname.split('/')[1] ?? ''
    let body: unknown
    try {
      body = text === '' ? undefined : JSON.parse(text)
    } catch {
      body = undefined
    }
    const exchange: Exchange = {
      method,
      path: url.pathname.slice(name.length + 1),
      query: url.searchParams,
      headers,
      body,
      base: `http://${host}/${name}`,
      requestId: `req-${this.options.ids()}`,
    }
    return { exchange, name }
  }

  private record(exchange: Exchange, name: string): LoggedRequest {
    const path = name + exchange.path
    const version = exchange.headers['openstack-api-version']
    const sent = exchange.headers['x-openstack-request-id']
    const action = exchange.path.endsWith('/action')
      ? Object.keys((exchange.body as object | null | undefined) ?? {})[0]
      : undefined
    const entry: LoggedRequest = {
      at: this.options.clock.wall(),
      method: exchange.method,
      path,
      route: path.replace(/req-\{?[0-9a-f-]{36}/g, '{request}').replace(idForm, '{id}'),
      query: exchange.query.toString(),
      action: action ?? null,
      body: exchange.body,
      microversion: (Array.isArray(version) ? version[0] : version)?.replace('compute ', '') ?? null,
      user: this.options.userOf(exchange),
      status: 0,
      fault: null,
      requestId: exchange.requestId,
      globalRequestId: inbound.test(String(sent)) ? String(sent) : null,
    }
    this.log.push(entry)
    if (this.log.length > keptRequests) this.log.splice(0, keptRequests / 2)
    return entry
  }
}

const pending = Symbol('pending')

async function laterTurn(): Promise<typeof pending> {
  // Enough microtask turns for a service that only computes; one that waits for a timer is still waiting afterwards.
  for (let i = 0; i < 50; i++) await Promise.resolve()
  return pending
}

function refusal(fault: ApiFault): Answer {
  const status = fault.status ?? 503
  return {
    status,
    body: { error: { code: status, title: 'Service Unavailable', message: fault.message ?? 'injected fault' } },
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
