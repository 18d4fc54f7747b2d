/** The fleet at a glance: what is wrong, what is held and why, and whether Lifeboat itself can act. */
import { useCallback } from 'preact/hooks'
import type { Entry } from '../../domain/entry.ts'
import type { DaemonStatus, HostStatus, IncidentSummary } from '../../domain/operations.ts'
import type { StandingOrder } from '../../domain/standing-order.ts'
import { scopeText } from '../../domain/standing-order.ts'
import { useEntries } from '../api/live.ts'
import { paths } from '../api/paths.ts'
import { useEvery, useResource } from '../api/resource.ts'
import { ActButton } from '../parts/act.tsx'
import { Fleet } from '../parts/fleet.tsx'
import { IncidentTable } from '../parts/incident-table.tsx'
import { PageHead, Section, useTitle } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Ago, Tag, Time } from '../parts/text.tsx'
import { counted } from '../words/count.ts'
import { span } from '../words/time.ts'

/** How long a host is silent changes without a journal entry. */
const pollMs = 5_000
const recentShown = 8

export function OverviewPage() {
  useTitle('Overview')
  const status = useResource<DaemonStatus>(paths.status)
  const hosts = useResource<HostStatus[]>(paths.hosts)
  const incidents = useResource<IncidentSummary[]>(paths.incidents({ limit: '30' }))
  const reload = useCallback(
    (withinMs?: number) => {
      for (const resource of [status, hosts, incidents]) resource.reload(withinMs)
    },
    [status.reload, hosts.reload, incidents.reload],
  )
  useEvery(pollMs, reload)
  useEntries(
    useCallback(
      (entries: Entry[]) => {
        if (entries.some(({ kind }) => !kind.startsWith('step.'))) reload(200)
      },
      [reload],
    ),
  )
  const list = incidents.value ?? []
  const open = list.filter(({ ended }) => ended === null)
  const over = list.filter(({ ended }) => ended !== null).slice(0, recentShown)
  return (
    <>
      <Loaded of={status}>
        {(value) => <Standing status={value} hosts={hosts.value ?? []} onDone={() => reload(0)} />}
      </Loaded>
      {open.length > 0 && (
        <Section id="open" title="Open incidents" note={counted(open.length, 'incident')}>
          <IncidentTable incidents={open} caption="Open incidents" />
        </Section>
      )}
      <Section id="fleet" title="Fleet" note={hosts.value === null ? '' : counted(hosts.value.length, 'host')}>
        <Loaded of={hosts}>{(value) => <Fleet hosts={value} />}</Loaded>
      </Section>
      <Section id="recent" title="Recent incidents" note={<a href="/incidents">All incidents</a>}>
        <Loaded of={incidents}>
          {() =>
            over.length === 0 ? (
              <Empty>None is on record yet.</Empty>
            ) : (
              <IncidentTable incidents={over} caption="Recent incidents" />
            )
          }
        </Loaded>
      </Section>
    </>
  )
}

interface StandingProps {
  status: DaemonStatus
  hosts: readonly HostStatus[]
  onDone: () => void
}

function Standing({ status, hosts, onDone }: StandingProps) {
  const { title, tone } = sentence(status, hosts)
  const { mode, lastPoll, paused } = status
  return (
    <>
      <PageHead title={title}>
        <Tag tone={mode === 'armed' ? (tone === 'good' ? 'good' : 'plain') : 'wait'}>
          {mode === 'armed' ? 'armed' : 'observe: nothing is sent'}
        </Tag>
        <span class="head-facts">
          {lastPoll === null ? (
            'Nova not read yet'
          ) : (
            <>
              Nova read <Ago at={lastPoll.at} /> in {span(lastPoll.tookMs)}
              {!lastPoll.ok && `: ${lastPoll.error ?? 'it failed'}`}
            </>
          )}
        </span>
        <span class="push acts">
          <ActButton act={paused === null ? pauseAct : resumeAct} onDone={onDone} />
        </span>
      </PageHead>
      <Holds status={status} />
    </>
  )
}

