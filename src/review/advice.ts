/**
 * What a person must do about an incident, most urgent first, each with the exact command where one does it. Pure: what the
 * journal tells of the incident, and how far its host is on its way back.
 */
import { failureOf, type Incident, type InstanceRecovery, type RevokedProof } from '../domain/incident.ts'
import type { HoldCode } from '../domain/incident-phases.ts'
import type { HostReturnDetail } from '../domain/operations.ts'
import type { OutcomeKind } from '../domain/outcome.ts'
import type { Advice } from '../domain/review.ts'
import type { ExecutorSettings } from '../executor/context.ts'
import { aboutCrashed, aboutObservedOnLivingHost } from './advice-living-host.ts'
import { aboutReturned, isAfterReturn } from './advice-after-return.ts'
import { pauseAfter } from '../domain/back-off.ts'
import { failedAttempts } from '../executor/host-steps.ts'
import { span } from '../domain/text/span.ts'

/** When fencing is tried again, by the configuration in force. */
export type FenceRetry = Pick<ExecutorSettings, 'fenceRetryMs' | 'fenceRetryMaxMs'>

/**
 * @param hostReturn how the host stands after the incident, when this incident is the one that set our flags on it
 * @param signedOff someone answers for it already
 */
export function adviceFor(
  incident: Incident,
  hostReturn: HostReturnDetail | null,
  signedOff: boolean,
  retry: FenceRetry,
): Advice[] {
  return [
    ...aboutHold(incident, retry),
    ...aboutObserved(incident),
    ...aboutReturned(incident),
    ...aboutInstances(incident, 'stuck'),
    ...aboutInstances(incident, 'failed'),
    ...aboutProof(incident),
    ...aboutHeldInstances(incident),
    ...aboutInstances(incident, 'left'),
    ...aboutStopped(incident),
    ...aboutLeftovers(incident),
    ...aboutReturn(incident, hostReturn),
    ...(signedOff ? [] : [...aboutNeverListed(incident), ...aboutSignOff(incident)]),
  ]
}

const reason = '--reason "why"'

type EndsHold = (incident: Incident, retry: FenceRetry) => { text: string; command: string | null }

