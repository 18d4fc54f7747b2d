/**
 * The initial state of an instance: what it was before we touched it, and whether its owner had it running. Pure.
 *
 * Must be taken once, before the first write (law L4): a failed evacuation overwrites vm_state and power_state, and
 * nothing in the API can rebuild them (docs/nova.md fact 3).
 */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { Instance, InstanceAction, Migration } from '../domain/instance.ts'
import { powerState } from '../domain/instance.ts'
import { byPowerSync, newestFirst, powerActions, powerOrders } from '../domain/power-history.ts'
import type { InitialState, Survey } from '../domain/survey.ts'

export interface Wanted {
  wanted: InitialState['wanted']
  because: string
  flagged: boolean
}

/**
 * A stop by Nova's power sync counts as the host's own shutdown when it came this shortly before the last sign of the
 * host. Too short leaves guests off that an orderly shutdown of the dying host switched off; too long would start guests
 * that had long shut themselves down. Nova's power sync looks every ten minutes by default.
 */
export const hostShutdownMs = 15 * 60_000

/** Tasks that say what their user last wanted (docs/nova.md §2.6). Shelving ends switched off as well. */
const wantedByTask = new Map<string | null, 'running' | 'stopped'>([
  ['powering-off', 'stopped'],
  ['powering-on', 'running'],
  ['shelving', 'stopped'],
  ['shelving_image_pending_upload', 'stopped'],
  ['shelving_image_uploading', 'stopped'],
])

/** A hard reboot starts what was stopped (docs/nova.md §1.4). */
const hardReboots: ReadonlySet<string | null> = new Set([
  'rebooting_hard',
  'reboot_pending_hard',
  'reboot_started_hard',
])

/** The initial state of one instance of the survey. */
export function initialStateOf(instance: Instance, survey: Survey): InitialState {
  const resize = resizeOf(instance, survey)
  const { wanted, because, flagged } = wantedOf(instance, survey, resize)
  return {
    instance,
    wanted,
    wantedBecause: because,
    flagged,
    locked: instance.locked,
    lockedReason: instance.lockedReason,
    knownEvacuations: survey.migrations
      .filter((migration) => migration.type === 'evacuation' && migration.instanceId === instance.id)
      .map((migration) => migration.uuid)
      .sort(),
    resize,
  }
}

/** Resizes and cold migrations of the instance that wait for a confirmation, newest first. Nova takes the oldest (fact 8). */
export function finishedResizes(instance: Instance, survey: Survey): Migration[] {
  return survey.migrations
    .filter(({ type }) => type === 'resize' || type === 'migration')
    .filter(({ instanceId, status }) => instanceId === instance.id && status === 'finished')
    .sort((a, b) => b.id - a.id)
}

/** Whether Nova sees that host's nova-compute up, and nobody forced it down. A host that is not listed is not up. */
export function hostUp(survey: Survey, host: string | null): boolean {
  if (host === survey.host) return false
  return survey.services.some(
    (service) =>
      service.binary === 'nova-compute' && service.host === host && service.state === 'up' && !service.forcedDown,
  )
}

function resizeOf(instance: Instance, survey: Survey): InitialState['resize'] {
  if (instance.vmState !== 'resized') return null
  const newest = finishedResizes(instance, survey).find(({ destHost }) => destHost === survey.host)
  if (newest === undefined || newest.sourceHost === null) return null
  const sourceUp = hostUp(survey, newest.sourceHost)
  return { migrationUuid: newest.uuid, sourceHost: newest.sourceHost, destHost: survey.host, sourceUp }
}

function wantedOf(instance: Instance, survey: Survey, resize: InitialState['resize']): Wanted {
  const byTask = wantedByTask.get(instance.taskState)
  const actions = Object.hasOwn(survey.actions, instance.id) ? (survey.actions[instance.id] ?? null) : null
  switch (instance.vmState) {
    case 'active':
      if (instance.taskState === 'powering-off' && isPowerSync(powerActions(actions ?? [])[0]))
        return stoppedBy(actions, lastSignOf(survey))
      if (byTask !== undefined) return sure(byTask, `its task was ${instance.taskState}`)
      return sure('running', 'Nova shows it active')
    case 'stopped':
      if (hardReboots.has(instance.taskState)) return sure('running', `its task was ${instance.taskState}`)
      if (byTask !== undefined) return sure(byTask, `its task was ${instance.taskState}`)
      return stoppedBy(actions, lastSignOf(survey))
    case 'resized':
      return beforeResize(instance, actions, resize, survey)
    case 'paused':
    case 'suspended':
    case 'rescued':
      return sure('running', `it was ${instance.vmState}, so its owner had it in use`)
    case 'error':
      return beforeError(instance, actions)
    default:
      return { wanted: 'unknown', because: `Nova shows it ${instance.vmState}`, flagged: false }
  }
}

