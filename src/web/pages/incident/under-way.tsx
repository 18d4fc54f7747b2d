/** The step of an instance that is under way, and what it waits for where its answer was lost. */
import type { InstanceLine } from '../../../domain/review.ts'
import { orderNoun } from '../../../domain/text/order-noun.ts'
import { Ago, Time } from '../../parts/text.tsx'

export function UnderWay({ current }: { current: NonNullable<InstanceLine['current']> }) {
  const { kind, status, since, waitsUntil } = current
  return (
    <span class="running">
      {kind}, {status}, <Ago at={since} />
      {waitsUntil !== null && (
        <>
          ; waiting: Nova may still carry out the {orderNoun(kind)} sent at <Time at={since} />, until{' '}
          <Time at={waitsUntil} /> at the latest
        </>
      )}
    </span>
  )
}
