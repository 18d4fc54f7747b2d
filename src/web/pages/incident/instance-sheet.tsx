/** One instance of an incident, opened beside the list: its original, the decision, each step, and what became of it. */
import { useCallback } from 'preact/hooks'
import type { Entry } from '../../../domain/entry.ts'
import type { IncidentReview, InstanceReview } from '../../../domain/review.ts'
import { outcomes } from '../../../domain/outcome.ts'
import { useEntries } from '../../api/live.ts'
import { paths } from '../../api/paths.ts'
import { useResource } from '../../api/resource.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Fact, Facts } from '../../parts/facts.tsx'
import { DownFor } from '../../parts/down-for.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Copy, Data, Stamped, Tag, Time } from '../../parts/text.tsx'
import { go, link, withQuery } from '../../router.ts'
import { endOf } from './ends.ts'
import { EndTag } from './instances.tsx'
import { StepList } from './steps.tsx'
import { EventList } from './timeline.tsx'
import { UnderWay } from './under-way.tsx'
import { landingText } from './words.ts'

export function InstanceSheet({ review, id }: { review: IncidentReview; id: string }) {
  const instance = useResource<InstanceReview>(paths.instance(review.id, id))
  const { reload } = instance
  useEntries(
    useCallback(
      (entries: Entry[]) => {
        if (entries.some((entry) => entry.instance === id)) reload()
      },
      [id, reload],
    ),
  )
  const line = review.lines.find((one) => one.id === id)
  const close = (): void => go(withQuery({ instance: null }), { replace: true })
  return (
    <Dialog
      title={line?.name ?? 'Instance'}
      kind="sheet"
      opener={`a.primary-text[href*="instance=${CSS.escape(id)}"]`}
      onClose={close}
    >
      <Loaded of={instance}>{(value) => <Inside instance={value} review={review} />}</Loaded>
    </Dialog>
  )
}

function Inside({ instance, review }: { instance: InstanceReview; review: IncidentReview }) {
  const { plan, outcome, code, outcomeMessage, current, landedOn } = instance
  const names = new Map([[instance.id, instance.name]])
  return (
    <div class="sheet-body">
      <p class="lead">
        <EndTag end={endOf(instance, review.mode)} />
        {landedOn !== null && outcome === 'recovered' && <strong> on {landedOn}</strong>}
        {current !== null && (
          <>
            {' '}
            <UnderWay current={current} />
          </>
        )}
      </p>
      {outcomeMessage !== null && (
        <p>
          <code>{code}</code> <Stamped text={outcomeMessage} />
          {outcome !== 'open' && outcome !== 'recovered' && <span class="under">{outcomes[outcome]}.</span>}
        </p>
      )}
      <Facts>
        <Fact name="Id">
          <Copy text={instance.id} what="id" />
        </Fact>
        <Fact name="Project">
          <Copy text={instance.projectId} what="project id" />
        </Fact>
        <Fact name="Initial state">
          {instance.original}
          <span class="under">
            <Stamped text={plan.original.wantedBecause} />
            {instance.flagged && ' · the sources disagreed'}
            {plan.original.locked &&
              ` · locked${plan.original.lockedReason === null ? '' : `: ${plan.original.lockedReason}`}`}
          </span>
        </Fact>
        <Fact name="Decision">
          {instance.decision}, rule {instance.rule}, <code>{instance.reason}</code>
          <span class="under">
            <Stamped text={instance.message} />
          </span>
        </Fact>
        <Fact name="Brought back">
          {plan.recipe === null ? 'not at all' : `by recipe ${plan.recipe}`}
          {plan.expected !== null && `, target: ${plan.expected}`}
          {instance.landing !== null && `, ${landingText(instance.landing) ?? ''}`}
          {plan.asProject !== null && `, on behalf of its project`}
          {plan.exclusive !== null && <span class="under">one at a time within its server group</span>}
        </Fact>
        <Fact name="Down for">
          <DownFor line={instance} mode={review.mode} />
        </Fact>
        <Fact name="Steps took">
          {instance.startedAt === null ? 'not begun' : <Time at={instance.startedAt} />}
          {instance.endedAt !== null && (
            <>
              {' '}
              to <Time at={instance.endedAt} />
            </>
          )}
        </Fact>
      </Facts>
      {(instance.debts.length > 0 || instance.notes.length > 0) && (
        <>
          <h3>What you need to know</h3>
          <ul>
            {instance.debts.map(({ code: debt, message }) => (
              <li key={debt}>
                <Tag tone="wait">leftover</Tag> <code>{debt}</code> <Stamped text={message} />
              </li>
            ))}
            {instance.notes.map((note) => (
              <li key={note}>
                <Stamped text={note} />
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>Steps</h3>
      {instance.steps.length === 0 ? (
        <p class="empty">Lifeboat sent nothing for it.</p>
      ) : (
        <StepList steps={instance.steps} />
      )}
      {instance.timeline.length > 0 && (
        <>
          <h3>Timeline</h3>
          <EventList
            events={instance.timeline}
            began={instance.timeline[0]?.at ?? review.openedAt}
            names={names}
            incident={review.id}
          />
        </>
      )}
      <details>
        <summary>The instance as Lifeboat found it, in full</summary>
        <Data value={plan.original} label="Initial state" />
      </details>
      <p>
        <a href={link.instanceRecord(instance.id)}>All its incidents</a> ·{' '}
        <a href={link.journal({ incident: review.id, instance: instance.id })}>Its entries in the journal</a>
      </p>
    </div>
  )
}
