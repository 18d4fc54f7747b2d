/** A run of steps on a host that lives: nothing is proven dead, and no plan is revised by a host's rules. */
import type { IncidentId } from '../domain/entry.ts'
import type { HostName } from '../domain/service.ts'
import type { ExecutorContext, Run } from './context.ts'

/** @param signal aborts when the daemon stops, or the host fails */
export function runOnLivingHost(context: ExecutorContext, id: IncidentId, host: HostName, signal: AbortSignal): Run {
  return {
    ...context,
    ...{ id, host, signal, proof: null, proofAskedAt: -Infinity, proofExpired: null },
    plans: { stands: () => true, refresh: () => Promise.resolve() },
    destinations: new Map(),
  }
}
