/**
 * `lifeboat rehearse --config FILE`: what Lifeboat would do, by the rules of that file, on a simulated cloud that is made to fit it.
 * Reads the file and its workflows; no cloud, fencing device, probe or receiver of notices is reached, and no secret is read.
 */
import type { Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Workflows } from '../engine/workflow.ts'
import { loadConfiguration, type Config } from '../config/index.ts'
import { readConfigTexts } from '../config/files.ts'
import { mergeTexts } from '../config/merged-source.ts'
import { cloudOf, drillsOf } from './drills.ts'
import { list, nameOf, ownCloud, type OwnCloud } from './own-cloud.ts'
import { endingOf } from './own-ending.ts'
import { ownConfiguration } from './own-configuration.ts'
import { fileOf, show, tellEnd, type RehearsalLine } from './performance.ts'
import { loadScenario, type Scenario } from './scenario.ts'
import type { Ground, Stage } from './stage.ts'

export interface OwnRehearsal {
  config: string
  /** The path of a scenario of one's own; null: one host of each segment dies, fencing fails, and more hosts die than the brake lets through. */
  scenario: string | null
  raw: boolean
  live: boolean
  clock: Clock
  env: Readonly<Record<string, string | undefined>>
  /** The workflows that the configuration names. Throws WORKFLOW_INVALID. */
  workflows: (config: Config) => Workflows
}

/** Throws CONFIG_INVALID, WORKFLOW_INVALID, NOT_FOUND, and STEP_TIMEOUT for a script that hangs. */
export async function performOwn(tell: (line: RehearsalLine) => void, order: OwnRehearsal): Promise<void> {
  const { config: file, raw, live, clock } = order
  const { config } = loadConfiguration(file, order.env, { withSecrets: false })
  const workflows = order.workflows(config)
  const cloud = ownCloud(config)
  const scenarios = order.scenario === null ? drillsOf(config, cloud) : [onOwnCloud(order.scenario, config, cloud)]
  const written = mergeTexts(readConfigTexts(file)).data as Record<string, unknown>
  const ground: Ground = {
    configuration: () => ownConfiguration(written, config, cloud.hosts),
    workflows: () => workflows,
  }
  tellEnd(tell, about(file, config, cloud))
  for (const [at, scenario] of scenarios.entries()) {
    const story = `\n# ${scenarios.length === 1 ? '' : `${at + 1} of ${scenarios.length}: `}${scenario.title}`
    const ended: string[] = []
    const verdicts = new Map<string, string>()
    const listen = (line: RehearsalLine): void => {
      if (line.kind === 'verdict.changed' && line.host !== null) verdicts.set(line.host, line.message)
      tell(line)
    }
    const inspect = (stage: Stage): void => void ended.push(...endingOf(stage, verdicts, config))
    await show(listen, { scenario, story, raw, live, clock, ground, inspect })
    tellEnd(tell, ['', ...ended])
  }
}

function about(file: string, config: Config, { hosts, assumptions }: OwnCloud): string[] {
  const segments = [...new Set(hosts.map(({ segment }) => segment.name))].map((name) => {
    const members = hosts.filter(({ segment }) => segment.name === name).map((host) => host.name)
    return `${nameOf(name)}: ${list(members)}`
  })
  return [
    `A simulated cloud by the rules of ${file}. Nothing real is touched.`,
    ...segments.map((line) => `  ${line}`),
    ...(assumptions.length === 0 ? [] : ['The file does not say:', ...assumptions.map((line) => `  ${line}`)]),
    ...(config.mode === 'observe'
      ? ['The file says mode: observe. Here Lifeboat is armed, so that you see what it would do.']
      : []),
    'Notices and maintenance windows are left out. Each dying host has six instances, one of each kind that rules tell apart.',
  ]
}

/** Throws NOT_FOUND, and CONFIG_INVALID where the scenario is not about hosts of this cloud. */
function onOwnCloud(wanted: string, config: Config, { hosts }: OwnCloud): Scenario {
  const scenario = loadScenario(fileOf(wanted))
  const known = new Set(hosts.map(({ name }) => name))
  const strange = [...new Set([...scenario.instances.map(({ host }) => host), ...hostsOf(scenario)])].filter(
    (name) => !known.has(name),
  )
  if (strange.length > 0)
    throw new LifeboatError(
      'CONFIG_INVALID',
      `${wanted} is about ${list(strange)}, which the configuration does not have`,
      {
        details: {
          problems: [
            `its hosts: ${list([...known])}`,
            'without a scenario, `lifeboat rehearse --config FILE` lets hosts of each segment die',
          ],
        },
      },
    )
  const { hosts: names, aggregates } = cloudOf(config, hosts)
  return {
    ...scenario,
    cloud: { ...scenario.cloud, hosts: names, aggregates: [...aggregates, ...scenario.cloud.aggregates] },
  }
}

/** Of acts that take hosts. */
function hostsOf({ script }: Scenario): string[] {
  return script.flatMap(({ act }) => {
    if (act === null) return []
    const { given } = act as { given: unknown }
    if (['crash', 'isolate', 'partition', 'start'].includes(act.name)) return given as string[]
    const { host } = given as { host?: unknown }
    return typeof host === 'string' ? [host] : []
  })
}
