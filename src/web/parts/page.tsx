/** The frame of a page's parts. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Lifeboat`
  }, [title])
}

interface SectionProps {
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
