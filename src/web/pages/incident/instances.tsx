/** Every instance of the incident: grouped by how it ended and why, found by name, sorted, and one click from its steps. */
import { useMemo } from 'preact/hooks'
import type { IncidentReview, InstanceLine } from '../../../domain/review.ts'
import { outcomes } from '../../../domain/outcome.ts'
import { Copy, Ago, Tag } from '../../parts/text.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Empty } from '../../parts/states.tsx'
import { WindowTable, type Column, type Sorting } from '../../parts/window-table.tsx'
import { go, link, usePlace, withQuery } from '../../router.ts'
import { counted, matches, number } from '../../words/count.ts'
import { outcomeOrder, outcomeTone } from '../../words/tone.ts'
import { landingText, searchText, tookMs, tookText, whyOf } from './words.ts'

const collator = new Intl.Collator(undefined, { numeric: true })

const orders: Record<string, (a: InstanceLine, b: InstanceLine) => number> = {
  name: (a, b) => collator.compare(a.name, b.name),
  original: (a, b) => collator.compare(a.original, b.original) || collator.compare(a.name, b.name),
  outcome: (a, b) =>
    outcomeOrder.indexOf(a.outcome) - outcomeOrder.indexOf(b.outcome) || collator.compare(a.name, b.name),
  why: (a, b) => collator.compare(whyOf(a).code, whyOf(b).code) || collator.compare(a.name, b.name),
  took: (a, b) => (tookMs(a) ?? Infinity) - (tookMs(b) ?? Infinity) || collator.compare(a.name, b.name),
  project: (a, b) => collator.compare(a.projectId, b.projectId) || collator.compare(a.name, b.name),
}

export function Instances({ review }: { review: IncidentReview }) {
  const { query } = usePlace()
  const outcome = query.get('outcome') ?? ''
  const code = query.get('code') ?? ''
  const project = query.get('project') ?? ''
  const wanted = query.get('q') ?? ''
  const sorting = sortingOf(query.get('sort'))
  const { lines } = review
  const shown = useMemo(() => {
    const found = lines.filter(
      (line) =>
        (outcome === '' || line.outcome === outcome) &&
        (code === '' || whyOf(line).code === code) &&
        (project === '' || line.projectId === project) &&
        (wanted === '' || matches(searchText(line), wanted)),
    )
    const order = orders[sorting.key] ?? orders['outcome']
    found.sort(order)
    if (sorting.down) found.reverse()
    return found
  }, [lines, outcome, code, project, wanted, sorting.key, sorting.down])
  const projects = useMemo(() => [...new Set(lines.map(({ projectId }) => projectId))].sort(), [lines])
  const columns = useMemo(() => columnsOf(review.id, review.mode), [review.id, review.mode])
  const set = (fields: Record<string, string | null>): void => go(withQuery(fields), { replace: true })
  const filtered = outcome !== '' || code !== '' || project !== '' || wanted !== ''
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
        <WindowTable
          caption={`Instances of ${review.host}`}
          columns={columns}
          rows={shown}
          rowKey={({ id }) => id}
          rowClass={(line) => outcomeTone[line.outcome]}
          sorting={sorting}
          onSort={({ key, down }) => set({ sort: `${down ? '-' : ''}${key}` })}
        />
      )}
    </>
  )
}

function sortingOf(text: string | null): Sorting {
  const key = (text ?? 'outcome').replace(/^-/, '')
  return { key, down: text?.startsWith('-') === true }
}

function noInstances({ ended, phase }: IncidentReview): string {
  if (ended !== null) return 'No instance was on this host.'
  const early = phase === 'confirming' || phase === 'fencing' || phase === 'isolating' || phase === 'surveying'
  return early ? 'Not listed yet: the host comes first.' : 'No instance was found on this host.'
}

interface GroupsProps {
  review: IncidentReview
  outcome: string
  code: string
  set: (fields: Record<string, string | null>) => void
}

