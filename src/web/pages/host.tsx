/** One host: its verdict with evidence, how far it is on its way back, its history, and what can be ordered for it. */
import { useCallback, useState } from 'preact/hooks'
import type { Entry } from '../../domain/entry.ts'
import { returnStates, returnWord } from '../../domain/host-return.ts'
import type { MaintenanceView } from '../../domain/maintenance-view.ts'
import type { DaemonStatus, HostDetail, HostReturnDetail } from '../../domain/operations.ts'
import type { VerdictLine } from '../../domain/review.ts'
import { verdictKinds, verdictWord } from '../../domain/verdict.ts'
import { useFresh } from '../api/fresh.ts'
import { useEntries } from '../api/live.ts'
import { paths } from '../api/paths.ts'
import { useEvery, useResource } from '../api/resource.ts'
import { ActButton, ActDialog, type Act } from '../parts/act.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import {
  keepOut,
  letBack,
  notBeforeItsEnd,
  onlyObserves,
  orderedHold,
  stateDead,
  whyAlive,
} from '../parts/host-acts.tsx'
import { beginMaintenance, endOrder } from '../parts/maintenance-acts.tsx'
import { IncidentTable } from '../parts/incident-table.tsx'
import { comingFor, OrderNotice, orderKey, PlannedNotice, type ComingOrder } from '../parts/order-notice.tsx'
import { PageHead, Section, useTitle } from '../parts/page.tsx'
import { Empty, Failed, Loaded } from '../parts/states.tsx'
import { SilentFor, Stamped, Tag, Time } from '../parts/text.tsx'
import { link } from '../router.ts'
import { span } from '../../domain/text/span.ts'
import { hostTone, probeTone, verdictTone } from '../../domain/text/tone.ts'

export function HostPage({ host }: { host: string }) {
  useTitle(host)
  const detail = useResource<HostDetail>(paths.host(host))
  const verdicts = useResource<VerdictLine[]>(paths.verdicts(host))
  const maintenance = useResource<MaintenanceView>(paths.maintenance)
  const status = useResource<DaemonStatus>(paths.status)
  const reload = useCallback(
    (withinMs?: number) => {
      detail.reload(withinMs)
      verdicts.reload(withinMs)
      maintenance.reload(withinMs)
      status.reload(withinMs)
    },
    [detail.reload, verdicts.reload, maintenance.reload, status.reload],
  )
  useEvery(5_000, detail.reload)
  // The next opening of a calendar window passes without an entry.
  useFresh(15_000, maintenance.reload)
  useEntries(
    useCallback(
      (entries: Entry[]) => {
        if (entries.some((entry) => isOf(entry, host))) reload(200)
      },
      [host, reload],
    ),
  )
  return (
    <Loaded of={detail} heading={host} absent="There is no such host" others={<a href="/hosts">All hosts</a>}>
      {(value) => (
        <>
          <Head host={value} />
          {maintenance.value === null && maintenance.failure !== null && (
            <Failed title="What is planned for it is not known" of={maintenance.failure} />
          )}
          <Orders
            host={value}
            coming={maintenance.value === null ? [] : comingFor(maintenance.value, host, value.segment)}
            mode={status.value?.mode}
            onDone={() => reload(0)}
          />
          <div class="two even">
            <Section id="evidence" title="Evidence">
              <div class="panel stack">
                <Seen host={value} />
              </div>
            </Section>
            <Section id="return" title="Return">
              <div class="panel stack">
                <Return host={value} />
              </div>
            </Section>
          </div>
          <Section id="incidents" title="Incidents">
            {value.incidents.length === 0 ? (
              <Empty>None on record.</Empty>
            ) : (
              <IncidentTable incidents={value.incidents} caption={`Incidents of ${host}`} />
            )}
          </Section>
          <Section id="verdicts" title="Verdicts">
            <Loaded of={verdicts}>{(lines) => <History lines={lines} />}</Loaded>
          </Section>
        </>
      )}
    </Loaded>
  )
}

/** An order for a segment or the whole cloud is about the host too, as is the daemon's mode, and no entry of these names a host. */
function isOf({ kind, host, instance }: Entry, wanted: string): boolean {
  return host === null
    ? /^(mode\.changed$|operator\.(maintenance|paused|resumed))/.test(kind)
    : host === wanted && instance === null
}

