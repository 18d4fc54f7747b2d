/** Keeps what a page shows fresh: it is asked for now and then, more often while no events arrive, and once they do again. */
import { useEffect, useRef } from 'preact/hooks'
import { useLink } from './live.ts'
import { useEvery } from './resource.ts'

/**
 * While no events arrive, a page asks at least this often. Shorter hammers a daemon that restarts; longer shows old news without
 * saying so.
 */
const lostMs = 5_000

/** @param liveMs between two looks while events arrive, for what changes without one */
export function useFresh(liveMs: number, reload: (withinMs?: number) => void): void {
  const link = useLink()
  const before = useRef(link)
  useEvery(link === 'live' ? liveMs : Math.min(liveMs, lostMs), reload)
  useEffect(() => {
    // What was written while the line was broken comes by itself; asking once shows it sooner.
    if (link === 'live' && before.current === 'lost') reload(0)
    before.current = link
  }, [link, reload])
}
