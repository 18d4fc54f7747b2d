/** What a person must do, most urgent first, with the commands; and the acts that can be ordered from here. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { failureOf } from '../../../domain/incident.ts'
import { holdsWith } from '../../../domain/incident-phases.ts'
import type { Advice, IncidentReview } from '../../../domain/review.ts'
import { paths } from '../../api/paths.ts'
import { ActButton, ActDialog, type Act } from '../../parts/act.tsx'
import {
  keepOut,
  letBack,
  notBeforeItsEnd,
  onlyObserves,
  orderedHold,
  stateDead,
  whyAlive,
} from '../../parts/host-acts.tsx'
import { Command, Stamped } from '../../parts/text.tsx'
import { link } from '../../router.ts'
import { useBeside, type Beside } from './beside.ts'
import { Names } from './names.tsx'
import { signOff } from './toolbar.tsx'
import { Later, tryAgain } from './try-again.tsx'

export function Todo({ review, onDone }: { review: IncidentReview; onDone: () => void }) {
  const [first, ...rest] = review.advice
  // What someone writes stays, also when the page moves on behind it and the button is another one's.
  const [asked, ask] = useState<Act | null>(null)
  const acts = actsOf(review, useBeside(review))
  const primary = first === undefined ? null : actFor(first, review, acts)
  const offered = new Set(primary === null ? [] : [primary.title])
  // Each where it is asked for first.
  const steps = rest.map((advice) => {
    const act = actFor(advice, review, acts)
    if (act === null || offered.has(act.title)) return { advice, act: null }
    offered.add(act.title)
    return { advice, act }
  })
  const others = acts.filter(({ title }) => !offered.has(title))
  return (
    <section class={`panel todo ${first === undefined ? 'nothing' : ''}`} aria-labelledby="todo">
      <h2 id="todo">What to do</h2>
      {first === undefined ? (
        <p class="nothing-to-do">
          {review.ended === null ? 'Nothing. Lifeboat goes on by itself.' : 'Nothing is left to do.'}
        </p>
      ) : (
        <ol>
          <AdviceItem advice={first} review={review} folded={primary !== null}>
            {primary !== null && (
              <div class="first-act">
                <ActButton act={primary} onDone={onDone} primary onAsk={ask} />
                {primary.consequence !== undefined && <p class="under">{primary.consequence}</p>}
              </div>
            )}
          </AdviceItem>
          {steps.map(({ advice, act }) => (
            <AdviceItem key={`${advice.code} ${advice.text}`} advice={advice} review={review} folded={act !== null}>
              {act !== null && <ActButton act={act} onDone={onDone} onAsk={ask} />}
            </AdviceItem>
          ))}
        </ol>
      )}
      <Later review={review} />
      <details class="other-acts">
        <summary>{offered.size === 0 ? 'Actions' : 'Other actions'}</summary>
        <div class="acts">
          {others.map((act) => (
            <ActButton key={act.title} act={act} onDone={onDone} onAsk={ask} />
          ))}
        </div>
      </details>
      {asked !== null && <ActDialog act={asked} onClose={() => ask(null)} onDone={onDone} />}
    </section>
  )
}

/** What the advice asks for, as a button; null: it is done elsewhere, or it makes no sense now. */
function actFor({ code, instances }: Advice, review: IncidentReview, acts: readonly Act[]): Act | null {
  const { again } = review
  const triable = again !== null && instances.some((id) => again.instances.includes(id))
  const title = triable ? 'Try again' : buttonOf[code]
  const act = code === 'SIGN_OFF' ? signOff(review) : acts.find((one) => one.title === title)
  return act === undefined || (act.senseless ?? null) !== null ? null : act
}

const crashHolds = holdsWith('of-a-crash')

/** By the code of the advice. */
const buttonOf: Partial<Record<string, string>> = {
  HELD_BRAKE: 'Override the brake',
  HELD_FENCE_FAILED: 'Attest that it is dead',
  HELD_FENCING_MISSING: 'Attest that it is dead',
  HELD_HOST_ALIVE: 'Cancel this incident',
  ...Object.fromEntries([...crashHolds].map((code) => [`HELD_${code}`, 'Restart it once more'])),
  INSTANCES_OFF: 'Start its instances',
  INSTANCES_NOT_STARTED: 'Start its instances',
  RETURN_WAITS: 'Return the host to service',
  RETURN_KEPT_OUT: 'Return the host to service',
}

