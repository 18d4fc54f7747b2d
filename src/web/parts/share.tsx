/** A bar of the outcomes of an incident's instances; a text is beside it. */
import type { IncidentSummary } from '../../domain/operations.ts'
import { outcomeTone } from '../../domain/text/tone.ts'

const shares = ['recovered', 'left', 'failed', 'stuck', 'open'] as const

export function Share({ outcomes }: Pick<IncidentSummary, 'outcomes'>) {
  const parts = shares.map((kind) => ({ kind, count: outcomes[kind] ?? 0 })).filter(({ count }) => count > 0)
  const total = parts.reduce((sum, { count }) => sum + count, 0)
  return (
    <span class="share" role="img" aria-label={parts.map(({ kind, count }) => `${count} ${kind}`).join(', ')}>
      {parts.map(({ kind, count }) => (
        <span
          key={kind}
          class={`part ${kind === 'open' ? 'open' : outcomeTone[kind]}`}
          style={{ flexGrow: count / total }}
        />
      ))}
    </span>
  )
}
