/** Maintenance: what is in force, what is planned, when the calendar opens next, and what stands against it. */
import { useCallback, useState } from 'preact/hooks'
import type { Entry } from '../../domain/entry.ts'
import { localText } from '../../domain/local-time.ts'
import type { MaintenanceConflict, MaintenanceView, WindowView } from '../../domain/maintenance-view.ts'
import type { HostStatus } from '../../domain/operations.ts'
import { scopeText, type Order, type PlannedOrder } from '../../domain/order.ts'
import { useFresh } from '../api/fresh.ts'
import { useEntries } from '../api/live.ts'
import { paths } from '../api/paths.ts'
import { useResource } from '../api/resource.ts'
import { ActButton, ActDialog, type Act } from '../parts/act.tsx'
import { planMaintenance, endOrder, withdraw } from '../parts/maintenance-acts.tsx'
import { orderKey } from '../parts/order-notice.tsx'
import { PageHead, Section, useTitle } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Stamped, Time } from '../parts/text.tsx'
import { Cell, Row, TitledTable } from '../parts/titled-table.tsx'
import { link } from '../router.ts'
import { counted } from '../words/count.ts'

export function MaintenancePage() {
  useTitle('Maintenance')
  // Here and not in its row: the row may go, because its time has come, while someone writes in the dialog.
  const [asked, ask] = useState<Act | null>(null)
  const view = useResource<MaintenanceView>(paths.maintenance)
  const hosts = useResource<HostStatus[]>(paths.hosts)
  const { reload } = view
  useFresh(15_000, reload)
  useEntries(
    useCallback(
      (entries: Entry[]) => {
        if (entries.some(({ kind }) => /^(operator|incident)\./.test(kind))) reload()
      },
      [reload],
    ),
  )
  const known = hosts.value ?? []
  const names = {
    hosts: known.map(({ host }) => host),
    segments: [...new Set(known.map(({ segment }) => segment))],
  }
  const onDone = (): void => reload(0)
  return (
    <>
      <PageHead title="Maintenance">
        <span class="push acts">
          <ActButton act={planMaintenance(names)} onDone={onDone} primary />
        </span>
      </PageHead>
      <Loaded of={view}>
        {(value) => (
          <>
            <Conflicts view={value} />
            <InForce orders={value.inForce} onDone={onDone} onAsk={ask} />
            <Planned view={value} onDone={onDone} onAsk={ask} />
            <Calendar windows={value.windows} />
          </>
        )}
      </Loaded>
      {asked !== null && <ActDialog act={asked} onClose={() => ask(null)} onDone={onDone} />}
    </>
  )
}

interface Asking {
  onDone: () => void
  onAsk: (act: Act) => void
}

function Conflicts({ view: { conflicts } }: { view: MaintenanceView }) {
  if (conflicts.length === 0) return null
  return (
    <section aria-label="Conflicts">
      {conflicts.map((conflict) => (
        <div class="notice wait" key={`${conflict.code} ${conflict.incident ?? conflict.segment}`}>
          <strong>{conflictTitle(conflict)}</strong>
          <p>
            {conflict.from !== null && (
              <>
                From <Time at={conflict.from} />:{' '}
              </>
            )}
            <Stamped text={conflict.message} />.{' '}
            {conflict.incident !== null && <a href={link.incident(conflict.incident)}>Its incident</a>}
          </p>
        </div>
      ))}
    </section>
  )
}

function conflictTitle({ code, host, segment }: MaintenanceConflict): string {
  return code === 'OPEN_INCIDENT' ? `An incident of ${host} is open` : `All of ${segment} at once`
}

function InForce({ orders, onDone, onAsk }: Asking & { orders: readonly Order[] }) {
  return (
    <Section id="now" title="In force" note={counted(orders.length, 'order')}>
      {orders.length === 0 ? (
        <Empty>No maintenance and no pause is in force.</Empty>
      ) : (
        <TitledTable caption="Maintenance and pauses in force" titles={['Of', 'Kind', 'Since', 'Until', 'Why', 'Act']}>
          {orders.map((order) => (
            <Row key={orderKey(order)}>
              <Cell>
                <span class="primary-text">{scopeText(order.scope)}</span>
              </Cell>
              <Cell>{order.kind}</Cell>
              <Cell title="since">
                <Time at={order.since} />
              </Cell>
              <Cell title={order.until === null ? undefined : 'until'}>
                <End until={order.until} />
              </Cell>
              <Cell>
                {order.reason}
                <span class="under">{order.by}</span>
              </Cell>
              <Cell>
                <ActButton act={endOrder(order)} onDone={onDone} onAsk={onAsk} />
              </Cell>
            </Row>
          ))}
        </TitledTable>
      )}
    </Section>
  )
}

function Planned({ view: { planned, timezone }, onDone, onAsk }: Asking & { view: MaintenanceView }) {
  return (
    <Section id="planned" title="Planned" note={counted(planned.length, 'plan')}>
      {planned.length === 0 ? (
        <Empty>No maintenance is planned.</Empty>
      ) : (
        <TitledTable caption="Planned maintenance" titles={['Of', 'Plan', 'Begins', 'Ends', 'Why', 'Act']}>
          {planned.map((order) => (
            <PlannedRow key={order.plan} order={order} timezone={timezone} onDone={onDone} onAsk={onAsk} />
          ))}
        </TitledTable>
      )}
    </Section>
  )
}

function PlannedRow({ order, timezone, onDone, onAsk }: Asking & { order: PlannedOrder; timezone: string }) {
  const { plan, scope, from, until, reason, by } = order
  return (
    <Row>
      <Cell>
        <span class="primary-text">{scopeText(scope)}</span>
      </Cell>
      <Cell title="plan">
        <a href={link.journal({ seq: String(plan) })}>{plan}</a>
      </Cell>
      <Cell title="begins">
        <Time at={from} />
        <span class="under">{localText(from, timezone)}</span>
      </Cell>
      <Cell title={until === null ? undefined : 'ends'}>
        <End until={until} />
      </Cell>
      <Cell>
        {reason}
        <span class="under">{by}</span>
      </Cell>
      <Cell>
        <ActButton act={withdraw(order)} onDone={onDone} onAsk={onAsk} />
      </Cell>
    </Row>
  )
}

function Calendar({ windows }: { windows: readonly WindowView[] }) {
  return (
    <Section id="calendar" title="Calendar" note={counted(windows.length, 'window')}>
      {windows.length === 0 ? (
        <Empty>
          The configuration has no <code>maintenance_windows</code>.
        </Empty>
      ) : (
        <TitledTable caption="Windows of the calendar" titles={['Window', 'Of', 'Kind', 'Next', 'Why']}>
          {windows.map(({ name, scopes, kind, schedule, timezone, reason, next }) => (
            <Row key={name}>
              <Cell>
                <span class="primary-text">{name}</span>
                <span class="under">
                  {schedule} {timezone}
                </span>
              </Cell>
              <Cell>{scopes.map(scopeText).join(', ')}</Cell>
              <Cell>{kind}</Cell>
              <Cell>
                {next.length === 0 && 'never within four years'}
                <ul class="plain">
                  {next.map(({ from, until }) => (
                    <li key={from}>
                      <Time at={from} /> to <Time at={until} />
                    </li>
                  ))}
                </ul>
              </Cell>
              <Cell>{reason}</Cell>
            </Row>
          ))}
        </TitledTable>
      )}
    </Section>
  )
}

function End({ until }: { until: string | null }) {
  return until === null ? <>until someone ends it</> : <Time at={until} />
}