/**
 * Who stopped it: a person, or nova-compute's power sync that saw the guest go down with its host (docs/nova.md §1.5).
 *
 * @param lastSign the host's last sign of life before it died, ms since the epoch
 */
export function stoppedBy(actions: InstanceAction[] | null, lastSign: number): Wanted {
  if (actions === null)
    return { wanted: 'stopped', because: 'Nova shows it stopped; its history could not be read', flagged: true }
  const newest = powerActions(actions)[0]
  const [order] = powerOrders(actions)
  // A user's stop is no stop by Nova, whatever they ordered after it.
  const isSaid = newest !== undefined && newest.action !== 'start' && (order?.action === 'stop' || byPowerSync(newest))
  if (!isSaid)
    return { wanted: 'stopped', because: 'Nova shows it stopped; its history does not say who did it', flagged: true }
  if (order?.action === 'stop') return sure('stopped', `a user stopped it at ${order.startedAt}`)
  const agoMs = lastSign - cloudTimeMs(newest.startedAt)
  if (agoMs <= hostShutdownMs)
    return sure('running', `Nova's power sync stopped it at ${newest.startedAt}, as its host went down; no user did`)
  return sure('stopped', `its guest had switched itself off by ${newest.startedAt}, long before its host died`)
}

/** nova-compute had ordered its own stop, and died before it was done. */
function isPowerSync(action: InstanceAction | undefined): boolean {
  return action !== undefined && byPowerSync(action)
}

/**
 * When the host last showed life, ms since the epoch. Our own writes move the stamp of its service record (docs/nova.md §1.2), so what was seen
 * before them counts where it is known: an incident may be held for hours between the two.
 */
function lastSignOf(survey: Survey): number {
  const service = survey.services.find(({ binary, host }) => binary === 'nova-compute' && host === survey.host)
  const seen = [survey.lastSeenAt, service?.updatedAt, survey.takenAt].map((time) => cloudTimeMs(time ?? ''))
  return Math.min(...seen.filter((time) => !Number.isNaN(time)))
}

/**
 * docs/nova.md §3.1: power_state still shows what it was before the resize; the history must agree. Where they disagree
 * the history counts, and it is flagged.
 */
function beforeResize(
  instance: Instance,
  actions: InstanceAction[] | null,
  resize: InitialState['resize'],
  survey: Survey,
): Wanted {
  const byPower = wantedByPower(instance.powerState)
  const power = `its power state was ${instance.powerState}`
  if (actions === null) return { wanted: byPower, because: `${power}; its history could not be read`, flagged: true }
  const record = survey.migrations.find((migration) => migration.uuid === resize?.migrationUuid)
  const earlier = beforeTheMove(newestFirst(actions), record)
  const [last] = powerOrders(earlier)
  if (last === undefined && !earlier.some(({ action }) => action === 'create'))
    return { wanted: byPower, because: `${power}; its history is not whole`, flagged: true }
  const byHistory = last?.action === 'stop' ? 'stopped' : 'running'
  const history =
    last === undefined
      ? 'no user had stopped it before the resize'
      : `the last user action before the resize was ${last.action}`
  if (byHistory === byPower) return sure(byHistory, `${power}, and ${history}`)
  return { wanted: byHistory, because: `${history}, although ${power}`, flagged: true }
}

/**
 * What the history holds of the time before the instance was moved. By place, not by time: Nova's stamps are whole seconds,
 * and a stop may share one with the resize that follows it. Only a history without the move goes by its record's time.
 */
function beforeTheMove(actions: InstanceAction[], record: Migration | undefined): InstanceAction[] {
  const move = actions.findIndex(({ action }) => action === 'resize' || action === 'migrate')
  if (move >= 0) return actions.slice(move + 1)
  if (record === undefined) return []
  return actions.filter(({ startedAt }) => cloudTimeMs(startedAt) <= cloudTimeMs(record.createdAt))
}

function beforeError(instance: Instance, actions: InstanceAction[] | null): Wanted {
  const [last] = powerOrders(actions ?? [])
  if (last !== undefined)
    return {
      wanted: last.action === 'stop' ? 'stopped' : 'running',
      because: `the last user action was ${last.action}`,
      flagged: true,
    }
  const byPower = wantedByPower(instance.powerState)
  const because =
    byPower === 'unknown'
      ? 'neither its history nor its power state tells'
      : `its power state was ${instance.powerState}`
  return { wanted: byPower, because, flagged: true }
}

function wantedByPower(power: number): InitialState['wanted'] {
  if (power === powerState.running) return 'running'
  return power === powerState.shutdown ? 'stopped' : 'unknown'
}

function sure(wanted: 'running' | 'stopped', because: string): Wanted {
  return { wanted, because, flagged: false }
}
