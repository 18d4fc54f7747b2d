/**
 * From what a Masakari protects to a configuration of ours: a fragment of lifeboat.yaml, the maintenance to order, and in
 * plain words what has no counterpart. Pure; whatever is not known to be safe is left at our careful defaults.
 */
import { parse } from 'yaml'
import { z } from 'zod'
import type { Scope } from '../domain/order.ts'
import type { MasakariHost, MasakariInventory, MasakariSegment } from '../openstack/masakari.ts'

/** What an import from Masakari gives. */
export interface MasakariImport {
  /** Where it was read, for people. */
  from: string
  segments: number
  hosts: number
  /** A fragment of lifeboat.yaml that our own loader takes. */
  yaml: string
  /** To be ordered of the daemon: hosts on maintenance there, segments disabled there. */
  maintenance: { scope: Scope; reason: string }[]
  /** What has no counterpart, or means something else here. */
  notes: string[]
}

export interface ImportedFrom {
  /** For people: which cloud. */
  from: string
  inventory: MasakariInventory
  /** The nova-compute hosts that Nova has. */
  novaHosts: readonly string[]
}

export function masakariImport({ from, inventory, novaHosts }: ImportedFrom): MasakariImport {
  const segments = inventory.segments.map((segment) => ({
    ...segment,
    hosts: segment.hosts.filter(({ name }) => !isPattern(name)),
  }))
  const kept = namedApart(segments.filter(({ hosts }) => hosts.length > 0))
  const hosts = segments.flatMap((segment) => segment.hosts)
  const all = inventory.segments.flatMap((segment) => segment.hosts)
  return {
    from,
    segments: segments.length,
    hosts: all.length,
    yaml: fragment(from, kept),
    maintenance: [
      ...hosts
        .filter(({ onMaintenance }) => onMaintenance)
        .map(({ name }) => ({ scope: { kind: 'host' as const, name }, reason: 'on_maintenance in Masakari' })),
      ...kept
        .filter(({ segment }) => !segment.enabled)
        .map(({ name }) => ({ scope: { kind: 'segment' as const, name }, reason: 'segment disabled in Masakari' })),
    ],
    notes: [
      ...workLeft(inventory),
      ...fencingNotes(),
      ...segmentNotes(segments),
      ...patternNotes(all),
      ...hostNotes(hosts, novaHosts),
      ...optionNotes,
    ],
  }
}

/** Here * and ? stand for anything: a host of that name would take every other into its segment. Nova has none so called. */
function isPattern(name: string): boolean {
  return /[*?]/.test(name)
}

interface NamedSegment {
  name: string
  segment: MasakariSegment
}

/** Masakari keeps names unique by itself; ours must be, whatever comes, and `default` is that of hosts without a segment. */
function namedApart(segments: readonly MasakariSegment[]): NamedSegment[] {
  const taken = new Set<string>()
  return segments.map((segment) => {
    const given = segment.name === '' ? segment.uuid : segment.name
    const own = /^default(:|$)/.test(given) ? `masakari-${given}` : given
    let name = own
    for (let n = 2; taken.has(name); n++) name = `${own}-${n}`
    taken.add(name)
    return { name, segment }
  })
}

function fragment(from: string, segments: readonly NamedSegment[]): string {
  const head = [
    `# Segments as Masakari has them (${comment(from)}). Check every line: the first segment that fits a host wins, and hosts`,
    '# that no segment names are protected too, by `defaults`. Masakari ignores those.',
    '# Each segment still needs: fencing (without it only a person can say that a host is dead), probes, and storage: shared',
    '# where disks are shared (set for local disks, it destroys them). config/lifeboat.example.yaml explains each option.',
    '',
  ]
  const body = segments.length === 0 ? ['segments: []'] : ['segments:', ...segments.flatMap(segmentLines)]
  return `${[...head, ...body, ...uuidLines(segments)].join('\n')}\n`
}

/** So that clients which kept Masakari's UUIDs find the same segments and hosts here. */
function uuidLines(named: readonly NamedSegment[]): string[] {
  const taken = new Set<string>()
  const lines = (given: readonly { name: string; uuid: string }[]): string[] =>
    given
      .filter(
        ({ uuid }) =>
          z.guid().safeParse(uuid).success && !taken.has(uuid.toLowerCase()) && taken.add(uuid.toLowerCase()),
      )
      .map(({ name, uuid }) => `      ${scalar(name)}: ${uuid}`)
  const segments = lines(named.map(({ name, segment: { uuid } }) => ({ name, uuid })))
  // A name twice would be no map.
  const hosts = lines([
    ...new Map(named.flatMap(({ segment }) => segment.hosts.map((host) => [host.name, host]))).values(),
  ])
  if (segments.length + hosts.length === 0) return []
  return [
    ...[
      '',
      '# As Masakari gave them. If lifeboat.yaml has a masakari_api, add them to it.',
      'masakari_api:',
      '  uuids:',
    ],
    ...(segments.length === 0 ? [] : ['    segments:', ...segments]),
    ...(hosts.length === 0 ? [] : ['    hosts:', ...hosts]),
  ]
}

function segmentLines({ name, segment }: NamedSegment): string[] {
  const { uuid, description, recoveryMethod, enabled, hosts } = segment
  const described = description === null || description.trim() === '' ? [] : [`  # ${comment(description)}`]
  const off = enabled ? '' : ', disabled: order maintenance for it before Lifeboat is armed'
  return [
    `  # Masakari: ${comment(uuid)}, recovery_method ${comment(recoveryMethod)}${off}`,
    ...described,
    `  - name: ${scalar(name)}`,
    '    match:',
    '      hosts:',
    ...hosts.map((host) => `        - ${scalar(host.name)}${hostMark(host)}`),
  ]
}

