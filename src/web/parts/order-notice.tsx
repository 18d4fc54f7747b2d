/** A pause or a maintenance in force: what, by whom, why, and until when. */
import { scopeText, type Order } from '../../domain/order.ts'
import { Time } from './text.tsx'

/** No two orders in force have the same. */
export function orderKey({ kind, scope, source, plan }: Order): string {
  return `${kind} ${scopeText(scope)} ${source ?? plan ?? ''}`
}

export function OrderNotice({ order }: { order: Order }) {
  const { kind, scope, by, reason, since, until, source } = order
  return (
    <div class="notice plain">
      <strong>
        {kind === 'pause' ? 'Paused' : 'Maintenance'}: {scopeText(scope)}
      </strong>
      <p>
        {reason} — {by}
        {source !== null && ` (${source})`}, since <Time at={since} />
        {until === null ? (
          ', until someone ends it'
        ) : (
          <>
            , until <Time at={until} />
          </>
        )}
      </p>
    </div>
  )
}
