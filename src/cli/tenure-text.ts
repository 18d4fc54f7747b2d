/** Where a daemon stands among those that share its journal, in the lines that `lifeboat status` prints. Pure. */
import type { KnownDaemon, TenureView } from '../domain/tenure.ts'
import { clockTime } from './wording.ts'

/** Its own state and what keeps it from acting; then each other daemon. */
export function tenureText(tenure: TenureView): string {
  const { name, daemons, active, behind } = tenure
  const copy = behind === 0 ? '' : `, its copy lacks ${behind} entries`
  const others = daemons.filter((it) => it.name !== name)
  return [ownLine(tenure) + copy, ...others.map((it) => otherLine(it, it.name === active?.name))].join('\n')
}

/** The reason before the name of the active one: while the shared journal is in trouble, that name is only the last one known. */
function ownLine({ name, state, active, waits }: TenureView): string {
  const own = `${name} is ${state}`
  if (state === 'suspended') return `${own}: its lease has run out, and it sends nothing`
  if (state === 'standby' && active?.name === name)
    return `${own}, and ${name} was active last: if that was another daemon, give each its own shared_journal.name`
  if (waits !== null) return `${own}: ${waits}`
  return active === null || active.name === name ? own : `${own}, ${active.name} is active`
}

function otherLine({ name, present, at, version }: KnownDaemon, holdsTenure: boolean): string {
  const here = holdsTenure ? 'active' : 'there'
  const gone = `not heard of since ${clockTime(at)}${holdsTenure ? ', active until then' : ''}`
  return `${name}: ${present ? here : gone}, version ${version}`
}
