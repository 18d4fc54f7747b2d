/** Laws on the rules in force: what the configuration of that moment does not allow is not begun, and the brake holds what it says. */
import type { Entry } from '../../src/domain/entry.ts'
import { baseConfiguration, laidOver } from '../../src/rehearsal/base-configuration.ts'
import type { Scenario } from '../../src/rehearsal/scenario.ts'

/** Of a configuration, as far as the generated scripts use it: what they match is hosts. */
interface Rules {
  defaults: { fencing: string[]; storage: string; on_declared_down?: string }
  segments?: { match: { hosts: string[] }; fencing?: string[]; storage?: string }[]
}

/** What a script is about. */
export type Ruled = Pick<Scenario, 'config' | 'script'> & { cloud: Pick<Scenario['cloud'], 'hosts'> }

/** No method fences that the host's segment does not list, and no local disk is evacuated where its storage is local. */
export function begunAgainstTheRules(entries: readonly Entry[], scenario: Ruled): string[] {
  const versions = rulesIn(scenario)
  const reloads = entries.filter(({ kind }) => kind === 'config.reloaded' || kind === 'config.refused')
  // Else nobody knows which version an entry was written under.
  if (reloads.length !== versions.length - 1) return []
  let read = 0
  let rules = versions[0]!
  const local = new Set<string>()
  return entries.flatMap((entry) => {
    const { kind, host, instance, seq } = entry
    if (kind === 'config.reloaded' || kind === 'config.refused') read += 1
    if (kind === 'config.reloaded') rules = versions[read]!
    // A start reads what was refused again.
    if (kind === 'daemon.started') rules = versions[read]!
    if (kind === 'plan.made') {
      if (entry.data.original.instance.imageId === null) local.delete(instance ?? '')
      else local.add(instance ?? '')
    }
    const { fencing, storage } = rulesOf(rules, host ?? '')
    if (kind === 'fence.attempt' && entry.data.phase === 'trying' && !fencing.includes(entry.data.method))
      return [`entry ${seq}: ${entry.data.method} fences ${host}, whose methods are ${fencing.join(', ')}`]
    if (kind === 'step.intended' && entry.data.kind === 'evacuate' && storage === 'local' && local.has(instance ?? ''))
      return [`entry ${seq}: ${instance} is evacuated, and its disk is local`]
    return []
  })
}

/** The configurations in the order in which people write them. */
function rulesIn({ config, script, cloud: { hosts } }: Ruled): Rules[] {
  const names = typeof hosts === 'number' ? Array.from({ length: hosts }, (_, nth) => `cmp0${nth + 1}`) : hosts
  const versions: unknown[] = [laidOver(baseConfiguration(names), config)]
  for (const { act } of script)
    if (act?.name === 'reload') versions.push(laidOver(versions.at(-1), (act.given as { config?: object }).config))
  return versions as Rules[]
}

/** What the first configuration says where no segment says otherwise. */
export function rulesAtFirst(scenario: Ruled): Rules['defaults'] {
  return rulesIn(scenario)[0]!.defaults
}

function rulesOf({ defaults, segments = [] }: Rules, host: string): Rules['defaults'] {
  const own = segments.find(({ match }) => match.hosts.includes(host))
  return { fencing: own?.fencing ?? defaults.fencing, storage: own?.storage ?? defaults.storage }
}

/** Nothing is fenced while the brake holds its incident, unless a person let it through. */
export function fencedAgainstTheBrake(entries: readonly Entry[]): string[] {
  const tripped = new Set<string>()
  const segments = new Map<string, string>()
  const excused = new Set<string>()
  return entries.flatMap((entry) => {
    const id = entry.incident ?? ''
    if (entry.kind === 'brake.tripped') tripped.add(entry.data.scope)
    if (entry.kind === 'brake.released') tripped.delete(entry.data.scope)
    if (entry.kind === 'incident.opened') segments.set(id, entry.data.segment)
    if (entry.kind === 'incident.segment-changed') segments.set(id, entry.data.to)
    if (entry.kind === 'operator.override' || entry.kind === 'proof.recorded') excused.add(id)
    // What was let through was the first death.
    if (entry.kind === 'proof.voided') excused.delete(id)
    if (entry.kind !== 'fence.attempt' || entry.data.phase !== 'trying' || excused.has(id)) return []
    const scope = ['cloud', `segment:${segments.get(id)}`].find((name) => tripped.has(name))
    return scope === undefined ? [] : [`entry ${entry.seq}: ${entry.host} is fenced while the brake holds ${scope}`]
  })
}
