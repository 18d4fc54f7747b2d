/**
 * What if: what would happen if a living host died now, for each of its instances, with the reason; or if only its nova-compute failed, or
 * one guest crashed. Nothing is sent.
 */
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { initialStateText } from '../../domain/initial-state-text.ts'
import type { InstancePlan, PlanSubject, ProcessRuling } from '../../domain/plan.ts'
import type { HostReadiness } from '../../domain/readiness.ts'
import type { PlanRun } from '../../domain/review.ts'
import { after } from '../browser-clock.ts'
import { get, postQuestion, type ApiFailure } from '../api/client.ts'
import { useFresh } from '../api/fresh.ts'
import { paths } from '../api/paths.ts'
import { readLimitMs } from '../api/request.ts'
import { useResource, type Resource } from '../api/resource.ts'
import { refusalOf, useCaller } from '../api/session.ts'
import { announce } from '../parts/announce.tsx'
import { PageHead, useTitle } from '../parts/page.tsx'
import { ReadinessLine } from '../parts/readiness.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Empty, Failed, Loaded, Problem } from '../parts/states.tsx'
import { Copy, Stamped, Tag } from '../parts/text.tsx'
import { LongTable, type Column, type Sorting } from '../parts/long-table.tsx'
import { link, usePlace } from '../router.ts'
import { counted, matches } from '../words/count.ts'
import { decisionTone } from '../../domain/text/tone.ts'

/** How long the first answer may wait for a plan: a small host's is made by then, of a large one's this is when its progress shows. */
const planWaitSeconds = 0.5

/** Pause between looks at a plan that is being made: it takes seconds. */
const lookMs = 500

/** Until a plan whose answer did not come is asked for again. Shorter hammers a daemon that restarts; longer keeps people waiting. */
const retryMs = 5_000

/** What fails, as the address says it. */
function useSubject(host: string): PlanSubject {
  const { query } = usePlace()
  const instance = query.get('instance')
  if (instance !== null) return { host, failure: 'instance', instance }
  return { host, failure: query.get('failure') === 'process' ? 'process' : 'host' }
}

const titles: Record<PlanSubject['failure'], (host: string) => string> = {
  host: (host) => `What if ${host} died now`,
  process: (host) => `What if nova-compute of ${host} failed now`,
  instance: (host) => `What if its guest on ${host} crashed now`,
}

export function PlanPage({ host }: { host: string }) {
  const subject = useSubject(host)
  const title = titles[subject.failure](host)
  useTitle(title)
  const caller = useCaller()
  const refusal = refusalOf(caller, 'operator')
  const [again, setAgain] = useState(0)
  const { run, failure } = usePlan(refusal === null ? subject : null, again)
  const readiness = useResource<HostReadiness>(paths.hostReadiness(host))
  const { reload } = readiness
  useFresh(15_000, reload)
  // The plan that was just made is the newest that is known of it.
  useEffect(() => {
    if (run?.state === 'done') reload(0)
  }, [run?.state, reload])
  const busy = failure === null && (run === null || run.state === 'running')
  return (
    <>
      <PageHead title={title}>
        <span class="head-facts">
          <a href={link.host(host)}>the host now</a>
          {subject.failure !== 'host' && (
            <>
              {' · '}
              <a href={link.plan(host)}>if the host died</a>
            </>
          )}
          {subject.failure !== 'process' && (
            <>
              {' · '}
              <a href={link.plan(host, { failure: 'process' })}>if nova-compute failed</a>
            </>
          )}
        </span>
        <span class="push">
          <button type="button" disabled={refusal !== null || busy} onClick={() => setAgain(again + 1)}>
            Plan again
          </button>
        </span>
      </PageHead>
      {subject.failure === 'host' && isSaid(readiness) && (
        <Loaded of={readiness}>{(value) => <ReadinessLine host={value} />}</Loaded>
      )}
      {refusal !== null && (
        <Problem title="Not for this login">{refusal}: a plan asks Nova for every instance.</Problem>
      )}
      {failure !== null && <Failed title={failure.passing ? undefined : 'No plan'} of={failure} />}
      {run === null && busy && refusal === null && (
        <p class="loading" role="status">
          Asking Nova…
        </p>
      )}
      {run !== null && <Run run={run} />}
    </>
  )
}