/** What ends each hold. Null: it ends by itself, and what it waits for is said. */
const endsHold: Record<HoldCode, EndsHold> = {
  BRAKE: ({ id, host, attestation }) => ({
    text: `${attestation === null ? '' : `It was attested dead by ${attestation.by}, and the brake still holds it. `}The brake holds ${host}. Find out whether the hosts that failed with it are really dead, or the control plane is at fault. To recover this one anyway, override the brake`,
    command: `lifeboat incident override ${quoted(id)} ${reason}`,
  }),
  // The control plane may be at fault, or this process alone: the hold says which.
  FROZEN: ({ held }) => ({
    text: `Lifeboat waits, because what it knows of the hosts may be untrue: ${held?.message ?? 'the cause is not known'}. If that lasts, repair it: the incident then goes on by itself`,
    command: 'lifeboat status',
  }),
  PAUSED: () => ({
    text: 'Recoveries are paused. The incident goes on when the pause ends; the list says whose it is, and for what scope (`lifeboat resume`)',
    command: 'lifeboat maintenance list',
  }),
  MAINTENANCE: ({ host }) => ({
    text: `${host} is in maintenance, or someone disabled it. To have it recovered, end the maintenance that the list shows (\`lifeboat maintenance end\`) or enable it in Nova`,
    command: 'lifeboat maintenance list',
  }),
  OBSERVING: () => ({
    text: 'The daemon is in observe mode. Set `mode: armed`, then run `lifeboat reload`',
    command: 'lifeboat reload',
  }),
  FENCE_FAILED: (incident, retry) =>
    stateIt(
      incident.disksInUse.size > 0
        ? `${[...incident.disksInUse.keys()].join(' and ')} said that ${incident.host} is off, but one of its disks was in use: go to the machine itself. Power it off by other means`
        : `No fencing method could prove the host dead. Repair one (${triedAgain(incident, retry)})`,
      incident,
    ),
  FENCING_MISSING: (incident) => stateIt('The host has no fencing method. Configure one and reload', incident),
  HOST_ALIVE: ({ id, host }) => ({
    text: `${host} showed life when Lifeboat checked again, and Lifeboat never evacuates a living host. If it is well, cancel the incident`,
    command: `lifeboat incident cancel ${quoted(id)} ${reason}`,
  }),
  CLOUD_UNAVAILABLE: () => ({
    text: 'Nova does not answer. Repair it: the incident then goes on by itself',
    command: 'lifeboat check',
  }),
  NOVA_REFUSED: () => ({
    text: 'Nova refuses what the recovery needs. Correct the policy or the credentials, then reload: Lifeboat tries again at once (without a reload, within five minutes)',
    command: 'lifeboat reload',
  }),
  JOURNAL_UNAVAILABLE: () => ({
    text: 'The journal cannot be written. Free disk space; recovery then resumes on its own',
    command: null,
  }),
  OTHER_INCIDENT: () => ({
    text: 'Another incident still works on instances that are on this host now. This one goes on when that is done: find out what the other one waits for',
    command: 'lifeboat incident list --open',
  }),
  LATE_LOCK: () => ({
    text: 'Do nothing: every instance has its outcome. Lifeboat watches them until no front end can still serve its lock (executor.longest_request), and removes a lock that comes late',
    command: null,
  }),
  WORKFLOW_UNREADABLE: ({ id, host }) => ({
    text: `This release cannot read the workflow that the incident began with. Run the release that opened it until it ends. Or cancel it, make sure that ${host} is off, and recover the host with the current workflow: lifeboat recover ${quoted(host)} --by NAME --proof "how you know that it is dead"`,
    command: `lifeboat incident cancel ${quoted(id)} ${reason}`,
  }),
  INTERNAL_ERROR: ({ id }) => ({
    text: 'A bug in Lifeboat stops this recovery. Lifeboat tries again, less and less often, and after a restart. Bring urgent instances back by hand, and report the error with the record of the incident',
    command: `lifeboat incident show ${quoted(id)}`,
  }),
  MEMORY: () => ({
    text: 'The daemon is short of memory. The incident goes on when other recoveries end',
    command: null,
  }),
  RESTART_PAUSE: () => ({
    text: 'The guest crashed again. Lifeboat waits a while, then restarts it by itself',
    command: null,
  }),
  RESTARTS_SPENT: ({ id, crashed }) => ({
    text: `${crashed?.name ?? 'The instance'} crashed too often and is off. Find out why. Override the hold to restart it once more, or cancel the incident to leave it off`,
    command: `lifeboat incident override ${quoted(id)} ${reason}`,
  }),
  CRASHES_ON_HOST: ({ id, host }) => ({
    text: `Too many instances crashed on ${host}: check its memory, its storage and its hypervisor. Override the hold to restart this one now`,
    command: `lifeboat incident override ${quoted(id)} ${reason}`,
  }),
  CONFIRM_RETURN: ({ host, process }) => ({
    text: `Find out why ${process ?? 'nova-compute'} of ${host} failed. If it is well, return the host to service: Lifeboat enables it`,
    command: `lifeboat host return ${quoted(host)} ${reason}`,
  }),
}

function stateIt(why: string, { host }: Incident): { text: string; command: string } {
  return {
    text: `${why}, or make sure that ${host} is off and attest it`,
    command: `lifeboat recover ${quoted(host)} --by NAME --proof "how you know that it is dead"`,
  }
}

/** The moment where the journal tells it, else the rule. A proof that is renewed leaves no step behind when that fails. */
function triedAgain(incident: Incident, { fenceRetryMs, fenceRetryMaxMs }: FenceRetry): string {
  const first = span(fenceRetryMs)
  const rule =
    fenceRetryMs === fenceRetryMaxMs
      ? `every ${first}`
      : `after ${first}, doubling with each failure to ${span(fenceRetryMaxMs)}`
  if (incident.phase !== 'fencing') return `it is tried again ${rule}`
  const last = [...incident.hostSteps.values()].findLast(({ kind }) => kind === 'fence')
  if (last?.status !== 'failed' || last.endedAt === null)
    return `it is being tried now; again ${rule}, and at once after \`lifeboat reload\``
  const pauseMs = pauseAfter(failedAttempts(incident, 'fence'), fenceRetryMs, fenceRetryMaxMs)
  const next = new Date(Date.parse(last.endedAt) + pauseMs).toISOString()
  return `next try at ${next}; \`lifeboat reload\` tries at once`
}

