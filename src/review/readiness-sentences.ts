/** How readiness is said, one thought a sentence. Pure. */
import type { BrakeScope } from '../domain/brake.ts'
import type { FencingState, HostReadiness, SegmentReadiness } from '../domain/readiness.ts'
import { counted } from '../domain/text/counted.ts'

/** Names in one sentence. More are in the table. */
const mostNamed = 5

interface Found {
  hosts: readonly HostReadiness[]
  segments: readonly SegmentReadiness[]
  cloud: { mode: 'observe' | 'armed'; frozen: string | null; ordered: string | null }
  /** Hosts that could fail and be recovered without a person. */
  ready: number
  failures: number
  tightest: BrakeScope | null
}

export function cloudSentences(found: Found): string[] {
  if (found.hosts.length === 0) return ['No compute host was seen yet.']
  return [takenNow(found), ...unread(found.hosts), ...notAlone(found), ...leftOnDisks(found.segments)]
}

function takenNow({ cloud, ready, failures, tightest }: Found): string {
  if (cloud.frozen !== null) return `Lifeboat can handle no host failure now: verdicts are frozen (${cloud.frozen}).`
  if (cloud.ordered !== null) return `Lifeboat can handle no host failure now: ${cloud.ordered}.`
  if (ready === 0) return 'Lifeboat can handle no host failure now: no host could be recovered without a person.'
  if (failures === 0) return `Lifeboat can handle no host failure now: ${tightest?.message ?? 'the brake has no room'}.`
  const many = counted(failures, 'host failure')
  const least = tightest === null ? 'the brake limits none' : `${tightest.title} has the least room`
  return cloud.mode === 'armed'
    ? `Lifeboat can handle ${many} now; ${least}.`
    : `Lifeboat could handle ${many} now if it were armed; ${least}. It observes, and sends nothing.`
}

function unread(hosts: readonly HostReadiness[]): string[] {
  const waiting = hosts.filter(({ fencing }) => fencing.state === 'unread').length
  return waiting === 0 ? [] : [`The fencing devices of ${counted(waiting, 'host')} were not read yet.`]
}

const because: Partial<Record<FencingState, string>> = {
  none: 'no fencing method is configured',
  silent: 'no fencing device answers',
}

/** Whole segments by their name, and of the others the hosts. */
function notAlone({ hosts, segments }: Found): string[] {
  return (['none', 'silent'] as const).flatMap((state) => {
    const alike = hosts.filter(({ fencing, incident }) => fencing.state === state && incident === null)
    const counts = new Map<string, number>()
    for (const { segment } of alike) counts.set(segment, (counts.get(segment) ?? 0) + 1)
    const whole = segments.filter(({ name, hosts: all }) => counts.get(name) === all).map(({ name }) => name)
    const single = alike.filter(({ segment }) => !whole.includes(segment)).map(({ host }) => host)
    return [
      ...(whole.length === 0 ? [] : [`${whole.length === 1 ? 'Segment' : 'Segments'} ${cannot(whole, state)}`]),
      ...(single.length === 0 ? [] : [cannot(single, state)]),
    ]
  })
}

function cannot(names: readonly string[], state: 'none' | 'silent'): string {
  return `${named(names)} cannot recover by ${names.length === 1 ? 'itself' : 'themselves'}: ${because[state]}.`
}

function leftOnDisks(segments: readonly SegmentReadiness[]): string[] {
  const left = segments.filter(({ onLocalDisks }) => onLocalDisks > 0)
  if (left.length === 0) return []
  const sum = left.reduce((all, { onLocalDisks }) => all + onLocalDisks, 0)
  const where = `${left.length === 1 ? 'segment' : 'segments'} ${named(left.map(({ name }) => name))}`
  return [`${counted(sum, 'instance')} on local disks would be left, in ${where}.`]
}

/** a, b and c; of many the first. */
function named(names: readonly string[]): string {
  const more = names.length - mostNamed
  const shown = more > 0 ? [...names.slice(0, mostNamed), `${more} more`] : names
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}
