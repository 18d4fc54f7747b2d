/**
 * The journal as an event stream (server-sent events): one event an entry, its id the entry's sequence, so that a reader who was
 * cut off goes on where it was. A stream holds no queue: it reads on from the journal when its socket has taken what was written,
 * and a reader that takes nothing for a while is cut off.
 */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { JournalPage, Review } from '../domain/review.ts'

/** A comment now and then: proxies close a silent connection, and a client that has gone away is noticed. Longer than a proxy's idle timeout loses streams. */
const heartbeatMs = 15_000
/** A reader that takes nothing for so long is cut off; it resumes where it was. Shorter: a slow line loses its stream. */
const readerTimeoutMs = 30_000
/** Entries read before others get their turn: a few ms. More would hold up heartbeats and steps. */
const pageSize = 100
/** Written and not yet taken by the socket: beyond it nothing more is read from the journal. */
const mostUntakenBytes = 256 * 1024
/** Streams at once. Each costs a reading of what is new. */
const mostStreams = 100
/** Of one person: a page has one. Fewer, and open windows stand still; all of them, and one person shuts everybody else out. */
const mostOfOne = 20

export interface StreamOptions {
  /** Whose stream it is, or null: a reader whom nothing tells from others. */
  reader: string | null
  /** The last entry that the reader has. */
  after: number
  /** Asked at each heartbeat: false ends the stream, as a new request would be refused. */
  mayGoOn: () => Promise<boolean>
}

export class EventStreams {
  readonly #review: Pick<Review, 'journal' | 'follow'>
  readonly #clock: Clock
  readonly #streams = new Set<{ reader: string | null; wake(): void; end(): void }>()
  #unfollow: (() => void) | null = null

  constructor(review: Pick<Review, 'journal' | 'follow'>, clock: Clock) {
    this.#review = review
    this.#clock = clock
  }

  get size(): number {
    return this.#streams.size
  }

  /** Throws API_THROTTLED when this reader has too many, API_UNAVAILABLE when all together have. */
  refuseTooMany(reader: string | null): void {
    const own = [...this.#streams].filter((stream) => reader !== null && stream.reader === reader)
    if (own.length >= mostOfOne)
      throw new LifeboatError('API_THROTTLED', `You have ${mostOfOne} event streams already; close one`)
    if (this.#streams.size >= mostStreams)
      throw new LifeboatError('API_UNAVAILABLE', `There are ${mostStreams} event streams already; close one`)
  }

  /** Writes to an answer whose head is sent, until the reader goes, is too slow, or `close`. */
  open(answer: ServerResponse, { reader, after, mayGoOn }: StreamOptions): void {
    const clock = this.#clock
    let seq = after
    let over = false
    let waiting: (() => void) | null = null
    let cancelBeat = (): void => undefined
    const end = (): void => {
      if (over) return
      over = true
      waiting?.()
      cancelBeat()
      this.#streams.delete(stream)
      if (this.#streams.size === 0) this.#stopFollowing()
      answer.end()
    }
    const cut = (): void => {
      end()
      answer.destroy()
    }
    const write = (text: string): void => {
      if (answer.write(text) || waiting !== null) return
      waiting = clock.after(readerTimeoutMs, cut)
      answer.once('drain', () => {
        waiting?.()
        waiting = null
        wake()
      })
    }
    let nextTurn = false
    const wake = (): void => {
      if (over || nextTurn || answer.writableLength >= mostUntakenBytes) return
      const entries = entriesAfter(seq)
      if (entries === null) {
        end()
        return
      }
      for (const entry of entries) {
        seq = entry.seq
        write(eventText(entry))
      }
      if (entries.length < pageSize) return
      // Polls and steps come between: a reader as fast as we are takes all of a journal of years without a pause.
      nextTurn = true
      clock.after(0, () => {
        nextTurn = false
        wake()
      })
    }
    const beat = (): void => {
      cancelBeat = clock.after(heartbeatMs, () => {
        void mayGoOn().then((may) => {
          if (over) return
          if (!may) {
            end()
            return
          }
          write(`: ${new Date(clock.wall()).toISOString()}\n\n`)
          beat()
        })
      })
    }
    /** Null when the journal cannot be read: the reader is told when it comes back. */
    const entriesAfter = (last: number): JournalPage['entries'] | null => {
      try {
        return this.#review.journal({ after: last, limit: pageSize }).entries
      } catch {
        return null
      }
    }
    const stream = { reader, wake, end }
    this.#streams.add(stream)
    answer.once('close', end)
    answer.on('error', end)
    this.#unfollow ??= this.#follow()
    write('retry: 2000\n\n')
    beat()
    wake()
  }

  /** Ends every stream: the readers come back when the daemon does. */
  close(): void {
    for (const stream of [...this.#streams]) stream.end()
    this.#stopFollowing()
  }

  /** All streams are woken once for what was appended together. */
  #follow(): () => void {
    let asleep = true
    const wakeAll = (): void => {
      asleep = true
      for (const stream of [...this.#streams]) stream.wake()
    }
    return this.#review.follow(this.#review.journal({ limit: 1 }).head.seq, () => {
      if (!asleep) return
      asleep = false
      this.#clock.after(wakeAfterMs, wakeAll)
    })
  }

  #stopFollowing(): void {
    this.#unfollow?.()
    this.#unfollow = null
  }
}

/** What is appended within this time goes out together: a recovery appends thousands. Longer shows to anyone who watches. */
const wakeAfterMs = 20

function eventText(entry: JournalPage['entries'][number]): string {
  return `id: ${entry.seq}\nevent: entry\ndata: ${JSON.stringify(entry)}\n\n`
}
