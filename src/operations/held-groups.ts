/**
 * Hosts that the brake holds, as one thing for each failure: grouped by the narrowest scope that holds them, and let past it together.
 */
import type { BrakeScope, GroupOverride, HeldGroup, HeldHost, ScopeKind } from '../domain/brake.ts'
import type { NewEntry, Via } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Incident } from '../domain/incident.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import type { HostName } from '../domain/service.ts'
import type { RowSeen } from '../domain/verdict.ts'

/** A rack explains what a segment across racks does not, and both explain more than the cloud. */
const narrowness: readonly ScopeKind[] = ['domain', 'segment', 'cloud']

type Tripped = BrakeScope & { trippedSince: string }
type Held = Pick<Incident, 'id' | 'host' | 'segment' | 'held' | 'proof' | 'override' | 'cancelled'>

/** Of incidents that the brake holds, in the order of their scopes' sizes. Pure. */
export function heldGroups(incidents: readonly Held[], scopes: readonly BrakeScope[]): HeldGroup[] {
  const tripped = scopes.filter((scope): scope is Tripped => scope.trippedSince !== null)
  const groups = new Map<string, HeldGroup>()
  for (const incident of incidents.filter(isHeldByBrake)) {
    const { id, host, segment, held } = incident
    const [narrowest, ...wider] = tripped
      .filter(({ hosts }) => hosts.includes(host))
      .sort((a, b) => narrowness.indexOf(a.kind) - narrowness.indexOf(b.kind) || a.fleet - b.fleet)
    if (narrowest === undefined) continue
    const known = groups.get(narrowest.scope) ?? groupOf(narrowest)
    known.members.push({ host, segment, incident: id, since: held?.since ?? narrowest.trippedSince })
    for (const { title } of wider) if (!known.also.includes(title)) known.also.push(title)
    groups.set(narrowest.scope, known)
  }
  for (const { members } of groups.values()) members.sort((a, b) => a.host.localeCompare(b.host))
  return [...groups.values()].sort((a, b) => b.members.length - a.members.length || a.scope.localeCompare(b.scope))
}

/** One that is proven dead, let past or cancelled is held by it no longer, though its hold may not be taken back yet. */
function isHeldByBrake({ held, proof, override, cancelled }: Held): boolean {
  return held?.code === 'BRAKE' && proof === null && override === null && cancelled === null
}

function groupOf({ scope, kind, title, message, down, allowed, fleet, trippedSince }: Tripped): HeldGroup {
  return { scope, kind, title, message, down, allowed, fleet, trippedSince, also: [], members: [] }
}

export interface GroupOrder {
  by: string
  reason: string
  scope: string
  /** Those that the person saw: a host that failed after that is not let past unseen. */
  incidents: readonly string[]
  via?: Via
}

/** The entries of the order, one for each incident, with the row of its host as it is known. Throws CONFLICT when the scope holds none of them now. */
export function overrideEntries(
  groups: readonly HeldGroup[],
  order: GroupOrder,
  rowOf: (host: HostName) => { row?: RowSeen },
): GroupOverride & { entries: NewEntry[] } {
  const { by, reason, scope, incidents, via } = order
  const group = groups.find((one) => one.scope === scope)
  const named = new Set(incidents)
  const overridden = (group?.members ?? []).filter(({ incident }) => named.has(incident))
  if (overridden.length === 0) throw new LifeboatError('CONFLICT', nothingHeld(group, scope))
  const held = new Set(overridden.map(({ incident }) => incident))
  const entryOf = ({ incident, host }: HeldHost): NewEntry => ({
    kind: 'operator.override',
    actor: `operator:${by}`,
    incident,
    host,
    data: { by, reason, ...rowOf(host), ...omitUndefined({ via }) },
  })
  return { overridden, skipped: incidents.filter((id) => !held.has(id)), entries: overridden.map(entryOf) }
}

function nothingHeld(group: HeldGroup | undefined, scope: string): string {
  return group === undefined
    ? `The brake holds nothing of ${scope} now: lifeboat brake list shows what it holds`
    : `None of these incidents is held by ${group.title}; it holds ${group.members.map(({ incident }) => incident).join(', ')}`
}
