/**
 * How this daemon came to start, as the journal tells it: whether the runs before it died again and again, and what the last one
 * left of silent hosts. Decides when a person must look at a daemon that does not stay up.
 */
import type { Clock } from '../domain/clock.ts'
import type { Entry, NewEntry } from '../domain/entry.ts'
import type { Journal } from '../domain/journal.ts'
import type { SilenceOnRecord } from '../domain/silence.ts'

/** Starts further apart are no loop: a run of ten minutes finds every dead host by itself. Longer: a loop is told long after its end. */
const loopWindowMs = 600_000

/** Runs that died within the window. Fewer: a reboot after a crash raises the alarm. More: systemd has given up before (10 starts). */
const deathsOfALoop = 3

/** Starts that are looked at. A longer loop had its alarm long ago. */
const startsRead = 200

const restartLoopCode = 'RESTART_LOOP'

export interface Starts {
  /** Whether another run began within the window. */
  amongOthers: boolean
  /** Runs that ended without a word within the window. */
  deaths: number
  /** Of the unbroken row of deaths, the first run's entry; null when the last run stopped in order, or there was none. */
  rowFrom: number | null
  /** The row reaches beyond what was read. */
  rowCut: boolean
}

/** @param newestFirst `daemon.started` and `daemon.stopped`, before this start; `nowMs` epoch ms of this start */
export function startsIn(newestFirst: readonly Pick<Entry, 'kind' | 'seq' | 'at'>[], nowMs: number): Starts {
  const last = newestFirst.find(({ kind }) => kind === 'daemon.started')
  const amongOthers = last !== undefined && nowMs - Date.parse(last.at) <= loopWindowMs
  const starts: Starts = { amongOthers, deaths: 0, rowFrom: null, rowCut: false }
  let endedBy = nowMs
  for (const { kind, seq, at } of newestFirst) {
    const startedAt = Date.parse(at)
    // Stopped in order, or up for long enough: whatever was before is another story.
    if (kind === 'daemon.stopped' || endedBy - startedAt > loopWindowMs) return starts
    if (nowMs - endedBy <= loopWindowMs) starts.deaths += 1
    starts.rowFrom = seq
    endedBy = startedAt
  }
  return { ...starts, rowCut: newestFirst.length >= startsRead }
}

/** The same, of a journal. */
export function startsBefore(journal: Pick<Journal, 'read'>, clock: Clock): Starts {
  const kinds: Entry['kind'][] = ['daemon.started', 'daemon.stopped']
  return startsIn(journal.read({ kinds, newestFirst: true, limit: startsRead }), clock.wall())
}

/** The loop that this start is in, for people; null when there is none, or this run has lasted. */
export function restartLoop({ deaths }: Starts, upForMs: number): { died: number; message: string } | null {
  if (deaths < deathsOfALoop || upForMs > loopWindowMs) return null
  const minutes = loopWindowMs / 60_000
  const message = `The daemon died ${deaths} times within ${minutes} minutes and was started again: look at its memory, the disk of its journal, and journalctl -u lifeboat. Meanwhile it finds dead hosts later than usual`
  return { died: deaths, message }
}

/** The alarm of the loop; none when there is no loop, or this one had its alarm. */
export function loopAlarm(starts: Starts, journal: Pick<Journal, 'read'>): NewEntry[] {
  const loop = restartLoop(starts, 0)
  if (loop === null || starts.rowFrom === null || starts.rowCut) return []
  const told = journal
    .read({ kinds: ['alarm.raised'], after: starts.rowFrom })
    .some((entry) => entry.kind === 'alarm.raised' && entry.data.code === restartLoopCode)
  if (told) return []
  return [{ kind: 'alarm.raised', data: { code: restartLoopCode, message: loop.message } }]
}

/** What the run before left of silent hosts; null when it left none, or verdicts were frozen since. */
export function silenceBefore(journal: Pick<Journal, 'read'>): (SilenceOnRecord & { at: string }) | null {
  const kinds: Entry['kind'][] = ['silence.noted', 'monitor.frozen', 'monitor.thawed']
  const [last] = journal.read({ kinds, newestFirst: true, limit: 1 })
  return last?.kind === 'silence.noted' ? { ...last.data, at: last.at } : null
}
