/** A host of thousands of instances is worked on in pieces: between them heartbeats, probes and other incidents have their turn. */
import { sleep, type Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'

/** Recoveries begun in one go: what needs no evacuation has its outcome on record at once. Many more hold up everything else. */
const begunAtOnce = 25

/** Others have their turn. Throws SHUTDOWN. A cancel is not looked for: whoever was planned needs an outcome first (law L9). */
export async function turn({ clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<void> {
  await sleep(clock, 0, signal)
  if (signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
}

/** Begins all of them in order, in pieces, and gives how each ended. Also when the daemon stops all that is begun is waited for. */
export async function allEnded<T>(
  items: readonly T[],
  begin: (item: T) => Promise<void>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<PromiseSettledResult<void>[]> {
  const begun: Promise<PromiseSettledResult<void>[]>[] = []
  for (let from = 0; from < items.length; from += begunAtOnce) {
    if (from > 0) await sleep(clock, 0, signal)
    begun.push(Promise.allSettled(items.slice(from, from + begunAtOnce).map(begin)))
  }
  return (await Promise.all(begun)).flat()
}