function Head({ host }: { host: HostDetail }) {
  const { verdict, message, segment, zone, incident } = host
  return (
    <>
      <PageHead title={host.host}>
        <Tag tone={hostTone(host)} title={verdictKinds[verdict]}>
          {verdictWord({ ...host, kind: verdict })}
        </Tag>
        <span class="head-facts">
          segment {segment}
          {zone !== null && `, zone ${zone}`}
        </span>
      </PageHead>
      <p class="headline">
        <Stamped text={message} /> {incident !== null && <a href={link.incident(incident)}>Its open incident</a>}
      </p>
    </>
  )
}

interface OrdersProps {
  host: HostDetail
  coming: readonly ComingOrder[]
  /** Of the daemon; undefined: not read. */
  mode: DaemonStatus['mode'] | undefined
  onDone: () => void
}

function Orders({ host, coming, mode, onDone }: OrdersProps) {
  // Here and not in its button, which goes when someone else gives or ends the order meanwhile.
  const [asked, ask] = useState<Act | null>(null)
  return (
    <>
      {host.standingOrders.map((order) => (
        <OrderNotice key={orderKey(order)} order={order} />
      ))}
      {coming.map((order) => (
        <PlannedNotice key={`${order.from} ${order.by}`} {...order} />
      ))}
      <div class="acts">
        <a class="button" href={link.plan(host.host)}>
          What if it died now
        </a>
        {actsOf(host, mode).map((act) => (
          <ActButton key={act.title} act={act} onDone={onDone} onAsk={ask} />
        ))}
      </div>
      {asked !== null && <ActDialog act={asked} onClose={() => ask(null)} onDone={onDone} />}
    </>
  )
}

function actsOf(detail: HostDetail, mode: DaemonStatus['mode'] | undefined): Act[] {
  const { host, standingOrders, mark, setAside, incident } = detail
  const own = standingOrders.find(
    ({ kind, scope }) => kind === 'maintenance' && scope.kind === 'host' && scope.name === host,
  )
  const isOfItsOwn = setAside !== null && (incident === null || incident === setAside.incident)
  const notSet = setAside === null ? 'Lifeboat has not disabled it' : isOfItsOwn ? null : 'See its open incident'
  const notOurs = mark === null ? notSet : null
  // Of a failed process its incident asks; a host that was only silent is back with its first beat.
  const isReturning = mark === null && setAside !== null && setAside.keptOut === null && setAside.incident !== incident
  const nothingToTakeBack = keptOutInService(detail) === null ? notOurs : null
  return [
    own === undefined ? beginMaintenance(host) : endOrder(own),
    letBack({
      host,
      title: 'Return it to service',
      senseless: notBeforeItsEnd(detail) ?? (isReturning ? 'It returns by itself' : nothingToTakeBack),
    }),
    keepOut({ host, title: 'Keep it out', senseless: notOurs }),
    stateDead({
      host,
      title: 'Attest that it is dead',
      senseless: whyAlive(detail) ?? (incident !== null ? 'See its open incident' : onlyObserves(mode)),
      held: orderedHold(standingOrders),
      brakeHolds: false,
    }),
  ]
}

/** An order to keep it out that came once it was enabled: it stands for the next failure, until someone lets the host back. */
function keptOutInService({ mark, setAside, return: back }: HostDetail): HostReturnDetail['order'] {
  const order = back?.order ?? null
  return mark === null && setAside === null && order?.keepOut === true ? order : null
}

