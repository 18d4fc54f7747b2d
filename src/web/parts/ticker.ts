/** "3 min ago" stays true: one timer for everything on the page that says such a thing. */
import { useEffect, useState } from 'preact/hooks'
import { after, wallMs } from '../browser-clock.ts'

const everyMs = 1_000
const watchers = new Set<(now: number) => void>()
let running = false

function tick(): void {
  if (watchers.size === 0) {
    running = false
    return
  }
  const now = wallMs()
  if (!document.hidden) for (const watcher of watchers) watcher(now)
  after(everyMs, tick)
}

/** Wall-clock ms that move on by themselves while `moving`. */
export function useNow(moving = true): number {
  const [now, setNow] = useState(wallMs)
  useEffect(() => {
    if (!moving) return undefined
    watchers.add(setNow)
    if (!running) {
      running = true
      after(everyMs, tick)
    }
    return () => watchers.delete(setNow)
  }, [moving])
  return now
}