function hostMark({ reserved, onMaintenance }: MasakariHost): string {
  const marks = [reserved ? 'reserved in Masakari' : '', onMaintenance ? 'on maintenance in Masakari' : '']
  const said = marks.filter((mark) => mark !== '').join(', ')
  return said === '' ? '' : ` # ${said}`
}

/** Text as one line of YAML that a reader takes for nothing else: as it is where that is plain, else between quotes. */
function scalar(text: string): string {
  if (/^[A-Za-z][\w./() -]*[\w)]$/.test(text) && parse(text) === text) return text
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(text).replace(/[^\u0020-\u007e\u00a0-\u2027\u2030-\ud7ff\ue000-\ufefe\uff00-\ufffd]/g, escaped)
}

/** One line that cannot end the comment it stands in. */
function comment(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
}

function workLeft({ notifications, segments }: MasakariInventory): string[] {
  const names = new Map(segments.flatMap(({ hosts }) => hosts.map(({ uuid, name }) => [uuid, name])))
  return notifications.map(
    ({ uuid, type, status, hostUuid, generatedAt }) =>
      `Masakari is not finished: notification ${uuid} (${type} of ${names.get(hostUuid) ?? hostUuid}) has been ${status} since ${generatedAt}. Wait until it is over before Lifeboat is armed: two systems must never recover one host`,
  )
}

function fencingNotes(): string[] {
  return [
    'Masakari has no fencing, so none could be taken over. Until a segment names a fencing method, Lifeboat evacuates nothing of it before a person has said that the host is dead (lifeboat recover)',
  ]
}

const byMethod: Record<string, string> = {
  auto: 'the scheduler chooses the destinations, which is what Lifeboat always does',
  reserved_host:
    "Lifeboat knows no reserved hosts: Nova's scheduler chooses among all enabled hosts. Keep capacity free by a limit of your own, or enable a spare host when it is needed",
  auto_priority:
    'the scheduler chooses; Lifeboat makes no second attempt on reserved hosts, but tries again after pauses',
  rh_priority: 'reserved hosts are not preferred: the scheduler chooses among all enabled hosts',
}

function segmentNotes(segments: readonly MasakariSegment[]): string[] {
  const notes = segments.flatMap(({ name, recoveryMethod, enabled, hosts }) => [
    ...(hosts.length === 0
      ? [`Segment ${name} has no hosts and was left out: here a segment must match some host`]
      : []),
    ...(recoveryMethod === 'auto' || hosts.length === 0
      ? []
      : [`Segment ${name} had recovery_method ${recoveryMethod}: ${byMethod[recoveryMethod] ?? 'unknown here'}`]),
    ...(enabled || hosts.length === 0
      ? []
      : [`Segment ${name} is disabled in Masakari. Lifeboat has no such switch: order maintenance of the segment`]),
  ])
  const types = [...new Set(segments.map(({ serviceType }) => serviceType))]
  if (types.some((type) => type.toUpperCase() !== 'COMPUTE'))
    notes.push(`service_type (${types.join(', ')}) has no counterpart; Masakari itself never reads it`)
  return notes
}

function patternNotes(hosts: readonly MasakariHost[]): string[] {
  return hosts
    .filter(({ name }) => isPattern(name))
    .map(({ name }) => `Host ${JSON.stringify(name)} was left out: * and ? in a name stand for other hosts here`)
}

function hostNotes(hosts: readonly MasakariHost[], novaHosts: readonly string[]): string[] {
  const notes: string[] = []
  const named = (chosen: readonly string[]): string =>
    chosen.length > 20 ? `${chosen.slice(0, 20).join(', ')} and ${chosen.length - 20} more` : chosen.join(', ')
  const reserved = hosts.filter((host) => host.reserved).map(({ name }) => name)
  if (reserved.length > 0)
    notes.push(
      `Reserved hosts (${named(reserved)}) are ordinary hosts here. Where their nova-compute is disabled, the scheduler uses them only once someone enables it; a disabled host that dies is held unless on_disabled_down says otherwise`,
    )
  const attributes = hosts.filter(({ controlAttributes }) => !/^\s*(ssh|tbd|\{\})?\s*$/i.test(controlAttributes))
  if (attributes.length > 0)
    notes.push(
      `control_attributes of ${named(attributes.map(({ name }) => name))} were not taken over (Masakari never reads them). Addresses of BMCs belong under hosts:, and fencing methods use them as {bmc}`,
    )
  const known = new Set(novaHosts)
  const gone = hosts.filter(({ name }) => !known.has(name)).map(({ name }) => name)
  if (gone.length > 0)
    notes.push(`Nova has no nova-compute on ${named(gone)}: they stand in the fragment and match nothing`)
  const listed = new Set(hosts.map(({ name }) => name))
  const more = novaHosts.filter((name) => !listed.has(name))
  if (more.length > 0)
    notes.push(
      `Masakari does not protect ${named(more)}. Lifeboat will: the rules of defaults apply to hosts in no segment. Put them into a segment, or order maintenance for those that must be left alone`,
    )
  return notes
}

/** What only masakari.conf says; its API does not. */
const optionNotes = [
  'Compare masakari.conf by hand: evacuate_all_instances = False is policy.unasked: leave; ignore_instances_in_error_state = True is policy.error_before: leave (the default here); ha_enabled_instance_metadata_key is wishes.masakari_key (HA_Enabled is understood as it is)',
]
