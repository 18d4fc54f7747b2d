/** Notices: how each receiver stands, a test of it, and what it was sent. Filters are part of the address. */
import { useCallback } from 'preact/hooks'
import type { Entry } from '../../domain/entry.ts'
import type { ReceiverHealth } from '../../domain/notice.ts'
import type { NoticeLine, ReceiverNotices } from '../../domain/notice-listing.ts'
import { noticeStates, type NoticeState } from '../../domain/notice-record.ts'
import { noticeTone, receiverStanding } from '../../domain/text/tone.ts'
import { useFresh } from '../api/fresh.ts'
import { useEntries } from '../api/live.ts'
import { paths } from '../api/paths.ts'
import { useResource } from '../api/resource.ts'
import { PageHead, Section, useTitle } from '../parts/page.tsx'
import { TestButton } from '../parts/receivers.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Ago, Stamped, Tag, Time } from '../parts/text.tsx'
import { Cell, Row, TitledTable } from '../parts/titled-table.tsx'
import { go, link, usePlace, withQuery } from '../router.ts'
import { counted, number } from '../words/count.ts'

export function NoticesPage() {
  useTitle('Notices')
  const { query } = usePlace()
  const filter = Object.fromEntries(
    ['receiver', 'state', 'incident'].flatMap((name) => {
      const value = query.get(name)
      return value === null ? [] : [[name, value] as const]
    }),
  )
  const all = useResource<ReceiverNotices[]>(paths.notices({ limit: '1' }))
  const found = useResource<ReceiverNotices[]>(paths.notices(filter))
  const reload = useCallback(
    (withinMs?: number) => {
      all.reload(withinMs)
      found.reload(withinMs)
    },
    [all.reload, found.reload],
  )
  useFresh(15_000, reload)
  useEntries(
    useCallback(
      (entries: Entry[]) => {
        if (entries.some(({ kind }) => kind.startsWith('notice.'))) reload()
      },
      [reload],
    ),
  )
  return (
    <>
      <PageHead title="Notices" />
      <Loaded of={all}>
        {(value) => (
          <>
            <Receivers receivers={value} onDone={() => reload(0)} />
            <Section id="sent" title="Who was told what">
              <Filters receivers={value.map(({ receiver }) => receiver)} filter={filter} />
            </Section>
          </>
        )}
      </Loaded>
      <Loaded of={found}>{(value) => <Groups groups={value.filter(({ notices }) => notices.length > 0)} />}</Loaded>
    </>
  )
}

function Receivers({ receivers, onDone }: { receivers: readonly ReceiverNotices[]; onDone: () => void }) {
  const configured = receivers.flatMap(({ health, counts }) => (health === null ? [] : [{ health, counts }]))
  return (
    <Section id="receivers" title="Receivers" note={counted(configured.length, 'receiver')}>
      {configured.length === 0 ? (
        <Empty>
          The configuration names no receiver: people are told nothing. See <code>notices</code> in it.
        </Empty>
      ) : (
        <TitledTable
          caption="Receivers of notices"
          titles={['Receiver', 'State', 'Waiting', 'Dead letters', 'Last success', 'Test']}
        >
          {configured.map(({ health, counts }) => (
            <ReceiverRow key={health.receiver} health={health} dead={counts.dead ?? 0} onDone={onDone} />
          ))}
        </TitledTable>
      )}
    </Section>
  )
}

interface ReceiverRowProps {
  health: ReceiverHealth
  /** Dead letters among the newest notices. */
  dead: number
  onDone: () => void
}

function ReceiverRow({ health, dead, onDone }: ReceiverRowProps) {
  const { receiver, waiting, takenAt, failingSince, problem } = health
  const { text, tone } = receiverStanding(health)
  return (
    <Row>
      <Cell>
        <a class="primary-text" href={withQuery({ receiver })}>
          {receiver}
        </a>
      </Cell>
      <Cell>
        <Tag tone={tone}>{text}</Tag>
        {failingSince !== null && (
          <span class="under">
            {problem}, since <Time at={failingSince} />
          </span>
        )}
      </Cell>
      <Cell title="waiting">{number(waiting)}</Cell>
      <Cell title="dead letters">
        {dead === 0 ? '0' : <a href={withQuery({ receiver, state: 'dead' })}>{number(dead)}</a>}
      </Cell>
      <Cell title="last success">{takenAt === null ? 'none on record' : <Ago at={takenAt} />}</Cell>
      <Cell>
        <TestButton receiver={receiver} onDone={onDone} />
      </Cell>
    </Row>
  )
}

function Filters({ receivers, filter }: { receivers: readonly string[]; filter: Partial<Record<string, string>> }) {
  const { receiver = '', state = '', incident = '' } = filter
  const choose = (name: string, value: string): void => go(withQuery({ [name]: value }), { replace: true })
  return (
    <div class="filters" role="search" aria-label="Notices">
      <label>
        <span class="visually-hidden">Receiver</span>
        <select value={receiver} onChange={(event) => choose('receiver', event.currentTarget.value)}>
          <option value="">all receivers</option>
          {receivers.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <SearchField
        label="Of which incident"
        hint="ID of an incident"
        value={incident}
        onSearch={(text) => choose('incident', text.trim())}
      />
      <div class="choice" role="group" aria-label="State">
        {['', ...Object.keys(noticeStates)].map((one) => (
          <button
            key={one}
            type="button"
            title={one === '' ? undefined : noticeStates[one as NoticeState]}
            aria-pressed={state === one}
            onClick={() => choose('state', one)}
          >
            {one === '' ? 'all' : one}
          </button>
        ))}
      </div>
    </div>
  )
}

function Groups({ groups }: { groups: readonly ReceiverNotices[] }) {
  if (groups.length === 0) return <Empty>No notice on record fits.</Empty>
  return (
    <>
      {groups.map(({ receiver, notices, more, counts }, index) => (
        <Section key={receiver} id={`notices-${index}`} title={`To ${receiver}`} note={countsText(counts)}>
          <TitledTable caption={`Notices to ${receiver}`} titles={['When', 'State', 'What', 'About']}>
            {notices.map((notice) => (
              <NoticeRow key={notice.id} notice={notice} />
            ))}
          </TitledTable>
          {more > 0 && <p class="under">and {counted(more, 'older one')}</p>}
        </Section>
      ))}
    </>
  )
}

function NoticeRow({ notice }: { notice: NoticeLine }) {
  const { queuedAt, state, attempts, detail, topic, severity, message, host, incident, project } = notice
  return (
    <Row>
      <Cell>
        <Time at={queuedAt} />
      </Cell>
      <Cell>
        <Tag tone={noticeTone[state]} title={noticeStates[state]}>
          {state}
        </Tag>
        {attempts > 1 && <span class="faint"> {counted(attempts, 'try', 'tries')}</span>}
        {detail !== null && <span class="under">{detail}</span>}
      </Cell>
      <Cell>
        {topic} <span class="faint">{severity}</span>
        {message !== '' && (
          <span class="under">
            <Stamped text={message} />
          </span>
        )}
      </Cell>
      <Cell>
        {host !== null && <a href={link.host(host)}>{host}</a>}
        {project !== null && <>project {project}</>}
        {incident !== null && (
          <a class="under" href={link.incident(incident)}>
            {incident}
          </a>
        )}
      </Cell>
    </Row>
  )
}

function countsText(counts: ReceiverNotices['counts']): string {
  return (Object.keys(noticeStates) as NoticeState[])
    .flatMap((state) => (counts[state] === undefined ? [] : [`${number(counts[state])} ${state}`]))
    .join(', ')
}
