/** Where a daemon stands among those that share its journal, in the lines that `lifeboat status` prints. Pure. */
import { actsElsewhere, nameTaken, type KnownDaemon, type TenureView } from '../domain/tenure.ts'
import { clockTime } from './wording.ts'

/** Its own state and what keeps it from acting; then another daemon of its name; then each other one. */
export function tenureText(tenure: TenureView): string {
  const { name, daemons, active, behind, namesake } = tenure
  const copy = behind === 0 ? '' : `, its copy lacks ${behind} entries`
  const others = daemons.filter((it) => it.name !== name)
  const same = namesake === null ? [] : [nameTaken(namesake)]
  return [ownLine(tenure) + copy, ...same, ...others.map((it) => otherLine(it, it.name === active?.name))].join('\n')
}

/** The reason before the name of the active one: while the shared journal is in trouble, that name is only the last one known. */
function ownLine(tenure: TenureView): string {
  const { name, state, waits } = tenure
  const own = `${name} is ${state}`
  if (state === 'suspended') return `${own}: its lease has run out, and it sends nothing`
  if (waits !== null) return `${own}: ${waits}`
  const other = actsElsewhere(tenure)
  return other === null ? own : `${own}, ${other.name} is active`
}

function otherLine({ name, present, at, version }: KnownDaemon, holdsTenure: boolean): string {
  const here = holdsTenure ? 'active' : 'there'
  const gone = `not heard of since ${clockTime(at)}${holdsTenure ? ', active until then' : ''}`
  return `${name}: ${present ? here : gone}, version ${version}`
}
