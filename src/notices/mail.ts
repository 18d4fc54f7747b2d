/** A notice as a mail: headers and body as RFC 5322 wants them. Pure. */
import type { Notice } from '../domain/notice.ts'
import { worded, type Setting, type Texts } from './texts.ts'

export interface Letter {
  notice: Notice
  receiver: string
  from: string
  to: readonly string[]
  /** Of this try, ms since the epoch. */
  wallMs: number
}

/** The whole message, lines ending as sendmail wants them on its standard input. */
export function mailText({ notice, receiver, from, to, wallMs }: Letter, texts: Texts, setting: Setting): string {
  const { subject, text } = worded(notice, texts, setting)
  const domain = /@([^@>\s]+)>?$/.exec(from)?.[1] ?? 'localhost'
  const headers = [
    fromHeader(from),
    `To: ${to.join(',\n ')}`,
    encodedHeader('Subject', `${prefix(notice)}${subject}`),
    `Date: ${new Date(wallMs).toUTCString().replace('GMT', '+0000')}`,
    // The same for every try: a mailbox that has it already may drop the second.
    `Message-ID: <${notice.id}.${receiver.replace(/[^\w.-]/g, '-')}@${domain}>`,
    'Auto-Submitted: auto-generated',
    `X-Lifeboat-Notice: ${notice.id}`,
    `X-Lifeboat-Topic: ${notice.topic}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
  ]
  return `${headers.join('\n')}\n\n${base64Lines(text)}\n`
}

/** A name that is more than letters would be taken apart at its commas, or is no ASCII: it stands between quotes, or encoded. */
function fromHeader(from: string): string {
  const [, name = '', address = from] = /^(.*?) (<[^<>]+>)$/.exec(from) ?? []
  if (/^[\w !#$%&'*+/=?^`{|}~-]*$/.test(name)) return `From: ${from}`
  if (/^[\x20-\x7e]*$/.test(name)) return `From: "${name.replace(/\\/g, '\\\\')}" ${address}`
  return `From: ${encodedWords(name)}\n ${address}`
}

function prefix({ severity, audience }: Notice): string {
  return audience === 'operator' ? `[lifeboat ${severity}] ` : ''
}

/** Printable ASCII as it is, everything else in encoded words. */
function encodedHeader(name: string, text: string): string {
  const clean = text.replace(/\p{Cc}+/gu, ' ').trim()
  const plain = /^[\x20-\x7e]*$/.test(clean) && clean.length < 200 && !clean.includes('=?')
  return `${name}: ${plain ? clean : encodedWords(clean)}`
}

/** RFC 2047; each ends between characters. */
function encodedWords(text: string): string {
  const words: string[] = []
  let word = ''
  for (const char of text) {
    if (Buffer.byteLength(word + char) > longestWord) {
      words.push(word)
      word = ''
    }
    word += char
  }
  words.push(word)
  return words.map((part) => `=?utf-8?B?${Buffer.from(part).toString('base64')}?=`).join('\n ')
}

/** An encoded word has at most 75 characters, twelve of them for its frame. */
const longestWord = 45

function base64Lines(text: string): string {
  const encoded = Buffer.from(text, 'utf8').toString('base64')
  return encoded.match(/.{1,76}/g)?.join('\n') ?? ''
}
