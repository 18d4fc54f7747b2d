/** The property, and one part of the many scripts that `npm run properties` plays. */
import fc from 'fast-check'
import type { Scenario } from '../../src/rehearsal/scenario.ts'
import { rehearse } from '../../src/rehearsal/rehearse.ts'
import { faultScript } from './fault-scripts.ts'
import { brokenLaws } from './laws.ts'

/** Throws with the laws that a script breaks. */
async function keepsTheLaws(scenario: Scenario): Promise<void> {
  let broken: string[] = ['the script was not played to its end']
  await rehearse(scenario, { inspect: (stage) => (broken = brokenLaws(stage, scenario)) })
  if (broken.length > 0) throw new Error(broken.join('\n'))
}

/** No law is broken, whatever goes wrong. */
export const lawsHold = fc.asyncProperty(fc.noBias(faultScript), keepsTheLaws)

/** Gives what broke which law, with the smallest script that does; null when all went well. */
export async function playPart(seed: number, numRuns: number): Promise<string | null> {
  const details = await fc.check(lawsHold, { seed, numRuns })
  if (!details.failed) return null
  return `${String(details.errorInstance)}\n${(await fc.asyncDefaultReportMessage(details)) ?? ''}\n`
}
