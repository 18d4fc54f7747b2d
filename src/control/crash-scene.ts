/** What a restart of a crashed guest needs to act: its run, its gate, its place in the queue. */
import { isAborted } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Incident, InstanceRecovery } from '../domain/incident.ts'
import { CloudTrouble } from '../executor/cloud-trouble.ts'
import type { Act } from '../executor/context.ts'
import { Holding } from '../executor/holding.ts'
import { HostWatch } from '../executor/host-watch.ts'
import { lastMoment } from '../executor/last-moment.ts'
import { runOnLivingHost } from '../executor/living-host.ts'
import type { RestartScene } from '../executor/restart-guest.ts'
import { Slots } from '../executor/slots.ts'
import type { InstanceFailuresParts } from './crash-parts.ts'

export interface Restarting {
  incident: Incident
  recovery: InstanceRecovery
  /** Aborts when the daemon stops, or the host fails. */
  signal: AbortSignal
  /** Whether its host lives, and nothing is in doubt. */
  mayAct: () => boolean
}

/** Asks once more right before each write whether it may leave. */
export function restartScene(
  { context, queue, monitor, store }: InstanceFailuresParts,
  { incident: { id, host }, recovery, signal, mayAct }: Restarting,
): RestartScene {
  const { clock, cloud, observer, settings, permissions } = context
  const cloudTime = { cloudTimeMs: monitor.cloudNow() }
  const run = runOnLivingHost(context, id, host, signal)
  const { maxParallelPerHost, priority } = monitor.segment(host)
  const isOpen = (act?: Act): boolean => {
    const incident = store.inMemory(id)
    return !isAborted(signal) && incident !== undefined && mayAct() && permissions.of(incident, act).allowed
  }
  const watch = new HostWatch({ cloud, clock, observer, host, signal, tickMs: settings.tickMs, ...cloudTime })
  const trouble = new CloudTrouble(run, new Holding(run))
  watch.tells(trouble)
  return {
    ...{ run, recovery, watch, trouble },
    slots: new Slots(queue, maxParallelPerHost, priority),
    gate: {
      isOpen,
      lastMoment: (act) => lastMoment(clock, () => isOpen(act)),
      // The next turn says why it may not.
      pass: (act) =>
        isOpen(act)
          ? Promise.resolve()
          : Promise.reject(new LifeboatError('HELD_BACK', 'it may not be sent any more', { retry: 'backoff' })),
    },
  }
}
