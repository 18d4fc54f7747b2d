/** Client-side routes with real URLs: a link works in a new tab, in a chat, and with the back button. */
import { useLayoutEffect, useState } from 'preact/hooks'

export interface Place {
  path: string
  query: URLSearchParams
}

const watchers = new Set<() => void>()

export function here(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) }
}

/** Goes to another page of ours. `replace`: the page stays the same one for the back button (filters). */
export function go(to: string, { replace = false } = {}): void {
  if (to === location.pathname + location.search) return
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  for (const watcher of watchers) watcher()
}

/** The same page with other query fields; null takes one away. */
export function withQuery(fields: Record<string, string | null>): string {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  return location.pathname + (text === '' ? '' : `?${text}`)
}

export function usePlace(): Place {
  const [place, setPlace] = useState(here)
  // Before anything is asked: its answer may send someone to the login.
  useLayoutEffect(() => {
    const look = (): void => setPlace(here())
    watchers.add(look)
    addEventListener('popstate', look)
    return () => {
      watchers.delete(look)
      removeEventListener('popstate', look)
    }
  }, [])
  return place
}

/** A click that is to lead on in this tab; with a key it opens another one. */
export function isPlain({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean {
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey
}

/** Follows plain clicks on our own links without loading the page again. Everything else is the browser's. */
export function followLinks(): () => void {
  const follow = (event: MouseEvent): void => {
    if (event.defaultPrevented || !isPlain(event)) return
    const link = (event.target as Element | null)?.closest('a')
    if (link === null || link === undefined || link.target !== '' || link.hasAttribute('download')) return
    const url = new URL(link.href)
    if (url.origin !== location.origin || url.pathname.startsWith('/v1/')) return
    // A fragment of this very page: the browser scrolls there and moves the focus.
    if (url.hash !== '' && url.pathname === location.pathname) return
    event.preventDefault()
    const samePage = url.pathname === location.pathname
    // What is opened beside a list leaves the list filtered as it is.
    const keeps = samePage && url.searchParams.has('instance')
    go(keeps ? withQuery(Object.fromEntries(url.searchParams)) : url.pathname + url.search + url.hash)
    if (!samePage) scrollTo(0, 0)
  }
  document.addEventListener('click', follow)
  return () => document.removeEventListener('click', follow)
}

export const link = {
  incident: (id: string): string => `/incidents/${encodeURIComponent(id)}`,
  comparison: (first: string, second: string): string =>
    `/incidents/${encodeURIComponent(first)}/compare/${encodeURIComponent(second)}`,
  instance: (incident: string, id: string): string =>
    `/incidents/${encodeURIComponent(incident)}?instance=${encodeURIComponent(id)}`,
  instanceRecord: (id: string): string => `/instances/${encodeURIComponent(id)}`,
  host: (host: string): string => `/hosts/${encodeURIComponent(host)}`,
  /** @param of `find`: what the list is searched for */
  plan: (host: string, of: { failure?: 'process'; instance?: string; find?: string } = {}): string => {
    const query = new URLSearchParams(of).toString()
    return `/plan/${encodeURIComponent(host)}${query === '' ? '' : `?${query}`}`
  },
  notices: (filter: Record<string, string>): string => `/notices?${new URLSearchParams(filter).toString()}`,
  journal: (filter: Record<string, string>): string => `/journal?${new URLSearchParams(filter).toString()}`,
}
