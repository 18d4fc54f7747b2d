/**
 * Looks now and then at what changes rarely and stops a recovery when nobody saw it change: the microversions of the cloud,
 * and until when the daemon's credential is good. Reads only; what is done about it is the operators'.
 */
import { isAborted, sleep, type Clock } from '../domain/clock.ts'
import { ensureError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import type { OpenStackCloud } from '../openstack/cloud-client.ts'

/** Longer: an upgrade or a new credential shows that much later. Shorter asks for what does not change. */
const lookEveryMs = 600_000

export interface CloudWatchParts {
  /** The connection of that moment: a reload may exchange it. */
  cloud: () => Pick<OpenStackCloud, 'capabilities' | 'credentialExpiry'>
  clock: Clock
  observer: Observer
  signal: AbortSignal
}

/** Looks at once and then every ten minutes until `signal` aborts. A look that failed is told, and tried at the next. */
export async function watchCloud({ cloud, clock, observer, signal }: CloudWatchParts): Promise<void> {
  while (!isAborted(signal)) {
    try {
      const { computeMaxMicroversion: maxMicroversion, landsStopped } = await cloud().capabilities({ signal })
      const credential = await cloud().credentialExpiry({ signal })
      observer.cloud?.({ maxMicroversion, landsStopped, credential })
    } catch (thrown) {
      const message = 'What the cloud can, and until when the credential is good, could not be read'
      if (!isAborted(signal)) observer.log?.('warn', 'cloud.not_read', { message }, ensureError(thrown))
    }
    await sleep(clock, lookEveryMs, signal)
  }
}
