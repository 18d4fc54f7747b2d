/** An incident that moves on: what was loaded, with the entries that were written since laid over it. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { withLists } from '../../../domain/columns.ts'
import type { Entry } from '../../../domain/entry.ts'
import type { IncidentReview } from '../../../domain/review.ts'
import { useFresh } from '../../api/fresh.ts'
import { useEntries } from '../../api/live.ts'
import { paths } from '../../api/paths.ts'
import { useResource, type Resource } from '../../api/resource.ts'
import { announce } from '../../parts/announce.tsx'
import { counted } from '../../words/count.ts'
import { foldEntries } from './fold.ts'

/**
 * Until the page is loaded again after news of an instance: its line has moved already. Shorter loads for nothing; longer shows
 * advice and headline that lag behind. News of the host are loaded at once.
 */
const instanceNewsMs = 1_500
const hostNewsMs = 150

/** Between two looks while events arrive: little of an incident changes without an entry. */
const lookMs = 60_000

const aboutHost: ReadonlySet<string> = new Set(['incident.opened', 'incident.closed', 'verdict.changed'])

export function useIncident(id: string): Resource<IncidentReview> {
  const loaded = useResource<IncidentReview>(paths.incident(id), withLists)
  const { value, reload } = loaded
  const recent = useRef<Entry[]>([])
  const [, redraw] = useState(0)
  const laid = useRef<{ base: IncidentReview | null; now: IncidentReview | null }>({ base: null, now: null })
  if (laid.current.base !== value) {
    recent.current = value === null ? recent.current : recent.current.filter(({ seq }) => seq > value.lastSeq)
    laid.current = { base: value, now: value === null ? null : foldEntries(value, recent.current).review }
  }
  const onEntries = useCallback(
    (entries: Entry[]) => {
      const ours = entries.filter((entry) => entry.incident === id)
      const { host } = laid.current.now ?? {}
      // What may be ordered changes with the host's life and with its other incidents.
      if (entries.some((entry) => entry.host === host && aboutHost.has(entry.kind))) reload(hostNewsMs)
      const { now } = laid.current
      // Entries that the load already has, such as those written while the page began, are no news.
      if (ours.every(({ seq }) => seq <= (now?.lastSeq ?? 0))) return
      recent.current.push(...ours)
      const folded = now === null ? null : foldEntries(now, ours)
      if (now !== null && folded !== null) {
        laid.current.now = folded.review
        redraw((count) => count + 1)
      }
      reload(folded?.news === 'instance' ? instanceNewsMs : hostNewsMs)
    },
    [id, reload],
  )
  useEntries(onEntries)
  useFresh(lookMs, reload)
  const { now } = laid.current
  useSpokenProgress(now)
  return useMemo(() => ({ ...loaded, value: now }), [loaded, now])
}

/** Tells screen readers how many are back, whether entries or a load brought the news. */
function useSpokenProgress(now: IncidentReview | null): void {
  const heard = useRef<{ id: string; back: number } | null>(null)
  useEffect(() => {
    if (now === null) return
    const back = now.outcomes.recovered ?? 0
    if (heard.current?.id === now.id && heard.current.back !== back)
      announce(`${back} of ${counted(now.lines.length, 'instance')} recovered`)
    heard.current = { id: now.id, back }
  }, [now])
}
