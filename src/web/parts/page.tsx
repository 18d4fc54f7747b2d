/** The frame of a page's parts. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { after } from '../browser-clock.ts'

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Lifeboat`
  }, [title])
}

export interface SectionProps {
  id: string
  title: string
  note?: ComponentChildren
  children: ComponentChildren
}

export function Section({ id, title, note, children }: SectionProps) {
  return (
    <section class="part" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {note !== undefined && <span class="note">{note}</span>}
      </header>
      {children}
    </section>
  )
}

/** How long a page that someone leads to a section may still grow. Shorter stops above it; longer holds on to who has begun to read. */
const growsMs = 2_000

/** What says that someone moves on a page by themselves. */
const ownMoves = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const

/** Scrolls to a section, and again with each row above it that is drawn only then, until someone moves by themselves. */
function leadTo(id: string): () => void {
  const heading = document.getElementById(id)
  if (heading === null) return () => undefined
  // Its first report comes at once.
  const growth = new ResizeObserver(() => heading.scrollIntoView())
  growth.observe(document.body)
  const stop = (): void => {
    cancel()
    growth.disconnect()
    for (const move of ownMoves) removeEventListener(move, stop)
  }
  const cancel = after(growsMs, stop)
  for (const move of ownMoves) addEventListener(move, stop, { passive: true })
  return stop
}

/** The sections of a long page, in sight wherever someone is on it. An address with the fragment of one leads there. */
export function Contents({ of }: { of: readonly SectionProps[] }) {
  // The browser looked for it before it was drawn.
  useEffect(() => leadTo(location.hash.slice(1)), [])
  return (
    <nav class="contents" aria-label="On this page">
      {of.map(({ id, title }) => (
        <a key={id} href={`#${id}`} onClick={() => leadTo(id)}>
          {title}
        </a>
      ))}
    </nav>
  )
}

/**
 * False in the first drawing, true once that is painted: for what stands below the screen, and would only keep what is on it
 * waiting.
 */
export function useLater(): boolean {
  const [later, setLater] = useState(false)
  useEffect(() => setLater(true), [])
  return later
}

/** As many rows as no screen shows more of. More keep the first drawing of a page waiting. */
const screenful = 30

/** Of a long list what is on the screen first, and all of it once that is painted. */
export function useScreenfulFirst<Row>(rows: readonly Row[]): readonly Row[] {
  return useLater() ? rows : rows.slice(0, screenful)
}

export function PageHead({ title, children }: { title: ComponentChildren; children?: ComponentChildren }) {
  return (
    <header class="page-head">
      <div class="head-line">
        <h1>{title}</h1>
        {children}
      </div>
    </header>
  )
}
