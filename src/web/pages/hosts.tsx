/** Hosts: whether each, and the cloud, could fail safely now. */
import { useCallback, useMemo, useState } from 'preact/hooks'
import type { Entry } from '../../domain/entry.ts'
import type { HostReadiness, Readiness } from '../../domain/readiness.ts'
import { verdictKinds, verdictWord } from '../../domain/verdict.ts'
import { useFresh } from '../api/fresh.ts'
import { useEntries } from '../api/live.ts'
import { paths } from '../api/paths.ts'
import { useResource } from '../api/resource.ts'
import { PageHead, useTitle } from '../parts/page.tsx'
import { FencingDetail, FencingWord } from '../parts/readiness.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Ago, Stamped, Tag } from '../parts/text.tsx'
import { LongTable, type Column, type Sorting } from '../parts/long-table.tsx'
import { go, link, usePlace, withQuery } from '../router.ts'
import { counted, matches } from '../words/count.ts'
import {
  backText,
  estimateText,
  fencingWord,
  gapSentences,
  holdWord,
  isOut,
  leavesSome,
  leftText,
  needsPerson,
  readinessTone,
} from '../words/readiness.ts'
import { hostTone, verdictOrder } from '../../domain/text/tone.ts'

/** What is written in so short a time is one request: of thousands of hosts the answer is megabytes. */
const gatherMs = 2_000

export function HostsPage() {
  useTitle('Hosts')
  const readiness = useResource<Readiness>(paths.readiness)
  const { reload } = readiness
  useFresh(30_000, reload)
  useEntries(
    useCallback(
      (entries: Entry[]) => {
        if (entries.some(({ kind }) => changesReadiness(kind))) reload(gatherMs)
      },
      [reload],
    ),
  )
  return (
    <>
      <PageHead title="Hosts" />
      <Loaded of={readiness}>
        {(value) => (
          <>
            <CloudLine readiness={value} />
            {value.hosts.length > 0 && <HostTable hosts={value.hosts} />}
          </>
        )}
      </Loaded>
    </>
  )
}

function changesReadiness(kind: Entry['kind']): boolean {
  return /^(operator|incident|brake|monitor|verdict)\./.test(kind)
}

