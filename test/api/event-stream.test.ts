import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { EventStreams } from '../../src/api/event-stream.ts'
import type { JournalQuery, Review } from '../../src/domain/review.ts'
import { VirtualClock } from '../../src/simulator/index.ts'

/** A socket that takes what it is given at once, or keeps it until `drain`. */
class Reader extends Writable {
  text = ''
  takes = true
  #held: (() => void)[] = []

  constructor() {
    super({ highWaterMark: 16 * 1024, decodeStrings: false })
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.text += chunk
    if (this.takes) done()
    else this.#held.push(done)
  }

  drain(): void {
    this.takes = true
    for (const done of this.#held.splice(0)) done()
  }

  get ids(): number[] {
    return [...this.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  }
}

let clock: VirtualClock

function journal(entries: number, size = 10) {
  const tell = new Set<() => void>()
  let read = 0
  const review: Pick<Review, 'journal' | 'follow'> = {
    journal: ({ after = 0, limit = 100 }: JournalQuery) => {
      const found = Array.from({ length: Math.max(0, Math.min(limit, entries - after)) }, (_, nth) => ({
        seq: after + nth + 1,
        kind: 'incident.continued',
        data: { because: 'x'.repeat(size) },
      }))
      read += found.length
      return { entries: found as never, next: null, head: { seq: entries, hash: '' } }
    },
    follow: (_seq, listen) => {
      const own = (): void => listen(null as never)
      tell.add(own)
      return () => tell.delete(own)
    },
  }
  clock = new VirtualClock()
  return {
    streams: new EventStreams(review, clock),
    append: (count: number) => {
      entries += count
      for (const each of tell) each()
    },
    get read() {
      return read
    },
    get followed() {
      return tell.size
    },
  }
}

const always = async (): Promise<boolean> => true
const open = (streams: EventStreams, reader: Reader, after: number, mayGoOn = always): void =>
  streams.open(reader as never, { reader: null, after, mayGoOn })

describe('an event stream', () => {
  it('tells what is on record after the given entry, then what is written, none twice and none missed', async () => {
    const { streams, append } = journal(250)
    const reader = new Reader()
    open(streams, reader, 240)
    append(3)
    append(2)
    await clock.advance(100)
    expect(reader.ids).toEqual(Array.from({ length: 15 }, (_, nth) => 241 + nth))
    expect(reader.text).toContain('event: entry\ndata: {"seq":241')
    streams.close()
  })

  it('reads no further than its reader takes, and goes on when it takes again', async () => {
    const source = journal(2_000, 1_000)
    const reader = new Reader()
    reader.takes = false
    open(source.streams, reader, 0)
    await clock.advance(1_000)
    expect(source.read).toBeLessThan(500)
    reader.drain()
    await clock.advance(1_000)
    expect(reader.ids).toEqual(Array.from({ length: 2_000 }, (_, nth) => nth + 1))
    source.streams.close()
  })

  it('lets others have their turn while it tells a long journal to a reader that takes everything', async () => {
    const source = journal(2_000)
    const reader = new Reader()
    open(source.streams, reader, 0)
    source.append(1)
    expect(source.read).toBeLessThan(200)
    await clock.advance(1_000)
    expect(reader.ids).toEqual(Array.from({ length: 2_001 }, (_, nth) => nth + 1))
    source.streams.close()
  })

  it('cuts off a reader that takes nothing for half a minute', async () => {
    const { streams } = journal(1_000, 1_000)
    const reader = new Reader()
    reader.takes = false
    open(streams, reader, 0)
    await clock.advance(29_000)
    expect(streams.size).toBe(1)
    await clock.advance(2_000)
    expect([streams.size, reader.destroyed]).toEqual([0, true])
  })

  it('beats, and ends when its reader may read no longer', async () => {
    const { streams } = journal(1)
    const reader = new Reader()
    let may = true
    open(streams, reader, 1, async () => may)
    await clock.advance(16_000)
    expect(reader.text).toMatch(/^: \d{4}-.*Z$/m)
    may = false
    await clock.advance(15_000)
    expect([streams.size, reader.writableEnded]).toEqual([0, true])
  })

  it('is one of a hundred at the most, and the last to end stops following', () => {
    const source = journal(0)
    const readers = Array.from({ length: 100 }, () => new Reader())
    for (const reader of readers) {
      source.streams.refuseTooMany(null)
      open(source.streams, reader, 0)
    }
    expect(() => source.streams.refuseTooMany(null)).toThrow('100 event streams')
    expect(source.followed).toBe(1)
    source.streams.close()
    expect([source.followed, readers.every(({ writableEnded }) => writableEnded)]).toEqual([0, true])
  })
})
