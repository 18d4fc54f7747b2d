/**
 * Calendar windows: whether one is open at a wall time, as a pure function. node-cron's own scheduler only tells the next
 * run, so a daemon that starts inside a window would not know; here the starts are looked for backwards over the window's
 * length. node-cron parses the schedule and says which days it means; the time of day comes from its parsed fields.
 *
 * Daylight saving: a start in the hour that the clocks skip happens as much later as they jump (02:30 becomes 03:30), so no
 * window is lost; a start in the hour that they repeat happens once, the first time. A schedule of every hour follows real
 * time instead. A window lasts its real length, whatever the clocks do meanwhile.
 */
import { createTask, parse } from 'node-cron'
import { offsetAt } from '../domain/local-time.ts'
import type { Scope, OrderKind } from '../domain/order.ts'

export interface MaintenanceWindow {
  name: string
  kind: OrderKind
  /** Five cron fields, or a name such as @daily. Day of month and day of week must both fit. */
  schedule: string
  durationMs: number
  /** A zone of the tz database; null: the machine's. */
  timezone: string | null
  scopes: Scope[]
  reason: string
}

type Timing = Pick<MaintenanceWindow, 'schedule' | 'durationMs' | 'timezone'>

export interface Opening {
  /** Wall time, ms. */
  from: number
  until: number
}

const minuteMs = 60_000
const dayMs = 86_400_000

/** A leap day comes within so long: a schedule without a start in it is for one weekday of a leap day, or for none. */
const leapCycleMs = (4 * 365 + 2) * dayMs

/**
 * The calendar repeats its weekdays after 28 years: what a schedule does not do in them it never does. They begin with a
 * leap year, and 1970 to 2099 has no century without one.
 */
const cycleFrom = Date.UTC(2000, 0, 1)
const cycleDays = 28 * 365 + 7

/** The opening that a wall time (ms) is in, or null. Open from the start's very millisecond to before the end's. */
export function openingAt(window: Timing, wallMs: number): Opening | null {
  const { durationMs, timezone } = window
  const schedule = scheduleOf(window.schedule)
  // Local days in which a start may lie that is still open: a day more at both ends, for zones and clocks that jump.
  const lastDay = Math.floor((wallMs + dayMs) / dayMs) * dayMs
  for (let day = lastDay; day > wallMs - durationMs - 3 * dayMs; day -= dayMs) {
    if (!schedule.isDay(day)) continue
    const starts = startsOn(day, schedule, timezone).filter((start) => start <= wallMs && wallMs < start + durationMs)
    if (starts.length > 0) return { from: Math.max(...starts), until: Math.max(...starts) + durationMs }
  }
  return null
}

/** Its next openings after a wall time (ms), the soonest first; fewer than asked for when it has none within four years. */
export function nextOpenings(window: Timing, wallMs: number, count: number): Opening[] {
  const { durationMs, timezone } = window
  const schedule = scheduleOf(window.schedule)
  const found: number[] = []
  const firstDay = Math.floor((wallMs - dayMs) / dayMs) * dayMs
  for (let day = firstDay; found.length < count && day < wallMs + leapCycleMs; day += dayMs) {
    if (!schedule.isDay(day)) continue
    found.push(...startsOn(day, schedule, timezone).filter((start) => start > wallMs))
  }
  return [...new Set(found)]
    .toSorted((a, b) => a - b)
    .slice(0, count)
    .map((from) => ({ from, until: from + durationMs }))
}

/**
 * Two starts that are not further apart than `withinMs`, by the clock on the wall: their distance. `never`: the schedule
 * has no start at all. Null: every start is further from the next.
 */
export function startsWithin(schedule: string, withinMs: number): { periodMs: number } | 'never' | null {
  const { times, isDay } = scheduleOf(schedule)
  const first = times[0] ?? 0
  const last = times.at(-1) ?? 0
  const inOneDay = Math.min(...times.slice(1).map((time, index) => time - (times[index] ?? 0)))
  let before: number | null = null
  for (let day = cycleFrom, count = 0; count < cycleDays; day += dayMs, count++) {
    if (!isDay(day)) continue
    const periodMs = Math.min(inOneDay, before === null ? Infinity : day + first - (before + last))
    if (periodMs <= withinMs) return { periodMs }
    before = day
    // Not even two days in a row are near enough.
    if (dayMs + first - last > withinMs) return null
  }
  return before === null ? 'never' : null
}

interface Schedule {
  /** Times of day of its starts, ms since midnight, ascending. */
  times: number[]
  everyHour: boolean
  /** Whether it starts on a local day, given as that day's midnight in UTC. */
  isDay: (day: number) => boolean
}

const known = new Map<string, Schedule>()

function scheduleOf(text: string): Schedule {
  const found = known.get(text)
  if (found !== undefined) return found
  const { hour, minute } = parse(text)
  const times = hour
    .flatMap((hours) => minute.map((minutes) => (hours * 60 + minutes) * minuteMs))
    .sort((a, b) => a - b)
  // Only its matcher is wanted: a task that was never started runs nothing, and destroyed it is in no list.
  const task = createTask(text, () => undefined, { timezone: 'UTC' })
  void task.destroy()
  const schedule = {
    times,
    everyHour: new Set(hour).size === 24,
    isDay: (day: number) => task.match(new Date(day + (times[0] ?? 0))),
  }
  known.set(text, schedule)
  return schedule
}

/** The instants of a local day's starts. Nearly every day the zone's offset is one and the same. */
function startsOn(day: number, { times, everyHour }: Schedule, timezone: string | null): number[] {
  const before = offsetAt(day - dayMs, timezone)
  const after = offsetAt(day + 2 * dayMs, timezone)
  if (before === after) return times.map((time) => day + time - before)
  return times.flatMap((time) => {
    const local = day + time
    const [first, second] = [local - Math.max(before, after), local - Math.min(before, after)]
    const shown = [first, second].filter((at) => at + offsetAt(at, timezone) === local)
    if (everyHour) return shown
    return [shown[0] ?? local - before]
  })
}
