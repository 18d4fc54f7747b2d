/**
 * Receivers of notices on the stage: webhooks and chat rooms by the host of their URL, mailboxes by the machine's sendmail.
 * They take everything and say what they got, unless the script makes them fail.
 */
import { sleep } from '../domain/clock.ts'
import type { Wire, WireRequest } from '../domain/wire.ts'
import type { RunSendmail } from '../notices/index.ts'
import { signature } from '../notices/signature.ts'
import { span } from '../domain/text/span.ts'

export type ReceiverTrouble = 'fails' | 'hangs' | 'refuses' | 'takes-and-breaks'

export interface Received {
  receiver: string
  /** Null for mails and alerts: they have none. */
  id: string | null
  body: string
}

/** The secret that scenarios sign with. */
export const stageSecret = 'a-secret-of-the-stage'

export class Receivers {
  /** Everything that was taken, in order. */
  readonly received: Received[] = []
  readonly #troubles = new Map<string, ReceiverTrouble>()
  readonly #say: (line: string) => void

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  trouble(receiver: string, does: ReceiverTrouble | null): void {
    if (does === null) this.#troubles.delete(receiver)
    else this.#troubles.set(receiver, does)
  }

  readonly wire: Wire = async (request) => {
    const receiver = new URL(request.url ?? '').hostname
    const answer = (status: number) => ({ status, statusText: '', headers: {}, data: '', config: request })
    const does = this.#troubles.get(receiver)
    if (does === 'hangs') return cutOff(request)
    if (does === 'fails') return answer(503)
    if (does === 'refuses') return answer(400)
    const headers = new Map(Object.entries((request.headers ?? {}) as Record<string, unknown>))
    const body = String(request.data)
    const given = headers.get('lifeboat-signature')
    if (given !== undefined && given !== signature(stageSecret, Number(headers.get('lifeboat-timestamp')), body)) {
      this.#say(`${receiver} refuses what is not signed by us`)
      return answer(401)
    }
    const id = headers.get('idempotency-key')
    this.#take(receiver, typeof id === 'string' ? id : null, body)
    if (does === 'takes-and-breaks') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
    return answer(204)
  }

  readonly sendmail: RunSendmail = async ({ argv, stdin, limitMs, clock, signal }) => {
    const does = this.#troubles.get('sendmail')
    if (does === 'hangs') {
      await sleep(clock, limitMs, signal)
      return { exit: null, output: `killed after ${span(limitMs)}` }
    }
    if (does === 'fails') return { exit: 75, output: 'the queue is full' }
    if (does === 'refuses') return { exit: 65, output: 'no such address' }
    this.#take(`sendmail ${argv.slice(argv.indexOf('-f') + 2).join(' ')}`, null, stdin)
    return { exit: 0, output: '' }
  }

  #take(receiver: string, id: string | null, body: string): void {
    const again = id !== null && this.received.some((one) => one.receiver === receiver && one.id === id)
    this.received.push({ receiver, id, body })
    const content = body.startsWith('[')
      ? contentOfAlerts(body)
      : id === null
        ? contentOfMail(body)
        : contentOfJson(body)
    this.#say(`${receiver} got ${again ? 'once more ' : ''}${content}`)
  }
}

function cutOff({ signal }: WireRequest): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal instanceof AbortSignal)
      signal.addEventListener('abort', () => reject(new Error('canceled')), { once: true })
  })
}

/** In values, not in sentences: what was recorded stays as it is when a notice is reworded. */
function contentOfJson(body: string): string {
  const notice = JSON.parse(body) as Record<string, string | number | null>
  // A chat room gets its text alone.
  if (notice['topic'] === undefined) return 'a message'
  const values = ['host', 'code', 'instanceCount', 'notBack'].filter((key) => (notice[key] ?? null) !== null)
  return [notice['topic'], ...values.map((key) => `${key}=${notice[key]}`)].join(' ')
}

/** Of Alertmanager: what stands has annotations, what ended has none. */
function contentOfAlerts(body: string): string {
  const alerts = JSON.parse(body) as { labels: Record<string, string>; annotations?: unknown }[]
  const each = alerts.map(({ labels: { alertname, severity, scope, host }, annotations }) =>
    [alertname, severity, scope ?? host ?? '', annotations === undefined ? 'ended' : 'stands'].join(' '),
  )
  return each.join(', ')
}

function contentOfMail(text: string): string {
  return /^X-Lifeboat-Topic: (.*)$/m.exec(text)?.[1] ?? 'a mail without its topic'
}
