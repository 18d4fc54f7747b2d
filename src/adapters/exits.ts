/**
 * What a fencing method and a receiver of notices ask before anything of theirs leaves (domain/tenure.ts): a daemon that does not act
 * powers nothing off and sends no notice. A daemon with a journal of its own acts always, and its parts stay as they are.
 */
import { ensureError, LifeboatError } from '../domain/errors.ts'
import { openExit, type Exit } from '../domain/tenure.ts'
import type { FencingMethod } from '../fencing/method.ts'
import type { Deliver, Ended, Renewal } from '../notices/index.ts'

/** The same method, whose orders leave while this daemon acts, and are cut off when it may not any more. */
export function fencingThrough(exit: Exit, method: FencingMethod): FencingMethod {
  if (exit === openExit) return method
  return {
    ...method,
    off: (host, signal, mayAct) =>
      permitted(exit, signal, (cut) =>
        method.off(host, cut, () => {
          mayAct?.()
          if (!exit.held())
            throw new LifeboatError('HELD_BACK', 'not sent: this daemon may not act any more', { retry: 'backoff' })
        }),
      ),
    ...(method.renew !== undefined && {
      renew: (host, signal) => permitted(exit, signal, async (cut) => (await method.renew?.(host, cut)) ?? []),
    }),
  }
}

/** The same receiver; a notice that must not leave now is tried again later, here or by the daemon that acts then. */
export function deliveryThrough(exit: Exit, deliver: Deliver): Deliver {
  if (exit === openExit) return deliver
  const whileActive = async (signal: AbortSignal, send: (cut: AbortSignal) => Promise<Ended>): Promise<Ended> => {
    try {
      return await permitted(exit, signal, send)
    } catch (thrown) {
      return { ok: false, problem: ensureError(thrown).message, final: false }
    }
  }
  const through: Deliver = (attempt) => whileActive(attempt.signal, (cut) => deliver({ ...attempt, signal: cut }))
  const { renewal } = deliver
  if (renewal === undefined) return through
  const send: Renewal['send'] = (standing, signal) => whileActive(signal, (cut) => renewal.send(standing, cut))
  return Object.assign(through, { renewal: { ...renewal, send } })
}

/** Waits for the permit; `work` is cut off when this daemon may not act any more. */
async function permitted<T>(
  exit: Exit,
  signal: AbortSignal | undefined,
  work: (cut: AbortSignal) => Promise<T>,
): Promise<T> {
  await exit.permit(signal)
  const lapse = new AbortController()
  const over = exit.onLapse(() => lapse.abort())
  try {
    return await work(signal === undefined ? lapse.signal : AbortSignal.any([signal, lapse.signal]))
  } finally {
    over()
  }
}
