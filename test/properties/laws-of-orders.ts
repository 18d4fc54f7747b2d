/** Laws on what people order: nothing is fenced that they hold, and what is told as recovered runs once. */
import type { Entry } from '../../src/domain/entry.ts'
import type { Incident } from '../../src/domain/incident.ts'
import { scopeText, wholeCloud, type Scope } from '../../src/domain/order.ts'
import type { VerdictKind } from '../../src/domain/verdict.ts'
import type { Stage } from '../../src/rehearsal/stage.ts'

/** What stands when an entry is written, by the entries before it. */
interface Standing {
  mode: string
  pauses: Set<string>
  maintenance: Set<string>
  verdicts: Map<string, VerdictKind>
  cancelled: Set<string>
  segments: Map<string, string>
}

/** No method of a fencing chain begins while its incident is cancelled, paused, in maintenance, only observed, or its host healthy. */
export function fencedWhileHeld(entries: Entry[]): string[] {
  const standing = nothingStands()
  const broken: string[] = []
  for (const entry of entries) {
    note(standing, entry)
    if (entry.kind !== 'fence.attempt' || entry.data.phase !== 'trying') continue
    const why = forbids(standing, entry.host ?? '', entry.incident ?? '')
    if (why !== null) broken.push(`entry ${entry.seq}: ${entry.data.method} fences ${entry.host}, which is ${why}`)
  }
  return broken
}

function nothingStands(): Standing {
  return {
    mode: 'armed',
    pauses: new Set(),
    maintenance: new Set(),
    verdicts: new Map(),
    cancelled: new Set(),
    segments: new Map(),
  }
}

function standingAfter(entries: Entry[]): Standing {
  const standing = nothingStands()
  for (const entry of entries) note(standing, entry)
  return standing
}

function note(standing: Standing, entry: Entry): void {
  const { incident, host } = entry
  if (entry.kind === 'daemon.started') standing.mode = entry.data.mode
  if (entry.kind === 'mode.changed') standing.mode = entry.data.to
  if (entry.kind === 'verdict.changed' && host !== null) standing.verdicts.set(host, entry.data.kind)
  if (entry.kind === 'operator.cancelled' && incident !== null) standing.cancelled.add(incident)
  if (entry.kind === 'incident.opened' && incident !== null) standing.segments.set(incident, entry.data.segment)
  if (entry.kind === 'incident.segment-changed' && incident !== null) standing.segments.set(incident, entry.data.to)
  if (entry.kind === 'operator.paused') standing.pauses.add(nameOf(entry.data.scope))
  if (entry.kind === 'operator.resumed') standing.pauses.delete(nameOf(entry.data.scope))
  if (entry.kind === 'operator.maintenance') standing.maintenance.add(nameOf(entry.data.scope))
  if (entry.kind === 'operator.maintenance-ended') standing.maintenance.delete(nameOf(entry.data.scope))
}

const nameOf = (scope: Scope | undefined): string => scopeText(scope ?? wholeCloud)

function forbids(standing: Standing, host: string, incident: string): string | null {
  const scopes = [
    nameOf(undefined),
    nameOf({ kind: 'host', name: host }),
    nameOf({ kind: 'segment', name: standing.segments.get(incident) ?? '' }),
  ]
  if (standing.cancelled.has(incident)) return 'cancelled'
  if (standing.mode === 'observe') return 'only observed'
  if (scopes.some((scope) => standing.pauses.has(scope))) return 'paused'
  if (scopes.some((scope) => standing.maintenance.has(scope))) return 'in maintenance'
  return standing.verdicts.get(host) === 'healthy' ? 'healthy' : null
}

/**
 * At the end of a script, hours after its last trouble: no disable by which a silent host was set aside stands on one that lives and has
 * no open incident, unless people have ordered that nothing is done there.
 */
export function stillSetAside(entries: Entry[], stage: Stage, incidents: Map<string, Incident>): string[] {
  const standing = standingAfter(entries)
  if (standing.mode === 'observe' || standing.pauses.size > 0 || standing.maintenance.size > 0) return []
  const open = new Set([...incidents.values()].filter(({ closed }) => closed === null).map(({ host }) => host))
  return [...stage.simulator.world.hosts.values()].flatMap(({ name, service, agent, connected }) =>
    service.disabledReason?.includes('set aside') === true && agent && connected && !open.has(name)
      ? [`${name} lives, and is still disabled (${service.disabledReason})`]
      : [],
  )
}
