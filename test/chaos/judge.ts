/** Says of a round what became of each guest: by what truly ran, by Nova's records, and by what the journal says of it. */
import type { Incident } from '../../src/domain/incident.ts'
import type { Outcome } from '../../src/domain/outcome.ts'
import type { LivingGuest } from './owners.ts'

export interface Truth {
  running: Record<string, string[]>
  doubles: { uuid: string; t: number }[]
}

/** A server as Nova shows it; null when there is none. */
export interface Shown {
  vm: string
  task: string | null
  host: string | null
  locked: boolean
  /** Nova took its owner's last stop or start, and the host that runs it could not do it: Nova's history says so. */
  orderFailed: boolean
}

export interface Scene {
  guests: LivingGuest[]
  servers: Map<string, Shown | null>
  truth: Truth
  incidents: Incident[]
  /** Hosts that died in this round. */
  died: ReadonlySet<string>
  /** Instances whose guest an order that came late has started where it is not to run: an alarm says so, and where. */
  struck: ReadonlySet<string>
  /** When the round began, epoch ms. */
  began: number
}

export interface Judgement {
  right: number
  /** Not as wanted, and the journal says why. */
  told: string[]
  wrong: string[]
  doubles: string[]
}

/** The newest outcome that the journal has of an instance. */
export function lineOf(incidents: Incident[], id: string): Outcome | null {
  return incidents.flatMap((incident) => incident.instances.get(id)?.outcome ?? []).at(-1) ?? null
}

/** Nova took a start for the dead host and forgot it; the line of an instance that landed off says that it is to be started again. */
function isStartForgotten(differs: string, line: Outcome | null): boolean {
  return differs === 'stopped, wanted active' && line?.message.includes('start it again') === true
}

export function judge(scene: Scene): Judgement {
  const judgement: Judgement = { right: 0, told: [], wrong: [], doubles: [] }
  for (const guest of scene.guests) {
    const doubles = scene.truth.doubles.filter(({ uuid, t }) => uuid === guest.id && t * 1_000 >= scene.began)
    if (doubles.length > 0) judgement.doubles.push(`${guest.name} ran twice: ${JSON.stringify(doubles)}`)
    const differs =
      difference(guest, scene.servers.get(guest.id) ?? null, scene.truth.running[guest.id] ?? []) ?? left(scene, guest)
    const line = lineOf(scene.incidents, guest.id)
    if (differs === null) judgement.right += 1
    else if (line !== null && line.outcome !== 'recovered')
      judgement.told.push(`${guest.name}: ${differs}; told: ${line.outcome} ${line.code}`)
    else if (isStartForgotten(differs, line)) judgement.told.push(`${guest.name}: ${differs}; told: start it again`)
    else if (scene.struck.has(guest.id)) judgement.told.push(`${guest.name}: ${differs}; told: STALE_ORDER_STRUCK`)
    else if (line === null && cameBackUntouched(scene, guest))
      judgement.told.push(`${guest.name}: ${differs}; told: its host returned`)
    else judgement.wrong.push(`${guest.name}: ${differs}; ${line === null ? 'no line' : `told: ${line.message}`}`)
  }
  for (const incident of scene.incidents) {
    if (incident.closed === null) continue
    for (const { plan, outcome } of incident.instances.values())
      if (outcome === null && incident.mode === 'armed') judgement.wrong.push(`${plan.name}: closed without a line`)
  }
  return judgement
}

/** A guest that is off looks the same where it was: recovered means that it is somewhere else. */
function left({ servers, incidents }: Scene, { id }: LivingGuest): string | null {
  const open = incidents.find((incident) => incident.closed === null && incident.instances.get(id)?.outcome === null)
  return open !== undefined && servers.get(id)?.host === open.host ? `it is still on ${open.host}` : null
}

/** Its host was back before anything was moved: the guests died with it, and Nova shows them stopped once it has looked. */
function cameBackUntouched({ incidents, died }: Scene, { host }: LivingGuest): boolean {
  const newest = incidents.findLast((incident) => incident.host === host)
  return died.has(host) && (newest === undefined || newest.closed?.outcome === 'returned')
}

/** How the guest is not as its owner left it; null when it is. */
function difference({ wanted }: LivingGuest, server: Shown | null, runsOn: string[]): string | null {
  if (server === null) return wanted.deleted || wanted.unsure ? null : 'it is gone, nobody deleted it'
  if (wanted.deleted) return `its owner deleted it, Nova has it ${server.vm}, task ${server.task}`
  const seen: string[] = []
  if (server.task !== null) seen.push(`task ${server.task}`)
  const isOwners = wanted.unsure || server.orderFailed
  if (server.vm !== wanted.vm && !(isOwners && /^(active|stopped)$/.test(server.vm)))
    seen.push(`${server.vm}, wanted ${wanted.vm}`)
  if (server.locked !== wanted.locked && !wanted.unsure) seen.push(server.locked ? 'locked' : 'its lock is gone')
  const shouldRun = server.vm === 'active' ? [server.host] : []
  if (JSON.stringify(runsOn) !== JSON.stringify(shouldRun))
    seen.push(`${server.vm} on ${server.host}, it truly runs on ${runsOn.join(' and ') || 'no host'}`)
  return seen.length === 0 ? null : seen.join(', ')
}
