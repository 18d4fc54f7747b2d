/** A pause or a maintenance in force: what, by whom, why, and until when. */
import type { MaintenanceView } from '../../domain/maintenance-view.ts'
import { covers, scopeText, type Order, type PlannedOrder } from '../../domain/order.ts'
import type { HostName } from '../../domain/service.ts'
import { Time } from './text.tsx'

/** No two orders in force have the same. */
export function orderKey({ kind, scope, by, source, plan, since, until }: Order): string {
  return `${kind} ${scopeText(scope)} ${source ?? plan ?? `${by} ${since} ${until}`}`
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

/** A maintenance that is still to come: a person's plan, or the next opening of a calendar window. */
export function PlannedNotice({ scope, by, reason, from, until }: ComingOrder) {
  return (
    <div class="notice plain">
      <strong>Planned maintenance: {scopeText(scope)}</strong>
      <p>
        {reason} — {by}, from <Time at={from} />
        {until === null ? (
          ' until someone ends it'
        ) : (
          <>
            {' '}
            to <Time at={until} />
          </>
        )}
      </p>
    </div>
  )
}

export type ComingOrder = Pick<PlannedOrder, 'scope' | 'by' | 'reason' | 'from' | 'until'>

/** What is planned for a host, the soonest first; of each calendar window its next opening. */
export function comingFor({ planned, windows }: MaintenanceView, host: HostName, segment: string): ComingOrder[] {
  const openings = windows.flatMap(({ name, kind, scopes, reason, next: [opening] }) =>
    kind === 'maintenance' && opening !== undefined
      ? scopes.map((scope) => ({ scope, by: `calendar ${name}`, reason, ...opening }))
      : [],
  )
  return [...planned, ...openings]
    .filter(({ scope }) => covers(scope, host, [segment]))
    .toSorted((a, b) => Date.parse(a.from) - Date.parse(b.from))
}
