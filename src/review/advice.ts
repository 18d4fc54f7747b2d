/**
 * What a person must do about an incident, most urgent first, each with the exact command where one does it. Pure: what the
 * journal tells of the incident, and how far its host is on its way back.
 */
import type { Incident, InstanceRecovery, RevokedProof } from '../domain/incident.ts'
import type { HoldCode } from '../domain/incident-phases.ts'
import type { HostReturnDetail } from '../domain/operations.ts'
import type { OutcomeKind } from '../domain/outcome.ts'
import type { Advice } from '../domain/review.ts'
import type { ExecutorSettings } from '../executor/context.ts'
import { aboutReturned, isAfterReturn } from './advice-after-return.ts'
import { pauseAfter } from '../executor/back-off.ts'
import { failedAttempts } from '../executor/host-steps.ts'
import { formatDuration } from '../formats/duration.ts'

/** When fencing is tried again, by the configuration in force. */
export type FenceRetry = Pick<ExecutorSettings, 'fenceRetryMs' | 'fenceRetryMaxMs'>

/**
 * @param hostReturn how the host stands after the incident, when this incident is the one that set our flags on it
 * @param signedOff somebody answers for it already
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
    ...(signedOff ? [] : aboutSignOff(incident)),
  ]
}

const reason = '--reason "why"'

type EndsHold = (incident: Incident, retry: FenceRetry) => { text: string; command: string | null }

/** What ends each hold. Null: it ends by itself, and what it waits for is said. */
const endsHold: Record<HoldCode, EndsHold> = {
  BRAKE: ({ id, host, attestation }) => ({
    text: `${attestation === null ? '' : `${attestation.by} stated that it is dead, and the brake still holds it. `}The brake holds ${host}. Find out whether these hosts are really dead or the control plane is to blame; if this one may be recovered all the same, let it past`,
    command: `lifeboat incident override ${id} ${reason}`,
  }),
  FROZEN: () => ({
    text: 'The control plane cannot be trusted at the moment. Mend it: the incident goes on by itself when it is well again',
    command: 'lifeboat status',
  }),
  PAUSED: () => ({
    text: 'Recoveries are paused. It goes on when the pause ends',
    command: `lifeboat resume ${reason}`,
  }),
  MAINTENANCE: ({ host }) => ({
    text: `${host} is in maintenance, or a person disabled it. If it is meant to be recovered, end the maintenance or enable it in Nova`,
    command: `lifeboat maintenance end --host ${quoted(host)} ${reason}`,
  }),
  OBSERVING: () => ({
    text: 'The daemon observes only. It goes on once `mode: armed` is in the configuration and was read again',
    command: 'lifeboat reload',
  }),
  FENCE_FAILED: (incident, retry) =>
    stateIt(
      `No fencing method could prove it dead. Mend the method: ${triedAgain(incident, retry)}. Do that`,
      incident,
    ),
  FENCING_MISSING: (incident) => stateIt('No fencing method is configured for it: give it one and reload', incident),
  HOST_ALIVE: ({ id, host }) => ({
    text: `${host} showed life when it was looked at again, and a living host is never evacuated. If it is well, end the incident`,
    command: `lifeboat incident cancel ${id} ${reason}`,
  }),
  CLOUD_UNAVAILABLE: () => ({
    text: 'Nova does not answer. Mend it: the incident goes on by itself',
    command: 'lifeboat check',
  }),
  NOVA_REFUSED: () => ({
    text: 'Nova refuses what the recovery needs. Correct policy or credentials, then reload: it is tried again at once, and without a reload within five minutes',
    command: 'lifeboat reload',
  }),
  JOURNAL_UNAVAILABLE: () => ({
    text: 'The journal cannot be written, and nothing is done without a record. Free its disk: it goes on by itself',
    command: null,
  }),
  OTHER_INCIDENT: () => ({
    text: 'Another incident still works on instances that are on this host now. It goes on when that one is done with them; see what that one waits for',
    command: 'lifeboat incident list --open',
  }),
  WORKFLOW_UNREADABLE: ({ id, host }) => ({
    text: `This release cannot read the workflow that the incident began with. Run the release that opened it until it is over; or end it, make sure that ${host} is off, and recover it by the present workflow: lifeboat recover ${quoted(host)} --by NAME --proof "how you know that it is dead"`,
    command: `lifeboat incident cancel ${id} ${reason}`,
  }),
  INTERNAL_ERROR: ({ id }) => ({
    text: 'A bug in Lifeboat stops this recovery. It is tried again by itself, ever more rarely, and after a restart. Bring urgent instances back by hand, and report the error with the record of the incident',
    command: `lifeboat incident show ${id}`,
  }),
  MEMORY: () => ({ text: 'The daemon is short of memory. It goes on when other recoveries are over', command: null }),
}

