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
  const within = async <T>(signal: AbortSignal | undefined, work: (cut: AbortSignal) => Promise<T>): Promise<T> => {
    await exit.permit(signal)
    const lapse = new AbortController()
    const over = exit.onLapse(() => lapse.abort())
    try {
      return await work(signal === undefined ? lapse.signal : AbortSignal.any([signal, lapse.signal]))
    } finally {
      over()
    }
  }
  return {
    ...method,
    off: (host, signal, mayAct) =>
      within(signal, (cut) =>
        method.off(host, cut, () => {
          mayAct?.()
          if (!exit.held())
            throw new LifeboatError('HELD_BACK', 'not sent: this daemon may not act any more', { retry: 'backoff' })
        }),
      ),
    ...(method.renew !== undefined && {
      renew: (host, signal) => within(signal, async (cut) => (await method.renew?.(host, cut)) ?? []),
    }),
  }
}

/** The same receiver; a notice that must not leave now is tried again later, here or by the daemon that acts then. */
export function deliveryThrough(exit: Exit, deliver: Deliver): Deliver {
  if (exit === openExit) return deliver
  const permitted = async (signal: AbortSignal, send: () => Promise<Ended>): Promise<Ended> => {
    try {
      await exit.permit(signal)
    } catch (thrown) {
      return { ok: false, problem: ensureError(thrown).message, final: false }
    }
    return send()
  }
  const through: Deliver = (attempt) => permitted(attempt.signal, () => deliver(attempt))
  const { renewal } = deliver
  if (renewal === undefined) return through
  const send: Renewal['send'] = (standing, signal) => permitted(signal, () => renewal.send(standing, signal))
  return Object.assign(through, { renewal: { ...renewal, send } })
}
