/**
 * E-mail through the machine's own sendmail (Postfix, Exim, msmtp, nullmailer all bring one): it queues, retries and knows
 * the relay. The message goes in on standard input; the recipients are arguments, never parsed out of a header.
 */
import type { Clock } from '../domain/clock.ts'
import { run } from '../system/run.ts'
import type { Deliver, Ended } from './delivery.ts'
import { mailText, senderOf } from './mail.ts'
import type { Setting, Texts } from './texts.ts'
import { span } from '../domain/text/span.ts'

export interface MailOptions {
  name: string
  /** The program and its own arguments; -i, -f and the recipients are added. */
  argv: readonly string[]
  from: string
  /** To whom; empty: this notice is nobody's. */
  to: (project: string | null) => readonly string[]
  limitMs: number
  clock: Clock
  texts: Texts
  setting: Setting
  /** Default: a child process. */
  run?: RunSendmail | undefined
}

export interface SendmailRun {
  argv: readonly string[]
  stdin: string
  limitMs: number
  clock: Clock
  signal: AbortSignal
}

/** Null when it did not end by itself; `output` is for people. */
export type RunSendmail = (run: SendmailRun) => Promise<{ exit: number | null; output: string }>

/** sysexits.h: the message or its addresses are wrong, and would be again. */
const refusals = new Set([64, 65, 67])

/** Output that is kept of a failure. More would fill the journal. */
const outputKept = 200
/** Output that is read of it. */
const outputRead = 4_000

export function email(options: MailOptions): Deliver {
  const { name, argv, from, limitMs, clock, texts, setting, run: send = runSendmail } = options
  return async ({ notice, signal }) => {
    const to = options.to(notice.project)
    if (to.length === 0) return { ok: false, problem: 'no address is configured for its project', final: true }
    const stdin = await mailText({ notice, receiver: name, from, to, wallMs: clock.wall() }, texts, setting)
    const sender = senderOf(from).address
    const { exit, output } = await send({ argv: [...argv, '-i', '-f', sender, ...to], stdin, limitMs, clock, signal })
    return ended(exit, output)
  }
}

function ended(exit: number | null, output: string): Ended {
  if (exit === 0) return { ok: true, result: 'sendmail took it' }
  const says = output.replace(/\s+/g, ' ').trim().slice(0, outputKept)
  const what = exit === null ? 'sendmail failed' : `sendmail ended with ${exit}`
  return { ok: false, problem: says === '' ? what : `${what}: ${says}`, final: exit !== null && refusals.has(exit) }
}

const runSendmail: RunSendmail = async (order) => {
  const { exit, output, how } = await run({ ...order, outputRead })
  if (how === 'out of time') return { exit, output: `killed after ${span(order.limitMs)}. ${output}` }
  if (how === 'by itself') return { exit, output: exit === null ? `killed by another process. ${output}` : output }
  return { exit, output: how === 'stopped' ? how : `it cannot be started: ${output}` }
}
