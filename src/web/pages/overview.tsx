/** The fleet at a glance: what is wrong, what is held and why, and whether Lifeboat itself can act. */
import { useCallback } from 'preact/hooks'
import type { CountedGroup } from '../../domain/brake.ts'
import type { Entry } from '../../domain/entry.ts'
import type { DaemonStatus, HostStatus, IncidentSummary } from '../../domain/operations.ts'
import { useEntries } from '../api/live.ts'
import { paths } from '../api/paths.ts'
import { useEvery, useResource, type Resource } from '../api/resource.ts'
import { ActButton } from '../parts/act.tsx'
import { Fleet } from '../parts/fleet.tsx'
import { HeldGroups } from '../parts/held-groups.tsx'
import { IncidentTable } from '../parts/incident-table.tsx'
import { OrderNotice, orderKey } from '../parts/order-notice.tsx'
import { PageHead, Section, useTitle } from '../parts/page.tsx'
import { DeadReceivers } from '../parts/receivers.tsx'
import { Empty, Failed, Loaded, notNewest } from '../parts/states.tsx'
import { Ago, Stamped, Tag, Time } from '../parts/text.tsx'
import { link } from '../router.ts'
import { counted } from '../words/count.ts'
import { openCounts, overviewSentence, type OpenCounts } from '../words/overview-sentence.ts'
import { faultIsOver } from '../../domain/text/freeze-sentence.ts'
import { span } from '../../domain/text/span.ts'
import { isLost, notBackText } from '../words/unsettled.ts'

/** How long a host is silent changes without a journal entry. */
const pollMs = 5_000
const recentShown = 8

/** More than are shown: the newest may be open, and those are in a list of their own. */
const incidentsRead = 100

/** Open incidents, however old. More than a person can decide; each costs the page a row. */
const openRead = 1_000

/** Incidents that are over and not done with, named one by one; the others are counted, and have their list. */
const unsettledNamed = 3

export function OverviewPage() {
  const status = useResource<DaemonStatus>(paths.status)
  const hosts = useResource<HostStatus[]>(paths.hosts)
  const incidents = useResource<IncidentSummary[]>(paths.incidents({ limit: String(incidentsRead) }))
  const opened = useResource<IncidentSummary[]>(paths.incidents({ open: 'true', limit: String(openRead) }))
  const unsettled = useResource<IncidentSummary[]>(
    paths.incidents({ unsettled: 'true', limit: String(unsettledNamed) }),
  )
  const groups = useResource<CountedGroup[]>(paths.brake)
  const reload = useCallback(
    (withinMs?: number) => {
      for (const resource of [status, hosts, incidents, opened, unsettled, groups]) resource.reload(withinMs)
    },
    [status.reload, hosts.reload, incidents.reload, opened.reload, unsettled.reload, groups.reload],
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
  const held = groups.value ?? []
  const grouped = new Set(held.flatMap(({ members }) => members.map(({ incident }) => incident)))
  // What a group says is said once.
  const open = (opened.value ?? []).filter(({ id }) => !grouped.has(id))
  const over = (incidents.value ?? []).filter(({ ended }) => ended !== null).slice(0, recentShown)
  // An older list says nothing of what is open now, and of more than were read not all.
  const isWhole = opened.failure === null && (opened.value?.length ?? 0) < openRead
  const counts =
    status.value === null || isUnread(opened) ? null : openCounts(status.value, isWhole ? opened.value : null)
  useTitle(`${urgentMark(counts)}Overview`)
  return (
    <>
      <Loaded of={status} heading="Overview">
        {(value) =>
          counts === null || isUnread(unsettled) ? (
            <p class="loading">Loading…</p>
          ) : (
            <>
              <Standing status={value} counts={counts} groups={held} onDone={() => reload(0)} />
              <NotRead of={opened} title="Which incidents are open is not known" />
              <NotRead of={groups} title="What the brake holds is not known" />
            </>
          )
        }
      </Loaded>
      {open.length > 0 && (
        <Section
          id="open"
          title={held.length > 0 ? 'Other open incidents' : 'Open incidents'}
          note={counted(open.length, 'incident')}
        >
          <IncidentTable incidents={open} caption="Open incidents" />
        </Section>
      )}
      {status.value !== null && (
        <Unsettled named={unsettled.value ?? []} count={status.value.incidents.unsettled.incidents} />
      )}
      <Section id="fleet" title="Fleet" note={hosts.value === null ? '' : counted(hosts.value.length, 'host')}>
        <Loaded of={hosts}>{(value) => <Fleet hosts={value} old={status.value?.lastPoll?.ok === false} />}</Loaded>
      </Section>
      <Section id="recent" title="Recent incidents" note={<a href="/incidents">All incidents</a>}>
        <Loaded of={incidents}>
          {() =>
            over.length === 0 ? <Empty>None yet.</Empty> : <IncidentTable incidents={over} caption="Recent incidents" />
          }
        </Loaded>
      </Section>
    </>
  )
}

/** Neither loaded yet nor failed. */
function isUnread({ value, failure }: Resource<unknown>): boolean {
  return value === null && failure === null
}

/** Where a list is missing or old, people must not take what they see of it for all there is. */
function NotRead({ of: { value, failure }, title }: { of: Resource<unknown>; title: string }) {
  return failure === null ? null : <Failed title={value === null ? title : notNewest} of={failure} />
}

interface StandingProps {
  status: DaemonStatus
  counts: OpenCounts
  groups: readonly CountedGroup[]
  onDone: () => void
}

function Standing({ status, counts, groups, onDone }: StandingProps) {
  const { title, tone } = overviewSentence(status, counts, groups)
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
          ) : lastPoll.ok ? (
            <>
              Nova read <Ago at={lastPoll.at} /> in {span(lastPoll.tookMs)}
            </>
          ) : (
            <>
              Nova did not answer <Ago at={lastPoll.at} /> ({lastPoll.error ?? 'it failed'})
            </>
          )}
        </span>
        <span class="push acts">
          <ActButton act={paused === null ? pauseAct : resumeAct} onDone={onDone} />
        </span>
      </PageHead>
      <HeldGroups groups={groups} onDone={onDone} />
      <Holds status={status} groups={groups} />
    </>
  )
}