function stateIt(why: string, { host }: Incident): { text: string; command: string } {
  return {
    text: `${why}, or see to it that ${host} is off and state that`,
    command: `lifeboat recover ${quoted(host)} --by NAME --proof "how you know that it is dead"`,
  }
}

/** The rule always; the moment only where the journal tells it. A proof that is renewed leaves no step behind when that fails. */
function triedAgain(incident: Incident, { fenceRetryMs, fenceRetryMaxMs }: FenceRetry): string {
  const first = formatDuration(fenceRetryMs)
  const rule =
    fenceRetryMs === fenceRetryMaxMs
      ? `every ${first}`
      : `after ${first}, doubling with each failure to ${formatDuration(fenceRetryMaxMs)}`
  if (incident.phase !== 'fencing') return `it is tried again by itself, ${rule}`
  const last = [...incident.hostSteps.values()].findLast(({ kind }) => kind === 'fence')
  if (last?.status !== 'failed' || last.endedAt === null)
    return `it is being tried now (${rule}), and after a reload at once`
  const pauseMs = pauseAfter(failedAttempts(incident, 'fence'), fenceRetryMs, fenceRetryMaxMs)
  const next = new Date(Date.parse(last.endedAt) + pauseMs).toISOString()
  return `it is tried again by itself at ${next} (${rule}), and after a reload at once`
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
  const who = proof.statedBy ?? attestation?.by ?? 'somebody'
  const text = `That ${host} was dead rests on the word of ${who} alone${verdict === null ? '' : `, beside ${verdict.reason}`}. Before it is powered on again, make sure that it holds none of these instances still running`
  return held === null
    ? [{ code: 'PROVEN_BY_STATEMENT', text, command: `lifeboat incident show ${id}`, instances: [] }]
    : []
}

/** Nova ends the guests that were evacuated once nova-compute starts on the host; until then nobody knows. */
function aboutRevoked({ id, host, instances }: Incident, { method }: RevokedProof): Advice[] {
  const moved = [...instances]
    .filter(([, { outcome }]) => outcome?.outcome === 'recovered')
    .map(([instance]) => instance)
  if (moved.length === 0) return []
  const text = `${host} showed life after it was proven dead by ${method}, and by then ${moved.length === 1 ? 'an instance was' : `${moved.length} instances were`} brought elsewhere. Make sure that none of them still runs on ${host} too`
  return [{ code: 'PROOF_VOIDED', text, command: `lifeboat incident show ${id}`, instances: moved }]
}

const landing = 'at 2.95 an instance lands stopped, below it as it was'

const aboutOutcome: Record<
  Exclude<OutcomeKind, 'recovered'>,
  (count: string, codes: string, one: boolean) => string
