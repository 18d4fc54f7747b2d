/** An order that Nova took and that does not move: people are told long before the step's time is over. */
import type { StepScene } from '../step-driver.ts'

/**
 * How long an order may stand as it is before people are told. Too short calls every large image a trouble; too long leaves an order
 * that was forgotten or lost unnoticed until the step's time is over.
 */
const standsStillMs = 300_000

/** Since when, by our own clock, it has shown the same. */
export interface Still {
  as: string
  since: number
  said: boolean
}

/** @param as all that moves as long as the order is carried out */
export function stillAs(before: Still | null, as: string, now: number): Still {
  return before?.as === as ? before : { as, since: now, said: false }
}

/** Whether it has stood still for so long that it is read more closely. */
export function isSlow({ since }: Still, now: number): boolean {
  return now - since >= standsStillMs / 2
}

/** Whether people are to be told. */
export function isUntold({ since, said }: Still, now: number): boolean {
  return !said && now - since >= standsStillMs
}

/**
 * Once for each time that it stands still.
 * @param where what stands still, where, and what to look at
 */
export function sayStill({ run, plan }: StepScene, still: Still, code: string, where: string): void {
  still.said = true
  const minutes = Math.round((run.clock.now() - still.since) / 60_000)
  const message = `${plan.name}: ${where}. Nothing has moved for ${minutes} min`
  const data = { code, message }
  run.journal.append([{ kind: 'alarm.raised', incident: run.id, host: run.host, instance: plan.instanceId, data }])
}
