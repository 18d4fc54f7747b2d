/** What can be ordered for a host, from its own page and from its incident: the same act has the same words in both places. */
import type { HoldCode } from '../../domain/incident-phases.ts'
import type { DaemonStatus, HostDetail } from '../../domain/operations.ts'
import { orderText, type Order } from '../../domain/order.ts'
import { beatingUnderOurFlags } from '../../domain/verdict.ts'
import { paths } from '../api/paths.ts'
import type { Act } from './act.tsx'
import { Stamped } from './text.tsx'

interface HostAct {
  host: string
  /** On the button. */
  title: string
  /** Why it makes no sense now; null: it does. */
  senseless: string | null
}

/** Why a host is not let back yet; null: it may be. The incident of a process keeps none away, for its host lives. */
export function notBeforeItsEnd({
  incident,
  incidents,
  setAside,
}: Pick<HostDetail, 'incident' | 'incidents' | 'setAside'>): string | null {
  const isOfProcess =
    setAside?.incident === incident || incidents.some(({ id, process }) => id === incident && process !== null)
  return incident === null || isOfProcess ? null : 'Its incident is not over: a host returns after its incident'
}

export function letBack({ host, title, senseless }: HostAct): Act {
  return {
    title,
    inFull: `Return ${host} to service`,
    role: 'operator',
    consequence: 'Clears our flags once it was healthy for long enough.',
    path: paths.returnHost(host),
    body: { keepOut: false },
    words: { field: 'reason', label: 'Reason', hint: 'What was repaired, and how you know.' },
    effect: (
      <p>
        Lifeboat clears its flags on <strong>{host}</strong> once evacuations from it are complete and it was healthy
        long enough. Then instances are scheduled there again.
      </p>
    ),
    senseless,
    done: `${host} may return`,
  }
}

export function keepOut({ host, title, senseless }: HostAct): Act {
  return {
    title,
    inFull: `Keep ${host} out`,
    role: 'operator',
    path: paths.returnHost(host),
    body: { keepOut: true },
    effect: (
      <p>
        <strong>{host}</strong> stays out of service, however healthy it looks, until someone returns it.
      </p>
    ),
    senseless,
    done: `${host} is kept out`,
  }
}

/** No word is taken that a host is dead while its nova-compute beats, whatever its flags say. Null: it does not beat. */
export function whyAlive({ verdict, reason }: Pick<HostDetail, 'verdict' | 'reason'>): string | null {
  const beats = verdict === 'healthy' || verdict === 'contradiction' || reason === beatingUnderOurFlags
  return beats ? 'It is alive: its heartbeat beats' : null
}

/** How a person's word that a host is dead is asked for. */
export const deathWords = {
  field: 'proof',
  label: 'How do you know that it is dead?',
  hint: 'Say what you saw or did, e.g. "I pulled both power cords at 03:20". The journal keeps it with your name.',
}

/** What a wrong word does. */
export function TwiceWarning() {
  return (
    <>
      If it still runs, its guests run twice on the same disks and <strong>destroy their data</strong>.
    </>
  )
}

/** No word is taken that would open an incident of a daemon that only observes. Null: it would be armed, or the mode is not read. */
export function onlyObserves(mode: DaemonStatus['mode'] | undefined): string | null {
  return mode === 'observe' ? 'Lifeboat only observes: nothing of it would be recovered' : null
}

/** What an incident that opens now would wait for. */
export function orderedHold(orders: readonly Order[]): DeathAct['held'] {
  const message = orders.map(orderText).join('; ')
  return message === '' ? null : { code: 'PAUSED', message }
}

interface DeathAct extends HostAct {
  /** What holds its recovery; null: nothing that is known. */
  held: { code: HoldCode; message: string } | null
  /** The brake holds it, perhaps besides. */
  brakeHolds: boolean
}

/** A person's word is what these wait for. All others keep the recovery from going on, whatever was attested. */
const endedByWord: ReadonlySet<HoldCode> = new Set<HoldCode>(['FENCE_FAILED', 'FENCING_MISSING', 'HOST_ALIVE'])

export function stateDead({ host, title, senseless, held, brakeHolds }: DeathAct): Act {
  const stays = held === null || held.code === 'BRAKE' || endedByWord.has(held.code) ? null : held.message
  return {
    title,
    inFull: `Attest that ${host} is dead`,
    role: 'admin',
    danger: true,
    consequence:
      stays !== null
        ? 'Recorded; its recovery stays on hold.'
        : brakeHolds
          ? 'Recorded; the brake still holds it.'
          : 'What its rules recover is evacuated at once.',
    path: paths.recover,
    body: { host },
    words: deathWords,
    effect: (
      <p>
        Your word replaces a machine's proof.{' '}
        {stays !== null ? (
          <>
            Lifeboat records it, but <strong>the recovery of {host} stays on hold</strong> (
            <Stamped text={stays.replace(/[.\s]+$/, '')} />
            ). Its instances are evacuated once that ends
            {brakeHolds && ', and the brake opens or you override it'}.
          </>
        ) : brakeHolds ? (
          <>
            Lifeboat records it, but <strong>the brake still holds {host}</strong>. Its instances are evacuated once the
            brake opens or you override it.
          </>
        ) : (
          <>
            Lifeboat evacuates at once what its rules recover of <strong>{host}</strong>, unless the brake or a freeze
            holds it.
          </>
        )}{' '}
        <TwiceWarning />
      </p>
    ),
    senseless,
    done: (answer) => {
      if (isHeld(answer)) return `Recorded. The brake still holds ${host}: override the brake as well`
      return stays === null ? `The recovery of ${host} begins on your word` : `Recorded. ${host} stays on hold`
    },
  }
}

function isHeld(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'held' in answer && answer.held !== null
}
