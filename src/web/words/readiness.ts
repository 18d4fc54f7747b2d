/** How readiness is said on the pages. Pure. */
import type { FencingState, HostReadiness } from '../../domain/readiness.ts'
import { span } from '../../domain/text/span.ts'
import type { Tone } from '../../domain/text/tone.ts'
import { counted } from './count.ts'

export const fencingWord: Record<FencingState, string> = {
  answers: 'answers',
  silent: 'silent',
  unread: 'not read yet',
  none: 'none',
}

export const holdWord: Record<HostReadiness['holds'][number]['code'], string> = {
  MAINTENANCE: 'maintenance',
  PAUSED: 'paused',
  FROZEN: 'frozen',
  BRAKE: 'brake',
}

/** 14 of 17 */
export function backText({ plan }: Pick<HostReadiness, 'plan'>): string {
  if (plan === null) return 'not read yet'
  return plan.instances === 0 ? 'no instances' : `${plan.back} of ${plan.instances}`
}

/** 2 LOCAL_DISK, 1 VTPM */
export function leftText({ plan }: Pick<HostReadiness, 'plan'>): string {
  return (plan?.left ?? []).map(({ instances, reason }) => `${instances} ${reason}`).join(', ')
}

export function estimateText({ estimateMs }: Pick<HostReadiness, 'estimateMs'>): string {
  return estimateMs === null ? 'unknown' : span(estimateMs)
}

/** What keeps it from failing safely, as sentences: what would make its recovery wait, what it lacks, and what would be left. */
export function gapSentences({ holds, missing, plan }: Pick<HostReadiness, 'holds' | 'missing' | 'plan'>): string[] {
  const left = (plan?.left ?? []).map(
    ({ instances, decision, message }) =>
      `${counted(instances, 'instance')} would be ${decision === 'hold' ? 'held for a person' : 'left'}: ${message}`,
  )
  return [...holds, ...missing].map(({ message }) => message).concat(left)
}

/** Only a person could have it recovered. */
export function needsPerson({ fencing }: Pick<HostReadiness, 'fencing'>): boolean {
  return fencing.state === 'none' || fencing.state === 'silent'
}

export function leavesSome({ plan }: Pick<HostReadiness, 'plan'>): boolean {
  return plan !== null && plan.back < plan.instances
}

export function readinessTone(host: HostReadiness): Tone {
  if (needsPerson(host)) return 'bad'
  return host.holds.length > 0 || leavesSome(host) || host.missing.length > 0 ? 'wait' : 'good'
}
