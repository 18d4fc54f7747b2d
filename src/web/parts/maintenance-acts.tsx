/** What people order about maintenance, from its page and from a host's: the same act has the same words in both places. */
import { useId, useState } from 'preact/hooks'
import { scopeText, type Order, type PlannedOrder, type Scope } from '../../domain/order.ts'
import { paths } from '../api/paths.ts'
import type { Act } from './act.tsx'
import { localTime } from '../words/time.ts'
import { wallMs } from '../browser-clock.ts'

const begin = {
  role: 'operator',
  path: paths.maintenance,
  times: 'both',
  effect: (
    <p>
      Opens no incident for a host that falls silent meanwhile, and holds the open ones. Its instances are not recovered
      if it dies.
    </p>
  ),
  done: (answer: unknown) => {
    const order = answer as Order | PlannedOrder
    const what = capital(scopeText(order.scope))
    return 'from' in order
      ? `${what} goes into maintenance at ${localTime(order.from, wallMs())}`
      : `${what} is in maintenance`
  },
} as const

/** Of one host. */
export function beginMaintenance(host: string): Act {
  return { ...begin, title: 'Begin maintenance', body: { scope: { kind: 'host', name: host } } }
}

/** Of what the person picks. */
export function planMaintenance(names: ScopeNames): Act {
  return {
    ...begin,
    title: 'Plan maintenance',
    repeats: true,
    fields: (tell) => <ScopeFields names={names} onChange={tell} />,
  }
}

/** A person's or the calendar's, a pause or maintenance: all of its kind and scope end. */
export function endOrder({ kind, scope }: Pick<Order, 'kind' | 'scope'>): Act {
  const what = scopeText(scope)
  return kind === 'pause'
    ? {
        title: 'Resume',
        role: 'operator',
        path: paths.resume,
        body: { scope },
        effect: <p>Ends the pause of {what}. Incidents that it holds go on at once.</p>,
        done: `Recoveries of ${what} are resumed`,
      }
    : {
        title: 'End maintenance',
        role: 'operator',
        path: paths.endMaintenance,
        body: { scope },
        effect: <p>The silence of {what} counts again: for a host that is down now, an incident opens.</p>,
        done: `The maintenance of ${what} has ended`,
      }
}

export function withdraw({ plan, scope }: PlannedOrder): Act {
  return {
    title: 'Withdraw',
    role: 'operator',
    path: paths.withdrawMaintenance,
    body: { plan },
    effect: (
      <p>
        Maintenance {plan} of {scopeText(scope)} does not begin. Once it has begun, end it instead.
      </p>
    ),
    done: `Maintenance ${plan} is withdrawn`,
  }
}

/** What can be picked from. */
export interface ScopeNames {
  hosts: readonly string[]
  segments: readonly string[]
}

function ScopeFields({ names, onChange }: { names: ScopeNames; onChange: (body: { scope: Scope }) => void }) {
  const [kind, setKind] = useState<Scope['kind']>('host')
  const [name, setName] = useState('')
  const id = useId()
  const tell = (nextKind: Scope['kind'], next: string): void => {
    setKind(nextKind)
    setName(next)
    onChange({ scope: { kind: nextKind, name: nextKind === 'cloud' ? null : next.trim() } })
  }
  return (
    <>
      <label class="field">
        <span>Of what</span>
        <select value={kind} onChange={(event) => tell(event.currentTarget.value as Scope['kind'], '')}>
          <option value="host">a host</option>
          <option value="segment">a segment</option>
          <option value="cloud">the whole cloud</option>
        </select>
      </label>
      {kind !== 'cloud' && (
        <label class="field">
          <span>{kind === 'host' ? 'Host' : 'Segment'}</span>
          <input
            type="text"
            required
            maxLength={255}
            autoComplete="off"
            autoFocus
            list={id}
            value={name}
            onInput={(event) => tell(kind, event.currentTarget.value)}
          />
          <datalist id={id}>
            {(kind === 'host' ? names.hosts : names.segments).map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </label>
      )}
    </>
  )
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