function aboutHold(incident: Incident, retry: FenceRetry): Advice[] {
  const { held, cancelled } = incident
  // What is being ended needs nobody any more.
  if (held === null || cancelled !== null) return []
  return [{ code: `HELD_${held.code}`, ...endsHold[held.code](incident, retry), instances: [] }]
}

function aboutProof(incident: Incident): Advice[] {
  const { id, host, proof, revoked, attestation, closed, held, verdict } = incident
  if (closed !== null && proof === null && revoked !== null) return aboutRevoked(incident, revoked)
  if (closed === null || proof?.strength !== 'statement') return []
  const who = proof.statedBy ?? attestation?.by ?? 'someone'
  const text = `${host} was attested dead by ${who}, and nothing else proves it${verdict === null ? '' : ` besides ${verdict.reason}`}. Before you power it on, make sure that none of these instances still runs there`
  return held === null
    ? [{ code: 'PROVEN_BY_STATEMENT', text, command: `lifeboat incident show ${quoted(id)}`, instances: [] }]
    : []
}

/** Nova ends the guests that were evacuated once nova-compute starts on the host; until then nobody knows. */
function aboutRevoked({ id, host, instances }: Incident, { method }: RevokedProof): Advice[] {
  const moved = [...instances]
    .filter(([, { outcome }]) => outcome?.outcome === 'recovered')
    .map(([instance]) => instance)
  if (moved.length === 0) return []
  const text = `${host} showed life after it was proven dead by ${method}, and by then ${moved.length === 1 ? 'an instance was' : `${moved.length} instances were`} evacuated. Make sure that none of them still runs on ${host} too`
  return [{ code: 'PROOF_VOIDED', text, command: `lifeboat incident show ${quoted(id)}`, instances: moved }]
}

const landing = 'at 2.95 an instance lands stopped, below that as it was'

const aboutOutcome: Record<
  Exclude<OutcomeKind, 'recovered'>,
  (count: string, codes: string, one: boolean) => string
> = {
  stuck: (count, codes) =>
    `${count} stuck (${codes}): nobody can tell what runs where. Look at each in Nova, on its old host and on its destination, before you do anything to it`,
  failed: (count, codes) =>
    `${count} not recovered (${codes}), and Lifeboat will not try again by itself. Remove the cause, then try again on the incident's page, or evacuate by hand: ${landing}`,
  left: (count, codes, one) =>
    `${count} left where ${one ? 'it was' : 'they were'} (${codes}). The host must return, or someone must decide otherwise`,
}

/** One line for each outcome: two thousand instances without room are one task, not two thousand. */
function aboutInstances(incident: Incident, outcome: Exclude<OutcomeKind, 'recovered'>): Advice[] {
  const found = [...incident.instances].filter(
    ([, { plan, outcome: ended }]) => ended?.outcome === outcome && !isAfterReturn({ plan }),
  )
  if (found.length === 0) return []
  if (incident.hostBack !== null) return onReturnedHost(incident, incident.hostBack, found)
  const codes = [...new Set(found.map(([, recovery]) => recovery.outcome?.code ?? ''))].join(', ')
  const ids = found.map(([id]) => id)
  const code = `INSTANCES_${outcome.toUpperCase()}`
  if (incident.crashed !== null) return [{ code, ...aboutCrashed(incident, outcome, codes), instances: ids }]
  const refused = found.filter(([, recovery]) => refusalOf(recovery) !== null)
  const others = found.filter(([, recovery]) => refusalOf(recovery) === null)
  const [first] = refused
  return [
    {
      code,
      text:
        first === undefined
          ? aboutOutcome[outcome](counted(ids.length), codes, ids.length === 1)
          : aboutRefused(incident.host, codes, first[1], [refused.length, others.length]),
      command: firstCommand(outcome, others.length === 0 ? found : others),
      instances: ids,
    },
  ]
}

