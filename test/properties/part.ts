/** The property, and one part of the many scripts that `npm run properties` plays. */
import fc from 'fast-check'
import type { Scenario } from '../../src/rehearsal/scenario.ts'
import { rehearse } from '../../src/rehearsal/rehearse.ts'
import { crashScript } from './crash-scripts.ts'
import { faultScript } from './fault-scripts.ts'
import { brokenByCrashes } from './laws-of-crashes.ts'
import { brokenLaws } from './laws.ts'
import { brokenByStandby, standbyScript } from './standby-scripts.ts'

/** Throws with the laws that a script breaks. */
async function keepsTheLaws(scenario: Scenario, further: typeof brokenLaws | null = null): Promise<void> {
  let broken: string[] = ['the script was not played to its end']
  await rehearse(scenario, {
    inspect: (stage) => (broken = [...brokenLaws(stage, scenario), ...(further?.(stage, scenario) ?? [])]),
  })
  if (broken.length > 0) throw new Error(broken.join('\n'))
}

/** No law is broken, whatever goes wrong. */
export const lawsHold = fc.asyncProperty(fc.noBias(faultScript), (scenario) => keepsTheLaws(scenario))

/** Nor where guests crash on hosts that live, and the laws of crashes hold as well. */
export const lawsOfCrashesHold = fc.asyncProperty(fc.noBias(crashScript), (scenario) =>
  keepsTheLaws(scenario, brokenByCrashes),
)

/** Of two or three daemons on one journal one acts at a time, nothing is lost, and in the end one acts again. */
export const oneActs = fc.asyncProperty(fc.noBias(standbyScript), async (script) => {
  const broken = await brokenByStandby(script)
  if (broken.length > 0) throw new Error(broken.join('\n'))
})

const properties = { recoveries: lawsHold, crashes: lawsOfCrashesHold, standby: oneActs }

/** Gives what broke which law, with the smallest script that does; null when all went well. */
export async function playPart(of: keyof typeof properties, seed: number, numRuns: number): Promise<string | null> {
  const details = await fc.check<[unknown]>(properties[of] as fc.IAsyncPropertyWithHooks<[unknown]>, { seed, numRuns })
  if (!details.failed) return null
  return `${String(details.errorInstance)}\n${(await fc.asyncDefaultReportMessage(details)) ?? ''}\n`
}