> = {
  stuck: (count, codes) =>
    `${count} stuck (${codes}): nobody knows enough to go on safely. Look at each in Nova, on its old host and its destination, before doing anything to it`,
  failed: (count, codes) =>
    `${count} not recovered (${codes}), and nothing more is tried by itself. Remove the cause, then try again on the incident's page, or evacuate by hand: ${landing}`,
  left: (count, codes, one) =>
    `${count} left where ${one ? 'it was' : 'they were'} (${codes}). The host must return, or somebody decides otherwise`,
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
  const refused = found.filter(([, recovery]) => refusalOf(recovery) !== null)
  const others = found.filter(([, recovery]) => refusalOf(recovery) === null)
  const [first] = refused
  return [
    {
      code: `INSTANCES_${outcome.toUpperCase()}`,
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
  const text = `${counted(there.length)} still on ${host} (${codes}), which is back since ${at}. Look whether ${one ? 'it runs' : 'they run'}, and start there what is off`
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
  const says = `${refused === 1 ? 'it says' : 'of the first it says'}: ${refusalOf(first) ?? ''}`
  const stay = refused === 1 ? 'it is still on it' : 'they are still on it'
  return `${counted(all)} not recovered (${codes}). Nova refuses to evacuate ${which}, by hand too (${says}). Repair ${host}: ${stay}. ${others === 0 ? 'Only once the cause is gone' : 'The others: remove the cause, then'} evacuate by hand: ${landing}`
}

/** What Nova said when it refused to evacuate for good, and nothing was sent again; null otherwise. */
function refusalOf({ steps, outcome }: InstanceRecovery): string | null {
  if (outcome?.outcome !== 'failed' || outcome.code !== 'API_REFUSED') return null
  const error = [...steps.values()].findLast(({ kind, status }) => kind === 'evacuate' && status === 'failed')?.error
  if (error?.code !== 'API_REFUSED' || error.retry !== 'never') return null
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
function aboutObserved({ closed, host, instances }: Incident): Advice[] {
  if (closed?.outcome !== 'observed') return []
  const what =
    instances.size === 0
      ? 'recover it'
      : `recover its ${instances.size === 1 ? 'instance' : `${instances.size} instances`}`
  const text = `Nothing was sent: Lifeboat only observes. If ${host} is still down, ${what} by hand; or put \`mode: armed\` into the configuration, and Lifeboat does it`
  return [{ code: 'OBSERVED', text, command: 'lifeboat reload', instances: [] }]
}

/** A plan that says hold waits for a person; it has no outcome yet while the incident is open. */
function aboutHeldInstances({ instances }: Incident): Advice[] {
  const waiting = (recovery: InstanceRecovery): boolean =>
    recovery.plan.decision === 'hold' && recovery.outcome === null
  const ids = [...instances].filter(([, recovery]) => waiting(recovery)).map(([id]) => id)
  if (ids.length === 0) return []
  const text = `${counted(ids.length)} held: what they were doing when their host died could lose data. A person decides`
  return [{ code: 'INSTANCES_HELD', text, command: `openstack server show ${ids[0]}`, instances: ids }]
}

/** Back, and not as their owners know them: one that was paused came back off, and what was in its memory is lost. */
function aboutStopped({ instances }: Incident): Advice[] {
  const ids = [...instances].flatMap(([id, { plan, outcome }]) =>
    outcome?.outcome === 'recovered' && plan.expected === 'stopped' && plan.original.wanted === 'running' ? [id] : [],
  )
  if (ids.length === 0) return []
  const text = `${counted(ids.length)} back and stopped, though not stopped before (each says why). The owner starts ${ids.length === 1 ? 'it' : 'them'}: tell them`
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
      text: `${host} is ready to return: let it back`,
      command: letBack,
      instances: [],
    })
  else if (state === 'kept-out')
    advice.push({ code: 'RETURN_KEPT_OUT', text: `${host} stays out. ${message}`, command: letBack, instances: [] })
  else if (state === 'away') {
    const text = `${host} is still away. Repair it and start its nova-compute: its return then goes on by itself`
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

/** Only where something is left to answer for: the overview names such an incident until somebody signs. */
function aboutSignOff({ id, closed, mode, instances }: Incident): Advice[] {
  if (closed === null || mode === 'observe') return []
  const left = [...instances.values()].some(({ outcome }) => outcome !== null && outcome.outcome !== 'recovered')
  const text = 'Once that is dealt with, sign this incident off: until then the overview names it'
  const command = `lifeboat incident sign-off ${id} --reason "what you conclude"`
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
