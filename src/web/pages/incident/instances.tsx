/** Every instance of the incident: grouped by how it ended and why, found by name, sorted, and one click from its steps. */
import { Icon } from '../../parts/icons.tsx'
import { useMemo, useState } from 'preact/hooks'
import type { IncidentReview, InstanceLine } from '../../../domain/review.ts'
import { Copy, Stamped, Tag } from '../../parts/text.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Empty } from '../../parts/states.tsx'
import { usePrinting } from '../../parts/printing.ts'
import { LongTable, type Column, type Sorting } from '../../parts/long-table.tsx'
import { go, link, usePlace, withQuery } from '../../router.ts'
import { counted, matches, number, onHostText } from '../../words/count.ts'
import { endOf, endOrder, ends, groupsOf, isFine, type End, type Group } from './ends.ts'
import { UnderWay } from './under-way.tsx'
import { DownFor } from '../../parts/down-for.tsx'
import { downMs } from '../../../domain/down-time.ts'
import { landingText, searchText, whyOf } from './words.ts'

const collator = new Intl.Collator(undefined, { numeric: true })

const orders: Record<string, (a: InstanceLine, b: InstanceLine) => number> = {
  name: (a, b) => collator.compare(a.name, b.name),
  original: (a, b) => collator.compare(a.original, b.original) || collator.compare(a.name, b.name),
  why: (a, b) => collator.compare(whyOf(a).code, whyOf(b).code) || collator.compare(a.name, b.name),
  down: (a, b) => (downMs(a) ?? Infinity) - (downMs(b) ?? Infinity) || collator.compare(a.name, b.name),
  project: (a, b) => collator.compare(a.projectId, b.projectId) || collator.compare(a.name, b.name),
}

/** More recovered ones are folded until someone asks for them: what is not back must not drown in what is. */
const mostBack = 20

/** By how they stand; the most urgent first. */
function byEnd(mode: IncidentReview['mode']): (a: InstanceLine, b: InstanceLine) => number {
  const place = (line: InstanceLine): number => endOrder.indexOf(endOf(line, mode))
  return (a, b) => place(a) - place(b) || collator.compare(a.name, b.name)
}

