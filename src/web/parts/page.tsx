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
