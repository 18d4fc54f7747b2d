/** A span of time as people read it: on the pages, in reports and on the command line alike. Pure. */

/** From the largest on, in seconds. */
const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** `850 ms`, `4.2 s`, `42 s`, `4 min 5 s`, `2 h 7 min`, `3 d 4 h`: two units are enough to decide by. A negative span keeps its sign. */
export function span(ms: number): string {
  if (!Number.isFinite(ms)) return 'unknown'
  if (ms < 0) return Math.round(ms) === 0 ? '0 s' : `-${span(-ms)}`
  const whole = Math.round(ms)
  if (whole === 0) return '0 s'
  if (whole < 1_000) return `${whole} ms`
  if (whole < 10_000) return `${Number((whole / 1_000).toFixed(1))} s`
  const total = Math.round(whole / 1_000)
  const first = units.findIndex(([, seconds]) => total >= seconds)
  let rest = total
  const said: string[] = []
  for (const [unit, seconds] of units.slice(first, first + 2)) {
    const count = Math.floor(rest / seconds)
    rest -= count * seconds
    if (count > 0) said.push(`${count} ${unit}`)
  }
  return said.join(' ')
}

/** The span between two ISO times. A wall clock that was set back between them shows as a negative one. */
export function between(from: string, to: string): string {
  return span(Date.parse(to) - Date.parse(from))
}

/** The same with its sign, as a timeline has it: `+4 min 5 s`. */
export function later(from: string, to: string): string {
  const text = between(from, to)
  return text.startsWith('-') ? text : `+${text}`
}
