/**
 * Fencing by the operator's own programs: one that fences, one that verifies. `{host}` and variables such as `{rack}`
 * stand in the arguments; no shell sees them.
 *
 * fence:  0 done; anything else failed.    verify:  0 the host is off, 1 it is on, anything else nobody knows.
 */
import type { Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { PowerReading, ProofSubject } from '../domain/fencing.ts'
import type { HostName } from '../domain/service.ts'
import type { FencingMethod } from './method.ts'
import { runProgram, type RunProgram } from './program.ts'
import { verifiedOff, type VerifySettings } from './verified-off.ts'

export interface CommandMethodOptions {
  name: string
  clock: Clock
  fence: readonly string[]
  verifyCommand: readonly string[]
  /** Values for the host's variables. Undefined: not covered. */
  variables: (host: HostName) => Readonly<Record<string, string>> | undefined
  verify: VerifySettings
  /** One run of a program. Too short: it is killed while it still works. */
  runLimitMs: number
  /** How programs are run. Default: as processes. */
  run?: RunProgram | undefined
  /** Default: power. */
  proves?: ProofSubject
  /** The fence program is run again this often while its proof is needed, ms. Longer than what it did lasts: a gap. */
  renewEveryMs?: number
}

export function commandMethod(method: CommandMethodOptions): FencingMethod {
  const { name, clock, run = runProgram } = method
  const argvFor = (template: readonly string[], host: HostName): string[] => {
    const variables = method.variables(host)
    if (!variables) throw new LifeboatError('FENCE_FAILED', `${name}: nothing is configured for ${host}`)
    return fill(template, { ...variables, host })
  }
  const look = async (host: HostName, signal?: AbortSignal): Promise<PowerReading> => {
    const argv = argvFor(method.verifyCommand, host)
    const { exit, output } = await run({ argv, clock, limitMs: method.runLimitMs, signal })
    const power = exit === 0 ? 'off' : exit === 1 ? 'on' : 'unknown'
    return { power, detail: `verify: exit ${exit ?? 'none'}${output ? `, ${output}` : ''}` }
  }
  const fence = async (host: HostName, signal?: AbortSignal): Promise<string[]> => {
    const argv = argvFor(method.fence, host)
    const { exit, output, started } = await run({ argv, clock, limitMs: method.runLimitMs, signal })
    const told = `fence: exit ${exit ?? 'none'}${output ? `, ${output}` : ''}`
    if (exit === 0) return [told]
    throw new LifeboatError('FENCE_FAILED', `${name} could not fence ${host}: ${told}`, {
      certainty: started ? 'unknown' : 'not-applied',
      retry: 'backoff',
      details: { host },
    })
  }
  return {
    name,
    strength: 'command-verified',
    ...(method.proves !== undefined && { proves: method.proves }),
    ...(method.renewEveryMs !== undefined && { renewEveryMs: method.renewEveryMs, renew: fence }),
    // A host without a variable that the programs use is not covered: nothing half known is run.
    covers: (host) => {
      const variables = method.variables(host)
      return variables !== undefined && hasAll([...method.fence, ...method.verifyCommand], { ...variables, host })
    },
    look,
    off: async (host, signal, mayAct) => {
      mayAct?.()
      const told = await fence(host, signal)
      return [...told, ...(await verifiedOff(host, (limit) => look(host, limit), clock, method.verify, signal))]
    },
  }
}

const variable = /\{([a-zA-Z_][a-zA-Z0-9_]*)\}/g

function hasAll(template: readonly string[], variables: Readonly<Record<string, string>>): boolean {
  const used = template.flatMap((part) => [...part.matchAll(variable)].map((match) => match[1] ?? ''))
  return used.every((key) => Object.hasOwn(variables, key))
}

/** Throws FENCE_FAILED on a variable that is missing, or that a program could take for an option. */
export function fill(template: readonly string[], variables: Readonly<Record<string, string>>): string[] {
  return template.map((part) =>
    part.replaceAll(variable, (_whole, key: string) => {
      const value = Object.hasOwn(variables, key) ? variables[key] : undefined
      if (value === undefined) throw new LifeboatError('FENCE_FAILED', `The command uses {${key}}, which is not set`)
      if (value.startsWith('-') || value.includes('\0')) {
        throw new LifeboatError('FENCE_FAILED', `The value of {${key}} could be taken for an option`)
      }
      return value
    }),
  )
}
