/**
 * An operator's configuration for a simulated cloud: every rule as it is written, and nothing that reaches anything real. Pure, in the
 * words of the configuration file.
 */
import { gapsOf, type Config, type FencingConfig } from '../config/index.ts'
import { simulatedBmc } from './base-configuration.ts'
import type { OwnHost } from './own-cloud.ts'

type Words = Record<string, unknown>

/** What reaches something real, or would hold a rehearsal up: people, other daemons, clocks. */
const leftOut = [
  ...['cloud', 'state_dir', 'socket', 'shared_journal', 'http', 'web', 'masakari_api', 'log', 'workflows'],
  ...['maintenance_windows', 'notices'],
]

/** @param written what the files say, laid over each other; it has been checked */
export function ownConfiguration(written: Words, config: Config, hosts: readonly OwnHost[]): Words {
  const rules = Object.fromEntries(Object.entries(written).filter(([key]) => !leftOut.includes(key)))
  const fencing = Object.entries((written['fencing'] ?? {}) as Record<string, Words>)
  const probes = Object.entries((written['probes'] ?? {}) as Record<string, Words>)
  return {
    ...rules,
    mode: 'armed',
    hosts: {
      ...config.hosts,
      ...variables(
        config,
        fencing.map(([name]) => name),
        hosts,
      ),
    },
    fencing: Object.fromEntries(fencing.map(([name, method], at) => [name, simulatedMethod(method, at)])),
    probes: Object.fromEntries(
      probes.map(([name, probe]) => [
        name,
        probe['kind'] === 'redfish' ? simulatedBmc(probe, '{host}') : withoutSecrets(probe),
      ]),
    ),
  }
}

/** A method's variable is there for the hosts that it reaches: one that lacks what the method needs stays out of its reach. */
function variables(config: Config, methods: readonly string[], hosts: readonly OwnHost[]): Record<string, Words> {
  return Object.fromEntries(
    hosts.map(({ name, madeUp }) => {
      const reached = methods.flatMap((method, at) =>
        madeUp || gapsOf(config, name, [method]).length === 0 ? [[variableOf(at), name]] : [],
      )
      return [name, { ...config.hosts[name], ...Object.fromEntries(reached) }]
    }),
  )
}

function variableOf(method: number): string {
  return `simulated_${method + 1}`
}

/** What stands in for a method of each kind. */
const simulated: Record<FencingConfig['kind'], (method: Words, target: string) => Words> = {
  redfish: simulatedBmc,
  'fence-agent': (method, target) => ({ ...method, options: { plug: target }, secret_options_files: {} }),
  command: (method, target) => {
    const what = method['proves'] === 'storage' ? 'storage' : 'power'
    return { ...method, fence: [`fence-${what}`, target], verify: [`verify-${what}`, target] }
  },
}

function simulatedMethod(method: Words, at: number): Words {
  return simulated[method['kind'] as FencingConfig['kind']](method, `{${variableOf(at)}}`)
}

/** Programs, ports and metrics are simulated by their kind: where they would be asked and how does not matter. */
function withoutSecrets(probe: Words): Words {
  const secrets = ['password', 'token'].filter((secret) => Object.keys(probe).some((key) => key.startsWith(secret)))
  const kept = Object.entries(probe).filter(
    ([key]) => !/^(password|token)(_file|_env)?$/.test(key) && key !== 'ca_file',
  )
  return { ...Object.fromEntries(kept), ...Object.fromEntries(secrets.map((secret) => [secret, 'simulated'])) }
}
