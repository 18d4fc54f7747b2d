/**
 * Whether a host was taken out of Nova for good, as an incident of it looks again and again. Owns since when it was seen so; one glimpse
 * is never enough.
 */
import type { Instance } from '../domain/instance.ts'
import type { HostName, ServicesReading } from '../domain/service.ts'
import type { Run } from './context.ts'
import { isRemoved } from './survey.ts'

/**
 * The record of a host's nova-compute must be gone for so long before its incident ends without it. Shorter takes a glimpse of a
 * database under repair for a fact; longer keeps an incident open that nobody needs.
 */
export const staysRemovedMs = 10_000

/** The services before and after the list: the cell was there to be listed. */
export interface Presence {
  before: ServicesReading
  here: readonly Instance[]
  reading: ServicesReading
}

/** Reads it once. Throws what the cloud throws. */
export async function readPresence({ cloud, host, signal }: Pick<Run, 'cloud' | 'host' | 'signal'>): Promise<Presence> {
  const before = await cloud.listServices({ signal })
  const here = await cloud.listInstances(host, { signal })
  return { before, here, reading: await cloud.listServices({ signal }) }
}

export class Removal {
  readonly #host: HostName
  #since: number | null = null

  constructor(host: HostName) {
    this.#host = host
  }

  /** `seems`: seen so, and to be looked at again. What speaks against it begins the time again. @param now monotonic ms */
  take({ here, reading }: Pick<Presence, 'here' | 'reading'>, now: number): 'removed' | 'seems' | 'no' {
    if (here.length > 0 || !isRemoved(reading, this.#host)) {
      this.#since = null
      return 'no'
    }
    this.#since ??= now
    return now - this.#since >= staysRemovedMs ? 'removed' : 'seems'
  }

  /** Nothing could be read, or it was there: what was seen before does not count after it. */
  forget(): void {
    this.#since = null
  }
}
