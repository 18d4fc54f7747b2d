/** How a rehearsal on an operator's own rules ended: what came of each incident, and what a person would have to do. */
import type { Config } from '../config/index.ts'
import type { Incident } from '../domain/incident.ts'
import { adviceFor } from '../review/advice.ts'
import { headline } from '../review/headline.ts'
import type { Stage } from './stage.ts'

/** Advice that is true of every incident that ends, or of hosts that nobody repairs here. */
const beside: ReadonlySet<string> = new Set(['SIGN_OFF'])

/** @param verdicts the newest of each host, in words */
export function endingOf(stage: Stage, verdicts: ReadonlyMap<string, string>, config: Config): string[] {
  const dead = [...stage.simulator.world.hosts.values()].filter(({ alive }) => !alive).map(({ name }) => name)
  const unseen = dead.filter((name) => stage.incidentOn(name) === undefined)
  const doubles = stage.simulator.truth().doubles.length
  return [
    'What came of it:',
    ...unseen.map((host) => `  ${host}: no incident. ${verdicts.get(host) ?? 'Its verdict did not change'}`),
    ...stage.incidents().flatMap((incident) => [
      `  ${headline(incident)}`,
      ...instancesOf(incident),
      ...adviceFor(incident, null, false, config)
        .filter(({ code }) => !beside.has(code))
        .map(({ text }) => `    To do: ${text}`),
    ]),
    doubles === 0 ? 'No guest ever ran twice.' : `${doubles} GUESTS RAN TWICE.`,
  ]
}

function instancesOf({ instances }: Incident): string[] {
  return [...instances.values()].map(({ plan, outcome }) => {
    const end = outcome === null ? `no outcome yet (${plan.reason})` : `${outcome.outcome} (${outcome.code})`
    return `    ${plan.name}: ${end}. ${outcome?.message ?? plan.message}`
  })
}
