/** A list of facts: each a name and what is known. */
import type { ComponentChildren } from 'preact'

export function Facts({ children, kind = 'facts' }: { children: ComponentChildren; kind?: 'facts' | 'facts grid' }) {
  return <dl class={kind}>{children}</dl>
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