/** Whose command shows this record. */
const shownHere: ReadonlySet<string> = new Set(['PROVEN_BY_STATEMENT'])

interface AdviceProps {
  advice: Advice
  review: IncidentReview
  /** A button does it: the command is for those who want it. */
  folded?: boolean
  children?: ComponentChildren
}

function AdviceItem({ advice, review, folded = false, children }: AdviceProps) {
  const { text, command, instances, code } = advice
  return (
    <li>
      <p>
        <Stamped text={text} />
      </p>
      {instances.length > 0 && (
        <p class="under">
          <Names review={review} of={instances} />
        </p>
      )}
      {children}
      {code === 'HOST_AWAY' ? (
        <p>
          <a href={link.host(review.host)}>See the host now</a>
        </p>
      ) : command === null || shownHere.has(code) ? null : folded ? (
        <details>
          <summary>Or run the command</summary>
          <Command text={command} />
        </details>
      ) : (
        <Command text={command} />
      )}
      <p class="visually-hidden">{code}</p>
    </li>
  )
}

/** Pressing what makes no sense now is prevented with the reason, not hidden: people look for it. */
function actsOf(review: IncidentReview, beside: Beside): Act[] {
  return review.ended === null ? actsOnOpen(review, beside) : actsAfter(review, beside)
}

/** Once it is over, what is left is what did not come back, and the return of the host. Where the host lived, it has not left. */
function actsAfter(review: IncidentReview, { detail }: Beside): Act[] {
  if (failureOf(review) !== 'host') return []
  const { id, host, hostReturn, watched, advice } = review
  const again = tryAgain(review)
  const senseless = hostReturn === null ? 'The host carries no flag of this incident' : null
  const notYet = detail === null ? null : notBeforeItsEnd(detail)
  return [
    ...(again === null ? [] : [again]),
    ...(watched === null ? [] : [startThem(id, host, advice)]),
    letBack({ host, title: 'Return the host to service', senseless: senseless ?? notYet }),
    keepOut({ host, title: 'Keep the host out', senseless }),
  ]
}

/** What the advice asks for can be ordered. */
function startThem(id: string, host: string, advice: readonly Advice[]): Act {
  return {
    title: 'Start its instances',
    role: 'operator',
    consequence: 'Starts those that ran before. Instances that their owners stopped stay off.',
    path: paths.incidentAct(id, 'start'),
    words: { field: 'reason', label: 'Reason', hint: 'How you know that the host can run them.' },
    effect: (
      <p>
        Lifeboat starts the instances that ran on <strong>{host}</strong> before and are off now, and any that turn out
        to be off later. Two kinds stay off: those that their owners stopped, and those whose encrypted volume Lifeboat
        may not open.
      </p>
    ),
    senseless: advice.some(({ code }) => startable.has(code)) ? null : 'No instance is waiting to be started',
    done: `Lifeboat starts the instances of ${host}`,
  }
}

const startable: ReadonlySet<string> = new Set(['INSTANCES_OFF', 'INSTANCES_NOT_STARTED', 'INSTANCES_WATCHED'])

/** Why no word that its host is dead is taken now; null: it is. What holds it may be a proof that can no longer be read, or a witness. */
function whyNotAttested(review: IncidentReview, { detail, mode }: Beside): string | null {
  const { process, cancelled, proof, held } = review
  if (review.mode === 'observe') return 'Lifeboat only observes this incident: your word would end with it'
  const alive = detail === null ? null : whyAlive(detail)
  if (alive !== null) return alive
  // A word on the host of a failed process opens another incident.
  if (process !== null) return onlyObserves(mode)
  const goesOn = proof === null || held !== null
  return alreadyCancelled({ cancelled }) ?? (goesOn ? null : 'It is already proven dead')
}

function alreadyCancelled({ cancelled }: Pick<IncidentReview, 'cancelled'>): string | null {
  return cancelled === null ? null : `${cancelled.by} already cancelled it`
}

