/**
 * The event stream: every journal entry as it is written. Resumes from the last entry seen, so that a restart of the daemon or
 * a broken network loses nothing. Entries are handed on once per frame: a burst of thousands is one drawing.
 */
import { useLayoutEffect, useState } from 'preact/hooks'
import type { Entry } from '../../domain/entry.ts'
import type { DaemonStatus } from '../../domain/operations.ts'
import { after, beforePaint } from '../browser-clock.ts'
import { get } from './client.ts'
import { paths } from './paths.ts'

/** live: entries arrive. joining: not yet. lost: nothing arrives, pages ask again now and then. */
export type LinkState = 'joining' | 'live' | 'lost'

/**
 * Pauses before a broken stream is opened again. Shorter hammers a daemon that restarts; longer shows old news as new.
 */
const retryMs = [500, 1_000, 2_000, 5_000, 10_000]

/**
 * A connection can be dead without either end being told (a laptop that slept, a proxy that forgot it), and it then looks just
 * like a calm cloud: no entry comes. (The daemon's heartbeats are comments, which a browser does not show to a page.) So when no
 * entry has come for this long, the pages ask for the number of the newest entry on record, and compare it with the newest that
 * the stream has brought. Shorter asks more often on calm days, for nothing; longer says "live" over old news for longer.
 */
const silenceLimitMs = 10_000

/**
 * The answer to that question comes on another line, and a dead one gives none. Longer is longer "live" over old news: with the
 * silence before it, it is as long as the daemon's heartbeat.
 */
const answerLimitMs = 5_000

/** Entries written just before that answer are still on their way. Shorter takes a slow line for a dead one. */
const deliveryMs = 3_000

/**
 * A browser opens six connections to a host that speaks HTTP/1.1, for all its tabs together, and each stream holds one: six
 * forgotten tabs, and the seventh would load nothing. So a tab that nobody looks at gives its stream up after this time, and goes
 * on where it was when someone looks. Shorter opens streams again at each change of tabs.
 */
const hiddenLimitMs = 10_000

class EventStream {
  #wanted = false
  #source: EventSource | null = null
  #lastSeq: number | null = null
  #tries = 0
  #state: LinkState = 'joining'
  #batch: Entry[] = []
  #handing: (() => void) | null = null
  #retrying: (() => void) | null = null
  #watchdog: () => void = () => undefined
  #hiding: () => void = () => undefined
  readonly #listeners = new Set<(entries: Entry[]) => void>()
  readonly #watchers = new Set<(state: LinkState) => void>()

  constructor() {
    document.addEventListener('visibilitychange', () => this.#looked())
  }

  get state(): LinkState {
    return this.#state
  }

  /** Opens it; `seq` is the newest entry that the pages know. */
  open(seq: number): void {
    this.#lastSeq ??= seq
    this.#wanted = true
    if (!document.hidden) this.#join()
  }

  close(): void {
    this.#wanted = false
    this.#lastSeq = null
    this.#rest()
  }

  listen(listener: (entries: Entry[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  watch(watcher: (state: LinkState) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  #looked(): void {
    this.#hiding()
    if (document.hidden) this.#hiding = after(hiddenLimitMs, () => this.#rest())
    else if (this.#wanted) this.#join()
  }

  /** Holds no connection; where it was is kept. */
  #rest(): void {
    this.#retrying?.()
    this.#retrying = null
    this.#watchdog()
    this.#source?.close()
    this.#source = null
    this.#tries = 0
    this.#say('joining')
  }

  #join(): void {
    if (this.#source === null && this.#retrying === null) this.#connect()
  }

  #connect(): void {
    this.#retrying = null
    const from = this.#lastSeq === null ? '' : `?after=${this.#lastSeq}`
    const source = new EventSource(`${paths.events}${from}`)
    this.#source = source
    source.addEventListener('open', () => {
      this.#waitForMore(source)
      this.#say('live')
    })
    source.addEventListener('error', () => this.#lose(source))
    source.addEventListener('entry', (event) => {
      this.#waitForMore(source)
      this.#take(event)
    })
  }

  #take(event: MessageEvent): void {
    this.#tries = 0
    const entry = JSON.parse(String(event.data)) as Entry
    if (this.#lastSeq !== null && entry.seq <= this.#lastSeq) return
    this.#lastSeq = entry.seq
    this.#batch.push(entry)
    this.#handing ??= beforePaint(() => {
      this.#handing = null
      const entries = this.#batch
      this.#batch = []
      for (const listener of this.#listeners) listener(entries)
    })
  }

  #waitForMore(source: EventSource): void {
    this.#watchdog()
    this.#watchdog = after(silenceLimitMs, () => this.#doubt(source))
  }

  /** Nothing has come for a while: was there anything to say? */
  #doubt(source: EventSource): void {
    get<DaemonStatus>(paths.status, { limitMs: answerLimitMs }).then(
      ({ journal }) => this.#compare(source, journal.entries),
      () => this.#lose(source),
    )
  }

  /** @param newest the newest entry on record */
  #compare(source: EventSource, newest: number): void {
    if (source !== this.#source) return
    const known = (this.#lastSeq ??= newest)
    if (newest === known) {
      this.#tries = 0
      this.#waitForMore(source)
    } else if (newest > known) {
      this.#watchdog()
      // Any entry that comes meanwhile takes this timer's place.
      this.#watchdog = after(deliveryMs, () => this.#lose(source))
    } else {
      // Another journal, such as one from a backup: what we had is not in it.
      this.#lastSeq = newest
      this.#lose(source)
    }
  }

  /** We open it again ourselves: the browser gives up for good when a proxy answers instead of the daemon. */
  #lose(source: EventSource): void {
    if (source !== this.#source) return
    source.close()
    this.#source = null
    this.#watchdog()
    this.#say('lost')
    const pause = retryMs[Math.min(this.#tries, retryMs.length - 1)] ?? 10_000
    this.#tries += 1
    this.#retrying = after(pause, () => this.#connect())
  }

  #say(state: LinkState): void {
    if (state === this.#state) return
    this.#state = state
    for (const watcher of this.#watchers) watcher(state)
  }
}

export const events = new EventStream()

/** Calls with what was written since the last frame. */
export function useEntries(listener: (entries: Entry[]) => void): void {
  // Before the browser draws: what arrives until an effect would run is told to nobody.
  useLayoutEffect(() => events.listen(listener), [listener])
}

export function useLink(): LinkState {
  const [state, setState] = useState(events.state)
  // Before the browser draws, and with what it is by then: a change in between would never be seen.
  useLayoutEffect(() => {
    setState(events.state)
    return events.watch(setState)
  }, [])
  return state
}
