/** Numbers of processes and lists: percentiles, CPU time, memory, the machine's load. Linux only: they come from /proc. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'

/** The value below which `share` (0 to 1) of the values lie; NaN for none. */
export function percentile(values, share) {
  if (values.length === 0) return NaN
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]
}

export const median = (values) => percentile(values, 0.5)

/** "smallest / median / largest", each with `digits` decimals. */
export function spread(values, digits = 1) {
  return [Math.min(...values), median(values), Math.max(...values)].map((at) => at.toFixed(digits)).join(' / ')
}

/** CPU time that a hypervisor gave to other machines instead of this one, since its start, in ms; in steps of a tick, 10 ms mostly. */
export function stolenMs() {
  return Number(readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].split(/\s+/)[8]) * (1_000 / ticksPerSecond())
}

/** CPU time that a process has used so far, user and system, in seconds. */
export function cpuSeconds(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The program's name stands in brackets and may hold spaces: fields are counted from behind it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond()
}

let ticks = 0
function ticksPerSecond() {
  ticks ||= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  return ticks
}

/** Resident memory of a process in MiB: now, and the most it ever was. */
export function memoryMiB(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (name) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}

/** One line about the machine and how busy it is at the moment. */
export function machine() {
  const load = loadavg().map((at) => at.toFixed(2))
  return `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}, load average ${load.join(' ')}`
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Asks until the answer is neither undefined nor false. Throws when `limitMs` are over. */
export async function until(what, limitMs, ask, pauseMs = 50) {
  const end = performance.now() + limitMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > end) throw new Error(`waited ${limitMs / 1000} s in vain for: ${what}`)
    await sleep(pauseMs)
  }
}