/** Whether the readiness line has anything to show. The plan itself says what it waits for, and that Nova has no such host. */
function isSaid({ value, failure }: Resource<HostReadiness>): boolean {
  return value !== null || (failure !== null && failure.status !== 404)
}

function usePlan(subject: PlanSubject | null, again: number): { run: PlanRun | null; failure: ApiFailure | null } {
  const asked = subject === null ? null : JSON.stringify(subject)
  const [state, setState] = useState<{ run: PlanRun | null; failure: ApiFailure | null }>({ run: null, failure: null })
  useLayoutEffect(() => {
    if (asked === null) return undefined
    const what = JSON.parse(asked) as PlanSubject
    let over = false
    let cancel: () => void = () => undefined
    const failed = (thrown: unknown): void => {
      if (over) return
      const failure = thrown as ApiFailure
      setState({ run: null, failure })
      // From the beginning: a daemon that restarted knows nothing of the plan.
      if (failure.passing) cancel = after(retryMs, begin)
    }
    // A daemon that restarted between two looks, or one with too many plans, has forgotten this one.
    const lost = (thrown: unknown): void => {
      if (!over && (thrown as ApiFailure).status === 404) begin()
      else failed(thrown)
    }
    const look = (run: PlanRun): void => {
      if (over) return
      setState({ run, failure: null })
      if (run.state === 'running') {
        cancel = after(lookMs, () => void get<PlanRun>(paths.plan(run.id)).then(look, lost))
      } else announce(run.state === 'done' ? `The plan of ${run.host} is ready` : `No plan of ${run.host}`)
    }
    const begin = (): void =>
      void postQuestion<PlanRun>(paths.plans, { ...what, waitSeconds: planWaitSeconds }, readLimitMs).then(look, failed)
    setState({ run: null, failure: null })
    begin()
    return () => {
      over = true
      cancel()
    }
  }, [asked, again])
  return state
}

function Run({ run }: { run: PlanRun }) {
  if (run.state === 'running')
    return (
      <p class="loading" role="status">
        {run.progress}
      </p>
    )
  if (run.state === 'failed')
    return <Problem title={run.error?.code ?? 'Failed'}>{run.error?.message ?? run.progress}</Problem>
  if (run.plan === null) return <Empty>The plan is empty.</Empty>
  const { service, instances } = run.plan
  if (service !== undefined) return <Ruling ruling={service} />
  return (
    <>
      {run.failure === 'process' && (
        <p>Its segment fences a host whose nova-compute is down (on_service_down), so this is the plan of the host.</p>
      )}
      <Plan instances={instances} />
    </>
  )
}

const enabledAgain = {
  automatic: ' It would be enabled again once nova-compute has been beating for a while.',
  confirm: ' A person would have to confirm that it may be enabled again.',
  segment: ' It would be enabled again as its segment says.',
}

function Ruling({ ruling }: { ruling: ProcessRuling }) {
  const { rule, do: what, enable, because } = ruling
  return (
    <div class="panel">
      <p>
        <Tag tone={what === 'disable' ? 'good' : 'wait'}>{what}</Tag>{' '}
        {what === 'disable' ? 'Its service would be disabled' : 'Its service would be left as it is'}: {because}.
        {what === 'disable' && enabledAgain[enable ?? 'segment']} Its guests would be left alone.
      </p>
      <p class="under">{rule !== '' && `By rule ${rule}. `}Nothing was sent; it is decided when it happens.</p>
    </div>
  )
}

const collator = new Intl.Collator(undefined, { numeric: true })

