/** The ping probe: one ICMP echo by the system's ping. Silence is dead; anything ping itself complains about is unknown. */
import type { Clock } from '../../domain/clock.ts'
import type { Probe } from '../../domain/verdict.ts'
import { isPlainAddress, reader, type AddressOf } from './address.ts'
import { runProgram } from './program.ts'

/** Time ping needs beside its wait (start, output). Too small: a dead host reads as unknown. */
const startMarginMs = 500

/**
 * Ping ends with 1 also where our own machine did not let it out, and where a firewall or a router answered in the host's place: none of
 * these speaks about the host.
 */
const notOfTheHost =
  /^\S*ping: |local error|prohibited|filtered|Net Unreachable|No route|Beyond scope|Time to live exceeded|Time exceeded/i

export function pingProbe(options: {
  name: string
  address: AddressOf
  limitMs: number
  clock: Clock
  /** Default: `ping` on the PATH. */
  program?: string
}): Probe {
  const { name, clock, limitMs } = options
  const say = reader(name, 'ping', clock)
  const wait = Math.max(0.1, (limitMs - startMarginMs) / 1_000).toFixed(1)
  return {
    name,
    kind: 'ping',
    read: async (host, signal) => {
      const address = options.address(host)
      if (address === undefined) return say('unknown', 'no address is known for this host')
      if (!isPlainAddress(address)) return say('unknown', 'its address is not a plain address')
      const argv = [options.program ?? 'ping', '-c', '1', '-W', wait, '-n', '--', address]
      const { exit, lines } = await runProgram(argv, clock, limitMs, signal, { LC_ALL: 'C' })
      const isSilence = exit === 1 && !lines.some((line) => notOfTheHost.test(line))
      const answer = exit === 0 ? 'alive' : isSilence ? 'dead' : 'unknown'
      return say(answer, `${address}: ${inShort(answer, lines, wait)}`)
    },
  }
}

/** The one line of ping's output that says why. */
function inShort(answer: 'alive' | 'dead' | 'unknown', lines: readonly string[], wait: string): string {
  const found = (pattern: RegExp): string | undefined => lines.flatMap((line) => pattern.exec(line)?.[1] ?? [])[0]
  if (answer === 'alive') {
    const took = found(/time[=<]([\d.]+ ?ms)/)
    return took === undefined ? 'answered' : `answered in ${took}`
  }
  if (answer === 'dead') return found(/^(From \S+ .*)$/) ?? `no answer within ${wait} s`
  return found(/^((?!PING |---).+)$/) ?? 'ping failed without a word'
}
