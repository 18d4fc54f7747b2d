/**
 * The daemon's own memory. Owns one decision: whether a new recovery begins now or waits.
 *
 * Over the soft limit polls, the journal and every recovery that has begun go on: ending them is what gives memory back. A new
 * one waits while another is under way, because a survey of thousands of instances on top of it may get the whole daemon
 * killed in the middle of both. It never waits when nothing else is under way: then waiting frees nothing, and a recovery that
 * is tried is better than one that is refused; a daemon that is killed over it goes on from its journal.
 */
import { totalmem } from 'node:os'
import process from 'node:process'
import { getHeapStatistics } from 'node:v8'
import type { Incident } from '../domain/incident.ts'
import type { Journal } from '../domain/journal.ts'

/** Share of what the process may use. Higher leaves no room for a survey (some 10 kB an instance); lower waits for nothing. */
const softShare = 0.75

/** The alarm is over below this share of the limit. Nearer to 1 it would be raised again and again. */
const calmShare = 0.9

export interface Memory {
  rssBytes: () => number
  limitBytes: number
}

/** This process's memory; the limit is the least of the machine, the control group and the JavaScript heap. */
export function processMemory(): Memory {
  const constrained = process.constrainedMemory()
  const limits = [totalmem(), getHeapStatistics().heap_size_limit, ...(constrained > 0 ? [constrained] : [])]
  return { rssBytes: () => process.memoryUsage.rss(), limitBytes: Math.min(...limits) * softShare }
}

export class MemoryWatch {
  readonly #memory: Memory
  readonly #journal: Pick<Journal, 'append'>
  #high = false

  constructor(memory: Memory, journal: Pick<Journal, 'append'>) {
    this.#memory = memory
    this.#journal = journal
  }

  /** Looks how it stands; raises one alarm each time that the limit is passed. Called after each poll. */
  look(): void {
    const rss = this.#memory.rssBytes()
    if (rss < this.#memory.limitBytes * calmShare) this.#high = false
    if (rss <= this.#memory.limitBytes || this.#high) return
    const message = `The daemon uses ${mebibytes(rss)} MiB of memory, its soft limit is ${mebibytes(this.#memory.limitBytes)} MiB: recoveries begin one at a time until it uses less`
    this.#journal.append([{ kind: 'alarm.raised', data: { code: 'MEMORY_HIGH', message } }])
    // Only once it is on record: with a full disk the next poll tries again.
    this.#high = true
  }

  /** Why this incident must wait for others to end, or null. `open` in the order in which they were opened. */
  holds(incident: Incident, open: Incident[]): string | null {
    if (!this.#high) return null
    const before = open.slice(
      0,
      open.findIndex(({ id }) => id === incident.id),
    )
    const running = before.find(({ held, closed }) => held === null && closed === null)
    if (running === undefined) return null
    return `the daemon is short of memory and finishes the recovery of ${running.host} first`
  }
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}