/** The grouped counts: each a filter. What did not come back says why, in full; what did takes little room. */
function Groups({ review, outcome, code, set }: GroupsProps) {
  const groups = useMemo(() => groupsOf(review.lines), [review.lines])
  const isBack = (group: Group): boolean => group.outcome === 'recovered' || group.outcome === 'open'
  const press = (group: Group): void =>
    set(
      outcome === group.outcome && code === group.code
        ? { outcome: null, code: null }
        : { outcome: group.outcome, code: group.code },
    )
  const parts = [
    {
      kind: 'groups',
      label: 'Not recovered, by outcome and reason',
      members: groups.filter((group) => !isBack(group)),
    },
    { kind: 'groups back', label: 'Recovered and under way, by reason', members: groups.filter(isBack) },
  ]
  return (
    <>
      {parts
        .filter(({ members }) => members.length > 0)
        .map(({ kind, label, members }) => (
          <ul key={kind} class={kind} aria-label={label}>
            {members.map((group) => (
              <li key={`${group.outcome} ${group.code}`}>
                <GroupButton
                  group={group}
                  mode={review.mode}
                  pressed={outcome === group.outcome && code === group.code}
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
  mode: IncidentReview['mode']
  pressed: boolean
  press: () => void
}

function GroupButton({ group, mode, pressed, press }: GroupButtonProps) {
  const { outcome, code, message, count } = group
  const tone = outcomeTone[outcome]
  return (
    <button
      type="button"
      class={`group ${tone}`}
      aria-pressed={pressed}
      title={outcome === 'open' ? 'Not ended yet' : outcomes[outcome]}
      onClick={press}
    >
      <span class="how-many">{number(count)}</span>
      <span class="what">
        <Tag tone={tone}>{outcomeWord(outcome, mode)}</Tag>
        <code>{code}</code>
        {outcome !== 'recovered' && outcome !== 'open' && <span class="because">{message}</span>}
      </span>
    </button>
  )
}

interface Group {
  outcome: InstanceLine['outcome']
  code: string
  message: string
  count: number
}

export function groupsOf(lines: readonly InstanceLine[]): Group[] {
  const groups = new Map<string, Group>()
  for (const line of lines) {
    const { code, message } = whyOf(line)
    const key = `${line.outcome} ${code}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { outcome: line.outcome, code, message, count: 1 })
    else {
      group.count += 1
      // A sentence that names one instance says nothing of the others.
      if (group.message !== message) group.message = ''
    }
  }
  return [...groups.values()].sort(
    (a, b) => outcomeOrder.indexOf(a.outcome) - outcomeOrder.indexOf(b.outcome) || b.count - a.count,
  )
}

export function outcomeWord(outcome: InstanceLine['outcome'], mode: IncidentReview['mode']): string {
  if (outcome !== 'open') return outcome
  return mode === 'observe' ? 'observed' : 'open'
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
          <span class="under">
            <Copy text={line.id} what="id" />
          </span>
        </>
      ),
    },
    {
      key: 'original',
      title: 'Was',
      cell: (line) => (
        <>
          <span class="primary-text">{line.original}</span>
          <span class="under">
            {line.flagged ? (
              <Tag tone="wait">sources differ</Tag>
            ) : line.decision === 'recover' ? (
              `wanted ${line.wanted}`
            ) : (
              line.decision
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
          <Tag tone={outcomeTone[line.outcome]}>{outcomeWord(line.outcome, mode)}</Tag>
          {line.landedOn !== null && line.outcome === 'recovered' && <span class="landed"> on {line.landedOn}</span>}
          <span class="under">{underOutcome(line)}</span>
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
            <code>{code}</code> {message}
          </span>
        )
      },
    },
    { key: 'took', title: 'Took', cell: (line) => tookText(line) ?? <span class="faint">–</span> },
    {
      key: 'project',
      title: 'Project',
      cell: (line) => <Copy text={line.projectId} what="project id" shown={shortId(line.projectId)} />,
    },
  ]
}

function underOutcome(line: InstanceLine) {
  if (line.current !== null)
    return (
      <span class="running">
        {line.current.kind}, {line.current.status}, <Ago at={line.current.since} />
      </span>
    )
  const parts = [
    whereItStands(line),
    line.debts.length === 0 ? null : counted(line.debts.length, 'debt'),
    line.notes.length === 0 ? null : counted(line.notes.length, 'note'),
  ]
  return parts.filter((part) => part !== null).join(' · ')
}

/** How it is to land, then the state that was read back: one that lands stopped may be started after it. */
function whereItStands({ outcome, landing, endedAs, landedOn }: InstanceLine): string | null {
  if (outcome === 'open') return landingText(landing)
  if (outcome === 'recovered') return endedAs
  return landedOn === null ? null : `still on ${landedOn}`
}

/** Enough of an id to tell projects apart. */
function shortId(id: string): string {
  return id.length > 14 ? `${id.slice(0, 8)}…` : id
}
