/**
 * One incident from where it stands to its end. What waits in the background ends with the run: in an incident that is over it would
 * hold, fence, and renew the proof of a host that may be back in service.
 */
import { setMaxListeners } from 'node:events'
import { ensureError } from '../domain/errors.ts'
import type { ExecutorContext } from './context.ts'
import { IncidentRunner } from './incident-runner.ts'
import type { SharedQueue } from './slots.ts'

/** Runs `id` until it is closed. Resolves early, with the incident still open, when the daemon stops. */
export async function runIncident(
  context: ExecutorContext,
  id: string,
  slots: SharedQueue,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController()
  // As many listen as there are instances under way.
  setMaxListeners(0, over.signal)
  const end = (): void => over.abort()
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  try {
    await new IncidentRunner(context, id, slots, over.signal).run()
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code !== 'SHUTDOWN') throw error
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
}