function Seen({ host }: { host: HostDetail }) {
  const { status, state, forcedDown, disabledReason, updatedAt, intervalMs, missedBeats, probes, verdict, reason } =
    host
  return (
    <>
      <Facts>
        <Fact name="Nova says">
          {status}, {state ?? 'no state'}
          {forcedDown && ', forced down'}
          {disabledReason !== null && <span class="under">{disabledReason}</span>}
        </Fact>
        <Fact name="Heartbeat">
          {missedBeats < 1.2 ? (
            'beating'
          ) : (
            <>
              silent for <SilentFor seen={host} />
            </>
          )}
          , {missedBeats.toFixed(1)} missed, every {span(intervalMs)}
          {updatedAt !== null && (
            <span class="under">
              <Stamped text={`last stamp ${updatedAt} (cloud time)`} />
            </span>
          )}
        </Fact>
      </Facts>
      {probes.length === 0 ? (
        <p class="under">
          {missedBeats < 1.2
            ? 'No probe asked yet: Lifeboat asks once heartbeats are missing.'
            : `Lifeboat asks no probe while a host is ${verdictWord({ kind: verdict, reason })}.`}
        </p>
      ) : (
        <ul class="plain">
          {probes.map((reading) => (
            <li key={reading.probe}>
              <Tag tone={probeTone[reading.answer]}>
                {reading.answer === 'unknown' ? 'cannot tell' : reading.answer}
              </Tag>{' '}
              {reading.probe}: <Stamped text={reading.detail} />{' '}
              <span class="faint">
                (<Time at={reading.at} />)
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function SetAside({ host, aside }: { host: HostDetail; aside: NonNullable<HostDetail['setAside']> }) {
  const { incident, because, since, keptOut } = aside
  // Under an incident of its own nova-compute has failed, and the host lives.
  const until =
    keptOut !== null
      ? 'and leaves it so until someone returns it to service'
      : host.incident === incident
        ? `and enables it once its nova-compute has been beating for ${span(host.returnRules.healthyMs)}`
        : 'and enables it as soon as it proves alive'
  return (
    <>
      <p>
        <Tag tone="wait">set aside</Tag> Lifeboat disabled it, so that Nova sends no guest there, {until}. If it is
        dead, its own incident takes over.
      </p>
      <Facts>
        <Fact name="Because">
          <Stamped text={because} />
        </Fact>
        <Fact name="During">
          <a href={link.incident(incident)}>{incident}</a>
          <span class="under">
            since <Time at={since} />
          </span>
        </Fact>
        {keptOut !== null && (
          <Fact name="Order">
            {keptOut.by} keeps it out: {keptOut.reason}
          </Fact>
        )}
      </Facts>
    </>
  )
}

function Return({ host }: { host: HostDetail }) {
  const { mark, returnRules } = host
  const back = host.return
  const standing = keptOutInService(host)
  if (host.setAside !== null) return <SetAside host={host} aside={host.setAside} />
  if (standing !== null)
    return (
      <>
        <p>
          Lifeboat has not disabled this host. After its next failure it stays out until someone returns it to service.
        </p>
        <Facts>
          <Fact name="Order">
            {standing.by} keeps it out: {standing.reason}
          </Fact>
        </Facts>
      </>
    )
  if (back === null || mark === null)
    return (
      <p class="under">
        Lifeboat has not disabled this host. After a failure it returns{' '}
        {returnRules.mode === 'automatic' ? 'by itself' : 'when a person confirms'}, healthy for{' '}
        {span(returnRules.healthyMs)}.
      </p>
    )
  return (
    <>
      <p>
        <Tag tone={back.state === 'back' ? 'good' : 'wait'}>{returnWord(back.state)}</Tag>{' '}
        <Stamped text={back.message} />
        {back.message !== returnStates[back.state].means && (
          <span class="under">{returnStates[back.state].means}.</span>
        )}
      </p>
      <Facts>
        <Fact name="We set">
          {[mark.forcedDown && 'forced down', mark.disabled && 'disabled'].filter(Boolean).join(', ')}
          {mark.incidents.map((id) => (
            <a key={id} href={link.incident(id)} class="under">
              {id}
            </a>
          ))}
        </Fact>
        {back.order !== null && (
          <Fact name="Order">
            {back.order.by} {back.order.keepOut ? 'keeps it out' : 'lets it back'}: {back.order.reason}
          </Fact>
        )}
      </Facts>
      {back.leftovers.length > 0 && (
        <ul>
          {back.leftovers.map(({ code, message }) => (
            <li key={message}>
              <code>{code}</code> <Stamped text={message} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** The word that the line before has for it, where that is on the page. */
function wordBefore(from: VerdictLine['from'], before: VerdictLine | undefined): string {
  return before?.kind === from ? verdictWord(before) : verdictWord({ kind: from })
}

function History({ lines }: { lines: readonly VerdictLine[] }) {
  if (lines.length === 0) return <Empty>No verdict on record.</Empty>
  const newest = [...lines].sort((a, b) => b.seq - a.seq)
  return (
    <ol class="timeline">
      {newest.map(({ seq, at, from, kind, reason, message, incident, evidence }, place) => (
        <li key={seq} class={verdictTone[kind]}>
          <span class="when">
            <Time at={at} />
            <span class="since">silent {span(evidence.silentMs)}</span>
          </span>
          <span class="dot" aria-hidden="true" />
          <span class="told">
            <span class="faint">{wordBefore(from, newest[place + 1])} → </span>
            <strong>{verdictWord({ kind, reason })}</strong>: <Stamped text={message} />
            {incident !== null && (
              <>
                {' '}
                <a href={link.incident(incident)}>incident</a>
              </>
            )}
          </span>
          <a class="seq" href={link.journal({ seq: String(seq) })}>
            #{seq}
          </a>
        </li>
      ))}
    </ol>
  )
}