/** Its host lives: there is nothing to attest, and what holds it is that it crashed too often. */
function actsOnCrashed({ id, held, crashed, cancelled, override }: IncidentReview): Act[] {
  const name = crashed?.name ?? 'the instance'
  const waits = crashHolds.has(held?.code)
  return [
    {
      title: 'Restart it once more',
      role: 'admin',
      consequence: 'One restart, although it crashed too often.',
      path: paths.incidentAct(id, 'override'),
      effect: (
        <p>
          Lifeboat restarts <strong>{name}</strong> once more, although it or its neighbours crashed too often.
        </p>
      ),
      senseless:
        override !== null
          ? `${override.by} already did`
          : (alreadyCancelled({ cancelled }) ?? (waits ? null : 'It is not waiting for a person')),
      done: `Lifeboat restarts ${name} once more`,
    },
    {
      title: 'Cancel this incident',
      role: 'operator',
      danger: true,
      path: paths.incidentAct(id, 'cancel'),
      effect: (
        <p>
          After this crash Lifeboat will not restart <strong>{name}</strong> again. A restart that Nova has already
          accepted runs to its end.
        </p>
      ),
      senseless: alreadyCancelled({ cancelled }),
      done: 'The incident ends once writes in flight are answered',
    },
  ]
}

/** Its host lives, and its guests run: all that was done is a disable of its service. */
function actsOnFailedProcess(review: IncidentReview, beside: Beside): Act[] {
  const { id, host, process, held, cancelled } = review
  const asks = held?.code === 'CONFIRM_RETURN'
  return [
    letBack({
      host,
      title: 'Return the host to service',
      senseless: asks ? null : `Lifeboat enables the host by itself once ${process} is well`,
    }),
    stateDead({
      host,
      title: 'Attest that the host is dead',
      senseless: whyNotAttested(review, beside),
      // What holds this incident does not hold the one that the word opens.
      held: orderedHold(beside.detail?.standingOrders ?? []),
      brakeHolds: false,
    }),
    {
      title: 'Cancel this incident',
      role: 'operator',
      danger: true,
      path: paths.incidentAct(id, 'cancel'),
      effect: (
        <p>
          Lifeboat stops handling this failure of {process} on <strong>{host}</strong>. If it has disabled the service,
          the service stays disabled until {process} has been well for a while.
        </p>
      ),
      senseless: alreadyCancelled({ cancelled }),
      done: 'The incident ends',
    },
  ]
}

function whyNotOverridden({ cancelled, override }: IncidentReview, { brakeHolds }: Beside): string | null {
  if (override !== null) return `${override.by} already did`
  return alreadyCancelled({ cancelled }) ?? (brakeHolds ? null : 'The brake does not hold it')
}

function actsOnOpen(review: IncidentReview, beside: Beside): Act[] {
  if (review.crashed !== null) return actsOnCrashed(review)
  if (review.process !== null) return actsOnFailedProcess(review, beside)
  const { id, host, held, cancelled } = review
  return [
    {
      title: 'Override the brake',
      inFull: `Override the brake for ${host}`,
      role: 'admin',
      danger: true,
      consequence: `Fences ${host} and evacuates its instances.`,
      path: paths.incidentAct(id, 'override'),
      effect: (
        <p>
          The brake holds because many hosts failed at once. If you override it, Lifeboat fences <strong>{host}</strong>{' '}
          and evacuates its instances{held !== null && held.code !== 'BRAKE' && ', once nothing else holds it'}. If the
          fault is in the control plane, that powers off a living host.
        </p>
      ),
      senseless: whyNotOverridden(review, beside),
      done: `The brake no longer holds ${host}`,
    },
    stateDead({
      host,
      title: 'Attest that it is dead',
      senseless: whyNotAttested(review, beside),
      held,
      brakeHolds: beside.brakeHolds,
    }),
    {
      title: 'Cancel this incident',
      inFull: `Cancel the incident of ${host}`,
      role: 'operator',
      danger: true,
      consequence: 'Ends the recovery; instances stay where they are.',
      path: paths.incidentAct(id, 'cancel'),
      effect: (
        <p>
          Lifeboat begins nothing new for <strong>{host}</strong>. Evacuations that Nova has already accepted run to
          their end and are recorded. The other instances stay where they are, for you to handle.
        </p>
      ),
      senseless: alreadyCancelled({ cancelled }),
      done: 'The incident ends once writes in flight are answered',
    },
  ]
}
