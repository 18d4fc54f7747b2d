/** One instance: where it was, how long it was down, where it is now and why, over all its incidents. */
import { useCallback } from 'preact/hooks'
import type { Entry } from '../../domain/entry.ts'
import { outcomes } from '../../domain/outcome.ts'
import type { InstanceHistory, InstanceStay } from '../../domain/review.ts'
import { useFresh } from '../api/fresh.ts'
import { useEntries } from '../api/live.ts'
import { paths } from '../api/paths.ts'
import { useResource } from '../api/resource.ts'
import { Fact, Facts } from '../parts/facts.tsx'
import { PageHead, Section, useTitle } from '../parts/page.tsx'
import { Loaded } from '../parts/states.tsx'
import { Copy, Stamped, Tag, Time } from '../parts/text.tsx'
import { link } from '../router.ts'
import { DownFor } from '../parts/down-for.tsx'
import { endOf, ends } from './incident/ends.ts'

export function InstancePage({ id }: { id: string }) {
  const record = useResource<InstanceHistory>(paths.instanceRecord(id))
  const { reload } = record
  useFresh(60_000, reload)
  useEntries(
    useCallback(
      (entries: Entry[]) => {
        if (entries.some((entry) => entry.instance === id)) reload()
      },
      [id, reload],
    ),
  )
  const name = record.value?.name ?? id
  useTitle(name)
  return (
    <>
      <PageHead title={name}>{record.value !== null && <Standing record={record.value} />}</PageHead>
      <Loaded of={record}>{(value) => <Inside record={value} />}</Loaded>
    </>
  )
}

function Standing({ record }: { record: InstanceHistory }) {
  const [newest] = record.stays
  if (newest === undefined) return null
  return <StayTag stay={newest} />
}

function StayTag({ stay }: { stay: InstanceStay }) {
  const { word, tone, means } = ends[endOf(stay, stay.mode)]
  return (
    <Tag tone={tone} title={means}>
      {word}
    </Tag>
  )
}

function Inside({ record }: { record: InstanceHistory }) {
  const { id, projectId, now, stays } = record
  const [newest] = stays
  return (
    <>
      <div class="panel">
        <Facts>
          <Fact name="Where it was">
            {newest !== undefined && (
              <>
                <a href={link.host(newest.host)}>{newest.host}</a>, {newest.original}
                <span class="under">
                  {newest.failure === 'instance' ? (
                    <>
                      its crash was reported at <Time at={newest.openedAt} />
                    </>
                  ) : newest.lastBeatAt === null ? (
                    'Lifeboat did not see that host beat before the incident'
                  ) : (
                    <>
                      the host’s last heartbeat was at <Time at={newest.lastBeatAt} />
                    </>
                  )}
                </span>
              </>
            )}
          </Fact>
          <Fact name="Down for">
            {newest !== undefined && <DownFor line={newest} mode={newest.mode} />}
            {newest !== undefined && newest.upAt !== null && (
              <span class="under">
                until Nova showed it running at <Time at={newest.upAt} />
              </span>
            )}
          </Fact>
          <Fact name="Where it is now">
            {now.host === null ? 'unknown' : <a href={link.host(now.host)}>{now.host}</a>}
            {now.state !== null &&
              (now.outcome === 'recovered' ? `, ${now.state}` : `, where Nova still says ${now.state}`)}
            <span class="under">
              as of <Time at={now.at} />
              {now.host !== null && (
                <>
                  . <a href={link.plan(now.host, { instance: id })}>What if it crashed now</a>
                </>
              )}
            </span>
          </Fact>
          <Fact name="Why">
            <code>{now.code}</code> <Stamped text={now.message} />
            {now.outcome !== 'open' && now.outcome !== 'recovered' && (
              <span class="under">{outcomes[now.outcome]}.</span>
            )}
          </Fact>
          <Fact name="Id">
            <Copy text={id} what="id" />
          </Fact>
          <Fact name="Project">
            <Copy text={projectId} what="project id" />
          </Fact>
        </Facts>
      </div>
      <Section
        id="stays"
        title="Incidents"
        note={<a href={link.journal({ instance: id })}>Its entries in the journal</a>}
      >
        <table class="list titled stays" role="table">
          <caption class="visually-hidden">Incidents of {record.name}, newest first</caption>
          <thead role="rowgroup">
            <tr role="row">
              {['Was on', 'Outcome', 'Last alive', 'Down for', 'Why'].map((title) => (
                <th key={title} role="columnheader" scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {stays.map((stay) => (
              <Row key={stay.incident} stay={stay} />
            ))}
          </tbody>
        </table>
      </Section>
    </>
  )
}

function Row({ stay }: { stay: InstanceStay }) {
  const { incident, host, id, mode, landedOn, lastBeatAt, openedAt, code, reason } = stay
  return (
    <tr role="row" class={ends[endOf(stay, mode)].tone}>
      <td role="cell">
        <a class="primary-text" href={link.instance(incident, id)}>
          {host}
        </a>
      </td>
      <td role="cell">
        <StayTag stay={stay} />
        {landedOn !== null && ` on ${landedOn}`}
      </td>
      <td role="cell" data-title="Last alive">
        <Time at={lastBeatAt ?? openedAt} />
      </td>
      <td role="cell" data-title="Down for">
        <DownFor line={stay} mode={mode} />
      </td>
      <td role="cell">
        <code>{code ?? reason}</code>
      </td>
    </tr>
  )
}
