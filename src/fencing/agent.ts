/**
 * Fencing through any ClusterLabs fence agent (fence_redfish, fence_ipmilan, …). Options go in on stdin, one key=value a
 * line, so that no password is ever in a process list. `off`, then `status` until it said off twice.
 */
import type { Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { PowerReading } from '../domain/fencing.ts'
import type { HostName } from '../domain/service.ts'
import type { FencingMethod } from './method.ts'
import { runProgram, type ProgramEnd, type RunProgram } from './program.ts'
import { verifiedOff, type VerifySettings } from './verified-off.ts'

export interface AgentMethodOptions {
  name: string
  clock: Clock
  /** Path or name of the agent. */
  agent: string
  /** The agent's options for a host, passwords resolved. Undefined: not covered. */
  options: (host: HostName) => Readonly<Record<string, string>> | undefined
  verify: VerifySettings
  /** Names of options whose values are in no output, beside those whose names say so. */
  secrets?: readonly string[]
  /** One run of the agent. Shorter than the agent's own power_timeout (20 s): it is killed while it still works. */
  runLimitMs: number
  /** How programs are run. Default: as processes. */
  run?: RunProgram | undefined
}

/** What `status` exits with, by the agents' protocol. */
const statusExit: Record<number, PowerReading['power']> = { 0: 'on', 2: 'off' }

export function agentMethod(method: AgentMethodOptions): FencingMethod {
  const { name, clock, run: runAgent = runProgram } = method

  const run = (host: HostName, action: 'off' | 'status', signal?: AbortSignal): Promise<ProgramEnd> => {
    const options = method.options(host)
    if (!options) throw new LifeboatError('FENCE_FAILED', `${name}: nothing is configured for ${host}`)
    const secrets = Object.keys(options)
      .filter((key) => isSecret(key) || method.secrets?.includes(key) === true)
      .map((key) => options[key] ?? '')
    const stdin = agentInput(options, action)
    return runAgent({ argv: [method.agent], stdin, clock, limitMs: method.runLimitMs, signal, secrets })
  }

  const look = async (host: HostName, signal?: AbortSignal): Promise<PowerReading> => {
    const { exit, output } = await run(host, 'status', signal)
    const power = exit === null || couldNotRead(exit, output) ? 'unknown' : (statusExit[exit] ?? 'unknown')
    return { power, detail: `${method.agent} status: exit ${exit ?? 'none'}${output ? `, ${output}` : ''}` }
  }

  return {
    name,
    strength: 'agent-verified',
    covers: (host) => method.options(host) !== undefined,
    look,
    off: async (host, signal, mayAct) => {
      mayAct?.()
      const end = await run(host, 'off', signal)
      const told = `${method.agent} off: exit ${end.exit ?? 'none'}${end.output ? `, ${end.output}` : ''}`
      if (end.exit !== 0 && (isNoAgent(end.exit) || (await look(host, signal)).power !== 'off')) {
        throw new LifeboatError('FENCE_FAILED', `${name} could not fence ${host}: ${told}`, {
          certainty: end.started ? 'unknown' : 'not-applied',
          retry: 'backoff',
          details: { host },
        })
      }
      return [told, ...(await verifiedOff(host, (limit) => look(host, limit), clock, method.verify, signal))]
    },
  }
}

/** The stdin of an agent. Throws FENCE_FAILED on a key or value that could smuggle in another option. */
export function agentInput(options: Readonly<Record<string, string>>, action: 'off' | 'status'): string {
  const lines = [`action=${action}`]
  for (const [key, value] of Object.entries(options)) {
    if (!/^[a-zA-Z][a-zA-Z0-9_-]*$/.test(key)) {
      throw new LifeboatError('FENCE_FAILED', `A fence agent cannot have an option named ${JSON.stringify(key)}`)
    }
    // `option` is the old name of `action`. Only off and status are ever asked for.
    if (['action', 'option'].includes(key.toLowerCase())) {
      throw new LifeboatError('FENCE_FAILED', `The option ${key} of a fence agent is not configurable`)
    }
    if (hasControlCharacter(value)) {
      throw new LifeboatError(
        'FENCE_FAILED',
        `The value of the fence agent's option ${key} has a line break or control character`,
      )
    }
    lines.push(`${key}=${value}`)
  }
  return `${lines.join('\n')}\n`
}

function hasControlCharacter(value: string): boolean {
  return /\p{Cc}/u.test(value)
}

/**
 * An interpreter that cannot read the agent's file ends with 2, as an agent does whose host is off. A text only ever makes us more careful: what
 * says so is no reading.
 */
function couldNotRead(exit: number, output: string): boolean {
  return exit === 2 && /permission denied|can(?:'t|not) (?:open|read)|no such file/i.test(output)
}

/**
 * Agents end `off` with 0 or 1. An interpreter that cannot read the agent's file ends with 2 whatever it is asked: a `status` that ends so
 * has read nothing.
 */
function isNoAgent(exit: number | null): boolean {
  return exit !== null && exit > 1
}

function isSecret(key: string): boolean {
  return /pass|secret|token|key|community/i.test(key)
}