/** Its host is back since: those that are still there can be started there, and evacuated no more. The others were moved or deleted. */
function onReturnedHost(
  { host }: Incident,
  { at, here }: NonNullable<Incident['hostBack']>,
  found: [string, InstanceRecovery][],
): Advice[] {
  const there = found.filter(([id]) => here === null || here.includes(id))
  const [first] = there
  if (first === undefined) return []
  const codes = [...new Set(there.map(([, recovery]) => recovery.outcome?.code ?? ''))].join(', ')
  const one = there.length === 1
  const text = `${counted(there.length)} still on ${host} (${codes}), which has been back since ${at}. Check whether ${one ? 'it runs' : 'they run'}, and start what is off`
  const ids = there.map(([id]) => id)
  return [
    {
      code: `INSTANCES_ON_RETURNED_HOST_${first[1].outcome?.outcome.toUpperCase()}`,
      text,
      command: `openstack server start ${first[0]}`,
      instances: ids,
    },
  ]
}

/** A command that Nova has just refused is no way out: as long as its reason stands, only the host brings them back. */
function aboutRefused(
  host: string,
  codes: string,
  first: InstanceRecovery,
  [refused, others]: [refused: number, others: number],
): string {
  const all = refused + others
  const which = others === 0 ? (all === 1 ? 'it' : 'them') : `${refused} of them`
  const said = `${refused === 1 ? '' : 'of the first it says: '}${(refusalOf(first) ?? '').replace(/\.$/, '')}`
  const back = `${host} must come back for ${refused === 1 ? 'this one' : 'these'}`
  const byHand =
    others === 0 ? 'If the cause is gone first, evacuate' : 'For the others remove the cause, and evacuate them'
  return `${counted(all)} not recovered (${codes}). Nova refuses to evacuate ${which}, even by hand (${said}). ${back}. ${byHand} by hand: ${landing}`
}

/** What Nova said when it refused to evacuate for good, and nothing was sent again; null otherwise. */
function refusalOf({ steps, outcome }: InstanceRecovery): string | null {
  if (outcome?.outcome !== 'failed' || outcome.code !== 'API_REFUSED') return null
  const error = [...steps.values()].findLast(({ kind, status }) => kind === 'evacuate' && status === 'failed')?.error
  if (error?.code !== 'API_REFUSED' || error.retry !== 'never') return null
  const { said } = error.details
  if (typeof said === 'string') return said
  // Older releases recorded what Nova said in their own sentence alone.
  return /: refused(?: as wrong| \(\d+\))? \((.+)\)$/s.exec(error.message)?.[1] ?? error.message
}

/** By hand too it is to land as its owner had it. Below 2.14 the client would have to say whether disks are shared. */
function firstCommand(outcome: OutcomeKind, [first]: [string, InstanceRecovery][]): string {
  const id = first?.[0] ?? ''
  const version = first?.[1].plan.original.wanted === 'stopped' ? '2.95' : '2.53'
  if (outcome === 'failed') return `openstack --os-compute-api-version ${version} server evacuate ${id}`
  return outcome === 'stuck' ? `openstack server event list --long ${id}` : `openstack server show ${id}`
}

/** What was only observed is as dead as it was: that nothing is under way must not read as nothing to do. */
function aboutObserved(incident: Incident): Advice[] {
  const { closed, host, instances } = incident
  if (closed?.outcome !== 'observed') return []
  const alive = aboutObservedOnLivingHost(incident)
  if (alive !== null) return [{ code: 'OBSERVED', ...alive, instances: [...instances.keys()] }]
  const what =
    instances.size === 0
      ? 'recover it'
      : `recover its ${instances.size === 1 ? 'instance' : `${instances.size} instances`}`
  const text = `Nothing was sent: Lifeboat only observes. If ${host} is still down, ${what} by hand; or set \`mode: armed\` and reload, and Lifeboat does it`
  return [{ code: 'OBSERVED', text, command: 'lifeboat reload', instances: [] }]
}

/** A plan that says hold waits for a person; it has no outcome yet while the incident is open. */
function aboutHeldInstances({ instances }: Incident): Advice[] {
  const waiting = (recovery: InstanceRecovery): boolean =>
    recovery.plan.decision === 'hold' && recovery.outcome === null
  const ids = [...instances].filter(([, recovery]) => waiting(recovery)).map(([id]) => id)
  if (ids.length === 0) return []
  const text = `${counted(ids.length)} held: recovering from the state in which their host died could lose data. You must decide`
  return [{ code: 'INSTANCES_HELD', text, command: `openstack server show ${ids[0]}`, instances: ids }]
}

