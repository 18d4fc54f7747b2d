/**
 * Orders on their way, or taken a moment ago: the page still shows how things stood before, and must not offer again what was just done.
 * For all buttons together, since one order may have several.
 */
import { useEffect, useState } from 'preact/hooks'
import { after, nowMs } from '../browser-clock.ts'

/**
 * For so long after an order was taken the page may show the state before it; from then on the order is offered again. Shorter asks
 * people to repeat what a busy daemon is about to show; longer keeps them from an order that came to nothing.
 */
const stateDueMs = 15_000

/** By order: the monotonic ms from which it is offered again. */
const offeredFrom = new Map<string, number>()
/** By order: how many buttons offer it now. */
const buttons = new Map<string, number>()
const watchers = new Set<() => void>()

/** An order's name, whatever button gives it. */
export function orderName(path: string, body: Record<string, unknown> = {}): string {
  return `${path} ${JSON.stringify(body)}`
}

/** What is sent is not offered until its answer is known, and for a while after it was taken. */
export function sendOrders(names: readonly string[]): { taken: () => void; refused: () => void } {
  const offerFrom = (atMs: number): void => {
    for (const name of names) offeredFrom.set(name, atMs)
    for (const watcher of watchers) watcher()
    after(0, forgetOld)
  }
  offerFrom(Number.POSITIVE_INFINITY)
  return { taken: () => offerFrom(nowMs() + stateDueMs), refused: () => offerFrom(0) }
}

/** Once no button offers the order, the page shows its result. If a button offers it again later, that is a new order. */
function forgetOld(): void {
  for (const [name, atMs] of offeredFrom)
    if (Number.isFinite(atMs) && (buttons.get(name) ?? 0) === 0) offeredFrom.delete(name)
}

function count(names: readonly string[], change: 1 | -1): void {
  for (const name of names) buttons.set(name, (buttons.get(name) ?? 0) + change)
}

/** For a button that gives these orders: whether all of them are on their way or were just taken. */
export function useSent(names: readonly string[]): boolean {
  const [, redraw] = useState(0)
  const again = (): void => redraw((times) => times + 1)
  const all = names.join('\n')
  const waitMs = names.length === 0 ? 0 : Math.min(...names.map((name) => offeredFrom.get(name) ?? 0)) - nowMs()
  useEffect(() => {
    watchers.add(again)
    count(names, 1)
    return () => {
      watchers.delete(again)
      count(names, -1)
      // A button that is drawn for other orders has told of those by then.
      after(0, forgetOld)
    }
  }, [all])
  useEffect(() => (waitMs > 0 && Number.isFinite(waitMs) ? after(waitMs, again) : undefined), [waitMs])
  return waitMs > 0
}
