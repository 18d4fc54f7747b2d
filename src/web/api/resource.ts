/** What a page shows of the daemon: loaded, kept while it is loaded again, and loaded again when something happened. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { after, nowMs } from '../browser-clock.ts'
import { get, type ApiFailure, type Asking } from './client.ts'

export interface Resource<T> {
  value: T | null
  /** Of the last try. The value, if any, is then older than it looks. */
  failure: ApiFailure | null
  loading: boolean
  /** Loads again soon: calls that come together are one request. */
  reload: (withinMs?: number) => void
}

/**
 * A page never spends more than a tenth of its time on loading: an incident of thousands that takes half a second to load and
 * draw is loaded every five seconds at the most, while its lines follow the events in between.
 */
const loadShare = 0.1
const longestPauseMs = 15_000

/**
 * Between two loads for news of the journal. Shorter: the open pages of a large recovery use up the requests of their address, and people's orders
 * are refused; longer: pages lag behind.
 */
const newsEveryMs = 2_000

/** Until what failed is asked for again. Shorter hammers a daemon that restarts; longer shows a failure that is over. */
const retryMs = 5_000

/** Null as path: nothing to load now. `read`: always the same function. */
export function useResource<T>(path: string | null, read?: Asking['read']): Resource<T> {
  const [state, setState] = useState<{
    path: string | null
    value: T | null
    failure: ApiFailure | null
    loading: boolean
  }>({ path, value: null, failure: null, loading: path !== null })
  const inner = useRef({
    path,
    pending: null as null | (() => void),
    due: 0,
    notBefore: 0,
    beganAt: -Infinity,
    abort: null as AbortController | null,
    again: false,
  })

  const load = useCallback(() => {
    const at = inner.current
    at.pending = null
    if (at.path === null) return
    if (at.abort !== null) {
      at.again = true
      return
    }
    const asked = at.path
    const abort = new AbortController()
    at.abort = abort
    const began = (at.beganAt = nowMs())
    const end = (value: T | undefined, failure: ApiFailure | null): void => {
      if (at.abort === abort) at.abort = null
      if (abort.signal.aborted || inner.current.path !== asked) return
      setState((old) => ({
        path: asked,
        value: value ?? (old.path === asked ? old.value : null),
        failure,
        loading: false,
      }))
      // A try that failed has loaded nothing, however long it hung.
      at.notBefore = failure === null ? nowMs() + Math.min((nowMs() - began) / loadShare, longestPauseMs) : nowMs()
      if (at.again) {
        at.again = false
        schedule(0)
      } else if (failure?.passing === true) schedule(retryMs)
    }
    get<T>(asked, { signal: abort.signal, ...(read !== undefined && { read }) }).then(
      (value) => end(value, null),
      (thrown: unknown) => end(undefined, thrown as ApiFailure),
    )
  }, [read])

  const schedule = useCallback(
    (withinMs: number) => {
      const at = inner.current
      // What a person asked for is loaded at once.
      const soonest = withinMs === 0 ? at.notBefore : Math.max(at.notBefore, at.beganAt + newsEveryMs)
      const due = Math.max(nowMs() + withinMs, soonest)
      // The retry of a failure may be seconds away when the daemon is back.
      if (at.pending !== null && at.due <= due) return
      at.pending?.()
      at.due = due
      at.pending = after(due - nowMs(), load)
    },
    [load],
  )

  // Before the browser draws: an effect would ask a frame later.
  useLayoutEffect(() => {
    const at = inner.current
    at.path = path
    at.notBefore = 0
    setState((old) => (old.path === path ? old : { path, value: null, failure: null, loading: path !== null }))
    load()
    return () => {
      at.abort?.abort()
      at.abort = null
      at.pending?.()
      at.pending = null
      at.again = false
    }
  }, [path, load])

  const reload = useCallback((withinMs = 250) => schedule(withinMs), [schedule])
  const own = state.path === path
  return {
    value: own ? state.value : null,
    failure: own ? state.failure : null,
    loading: own ? state.loading : path !== null,
    reload,
  }
}

/** A tab that nobody looks at has a title, and it says how its incident stands. Shorter asks for what nobody sees. */
const hiddenEveryMs = 60_000

/** Loads again and again; for what changes without a journal entry (how long a host is silent). In a hidden tab seldom. */
export function useEvery(everyMs: number, reload: (withinMs?: number) => void): void {
  useEffect(() => {
    let cancel: () => void = () => undefined
    const tick = (): void => {
      cancel = after(document.hidden ? Math.max(everyMs, hiddenEveryMs) : everyMs, () => {
        reload(0)
        tick()
      })
    }
    const shown = (): void => {
      cancel()
      if (!document.hidden) reload(0)
      tick()
    }
    tick()
    document.addEventListener('visibilitychange', shown)
    return () => {
      cancel()
      document.removeEventListener('visibilitychange', shown)
    }
  }, [everyMs, reload])
}
