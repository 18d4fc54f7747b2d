/** THE page: one incident, from which alone someone can say what happened, what did not come back and why, and what to do. */
import { useCallback } from 'preact/hooks'
import { failureOf } from '../../../domain/incident.ts'
import type { IncidentReview } from '../../../domain/review.ts'
import { standingSentence, type Standing } from '../../../domain/text/standing-sentence.ts'
import { useEvery } from '../../api/resource.ts'
import { HeldWith } from '../../parts/held-groups.tsx'
import { Contents, Section, useLater, useTitle, type SectionProps } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Copy, Stamped, Tag } from '../../parts/text.tsx'
import { link, usePlace } from '../../router.ts'
import { counted } from '../../words/count.ts'
import { standing } from '../../../domain/text/tone.ts'
import { shortHost } from '../../words/short-host.ts'
import { Answers, Since } from './answers.tsx'
import { Evidence } from './evidence.tsx'
import { Fencing } from './fencing.tsx'
import { useIncident } from './follow.ts'
import { InstanceSheet } from './instance-sheet.tsx'
import { Lanes } from './lanes.tsx'
import { hasLanes } from './lane.ts'
import { Instances } from './instances.tsx'
import { ReviewPart } from './review.tsx'
import { Timeline } from './timeline.tsx'
import { Todo } from './todo.tsx'
import { Toolbar } from './toolbar.tsx'

/** Between looks at a count that Nova has not answered yet. */
const countMs = 3_000

export function IncidentPage({ id }: { id: string }) {
  const resource = useIncident(id)
  // The host's instances are counted while someone looks, and no entry says when that is done.
  const counting = resource.value?.onHost === null
  const { reload } = resource
  useEvery(
    countMs,
    useCallback(() => counting && reload(0), [counting, reload]),
  )
  useTitle(resource.value === null ? `Incident ${id}` : titleOf(resource.value))
  return (
    <Loaded
      of={resource}
      heading={`Incident ${id}`}
      absent="There is no such incident"
      others={<a href="/incidents">All incidents</a>}
    >
      {(review) => <Shown review={review} reload={() => resource.reload(0)} />}
    </Loaded>
  )
}

function titleOf(review: IncidentReview): string {
  const { host, process, crashed } = review
  const what = crashed?.name ?? process
  return `${what === null ? host : `${what} on ${host}`}: ${standing(review).text}`
}

/** From what the page shows, which moves with every entry that arrives: the headline never lags behind the table. */
function standingOf(review: IncidentReview): Standing {
  const { ended, held, phase, mode, lines, outcomes, watched } = review
  const recoverable = lines.filter(({ decision }) => decision === 'recover').length
  return {
    failure: failureOf(review),
    ended,
    held,
    phase,
    mode,
    outcomes,
    instances: lines.length,
    recoverable,
    watched,
  }
}

function Shown({ review, reload }: { review: IncidentReview; reload: () => void }) {
  const { query } = usePlace()
  const opened = query.get('instance')
  const later = useLater()
  const { text, tone } = standing(review)
  const sections = sectionsOf(review, later)
  return (
    <article class="incident">
      <header class="page-head">
        <p class="crumbs">
          <a href="/incidents">Incidents</a>
          <Copy text={review.id} what="incident id" />
        </p>
        <div class="head-line">
          <h1>
            <a href={link.host(review.host)} title={review.host}>
              {shortHost(review.host)}
            </a>
          </h1>
          {review.process !== null && <Tag tone="plain">{review.process}</Tag>}
          {review.crashed !== null && <Tag tone="plain">{review.crashed.name}</Tag>}
          <Tag tone={tone}>{text}</Tag>
          {review.mode === 'observe' && <Tag tone="plain">observe mode</Tag>}
          <span class="head-facts">
            segment {review.segment} · <Since review={review} />
          </span>
        </div>
        <p class="headline on-paper">
          <Stamped text={`${review.lead} ${standingSentence(standingOf(review))}`} />
        </p>
        <Toolbar review={review} onDone={reload} />
      </header>
      <HeldWith incident={review.id} held={review.held?.code === 'BRAKE'} onDone={reload} />
      <div class="two act-first">
        <Todo review={review} onDone={reload} />
        <section class="panel" aria-label="In one minute">
          <Answers review={review} />
        </section>
      </div>
      <Contents of={sections} />
      {sections.map((section) => (
        <Section key={section.id} {...section} />
      ))}
      {opened !== null && <InstanceSheet key={opened} review={review} id={opened} />}
    </article>
  )
}

/** What there is to see of it depends on what failed: where the host lives, nobody fenced it, and of a crash no verdict is on record. */
function sectionsOf(review: IncidentReview, later: boolean): SectionProps[] {
  const failure = failureOf(review)
  const where = (isThere: boolean, section: SectionProps): SectionProps[] => (isThere ? [section] : [])
  return [
    ...where(hasLanes(review), {
      id: 'lanes',
      title: 'Recovery over time',
      note: 'from the proof of death on',
      children: later && <Lanes review={review} />,
    }),
    ...where(failure !== 'process', {
      id: 'instances',
      title: 'Instances',
      note: review.lines.length === 0 ? '' : counted(review.lines.length, 'instance'),
      children: <Instances review={review} />,
    }),
    { id: 'timeline', title: 'Timeline', children: later && <Timeline review={review} /> },
    ...where(failure !== 'instance', {
      id: 'evidence',
      title: 'Evidence',
      note: 'heartbeats and probes before the verdict',
      children: later && <Evidence review={review} />,
    }),
    ...where(failure === 'host', {
      id: 'fencing',
      title: 'Fencing and host',
      children: later && <Fencing review={review} />,
    }),
    { id: 'review', title: 'Notes and sign-off', children: later && <ReviewPart review={review} /> },
  ]
}
