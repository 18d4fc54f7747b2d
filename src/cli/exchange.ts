/** One question to a daemon and its answer, over whatever connection carries it. Knows HTTP; knows neither sockets nor logins. */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../domain/clock.ts'
import type { LifeboatError } from '../domain/errors.ts'
import type { CliFailure } from './exit-codes.ts'

export interface Question {
  method: string
  /** With its query. */
  path: string
  body: unknown
  limitMs: number
}

export interface Answer {
  status: number
  text: string
}

/** A way to a daemon. */
export interface Transport {
  /** The daemon, as messages name it. */
  place: string
  /** Orders carry the name of who acts. False: the login says it. */
  named: boolean
  /** Throws CliFailure when no daemon answers. */
  exchange(question: Question): Promise<Answer>
  /** A refusal with what this way knows to do about it; null: the daemon said all. */
  explained(refusal: LifeboatError): Promise<CliFailure | null>
}

/** Why no answer came. */
export interface Broken {
  error: NodeJS.ErrnoException
  /** The connection stood, so the daemon may have read the question. */
  stood: boolean
}

type Open = (
  options: { method: string; headers: Record<string, string | number>; agent: false },
  onAnswer: (answer: IncomingMessage) => void,
) => ClientRequest

/**
 * Sends the question over a connection of its own: one kept from before may lead to a daemon that has restarted since.
 *
 * @param broken what to throw when no answer comes
 */
export function exchanged(
  open: Open,
  clock: Clock,
  { method, body, limitMs }: Question,
  { headers, broken }: { headers: Record<string, string>; broken: (broken: Broken) => CliFailure },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? null : JSON.stringify(body)
    const typed =
      payload === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }
    let stood = false
    const sent = open({ method, headers: { ...headers, ...typed }, agent: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', fail)
      answer.on('end', () => {
        cancel()
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') })
      })
    })
    sent.once('socket', (socket: Socket) =>
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => (stood = true)),
    )
    const cancel = clock.after(limitMs, () => sent.destroy(new Error(`no answer within ${limitMs / 1000} s`)))
    function fail(error: NodeJS.ErrnoException): void {
      cancel()
      reject(broken({ error, stood }))
    }
    sent.on('error', fail)
    sent.end(payload ?? undefined)
  })
}

/** An order that broke off, or that the daemon could not confirm, may have been taken: where to look. */
export function takenPerhaps({ method, path }: Pick<Question, 'method' | 'path'>): string[] {
  if (method === 'GET') return []
  // Neither of the others shows what is planned.
  const where = path.startsWith('/v1/maintenance')
    ? '`lifeboat maintenance list`'
    : '`lifeboat status` and `lifeboat incident list`'
  return [`the daemon may have taken the order: check with ${where}`]
}