/** Back, and not as their owners know them: one that was paused came back off, and what was in its memory is lost. */
function aboutStopped({ instances }: Incident): Advice[] {
  const ids = [...instances].flatMap(([id, { plan, outcome }]) =>
    outcome?.outcome === 'recovered' && plan.expected === 'stopped' && plan.original.wanted === 'running' ? [id] : [],
  )
  if (ids.length === 0) return []
  const text = `${counted(ids.length)} back but stopped, unlike before (each says why). ${ids.length === 1 ? 'Only its owner can start it: send them this command' : 'Only their owners can start them: send each this command'}`
  return [{ code: 'INSTANCES_BACK_STOPPED', text, command: `openstack server start ${ids[0]}`, instances: ids }]
}

/** Each kind of leftover once, in its own words. */
function aboutLeftovers({ instances }: Incident): Advice[] {
  const byCode = new Map<string, { message: string; ids: string[] }>()
  for (const [id, { leftovers }] of instances) {
    for (const { code, message } of leftovers) {
      const known = byCode.get(code) ?? { message, ids: [] }
      known.ids.push(id)
      byCode.set(code, known)
    }
  }
  return [...byCode].map(([code, { message, ids }]) => {
    const more = ids.length === 1 ? '' : ` (and ${ids.length - 1} more like it)`
    return { code: `DEBT_${code}`, text: `To clean up: ${message}${more}`, command: null, instances: ids }
  })
}

function aboutReturn({ host, closed }: Incident, hostReturn: HostReturnDetail | null): Advice[] {
  if (closed === null || hostReturn === null) return []
  const { state, message, leftovers } = hostReturn
  const letBack = `lifeboat host return ${quoted(host)} ${reason}`
  const advice: Advice[] = []
  if (state === 'waiting-confirmation')
    advice.push({
      code: 'RETURN_WAITS',
      text: `${host} is ready to return: confirm it`,
      command: letBack,
      instances: [],
    })
  else if (state === 'kept-out')
    advice.push({ code: 'RETURN_KEPT_OUT', text: `${host} stays out. ${message}`, command: letBack, instances: [] })
  else if (state === 'away') {
    const text = `${host} is still down. Repair it and start its nova-compute: Lifeboat then returns it to service, or says what it waits for`
    advice.push({ code: 'HOST_AWAY', text, command: `lifeboat host show ${quoted(host)}`, instances: [] })
  }
  for (const { code, message: what, instance } of leftovers)
    advice.push({
      code: `LEFTOVER_${code}`,
      text: what,
      command: leftoverCommand(code, host),
      instances: instance === null ? [] : [instance],
    })
  return advice
}

/** Nobody knows what is on its host: no line of an instance says that something is left to do. */
function aboutNeverListed(incident: Incident): Advice[] {
  const { host, closed, instances, watched } = incident
  const isKnown = closed?.outcome !== 'cancelled' || instances.size > 0 || watched !== null
  if (isKnown || failureOf(incident) !== 'host') return []
  const text = `The incident was cancelled before Lifeboat had instances of ${host} on record. Look in Nova what is on it: if it is down, its instances are off`
  const command = `openstack server list --all-projects --host ${quoted(host)}`
  return [{ code: 'NEVER_LISTED', text, command, instances: [] }]
}

/** Only where something is left to answer for: the overview names such an incident until someone signs. */
function aboutSignOff({ id, closed, mode, instances }: Incident): Advice[] {
  if (closed === null || mode === 'observe') return []
  const left = [...instances.values()].some(({ outcome }) => outcome !== null && outcome.outcome !== 'recovered')
  const text = 'When that is done, sign this incident off: until then the overview lists it'
  const command = `lifeboat incident sign-off ${quoted(id)} --reason "what you conclude"`
  return left ? [{ code: 'SIGN_OFF', text, command, instances: [] }] : []
}

function leftoverCommand(code: string, host: string): string | null {
  const restart = code === 'NEEDS_ANOTHER_START' || code === 'TRAIT_LEFT'
  return restart ? `ssh ${quoted(host)} systemctl restart nova-compute` : null
}

function counted(count: number): string {
  return count === 1 ? 'One instance is' : `${count} instances are`
}

/** A name as one word of a shell. Nova's names are plain; what is not is quoted. */
function quoted(name: string): string {
  return /^[\w.:@-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`
}
