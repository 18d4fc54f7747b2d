/** What a person must do, most urgent first, with the commands; and the acts that can be ordered from here. */
import { holdsWith } from '../../../domain/incident-phases.ts'
import type { Advice, IncidentReview } from '../../../domain/review.ts'
import { paths } from '../../api/paths.ts'
import { ActButton, type Act } from '../../parts/act.tsx'
import { keepOut, letBack, stateDead } from '../../parts/host-acts.tsx'
import { Command } from '../../parts/text.tsx'
import { link } from '../../router.ts'
import { counted } from '../../words/count.ts'
import { Later, tryAgain } from './try-again.tsx'

export function Todo({ review, onDone }: { review: IncidentReview; onDone: () => void }) {
  const { advice } = review
  return (
    <section class={`panel todo ${advice.length === 0 ? 'nothing' : ''}`} aria-labelledby="todo">
      <h2 id="todo">What to do</h2>
      {advice.length === 0 ? (
        <p class="nothing-to-do">
          {review.ended === null ? 'Nothing: it goes on by itself.' : 'Nothing is left to do.'}
        </p>
      ) : (
        <ol>
          {advice.map((one) => (
            <AdviceItem key={`${one.code} ${one.text}`} advice={one} review={review} />
          ))}
        </ol>
      )}
      <Later review={review} />
      <div class="acts">
        {actsOf(review).map((act) => (
          <ActButton key={act.title} act={act} onDone={onDone} />
        ))}
      </div>
    </section>
  )
}

const instancesShown = 3

function AdviceItem({ advice, review }: { advice: Advice; review: IncidentReview }) {
  const { text, command, instances, code } = advice
  const names = new Map(review.lines.map(({ id, name }) => [id, name]))
  const rest = instances.length - instancesShown
  return (
    <li>
      <p>{text}</p>
      {instances.length > 0 && (
        <p class="under">
          {instances.slice(0, instancesShown).map((id, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <a href={link.instance(review.id, id)}>{names.get(id) ?? id}</a>
            </span>
          ))}
          {rest > 0 && ` and ${counted(rest, 'other')}`}
        </p>
      )}
      {command !== null && <Command text={command} />}
      <p class="visually-hidden">{code}</p>
    </li>
  )
}

/** Pressing what makes no sense now is prevented with the reason, not hidden: people look for it. */
function actsOf(review: IncidentReview): Act[] {
  return review.ended === null ? actsOnOpen(review) : actsAfter(review)
}

/** Once it is over, what is left is what did not come back, and the return of the host. */
function actsAfter(review: IncidentReview): Act[] {
  const { id, host, hostReturn, watched, advice } = review
  const again = tryAgain(review)
  const senseless = hostReturn === null ? 'The host carries no flag of this incident' : null
  return [
    ...(again === null ? [] : [again]),
    ...(watched === null ? [] : [startThem(id, host, advice)]),
    letBack({ host, title: 'Return the host to service', senseless }),
    keepOut({ host, title: 'Keep the host out', senseless }),
  ]
}

/** What the advice asks for can be ordered. */
function startThem(id: string, host: string, advice: readonly Advice[]): Act {
  return {
    title: 'Start its instances',
    role: 'operator',
    path: paths.incidentAct(id, 'start'),
    words: { field: 'reason', label: 'Reason', hint: 'How you know that the host can run them.' },
    effect: (
      <p>
        Lifeboat starts the instances that ran on <strong>{host}</strong> before and are off now, and any that turn out
        to be off later. It starts none that its owner stopped, and none whose encrypted volume it may not open.
      </p>
    ),
    senseless: advice.some(({ code }) => startable.has(code)) ? null : 'No instance waits for a start',
    done: `Lifeboat starts the instances of ${host}`,
  }
}

const startable: ReadonlySet<string> = new Set(['INSTANCES_OFF', 'INSTANCES_NOT_STARTED', 'INSTANCES_WATCHED'])

const crashHolds = holdsWith('of-a-crash')

/** Its host lives: there is nothing to attest, and what holds it is that it crashed too often. */
function actsOnCrashed({ id, held, crashed, cancelled, override }: IncidentReview): Act[] {
  const name = crashed?.name ?? 'the instance'
  const waits = crashHolds.has(held?.code)
  return [
    {
      title: 'Restart it once more',
      role: 'admin',
      path: paths.incidentAct(id, 'override'),
      effect: (
        <p>
          Lifeboat restarts <strong>{name}</strong> once more, although it or its neighbours crashed too often.
        </p>
      ),
      senseless: override !== null ? `${override.by} already did` : waits ? null : 'It waits for no word of yours',
      done: `Lifeboat restarts ${name} once more`,
    },
    {
      title: 'Cancel this incident',
      role: 'operator',
      danger: true,
      path: paths.incidentAct(id, 'cancel'),
      effect: (
        <p>
          Lifeboat restarts <strong>{name}</strong> no more after this crash. What Nova has already accepted runs to its
          end.
        </p>
      ),
      senseless: cancelled === null ? null : `${cancelled.by} already cancelled it`,
      done: 'The incident ends once writes in flight are answered',
    },
  ]
}

function actsOnOpen(review: IncidentReview): Act[] {
  if (review.crashed !== null) return actsOnCrashed(review)
  const { id, host, held, cancelled, override, proof } = review
  return [
    {
      title: 'Override the brake',
      role: 'admin',
      danger: true,
      path: paths.incidentAct(id, 'override'),
      effect: (
        <p>
          The brake holds because many hosts fail at once. Lifeboat then fences <strong>{host}</strong> and evacuates
          its instances. If the fault is in the control plane, that powers off a living host.
        </p>
      ),
      senseless:
        override !== null ? `${override.by} already did` : held?.code === 'BRAKE' ? null : 'The brake does not hold it',
      done: `The brake no longer holds ${host}`,
    },
    stateDead({
      host,
      title: 'Attest that it is dead',
      senseless: proof === null ? null : 'It is already proven dead',
      brakeHolds: held?.code === 'BRAKE',
    }),
    {
      title: 'Cancel this incident',
      role: 'operator',
      danger: true,
      path: paths.incidentAct(id, 'cancel'),
      effect: (
        <p>
          Lifeboat begins nothing new for <strong>{host}</strong>. Evacuations that Nova has already accepted run to
          their end and are recorded. The other instances stay where they are, for you to handle.
        </p>
      ),
      senseless: cancelled === null ? null : `${cancelled.by} already cancelled it`,
      done: 'The incident ends once writes in flight are answered',
    },
  ]
}
