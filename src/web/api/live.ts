/**
 * The event stream: every journal entry as it is written. Resumes from the last entry seen, so that a restart of the daemon or
 * a broken network loses nothing. Entries are handed on once per frame: a burst of thousands is one drawing.
 */
import { useEffect, useState } from 'preact/hooks'
import type { Entry } from '../../domain/entry.ts'
import type { DaemonStatus } from '../../domain/operations.ts'
import { after, beforePaint } from '../browser-clock.ts'
import { get } from './client.ts'
import { paths } from './paths.ts'

/** live: entries arrive. joining: not yet. lost: nothing arrives, pages ask again now and then. */
export type LinkState = 'joining' | 'live' | 'lost'

/**
 * Pauses before a broken stream is opened anew. Shorter hammers a daemon that restarts; longer shows old news as new.
 */
const retryMs = [500, 1_000, 2_000, 5_000, 10_000]

/**
 * After so much silence the daemon is asked whether there was anything to say: a line can be dead though nobody said so (a
 * laptop that slept, a proxy). Shorter asks for nothing on calm days; longer shows old news as new.
 */
const silenceLimitMs = 30_000

class EventStream {
  #source: EventSource | null = null
  #lastSeq: number | null = null
  #tries = 0
  #state: LinkState = 'joining'
  #batch: Entry[] = []
  #handing: (() => void) | null = null
  #retrying: (() => void) | null = null
  #watchdog: () => void = () => undefined
  readonly #listeners = new Set<(entries: Entry[]) => void>()
  readonly #watchers = new Set<(state: LinkState) => void>()

  get state(): LinkState {
    return this.#state
  }

  /** Opens it; `seq` is the newest entry that the pages know. */
  open(seq: number | null): void {
    this.#lastSeq ??= seq
    if (this.#source === null && this.#retrying === null) this.#connect()
  }

  close(): void {
    this.#retrying?.()
    this.#retrying = null
    this.#watchdog()
    this.#source?.close()
    this.#source = null
    this.#lastSeq = null
    this.#tries = 0
    this.#say('joining')
  }

  listen(listener: (entries: Entry[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  watch(watcher: (state: LinkState) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  #connect(): void {
    this.#retrying = null
    const from = this.#lastSeq === null ? '' : `?after=${this.#lastSeq}`
    const source = new EventSource(`${paths.events}${from}`)
    this.#source = source
    source.addEventListener('open', () => {
      this.#tries = 0
      this.#heard()
      this.#say('live')
    })
    source.addEventListener('error', () => this.#lose(source))
    source.addEventListener('entry', (event) => this.#take(event))
  }

  #take(event: MessageEvent): void {
    this.#heard()
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

  #heard(): void {
    this.#watchdog()
    const source = this.#source
    if (source !== null) this.#watchdog = after(silenceLimitMs, () => this.#doubt(source))
  }

  #doubt(source: EventSource): void {
    get<DaemonStatus>(paths.status).then(
      ({ journal }) => {
        if (source !== this.#source) return
        if (this.#lastSeq !== null && journal.entries > this.#lastSeq) this.#lose(source)
        else this.#heard()
      },
      () => this.#lose(source),
    )
  }

  /** We open it anew ourselves: the browser gives up for good when a proxy answers instead of the daemon. */
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
  useEffect(() => events.listen(listener), [listener])
}

export function useLink(): LinkState {
  const [state, setState] = useState(events.state)
  useEffect(() => events.watch(setState), [])
  return state
}
