/** What operators are told of a group that the brake holds. Pure. */
import type { CountedGroup, ScopeId } from '../domain/brake.ts'
import type { Entry } from '../domain/entry.ts'
import type { Notice, NoticeTopic } from '../domain/notice.ts'
import { counted } from '../domain/text/counted.ts'
import { heldBecause } from '../domain/text/held-because.ts'
import type { Draft } from './rules.ts'

type HeldDraft = Draft & { held: NonNullable<Notice['held']> }

/** Hosts that a sentence names; the rest is counted. */
const namesAtMost = 30

/** Of everything that the group holds now, those that were told before included. */
export function groupDraft(cause: Entry, group: CountedGroup, mode: Draft['mode']): HeldDraft {
  const { scope, title, message, also, members } = group
  const hosts = members.map(({ host }) => host)
  const more = hosts.length - namesAtMost
  const names = `${hosts.slice(0, namesAtMost).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const wider = also.length === 0 ? '' : `\nHeld by ${also.join(' and ')} too.`
  const lines = [
    `${names}: recovery on hold until you decide: ${heldBecause(message)}.${wider}`,
    behind(group),
    `See which: lifeboat brake list. Let them past: lifeboat brake override ${scope} --reason "why"`,
  ]
  const held = { scope, title, hosts, incidents: members.map(({ incident }) => incident) }
  const segments = new Set(members.map(({ segment }) => segment))
  const [segment = null] = segments.size === 1 ? segments : []
  return draft(cause, 'incident-held', {
    ...{ severity: 'critical', mode, code: 'BRAKE', message: lines.join('\n'), segment, held },
  })
}

/** What decides whether someone gets up. */
function behind({ instances, running, uncounted, members }: CountedGroup): string {
  const where = members.length === 1 ? 'it' : 'them'
  if (uncounted === members.length) return `Not counted yet: the instances on ${where}.`
  const rest = uncounted === 0 ? '' : ` (${counted(uncounted, 'host')} not counted yet)`
  return `On ${where}: ${counted(instances, 'instance')}, of which ${running} ran${rest}.`
}

/** Nothing of the scope waits any more: the brake opened, or people let it past. */
export function holdsOverDraft(
  cause: Entry,
  { scope, title }: { scope: ScopeId; title: string },
  mode: Draft['mode'],
): HeldDraft {
  const segment = scope.startsWith('segment:') ? scope.slice('segment:'.length) : null
  const held = { scope, title, hosts: [], incidents: [] }
  const message = `The brake holds no recovery of ${title} any more`
  return draft(cause, 'holds-over', { severity: 'info', mode, code: scope, message, segment, held })
}

function draft(
  { seq, at }: Entry,
  topic: NoticeTopic,
  what: Pick<HeldDraft, 'severity' | 'mode' | 'code' | 'message' | 'segment' | 'held'>,
): HeldDraft {
  return {
    ...{ topic, audience: 'operator', cause: seq, at, host: null, incident: null, project: null, reference: null },
    ...what,
  }
}
