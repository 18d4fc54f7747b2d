/**
 * A question that is put again while nobody has answered it. One nova-api of several may take connections and answer none of them, and a balancer
 * goes on giving it every third request: each such poll would be lost, and a lost poll keeps the verdicts frozen (law L7).
 */
import type { Clock } from '../domain/clock.ts'

/**
 * Shorter: a Nova that is slow is asked for each list twice. Longer: one nova-api that hangs delays each poll that meets it, and more such polls
 * in a row use up the time in which a read must be answered.
 */
const askAgainMs = 5_000

/** So many times at most. More: a Nova that is slow for all gets more of what slows it. Fewer: several nova-apis that hang are met one after another. */
const asksAgainAtMost = 3

/**
 * Asks, and asks again beside that at each `askAgainMs` without an answer. The first answer counts, and the other asks are cut off.
 *
 * @param signal cuts off all of them
 * @param ask has a time limit of its own, and that of the first ask is the limit of all
 * @returns the first answer. Throws what the first ask throws
 */
export async function askedAgain<T>(
  clock: Clock,
  signal: AbortSignal | undefined,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const cut = new AbortController()
  const follow = (): void => cut.abort()
  if (signal?.aborted) follow()
  else signal?.addEventListener('abort', follow, { once: true })
  let noMore = (): void => undefined
  let asks = 1
  try {
    return await new Promise<T>((resolve, reject) => {
      const again = (times: number): void => {
        if (times > asksAgainAtMost) return
        noMore = clock.after(askAgainMs, () => {
          asks += 1
          ask(cut.signal).then(resolve, () => undefined)
          again(times + 1)
        })
      }
      ask(cut.signal).then(resolve, reject)
      again(1)
    })
  } finally {
    noMore()
    signal?.removeEventListener('abort', follow)
    // As a rule nothing is left to cut off, and each abort costs more than the rest of this.
    if (asks > 1) cut.abort()
  }
}