/** (5!) before the title of the tab: so many wait for a person. */
function urgentMark(counts: OpenCounts | null): string {
  return counts !== null && counts.forAPerson > 0 ? `(${counts.forAPerson}!) ` : ''
}

/** What is over and not done with: it stays here until someone signs it off, however old it is. */
function Unsettled({ named, count }: { named: readonly IncidentSummary[]; count: number }) {
  if (count === 0) return null
  const rest = count - named.length
  return (
    <section aria-label="Over, and not all back">
      {named.map((incident) => (
        <p class={`unsigned ${isLost(incident) ? 'bad' : 'wait'}`} key={incident.id}>
          <a href={link.incident(incident.id)}>{incident.host}</a>: {notBackText(incident)}
          <span class="faint">
            {incident.ended !== null && (
              <>
                {' '}
                · ended <Ago at={incident.ended.at} />
              </>
            )}{' '}
            · not signed off
          </span>
        </p>
      ))}
      {rest > 0 && (
        <p class="under">
          {named.length > 0 && 'and '}
          {counted(rest, named.length > 0 ? 'more incident' : 'incident')}:{' '}
          <a href="/incidents?state=unsigned">all that are not signed off</a>
        </p>
      )}
    </section>
  )
}

/** Everything that keeps Lifeboat from acting, each with why and since when. Nothing: one quiet line. */
function Holds({ status, groups }: { status: DaemonStatus; groups: readonly CountedGroup[] }) {
  const { frozen, restartLoop, brake, standingOrders, configuration } = status
  const { refused } = configuration
  const tripped = brake.filter(({ trippedSince }) => trippedSince !== null)
  const said = new Set(groups.flatMap(({ title, also }) => [title, ...also]))
  return (
    <section class="holds" aria-label="What holds">
      {frozen !== null && (
        <div class="notice wait">
          <strong>Frozen: {frozen.reason}</strong>
          <p>
            <Stamped text={frozen.message} />, since <Time at={frozen.since} />.{' '}
            {frozen.thawsAt === null ? (
              'No verdict changes until the freeze ends.'
            ) : (
              <>
                {faultIsOver(frozen.reason)}; verdicts move from <Time at={frozen.thawsAt} />.
              </>
            )}
          </p>
        </div>
      )}
      {restartLoop !== null && (
        <div class="notice bad">
          <strong>The daemon keeps dying</strong>
          <p>
            <Stamped text={restartLoop.message} />.
          </p>
        </div>
      )}
      <DeadReceivers receivers={status.receivers} />
      <Tripped scopes={tripped.filter(({ title }) => !said.has(title))} />
      {standingOrders.map((order) => (
        <OrderNotice key={orderKey(order)} order={order} />
      ))}
      {refused !== null && (
        <div class="notice wait">
          <strong>The configuration on disk was rejected</strong>
          <p>
            <Stamped text={refused.message} />. The one read at <Time at={configuration.loadedAt} /> stays in force;{' '}
            {refused.by} asked for the new one at <Time at={refused.at} />.
          </p>
        </div>
      )}
      <dl class="calm">
        <div>
          <dt>Control plane</dt>
          <dd>{frozen === null ? <Tag tone="good">trusted</Tag> : <Tag tone="wait">in doubt</Tag>}</dd>
        </div>
        <div>
          <dt>Brake</dt>
          <dd>
            {tripped.length === 0 ? <Tag tone="good">not tripped</Tag> : <Tag tone="bad">tripped</Tag>}{' '}
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

/** Scopes that hold no incident and would hold the next one. One failure often trips several: they are one notice. */
function Tripped({ scopes }: { scopes: DaemonStatus['brake'] }) {
  if (scopes.length === 0) return null
  return (
    <div class="notice wait">
      <strong>The brake would hold the next failure</strong>
      {scopes.map(({ scope, message, trippedSince }) => (
        <p key={scope}>
          <Stamped text={message} />
          {trippedSince !== null && (
            <>
              , since <Time at={trippedSince} />
            </>
          )}
          .
        </p>
      ))}
    </div>
  )
}

/** The cloud's scope in numbers; the others only when they hold. */
function scopesText(brake: DaemonStatus['brake']): string {
  const cloud = brake.find(({ kind }) => kind === 'cloud')
  return cloud === undefined ? '' : `${cloud.down} of ${cloud.fleet} hosts down, ${cloud.allowed} allowed`
}

const pauseAct = {
  title: 'Pause all recoveries',
  role: 'operator',
  path: paths.pause,
  times: 'end',
  effect: <p>No recovery begins, and those under way stop before their next write. Hosts are still watched.</p>,
  done: 'All recoveries are paused',
} as const

const resumeAct = {
  title: 'Resume recoveries',
  role: 'operator',
  path: paths.resume,
  effect: <p>Ends the pause of the whole cloud. Held incidents go on at once.</p>,
  done: 'Recoveries are resumed',
} as const
