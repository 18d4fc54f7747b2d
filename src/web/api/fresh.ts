/** Reloads what a page shows now and then, more often while no events arrive, and once when they arrive again. */
import { useEffect, useRef } from 'preact/hooks'
import { useLink } from './live.ts'
import { useEvery } from './resource.ts'

/**
 * While no events arrive, a page asks at least this often. Shorter hammers a daemon that restarts; longer shows old news without
 * saying so.
 */
const lostMs = 5_000

/** @param liveMs the pause between reloads while events arrive, for what changes without an event */
export function useFresh(liveMs: number, reload: (withinMs?: number) => void): void {
  const link = useLink()
  const before = useRef(link)
  useEvery(link === 'live' ? liveMs : Math.min(liveMs, lostMs), reload)
  useEffect(() => {
    // The stream sends what was missed; a reload shows it sooner.
    if (link === 'live' && before.current === 'lost') reload(0)
    before.current = link
  }, [link, reload])
}
