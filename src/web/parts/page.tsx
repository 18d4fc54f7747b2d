/** The frame of a page's parts. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

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
