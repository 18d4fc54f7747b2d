/** The frame of a page's parts. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { after } from '../browser-clock.ts'
import { isPlain } from '../router.ts'

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

/**
 * How long a page may rest and still grow after someone was led to a section. Shorter: it stops above the section; longer: it moves under someone
 * who reads.
 */
const restMs = 1_000

/** Events that show that someone moves on the page by themselves. */
const ownMoves = ['wheel', 'touchmove', 'keydown', 'pointerdown', 'popstate'] as const

/** Ends what was begun last. */
let endLeading: () => void = () => undefined

/** Scrolls to a section, and again whenever rows above it are drawn only then, until the page rests or someone moves by themselves. */
function leadTo(heading: HTMLElement): void {
  endLeading()
  let cancel: () => void = () => undefined
  // Its first report comes at once.
  const growth = new ResizeObserver(() => {
    heading.scrollIntoView()
    cancel()
    cancel = after(restMs, end)
  })
  const moved = (event: Event): void => {
    // Following a fragment is one too.
    if (event.type !== 'popstate' || location.hash !== `#${heading.id}`) end()
  }
  const end = (): void => {
    cancel()
    growth.disconnect()
    for (const move of ownMoves) removeEventListener(move, moved)
  }
  endLeading = end
  growth.observe(document.body)
  for (const move of ownMoves) addEventListener(move, moved, { passive: true })
}

/** Links to the sections of a long page. On a wide screen they stay in sight. An address with the fragment of a section opens the page there. */
export function Contents({ of }: { of: readonly SectionProps[] }) {
  useEffect(() => {
    // The browser looked for it before it was drawn.
    const asked = of.find(({ id }) => `#${id}` === location.hash)
    const heading = asked === undefined ? null : document.getElementById(asked.id)
    if (heading !== null) {
      leadTo(heading)
      // From here the keyboard goes on, as after a click; not from behind a dialog.
      heading.tabIndex = -1
      if (document.querySelector('dialog[open]') === null) heading.focus({ preventScroll: true })
    }
    return () => endLeading()
  }, [])
  const follow = (event: MouseEvent, id: string): void => {
    const heading = document.getElementById(id)
    if (heading !== null && isPlain(event)) leadTo(heading)
  }
  return (
    <nav class="contents" aria-label="On this page">
      {of.map(({ id, title }) => (
        <a key={id} href={`#${id}`} onClick={(event) => follow(event, id)}>
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