function Plan({ instances }: { instances: readonly InstancePlan[] }) {
  const { query } = usePlace()
  const [wanted, setWanted] = useState(query.get('find') ?? '')
  const [decision, setDecision] = useState<InstancePlan['decision'] | null>(null)
  const [sorting, setSorting] = useState<Sorting>({ key: 'decision', down: false })
  const shown = useMemo(() => {
    const found = instances.filter(
      (one) =>
        (decision === null || one.decision === decision) &&
        (wanted === '' ||
          matches(`${one.name} ${one.instanceId} ${one.reason} ${one.message} ${one.projectId}`.toLowerCase(), wanted)),
    )
    found.sort(orders[sorting.key])
    if (sorting.down) found.reverse()
    return found
  }, [instances, wanted, decision, sorting])
  if (instances.length === 0) return <Empty>This host has no instances.</Empty>
  return (
    <>
      <p class="headline">
        {counted(instances.length, 'instance')}: {summary(instances)}. Nothing was sent; the real plan is made when it
        happens.
      </p>
      <div class="filters" role="search" aria-label="Planned instances">
        <SearchField label="Search instances" hint="Name, id, reason…" value={wanted} onSearch={setWanted} />
        <div class="choice" role="group" aria-label="Decision">
          {(['recover', 'leave', 'hold'] as const).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={decision === one}
              onClick={() => setDecision(decision === one ? null : one)}
            >
              {one}
            </button>
          ))}
        </div>
        <span class="count" role="status">
          {counted(shown.length, 'instance')}
        </span>
      </div>
      <LongTable
        kind="plan"
        caption="What would happen to each instance"
        columns={columns}
        rows={shown}
        rowKey={({ instanceId }) => instanceId}
        rowClass={({ decision: what }) => decisionTone[what]}
        sorting={sorting}
        onSort={setSorting}
      />
    </>
  )
}

const orders: Record<string, (a: InstancePlan, b: InstancePlan) => number> = {
  name: (a, b) => collator.compare(a.name, b.name),
  original: (a, b) => collator.compare(a.original.instance.vmState, b.original.instance.vmState),
  decision: (a, b) =>
    collator.compare(a.decision, b.decision) || b.priority - a.priority || collator.compare(a.name, b.name),
  why: (a, b) => collator.compare(a.reason, b.reason),
}

function summary(instances: readonly InstancePlan[]): string {
  const counts = (['recover', 'leave', 'hold'] as const).map((decision) => ({
    decision,
    count: instances.filter((one) => one.decision === decision).length,
  }))
  const words = { recover: 'would be recovered', leave: 'left in place', hold: 'held for a person' }
  return counts
    .filter(({ count }) => count > 0)
    .map(({ decision, count }) => `${count} ${words[decision]}`)
    .join(', ')
}

const columns: Column<InstancePlan>[] = [
  {
    key: 'name',
    title: 'Instance',
    cell: ({ name, instanceId }) => (
      <>
        <span class="primary-text">{name}</span>
        <Copy text={instanceId} what={`id of ${name}`} shown="" />
      </>
    ),
  },
  {
    key: 'original',
    title: 'Is',
    cell: ({ original }) => (
      <>
        <span class="primary-text">{initialStateText(original)}</span>
        <span class="under" title={original.wantedBecause}>
          {original.flagged ? 'Nova’s records disagree' : <Stamped text={original.wantedBecause} />}
        </span>
      </>
    ),
  },
  {
    key: 'decision',
    title: 'Would be',
    cell: ({ decision, recipe, expected }) => (
      <>
        <Tag tone={decisionTone[decision]}>{decision}</Tag>
        <span class="under">
          {[expected === null ? null : `target: ${expected}`, recipe === null ? null : `by ${recipe}`]
            .filter((part) => part !== null)
            .join(', ')}
        </span>
      </>
    ),
  },
  {
    key: 'why',
    title: 'Why',
    cell: ({ reason, message, debts, notes }) => {
      const more = [...debts.map((debt) => debt.message), ...notes]
      const text = [message, ...more].join('. ')
      return (
        <span class="why-text" title={text}>
          <code>{reason}</code> <Stamped text={text} />
        </span>
      )
    },
  },
]
