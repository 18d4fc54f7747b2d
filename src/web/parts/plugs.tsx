/** The strip of a simulated cloud: a plug is chosen and pulled, and those that are out are put back. Only the demo has it. */
import { useCallback, useId, useState } from 'preact/hooks'
import type { Plug } from '../../domain/simulation.ts'
import { post, type ApiFailure } from '../api/client.ts'
import { useEntries } from '../api/live.ts'
import { paths } from '../api/paths.ts'
import { useEvery, useResource } from '../api/resource.ts'
import { announce } from './announce.tsx'

const groups: [kind: Plug['kind'], title: string][] = [
  ['host', 'A host'],
  ['rack', 'A rack'],
  ['service', 'The control plane'],
  ['bmc', 'A BMC: its host cannot be fenced'],
  ['receiver', 'A receiver of notices'],
]

export function Plugs() {
  const plugs = useResource<Plug[]>(paths.simulation)
  const { reload } = plugs
  const [chosen, choose] = useState('')
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const id = useId()
  // A host that Lifeboat fences goes out without anyone's hand.
  useEntries(useCallback(() => reload(), [reload]))
  useEvery(5_000, reload)
  const set = ({ id: plug, title }: Plug, out: boolean): void => {
    post(paths.simulation, { plug, out }).then(
      () => {
        setFailure(null)
        announce(out ? `${title} is out` : `${title} is back`)
        reload(0)
      },
      (thrown: unknown) => setFailure(thrown as ApiFailure),
    )
  }
  const all = plugs.value ?? []
  const wanted = all.find((plug) => plug.id === chosen) ?? all[0]
  // A rack that is out says it for its hosts.
  const outside = (plug: Plug): boolean => all.every(({ id: other, out }) => other !== plug.within || !out)
  const out = all.filter((plug) => plug.out && outside(plug))
  const said = failure ?? plugs.failure
  return (
    <aside class="plugs" aria-label="Simulated cloud">
      <label for={id}>Simulated</label>
      <select id={id} value={wanted?.id ?? ''} onChange={(event) => choose(event.currentTarget.value)}>
        {groups.map(([kind, title]) => (
          <optgroup key={kind} label={title}>
            {all
              .filter((plug) => plug.kind === kind)
              .map((plug) => (
                <option key={plug.id} value={plug.id}>
                  {plug.title}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
      {wanted !== undefined && (
        <button type="button" class={wanted.out ? '' : 'danger'} onClick={() => set(wanted, !wanted.out)}>
          {wanted.out ? 'Put it back' : 'Pull the plug'}
        </button>
      )}
      {out.length > 0 && (
        <ul aria-label="Out">
          {out.map((plug) => (
            <li key={plug.id}>
              <button type="button" onClick={() => set(plug, false)}>
                {plug.title} <span class="faint">put back</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {said !== null && <span role="alert">{said.message}.</span>}
    </aside>
  )
}
