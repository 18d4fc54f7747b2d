/**
 * The command probe: a program of the operator's. Exit 0 is alive, 1 is dead, everything else (also a time-out) is
 * unknown. `{host}` and `{address}` stand in the arguments; no shell sees them.
 */
import type { Clock } from '../../domain/clock.ts'
import type { Probe } from '../../domain/verdict.ts'
import { isPlainAddress, reader, type AddressOf } from './address.ts'
import { runProgram } from './program.ts'

export function commandProbe(options: {
  name: string
  argv: readonly string[]
  address: AddressOf
  limitMs: number
  clock: Clock
}): Probe {
  const { name, clock } = options
  const say = reader(name, 'command', clock)
  const needsAddress = options.argv.some((part) => part.includes('{address}'))
  return {
    name,
    kind: 'command',
    read: async (host, signal) => {
      const address = options.address(host)
      if (!isPlainAddress(host)) return say('unknown', 'the name of the host is not a plain name')
      if (needsAddress && address === undefined) return say('unknown', 'no address is known for this host')
      if (address !== undefined && !isPlainAddress(address)) return say('unknown', 'its address is not a plain address')
      const argv = options.argv.map((part) => part.replaceAll('{host}', host).replaceAll('{address}', address ?? ''))
      const { exit, output } = await runProgram(argv, clock, options.limitMs, signal)
      const answer = exit === 0 ? 'alive' : exit === 1 ? 'dead' : 'unknown'
      return say(answer, `exit ${exit ?? 'none'}${output ? `: ${output}` : ''}`)
    },
  }
}
