/** Where a probe finds a host. An address goes into argument lists: anything that could be an option is refused. */
import type { Clock } from '../../domain/clock.ts'
import type { HostName } from '../../domain/service.ts'
import type { ProbeReading } from '../../domain/verdict.ts'

export type AddressOf = (host: HostName) => string | undefined

/** A name or an IP address, IPv6 zone included, that no program takes for an option. */
export function isPlainAddress(text: string): boolean {
  return text.length <= 255 && /^[0-9a-zA-Z:_[][0-9a-zA-Z:._%\]-]*$/.test(text)
}

/** Fills in name, kind and time of a reading. */
export function reader(name: string, kind: ProbeReading['kind'], clock: Clock) {
  return (answer: ProbeReading['answer'], detail: string): ProbeReading => ({
    probe: name,
    kind,
    answer,
    detail,
    at: new Date(clock.wall()).toISOString(),
  })
}