function CloudLine({ readiness: { sentences, failures, hosts } }: { readiness: Readiness }) {
  const [first, ...others] = sentences
  const able = others.length === 0 ? 'good' : 'wait'
  const tone = failures > 0 ? able : hosts.length === 0 ? 'plain' : 'bad'
  return (
    <div class={`notice ${tone} readiness`}>
      <strong>
        <Stamped text={first ?? ''} />
      </strong>
      {others.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </div>
  )
}

const states: readonly [string, string, (host: HostReadiness) => boolean][] = [
  ['all', 'all', () => true],
  ['person', 'needs a person', needsPerson],
  ['left', 'some left', leavesSome],
  ['held', 'held', ({ holds }) => holds.length > 0],
]

function HostTable({ hosts }: { hosts: readonly HostReadiness[] }) {
  const { query } = usePlace()
  const wanted = query.get('q') ?? ''
  const state = query.get('state') ?? 'all'
  const [sorting, setSorting] = useState<Sorting>({ key: 'why', down: false })
  const shown = useMemo(() => {
    const fits = states.find(([name]) => name === state)?.[2]
    const found = hosts.filter(
      (host) => fits?.(host) !== false && (wanted === '' || matches(textOf(host).toLowerCase(), wanted)),
    )
    found.sort(orders[sorting.key])
    if (sorting.down) found.reverse()
    return found
  }, [hosts, wanted, state, sorting])
  return (
    <>
      <div class="filters" role="search" aria-label="Hosts">
        <SearchField
          label="Search hosts"
          hint="Host, segment, reason…"
          value={wanted}
          onSearch={(text) => go(withQuery({ q: text }), { replace: true })}
        />
        <div class="choice" role="group" aria-label="Readiness">
          {states.map(([name, word]) => (
            <button
              key={name}
              type="button"
              aria-pressed={state === name}
              onClick={() => go(withQuery({ state: name === 'all' ? null : name }), { replace: true })}
            >
              {word}
            </button>
          ))}
        </div>
        <span class="count" role="status">
          {counted(shown.length, 'host')}
        </span>
      </div>
      {shown.length === 0 ? (
        <Empty>No host matches.</Empty>
      ) : (
        <LongTable
          kind="hosts"
          caption="Whether each host could fail safely now"
          columns={columns}
          rows={shown}
          rowKey={({ host }) => host}
          rowClass={readinessTone}
          sorting={sorting}
          onSort={setSorting}
        />
      )}
    </>
  )
}

function textOf(host: HostReadiness): string {
  const { segment, verdict, fencing, missing, holds } = host
  const codes = [...missing, ...holds].map(({ code }) => code).join(' ')
  return `${host.host} ${segment} ${verdict} ${fencingWord[fencing.state]} ${leftText(host)} ${codes}`
}

const collator = new Intl.Collator(undefined, { numeric: true })
const byName = (a: HostReadiness, b: HostReadiness): number => collator.compare(a.host, b.host)
/** The most urgent first. */
const urgency = ['bad', 'wait', 'good']
/** What is not known comes last. */
const known = (value: number | null | undefined): number => value ?? Infinity
const left = ({ plan }: HostReadiness): number => (plan === null ? -1 : plan.instances - plan.back)

const orders: Record<string, (a: HostReadiness, b: HostReadiness) => number> = {
  name: byName,
  outcome: (a, b) => verdictOrder.indexOf(a.verdict) - verdictOrder.indexOf(b.verdict) || byName(a, b),
  back: (a, b) => left(b) - left(a) || byName(a, b),
  fencing: (a, b) => collator.compare(fencingWord[b.fencing.state], fencingWord[a.fencing.state]) || byName(a, b),
  time: (a, b) => compared(known(a.estimateMs), known(b.estimateMs)) || byName(a, b),
  why: (a, b) => urgency.indexOf(readinessTone(a)) - urgency.indexOf(readinessTone(b)) || byName(a, b),
}

/** Two that are not known are the same; their difference is no number. */
function compared(a: number, b: number): number {
  return a === b ? 0 : a - b
}

const columns: Column<HostReadiness>[] = [
  {
    key: 'name',
    title: 'Host',
    cell: ({ host, segment }) => (
      <>
        <a class="primary-text" href={link.host(host)}>
          {host}
        </a>
        <span class="under">
          {segment} · <a href={link.plan(host)}>What if</a>
        </span>
      </>
    ),
  },
  {
    key: 'outcome',
    title: 'Verdict',
    cell: (host) => (
      <>
        <Tag tone={hostTone(host)} title={verdictKinds[host.verdict]}>
          {verdictWord({ ...host, kind: host.verdict })}
        </Tag>
        <span class="under">{[...new Set(host.holds.map(({ code }) => holdWord[code]))].join(', ')}</span>
      </>
    ),
  },
  {
    key: 'back',
    title: 'Would come back',
    cell: (host) => (
      <>
        {host.incident === null ? (
          <span class="primary-text">{backText(host)}</span>
        ) : (
          <a href={link.incident(host.incident)}>{backText(host)}</a>
        )}
        {host.plan !== null && !isOut(host) && (
          <span class="under" title={leftText(host)}>
            {leftText(host) !== '' && `${leftText(host)} · `}
            <Ago at={host.plan.at} />
          </span>
        )}
      </>
    ),
  },
  {
    key: 'fencing',
    title: 'Fencing',
    cell: (host) => (
      <>
        <FencingWord host={host} />
        <FencingDetail host={host} />
      </>
    ),
  },
  { key: 'time', title: 'Would take', cell: estimateText },
  {
    key: 'why',
    title: 'Missing',
    cell: (host) => {
      const text = gapSentences(host).join('. ')
      return (
        <span class="why-text" title={text}>
          <span class="narrow-only">
            {backText(host)}, fencing {fencingWord[host.fencing.state]}.{' '}
          </span>
          <Stamped text={text === '' ? 'nothing' : text} />
        </span>
      )
    },
  },
]
