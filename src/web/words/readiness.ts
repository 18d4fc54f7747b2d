/** How readiness is said on the pages. Pure. */
import type { FencingState, HostReadiness } from '../../domain/readiness.ts'
import { span } from '../../domain/text/span.ts'
import type { VerdictKind } from '../../domain/verdict.ts'
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

const outOfService: ReadonlySet<VerdictKind> = new Set(['host-down', 'declared-down', 'recovering', 'returning'])

/** It has failed already: what a failure of it would do was counted before. */
export function isOut({ verdict, incident }: Pick<HostReadiness, 'verdict' | 'incident'>): boolean {
  return incident !== null || outOfService.has(verdict)
}

/** 14 of 17 */
export function backText(host: Pick<HostReadiness, 'plan' | 'verdict' | 'incident'>): string {
  if (isOut(host)) return host.incident === null ? 'out of service' : 'has failed: see its incident'
  const { plan } = host
  if (plan === null) return 'not read yet'
  return plan.instances === 0 ? 'no instances' : `${plan.back} of ${plan.instances}`
}

/** 2 LOCAL_DISK, 1 VTPM */
export function leftText({ plan }: Pick<HostReadiness, 'plan'>): string {
  return (plan?.left ?? []).map(({ instances, reason }) => `${instances} ${reason}`).join(', ')
}

export function estimateText(host: Pick<HostReadiness, 'estimateMs' | 'verdict' | 'incident'>): string {
  const { estimateMs } = host
  if (isOut(host)) return '–'
  return estimateMs === null ? 'unknown' : span(estimateMs)
}

/** What keeps it from failing safely, as sentences: what would make its recovery wait, what it lacks, and what would be left. */
export function gapSentences(host: HostReadiness): string[] {
  const { holds, missing, plan } = host
  const left = (isOut(host) ? [] : (plan?.left ?? [])).map(
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
