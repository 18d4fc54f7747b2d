/**
 * The ipmi probe: a BMC's power by ipmitool. Off is dead, On is unknown (a hung kernel has power too), everything else is
 * unknown. It can only ask: fencing/ is what powers off. The password goes by the environment, for arguments can be read
 * by every user of the machine.
 */
import type { Clock } from '../../domain/clock.ts'
import type { Probe } from '../../domain/verdict.ts'
import { isPlainAddress, reader, type AddressOf } from './address.ts'
import { runProgram, type ProgramEnd } from './program.ts'

export function ipmiProbe(options: {
  name: string
  address: AddressOf
  port: number
  username: string
  password: string
  /** `lan` is IPMI 1.5, for BMCs that are older than 2004. */
  interface: 'lanplus' | 'lan'
  /** Null: ipmitool asks the BMC for its best. */
  cipherSuite: number | null
  limitMs: number
  clock: Clock
  /** Default: `ipmitool` on the PATH. */
  program?: string
}): Probe {
  const { name, clock } = options
  const say = reader(name, 'ipmi', clock)
  // ipmitool takes the first of the two that is set: one that the daemon inherited must not win.
  const environment = { IPMITOOL_PASSWORD: options.password, IPMI_PASSWORD: options.password }
  return {
    name,
    kind: 'ipmi',
    read: async (host, signal) => {
      const address = options.address(host)
      if (address === undefined)
        return { ...say('unknown', 'no address of a BMC is known for this host'), power: 'unknown' }
      if (!isPlainAddress(address))
        return { ...say('unknown', 'the address of its BMC is not a plain address'), power: 'unknown' }
      const argv = [
        ...[options.program ?? 'ipmitool', '-I', options.interface, '-H', address, '-p', String(options.port)],
        // Asking needs no more than USER: with it, the daemon's account on the BMC need not be able to power anything off.
        ...['-U', options.username, '-E', '-L', 'USER'],
        ...(options.cipherSuite === null ? [] : ['-C', String(options.cipherSuite)]),
        ...['chassis', 'power', 'status'],
      ]
      const { power, detail } = powerIn(await runProgram(argv, clock, options.limitMs, signal, environment))
      return { ...say(power === 'off' ? 'dead' : 'unknown', `${address}: ${detail}`), power }
    },
  }
}

/**
 * What ipmitool said. Only its own sentence with exit 0 counts: it also complains on the same output about things that do
 * not matter ("Get HPM.x Capabilities request failed" with every account below administrator).
 */
export function powerIn({ exit, lines, output }: ProgramEnd): { power: 'on' | 'off' | 'unknown'; detail: string } {
  const said = lines.flatMap((line) => /^Chassis Power is (on|off)$/.exec(line)?.[1] ?? [])
  const power = said[0]
  if (exit === 0 && said.length === 1 && (power === 'on' || power === 'off'))
    return { power, detail: `power reads ${power}` }
  const why = lines.findLast((line) => line.startsWith('Error')) ?? lines.at(-1) ?? output
  return { power: 'unknown', detail: `ipmitool, exit ${exit ?? 'none'}: ${why || 'said nothing'}` }
}
