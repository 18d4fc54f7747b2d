/** What a fencing method must be able to do. Methods only take power away: nothing in fencing/ can turn a host on. */
import type { PowerReading, ProofStrength, ProofSubject } from '../domain/fencing.ts'
import type { HostName } from '../domain/service.ts'

export interface FencingMethod {
  name: string
  strength: ProofStrength
  /** What it takes away. Absent: power. */
  proves?: ProofSubject
  /** How often what it did expires and must be done again, ms. Absent: it stays. */
  renewEveryMs?: number
  /** Does again what expires, on a host that was fenced. Gives what was said. Throws FENCE_FAILED. */
  renew?(host: HostName, signal?: AbortSignal): Promise<string[]>
  /** Whether this method is configured for the host. */
  covers(host: HostName): boolean
  /**
   * Takes the host's power away and sees it off twice; a host that is off already is a success. Gives what was read, for
   * people. Throws FENCE_FAILED (not done) or FENCE_UNVERIFIED (accepted, not seen off).
   *
   * @param mayAct called right before the order is given, with nothing awaited in between; throws when it must not be given
   */
  off(host: HostName, signal?: AbortSignal, mayAct?: () => void): Promise<string[]>
  /** One reading, without any effect. Never throws for a host that cannot be read: that is `unknown`. */
  look(host: HostName, signal?: AbortSignal): Promise<PowerReading>
}
