/**
 * The tcp probe: does a kernel answer at host:port? A refused connection is as much a sign of life as an accepted one.
 * Only a network that says "nobody there" or says nothing at all counts as dead.
 */
import dns from 'node:dns'
import { connect, isIP } from 'node:net'
import { deadline, type Clock } from '../../domain/clock.ts'
import type { Probe } from '../../domain/verdict.ts'
import { isPlainAddress, reader, type AddressOf } from './address.ts'
import { span } from '../../domain/text/span.ts'
import { sharedLookups } from '../../system/name-lookups.ts'

/** Names of hosts looked up at once. More: Nova's own name waits behind them. Fewer: one name that hangs takes the witness of more hosts away. */
const lookup = sharedLookups(dns.lookup, 4)

export function tcpProbe(options: {
  name: string
  address: AddressOf
  port: number
  limitMs: number
  clock: Clock
}): Probe {
  const { name, clock, port } = options
  const say = reader(name, 'tcp', clock)
  return {
    name,
    kind: 'tcp',
    read: (host, signal) => {
      const address = options.address(host)
      if (address === undefined) return Promise.resolve(say('unknown', 'no address is known for this host'))
      if (!isPlainAddress(address)) return Promise.resolve(say('unknown', 'its address is not a plain address'))
      const where = `${address}:${port}`
      const limit = deadline(clock, options.limitMs, signal)
      return new Promise((resolve) => {
        // One address, and all the time for it: of several Node would give each a quarter of a second, and tell of the first alone.
        const socket = connect({ host: address, port, lookup, autoSelectFamily: false })
        // Until its name is resolved nobody has asked the host anything.
        let asked = isIP(address) !== 0
        socket.once('lookup', () => {
          asked = true
        })
        const end = (answer: 'alive' | 'dead' | 'unknown', detail: string): void => {
          limit.release()
          socket.destroy()
          resolve(say(answer, `${where}: ${detail}`))
        }
        // A time-out only speaks against the host when it was ours: an aborted round says nothing.
        const late = (): void => {
          if (!limit.expired()) end('unknown', 'stopped')
          else if (!asked) end('unknown', `its name did not resolve within ${span(options.limitMs)}`)
          // When we ourselves stood still, the answer may be waiting beside the timer: what the kernel holds comes first.
          else clock.after(0, () => end('dead', `no answer within ${span(options.limitMs)}`))
        }
        if (limit.signal.aborted) late()
        else limit.signal.addEventListener('abort', late, { once: true })
        socket.once('connect', () => end('alive', 'accepted'))
        socket.once('error', (error: NodeJS.ErrnoException) => end(meaning(error.code), error.code ?? error.message))
      })
    },
  }
}

/** ENETUNREACH is our own side's trouble, a name that does not resolve is DNS's: neither speaks about the host. */
function meaning(code: string | undefined): 'alive' | 'dead' | 'unknown' {
  if (code === 'ECONNREFUSED' || code === 'ECONNRESET') return 'alive'
  return code === 'ETIMEDOUT' || code === 'EHOSTUNREACH' || code === 'EHOSTDOWN' ? 'dead' : 'unknown'
}
