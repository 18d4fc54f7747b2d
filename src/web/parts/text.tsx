/** The small things that every page is made of: times, ids that can be copied, tags, commands. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { after, wallMs } from '../browser-clock.ts'
import { ago, localTime, utcTime } from '../words/time.ts'
import { silentFor, type SilenceSeen } from '../../domain/text/silent-for.ts'
import type { Tone } from '../../domain/text/tone.ts'
import { announce } from './announce.tsx'
import { Icon, type IconName } from './icons.tsx'
import { useSaid } from './ticker.ts'

/** Local time, UTC in the title. On a page that stays open over midnight it gets its day then. */
export function Time({ at }: { at: string }) {
  useSaid(dayOf)
  return (
    <time dateTime={at} title={utcTime(at)}>
      {localTime(at, wallMs())}
    </time>
  )
}

function dayOf(now: number): string {
  return new Date(now).toDateString()
}

/** Ours end with a Z; Nova's are UTC without one. */
const isoTime = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?)/

/** A line of a record: times in it are said as everywhere on the page. */
export function Stamped({ text }: { text: string }) {
  return (
    <>
      {text
        .split(isoTime)
        .map((part, place) => (isoTime.test(part) ? <Time key={place} at={part.replace(/Z?$/, 'Z')} /> : part))}
    </>
  )
}

/** 3 min ago; goes on by itself. */
export function Ago({ at }: { at: string }) {
  const said = useSaid((now) => ago(at, now))
  return (
    <time dateTime={at} title={`${localTime(at, wallMs())}, ${utcTime(at)}`}>
      {said}
    </time>
  )
}

/** 2 min 40 s, since a host's last beat; goes on by itself. */
export function SilentFor({ seen }: { seen: SilenceSeen }) {
  return <>{useSaid((now) => silentFor(seen, now))}</>
}

const marks: Record<Tone, IconName> = {
  good: 'check',
  urgent: 'person',
  bad: 'cross',
  wait: 'alert',
  plain: 'dot',
  live: 'right',
}

/** A word with its colour, and a mark for those who do not see colours. */
export function Tag({
  tone,
  children,
  title,
}: {
  tone: Tone
  children: ComponentChildren
  title?: string | undefined
}) {
  return (
    <span class={`tag ${tone}`} title={title}>
      <Icon name={marks[tone]} kind="mark" />
      {children}
    </span>
  )
}

type Copying = 'idle' | 'done' | 'failed'
const copyWords = { idle: null, done: 'Copied', failed: 'Not copied: select it' } as const
const copyIcons: Record<Copying, IconName> = { idle: 'copy', done: 'check', failed: 'cross' }

/** How long it says what came of it. Shorter is missed; a failure stays for as long as reading takes. */
const copyShownMs = { done: 1_500, failed: 6_000 } as const

/** Text that is copied by a click. `what` is said to those who do not see it. */
export function Copy({ text, what, shown }: { text: string; what: string; shown?: string }) {
  const [state, setState] = useState<Copying>('idle')
  useEffect(() => (state === 'idle' ? undefined : after(copyShownMs[state], () => setState('idle'))), [state])
  const copy = (): void => {
    void toClipboard(text).then((done) => {
      setState(done ? 'done' : 'failed')
      announce(done ? `${what} copied` : `${what} could not be copied: select it and copy it by hand`)
    })
  }
  return (
    <button type="button" class="copy" title={copyWords[state] ?? `Copy ${what}: ${text}`} onClick={copy}>
      <span class="copied-text">{shown ?? text}</span>
      <span class="visually-hidden">, copy {what}</span>
      <Icon name={copyIcons[state]} kind={`copy-icon ${state}`} />
      {state === 'failed' && <span class="not-copied">{copyWords.failed}</span>}
    </button>
  )
}

/** False when the browser gives no clipboard: over plain http from another machine there is none, and people may forbid it. */
async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** A command to run, with its copy button. */
export function Command({ text }: { text: string }) {
  return (
    <span class="command">
      <code>{text}</code>
      <Copy text={text} what="command" shown="Copy" />
    </span>
  )
}

/** Structured data as it was sent or read. */
export function Data({ value, label }: { value: unknown; label: string }) {
  if (value === null || value === undefined) return <span class="faint">–</span>
  return (
    <pre class="data" tabIndex={0} role="region" aria-label={label}>
      {JSON.stringify(value, null, 2)}
    </pre>
  )
}