/** The one sentence that says whether somebody must get up. */
function sentence({ frozen, hosts: counts, incidents, lastPoll }: DaemonStatus, hosts: readonly HostStatus[]) {
  const held = incidents.held
  if (lastPoll?.ok === false) return { title: 'Nova does not answer', tone: 'bad' } as const
  if (frozen !== null) return { title: 'Verdicts are frozen', tone: 'wait' } as const
  if (held > 0) return { title: `${counted(held, 'incident')} held: a person must decide`, tone: 'bad' } as const
  if (incidents.open > 0)
    return { title: `${counted(incidents.open, 'recovery', 'recoveries')} under way`, tone: 'live' } as const
  const bad =
    (counts['host-down'] ?? 0) +
    (counts['service-down'] ?? 0) +
    (counts.contradiction ?? 0) +
    (counts['declared-down'] ?? 0)
  if (bad > 0) return { title: `${counted(bad, 'host')} down`, tone: 'bad' } as const
  const others = hosts.filter(({ verdict }) => verdict !== 'healthy').length
  if (others > 0) return { title: `Calm; ${counted(others, 'host')} not healthy`, tone: 'plain' } as const
  return { title: 'All is well', tone: 'good' } as const
}

/** Everything that keeps Lifeboat from acting, each with why and since when. Nothing: one quiet line. */
function Holds({ status }: { status: DaemonStatus }) {
  const { frozen, brake, standingOrders } = status
  const tripped = brake.filter(({ trippedSince }) => trippedSince !== null)
  return (
    <section class="holds" aria-label="What holds">
      {frozen !== null && (
        <div class="notice wait">
          <strong>Frozen: {frozen.reason}</strong>
          <p>
            {frozen.message}, since <Time at={frozen.since} />. No host's verdict moves until it is over.
          </p>
        </div>
      )}
      {tripped.map((scope) => (
        <div class="notice bad" key={scope.scope}>
          <strong>The brake holds {scope.title}</strong>
          <p>
            {scope.message}
            {scope.trippedSince !== null && (
              <>
                , since <Time at={scope.trippedSince} />
              </>
            )}
            . {scope.down} of {counted(scope.fleet, 'host')} down, {scope.allowed} allowed
            {scope.cooling > 0 && `, ${scope.cooling} of them only cooling down`}.
          </p>
        </div>
      ))}
      {standingOrders.map((order) => (
        <Order key={`${order.kind} ${scopeText(order.scope)} ${order.source ?? ''}`} order={order} />
      ))}
      <dl class="calm">
        <div>
          <dt>Control plane</dt>
          <dd>{frozen === null ? <Tag tone="good">trusted</Tag> : <Tag tone="wait">in doubt</Tag>}</dd>
        </div>
        <div>
          <dt>Brake</dt>
          <dd>
            {tripped.length === 0 ? (
              <Tag tone="good">open</Tag>
            ) : (
              <Tag tone="bad">{counted(tripped.length, 'scope')} held</Tag>
            )}{' '}
            <span class="faint">{scopesText(brake)}</span>
          </dd>
        </div>
        <div>
          <dt>Workflow</dt>
          <dd>
            {status.workflow.name} revision {status.workflow.revision}
          </dd>
        </div>
        <div>
          <dt>Journal</dt>
          <dd>
            <a href="/journal">{counted(status.journal.entries, 'entry', 'entries')}</a>
          </dd>
        </div>
        <div>
          <dt>Daemon</dt>
          <dd>
            {status.version}, started <Ago at={status.startedAt} />
          </dd>
        </div>
      </dl>
    </section>
  )
}

/** The cloud's scope in numbers; the others only when they hold. */
function scopesText(brake: DaemonStatus['brake']): string {
  const cloud = brake.find(({ kind }) => kind === 'cloud')
  return cloud === undefined ? '' : `${cloud.down} of ${cloud.fleet} hosts down, ${cloud.allowed} allowed`
}

function Order({ order }: { order: StandingOrder }) {
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
          ', until somebody ends it'
        ) : (
          <>
            , until <Time at={until} />
          </>
        )}
      </p>
    </div>
  )
}

const pauseAct = {
  title: 'Pause all recoveries',
  role: 'operator',
  path: paths.pause,
  until: true,
  effect: <p>No recovery is begun anywhere, and those that run stop before their next write. Hosts are watched on.</p>,
  done: 'All recoveries are paused',
} as const

const resumeAct = {
  title: 'Resume recoveries',
  role: 'operator',
  path: paths.resume,
  effect: <p>The pause of the whole cloud ends. Held incidents go on at once.</p>,
  done: 'Recoveries go on',
} as const
