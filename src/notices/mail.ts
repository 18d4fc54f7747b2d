/** A notice as a mail. */
import MailComposer from 'nodemailer/lib/mail-composer'
import type { Notice } from '../domain/notice.ts'
import { fromCloud, worded, type Setting, type Texts } from './texts.ts'

export interface Letter {
  notice: Notice
  receiver: string
  from: string
  to: readonly string[]
  /** Of this try, ms since the epoch. */
  wallMs: number
}

/** The whole message, its lines ending as sendmail wants them on its standard input. */
export async function mailText(
  { notice, receiver, from, to, wallMs }: Letter,
  texts: Texts,
  setting: Setting,
): Promise<string> {
  const { subject, text } = worded(notice, texts, setting)
  const sender = senderOf(from)
  const domain = /@([^@\s]+)$/.exec(sender.address)?.[1] ?? 'localhost'
  const mail = new MailComposer({
    from: sender,
    to: [...to],
    subject: fromCloud(subject, notice, setting.cloud ?? 'lifeboat'),
    text,
    textEncoding: 'base64',
    date: new Date(wallMs),
    // The same for every try: a mailbox that has it already may drop the second.
    messageId: `<${notice.id}.${receiver.replace(/[^\w.-]/g, '-')}@${domain}>`,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Lifeboat-Notice': notice.id,
      'X-Lifeboat-Severity': notice.severity,
      'X-Lifeboat-Topic': notice.topic,
    },
    newline: 'unix',
    // What tenants have written is text, and never a file or an address to read from.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return (await mail.compile().build()).toString()
}

/** Taken apart here: a name's commas would end it, and its brackets be a comment. */
export function senderOf(from: string): { name: string; address: string } {
  const [, name = '', address = from] = /^(.*?) <([^<>]+)>$/.exec(from) ?? []
  return { name, address }
}