export function Instances({ review }: { review: IncidentReview }) {
  const { query } = usePlace()
  const outcome = query.get('outcome') ?? ''
  const code = query.get('code') ?? ''
  const project = query.get('project') ?? ''
  const wanted = query.get('q') ?? ''
  const sorting = sortingOf(query.get('sort'))
  const { lines, mode } = review
  const shown = useMemo(() => {
    const found = lines.filter(
      (line) =>
        (outcome === '' || endOf(line, mode) === outcome) &&
        (code === '' || whyOf(line).code === code) &&
        (project === '' || line.projectId === project) &&
        (wanted === '' || matches(searchText(line), wanted)),
    )
    found.sort(orders[sorting.key] ?? byEnd(mode))
    if (sorting.down) found.reverse()
    return found
  }, [lines, mode, outcome, code, project, wanted, sorting.key, sorting.down])
  const projects = useMemo(() => [...new Set(lines.map(({ projectId }) => projectId))].sort(), [lines])
  const columns = useMemo(() => columnsOf(review.id, mode), [review.id, mode])
  const set = (fields: Record<string, string | null>): void => go(withQuery(fields), { replace: true })
  const filtered = outcome !== '' || code !== '' || project !== '' || wanted !== ''
  const [unfolded, unfold] = useState(false)
  const printing = usePrinting()
  const back = review.outcomes.recovered ?? 0
  const foldable = back > mostBack && !filtered && sorting.key === 'outcome'
  const folded = foldable && !unfolded && !printing
  const rows = useMemo(() => (folded ? shown.filter((line) => line.outcome !== 'recovered') : shown), [folded, shown])
  if (lines.length === 0) return <Empty>{noInstances(review)}</Empty>
  return (
    <>
      <Groups review={review} outcome={outcome} code={code} set={set} />
      <div class="filters" role="search" aria-label="Instances">
        <SearchField
          label="Search instances"
          hint="Name, id, host, reason…"
          value={wanted}
          onSearch={(text) => set({ q: text })}
        />
        {projects.length > 1 && (
          <label>
            <span class="visually-hidden">Project</span>
            <select value={project} onChange={(event) => set({ project: event.currentTarget.value })}>
              <option value="">All {projects.length} projects</option>
              {projects.map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </select>
          </label>
        )}
        <span class="count" role="status">
          {filtered
            ? `${number(shown.length)} of ${counted(lines.length, 'instance')}`
            : counted(lines.length, 'instance')}
        </span>
        {filtered && (
          <button
            type="button"
            class="quiet"
            onClick={() => set({ outcome: null, code: null, project: null, q: null })}
          >
            Show all
          </button>
        )}
      </div>
      {shown.length === 0 ? (
        <Empty>No instance matches.</Empty>
      ) : (
        rows.length > 0 && (
          <LongTable
            kind="instances"
            caption={`Instances of ${review.host}`}
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
            rowClass={(line) => ends[endOf(line, mode)].tone}
            sorting={sorting}
            onSort={({ key, down }) => set({ sort: `${down ? '-' : ''}${key}` })}
          />
        )
      )}
      {foldable && (
        <button type="button" class="quiet fold" aria-expanded={unfolded} onClick={() => unfold(!unfolded)}>
          <Icon name={unfolded ? 'down' : 'right'} /> {number(back)} recovered
        </button>
      )}
    </>
  )
}

function sortingOf(text: string | null): Sorting {
  const key = (text ?? 'outcome').replace(/^-/, '')
  return { key, down: text?.startsWith('-') === true }
}

function noInstances({ ended, phase, watched, onHost }: IncidentReview): string {
  if (watched !== null) return `${watched.message}.`
  if (ended?.outcome === 'returned')
    return 'The host came back before Lifeboat listed its instances. Check in Nova whether they run.'
  if (ended?.outcome === 'cancelled')
    return 'The incident was cancelled before Lifeboat had an instance on record. Check in Nova what is on the host.'
  if (ended !== null) return 'No instance was on this host.'
  const early = phase === 'confirming' || phase === 'fencing' || phase === 'isolating' || phase === 'surveying'
  return early
    ? `On the host: ${onHostText(onHost)}. Lifeboat lists them once it is proven dead.`
    : 'Lifeboat found no instance on this host.'
}

interface GroupsProps {
  review: IncidentReview
  outcome: string
  code: string
  set: (fields: Record<string, string | null>) => void
}

/** The grouped counts: each a filter. What did not come back says why, in full; what did takes little room. */
function Groups({ review, outcome, code, set }: GroupsProps) {
  const { lines, mode } = review
  const groups = useMemo(() => groupsOf({ lines, mode }), [lines, mode])
  const press = (group: Group): void =>
    set(
      outcome === group.end && code === group.code
        ? { outcome: null, code: null }
        : { outcome: group.end, code: group.code },
    )
  const parts = [
    {
      kind: 'groups',
      label: 'Not recovered, by outcome and reason',
      members: groups.filter(({ end }) => !isFine(end)),
    },
    {
      kind: 'groups back',
      label: 'Recovered and under way, by reason',
      members: groups.filter(({ end }) => isFine(end)),
    },
  ]
  return (
    <>
      {parts
        .filter(({ members }) => members.length > 0)
        .map(({ kind, label, members }) => (
          <ul key={kind} class={kind} aria-label={label}>
            {members.map((group) => (
              <li key={`${group.end} ${group.code}`}>
                <GroupButton
                  group={group}
                  pressed={outcome === group.end && code === group.code}
                  press={() => press(group)}
                />
              </li>
            ))}
          </ul>
        ))}
    </>
  )
}

interface GroupButtonProps {
  group: Group
  pressed: boolean
  press: () => void
}

function GroupButton({ group, pressed, press }: GroupButtonProps) {
  const { end, code, message, count } = group
  const { word, tone, means } = ends[end]
  return (
    <button type="button" class={`group ${tone}`} aria-pressed={pressed} title={means} onClick={press}>
      <span class="how-many">{number(count)}</span>
      <span class="what">
        <Tag tone={tone}>{word}</Tag>
        <code>{code}</code>
        {!isFine(end) && (
          <span class="because">
            <Stamped text={message} />
          </span>
        )}
      </span>
    </button>
  )
}

/** What is decided for one that is not brought elsewhere. */
const decisionWords: Record<InstanceLine['decision'], string> = {
  recover: 'to be recovered',
  leave: 'to be left',
  hold: 'a person must decide',
}

export function EndTag({ end }: { end: End }) {
  const { word, tone, means } = ends[end]
  return (
    <Tag tone={tone} title={means}>
      {word}
    </Tag>
  )
}

function columnsOf(incident: string, mode: IncidentReview['mode']): Column<InstanceLine>[] {
  return [
    {
      key: 'name',
      title: 'Instance',
      cell: (line) => (
        <>
          <a href={link.instance(incident, line.id)} class="primary-text">
            {line.name}
          </a>
          <Copy text={line.id} what={`id of ${line.name}`} shown="" />
        </>
      ),
    },
    {
      key: 'original',
      title: 'Was',
      cell: (line) => (
        <>
          <span class="primary-text" title={line.original}>
            {line.original}
          </span>
          <span class="under">
            {line.flagged ? (
              <Tag tone="wait" title="Nova, its history and earlier readings disagree">
                records disagree
              </Tag>
            ) : line.decision === 'recover' ? (
              line.expected !== null && `target: ${line.expected}`
            ) : (
              decisionWords[line.decision]
            )}
          </span>
        </>
      ),
    },
    {
      key: 'outcome',
      title: 'Now',
      cell: (line) => (
        <>
          <EndTag end={endOf(line, mode)} />
          {line.landedOn !== null && line.outcome === 'recovered' && <span class="landed"> on {line.landedOn}</span>}
          <span class="under">{underOutcome(line, mode)}</span>
        </>
      ),
    },
    {
      key: 'why',
      title: 'Why',
      cell: (line) => {
        const { code, message } = whyOf(line)
        return (
          <span class="why-text" title={message}>
            <code>{code}</code> <Stamped text={message} />
          </span>
        )
      },
    },
    { key: 'down', title: 'Down for', cell: (line) => <DownFor line={line} mode={mode} /> },
    {
      key: 'project',
      title: 'Project',
      cell: (line) => <Copy text={line.projectId} what="project id" shown={shortId(line.projectId)} />,
    },
  ]
}

function underOutcome(line: InstanceLine, mode: IncidentReview['mode']) {
  if (line.current !== null) return <UnderWay current={line.current} />
  const parts = [
    whereItStands(line, mode),
    line.debts.length === 0 ? null : counted(line.debts.length, 'leftover'),
    line.notes.length === 0 ? null : counted(line.notes.length, 'note'),
  ]
  return parts.filter((part) => part !== null).join(' · ')
}

/** How it is to land, then the state that was read back: one that lands stopped may be started after it. */
function whereItStands(line: InstanceLine, mode: IncidentReview['mode']): string | null {
  const { outcome, decision, landing, endedAs, landedOn } = line
  if (outcome === 'open' && mode === 'armed' && decision === 'recover' && line.startedAt === null) return 'not begun'
  if (outcome === 'open') return landingText(landing)
  if (outcome === 'recovered') return endedAs
  return landedOn === null ? null : `still on ${landedOn}`
}

/** Enough of an id to tell projects apart. */
function shortId(id: string): string {
  return id.length > 14 ? `${id.slice(0, 8)}…` : id
}
