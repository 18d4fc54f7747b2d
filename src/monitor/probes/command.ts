/**
 * The command probe: a program of the operator's. Exit 0 is alive, 1 is dead, everything else (also a time-out) is
 * unknown. The host's variables stand in the arguments; no shell sees them.
 */
import type { Clock } from '../../domain/clock.ts'
import type { Probe } from '../../domain/verdict.ts'
import type { HostName } from '../../domain/service.ts'
import { isPlainAddress, reader } from './address.ts'
import { runProgram } from './program.ts'

export function commandProbe(options: {
  name: string
  /** As written, and with a host's variables; undefined for a host that lacks one: asked without it, every program would call it dead. */
  argv: readonly string[]
  argvOf: (host: HostName) => readonly string[] | undefined
  limitMs: number
  clock: Clock
}): Probe {
  const { name, clock } = options
  const say = reader(name, 'command', clock)
  return {
    name,
    kind: 'command',
    read: async (host, signal) => {
      if (!isPlainAddress(host)) return say('unknown', 'the name of the host is not a plain name')
      const argv = options.argvOf(host)
      if (argv === undefined) return say('unknown', 'this host lacks a variable of its arguments')
      // A value must not turn into an option of the program.
      const isOption = (part: string, nth: number): boolean =>
        part.startsWith('-') && !(options.argv[nth] ?? '').startsWith('-')
      if (argv.some(isOption)) return say('unknown', 'a variable of this host would be an option of its program')
      const { exit, output } = await runProgram(argv, clock, options.limitMs, signal)
      const answer = exit === 0 ? 'alive' : exit === 1 ? 'dead' : 'unknown'
      return say(answer, `exit ${exit ?? 'none'}${output ? `: ${output}` : ''}`)
    },
  }
}
