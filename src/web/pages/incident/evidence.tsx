/** What was seen of the host's life: its heartbeats and what its witnesses said, plotted, and as tables. */
import { useMemo } from 'preact/hooks'
import type { IncidentReview } from '../../../domain/review.ts'
import { Empty } from '../../parts/states.tsx'
import { Heartbeats, Readings, sharedAxis } from './evidence-plots.tsx'
import { EvidenceTables } from './evidence-tables.tsx'

export function Evidence({ review }: { review: Pick<IncidentReview, 'evidence' | 'verdict' | 'proof' | 'process'> }) {
  const { evidence, verdict, proof, process } = review
  const shared = useMemo(() => sharedAxis({ evidence, verdict, proof }), [evidence, verdict, proof])
  if (evidence.gaps.length === 0 && evidence.readings.length === 0 && evidence.silence.length === 0)
    return (
      <Empty>
        {process === null
          ? 'Nothing was recorded: a person opened this incident first.'
          : 'Nothing was recorded: a monitor reported it first.'}
      </Empty>
    )
  return (
    <div class="evidence">
      {evidence.gaps.length > 0 && <Heartbeats evidence={evidence} shared={shared} />}
      {evidence.readings.length > 0 && <Readings evidence={evidence} shared={shared} />}
      <EvidenceTables evidence={evidence} />
    </div>
  )
}
