/** What a person must do about instances that are off since their host came back by itself. Pure. */
import { afterReturnRule, offAfterReturn, waitingForStart } from '../domain/after-return.ts'
import { inDoubtEarlier } from '../domain/earlier-recovery.ts'
import type { Incident, InstanceRecovery } from '../domain/incident.ts'
import type { Advice } from '../domain/review.ts'

export function aboutReturned(incident: Incident): Advice[] {
  const { id, host, watched, startOrder } = incident
  if (watched === null) return []
  const off = offAfterReturn(incident)
  const waiting = waitingForStart(incident)
  const inDoubt = off.filter(({ plan }) => plan.reason === inDoubtEarlier)
  const owners = off.filter((one) => one.plan.decision === 'leave' && !inDoubt.includes(one))
  const notStarted = off.filter(({ plan }) => plan.decision !== 'leave').filter((one) => !waiting.includes(one))
  const command = `lifeboat incident start ${id} --reason "why"`
  const advice: Advice[] = []
  if (inDoubt.length > 0)
    advice.push({
      code: 'INSTANCES_PERHAPS_ELSEWHERE',
      text: `${counted(inDoubt)} off here, but the guest may run elsewhere: an earlier incident could not tell. The outcome of each says what to check before anyone starts ${all(inDoubt)}`,
      ...{ command: null, instances: ids(inDoubt) },
    })
  if (waiting.length > 0 && startOrder === null)
    advice.push({
      code: 'INSTANCES_OFF',
      text: `${counted(waiting)} off since ${host} went down. Once you trust the host, start ${all(waiting)} with one command`,
      ...{ command, instances: ids(waiting) },
    })
  if (waiting.length > 0 && startOrder !== null)
    advice.push({
      code: 'INSTANCES_BEING_STARTED',
      text: `${counted(waiting)} to be started, as ${startOrder.by} ordered. If nothing happens, a pause or the host is holding it up`,
      ...{ command: 'lifeboat status', instances: ids(waiting) },
    })
  if (notStarted.length > 0)
    advice.push({
      code: 'INSTANCES_NOT_STARTED',
      text: `${counted(notStarted)} off, and Lifeboat could not start ${all(notStarted)} (${codes(notStarted)}). Remove the cause, then order it again`,
      ...{ command, instances: ids(notStarted) },
    })
  if (owners.length > 0)
    advice.push({
      code: 'INSTANCES_OFF_FOR_OWNERS',
      text: `${counted(owners)} off (${codes(owners)}). ${owners.length === 1 ? 'Only its owner can start it: send them this command' : 'Only their owners can start them: send each this command'}`,
      ...{ command: `openstack server start ${owners[0]?.plan.instanceId ?? ''}`, instances: ids(owners) },
    })
  if (watched.to === 'watching')
    advice.push({
      code: 'INSTANCES_WATCHED',
      text: `Nova may still show instances of ${host} as running although they are off: it compares within a minute of the host's return, and again after ten. Lifeboat lists here what it finds`,
      ...{ command: null, instances: [] },
    })
  return advice
}

/** Whether another kind of advice speaks of it: one that died with its host and was never moved. */
export function isAfterReturn({ plan }: Pick<InstanceRecovery, 'plan'>): boolean {
  return plan.rule === afterReturnRule
}

function counted({ length }: readonly unknown[]): string {
  return length === 1 ? 'One instance is' : `${length} instances are`
}

function all({ length }: readonly unknown[]): string {
  return length === 1 ? 'it' : 'them all'
}

function codes(some: readonly InstanceRecovery[]): string {
  return [...new Set(some.map(({ plan, outcome }) => outcome?.code ?? plan.reason))].join(', ')
}

function ids(some: readonly InstanceRecovery[]): string[] {
  return some.map(({ plan }) => plan.instanceId)
}
