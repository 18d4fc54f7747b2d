/** "3 min ago" stays true: one timer for everything on the page that says such a thing. */
import { useEffect, useRef, useState } from 'preact/hooks'
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

/** Calls `watcher` with the wall-clock ms every second; the returned function ends that. */
function watch(watcher: (now: number) => void): () => void {
  watchers.add(watcher)
  if (!running) {
    running = true
    after(everyMs, tick)
  }
  return () => watchers.delete(watcher)
}

/** Wall-clock ms that move on by themselves while `moving`. */
export function useNow(moving = true): number {
  const [now, setNow] = useState(wallMs)
  useEffect(() => (moving ? watch(setNow) : undefined), [moving])
  return now
}

/** What `say` makes of the wall-clock ms, drawn again only once it says something else: one page may have thousands. */
export function useSaid(say: (now: number) => string): string {
  const latest = useRef(say)
  latest.current = say
  const [, setSaid] = useState(() => say(wallMs()))
  useEffect(() => watch((now) => setSaid(latest.current(now))), [])
  return say(wallMs())
}
