/** What becomes of appended entries on their way to the shared store, whatever its answers are. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { EntryRow } from '../../../src/journal/chain.ts'
import { linkedRows, prepareEntry } from '../../../src/journal/journal.ts'
import { sharedRow } from '../../../src/journal/shared/rows.ts'
import { Shipper } from '../../../src/journal/shared/shipper.ts'
import { StoreTrouble, type Inserted, type SharedRow } from '../../../src/journal/shared/store.ts'
import { VirtualClock } from '../../../src/simulator/virtual-clock.ts'

const before = { seq: 7, hash: 'e'.repeat(64) }
const trouble = new StoreTrouble('again', 'away', { maybeDone: true })

let clock: VirtualClock
let ending: AbortController
/** What the store says, one answer after the other; then it inserts. */
let answers: (Inserted | Error | (() => Promise<Inserted>))[]
let sent: { at: number; after: { seq: number; hash: string }; seqs: number[] }[]
/** What the store holds where it is asked. */
let hashes: Map<number, string>
let newest: number
let told: string[]
let acknowledged: number[][]
let copied: EntryRow[]
beforeEach(() => {
  clock = new VirtualClock()
  ending = new AbortController()
  answers = []
  sent = []
  hashes = new Map([[before.seq, before.hash]])
  newest = before.seq
  told = []
  acknowledged = []
  copied = []
})

function shipper(): Shipper {
  return new Shipper({
    clock,
    head: before,
    signal: ending.signal,
    store: {
      insert: (after: { seq: number; hash: string }, rows: readonly SharedRow[]) => {
        sent.push({ at: clock.now(), after, seqs: rows.map(({ seq }) => seq) })
        const answer = answers.shift() ?? 'inserted'
        if (answer instanceof Error) return Promise.reject(answer)
        return typeof answer === 'function' ? answer() : Promise.resolve(answer)
      },
      hashAt: (seq: number) => Promise.resolve(hashes.get(seq) ?? null),
      look: () =>
        Promise.resolve({
          tenure: { epoch: 1, beat: 0, holder: 'ctl1', format: 1, cloud: 'blue' },
          rows: [],
          newest,
        }),
    },
    copy: {
      head: () => ({ seq: before.seq + copied.length, hash: copied.at(-1)?.hash ?? before.hash }),
      hashAt: (seq) => (seq === before.seq ? before.hash : (copied[seq - before.seq - 1]?.hash ?? null)),
      rows: (seq, limit) => copied.slice(seq - before.seq, seq - before.seq + limit),
    },
    acknowledged: (rows) => acknowledged.push(rows.map(({ seq }) => seq)),
    overtaken: (why) => told.push(why),
    trouble: (problem) => told.push(problem === null ? 'well' : problem.message),
    restored: (lost) => told.push(`${lost} put back`),
  })
}

/** So many entries after the newest one. */
function entries(of: Shipper, count: number, message = 'x'): EntryRow[] {
  const prepared = Array.from({ length: count }, () =>
    prepareEntry({ kind: 'alarm.raised', data: { code: 'N', message } }),
  )
  return linkedRows(prepared, of.newest, '2026-01-02T03:04:05.678Z')
}

function add(to: Shipper, count: number, message?: string): EntryRow[] {
  const rows = entries(to, count, message)
  to.add(rows)
  return rows
}

/** Lets a second pass, and says whether it is durable. */
async function isDurable(of: Promise<void>, ms = 1_000): Promise<boolean> {
  let done = false
  void of.then(() => (done = true))
  await clock.advance(ms)
  return done
}

describe('entries on their way', () => {
  it('go in one statement when they are appended in one tick, after the newest durable one', async () => {
    const one = shipper()
    const rows = [...add(one, 1), ...add(one, 2)]
    expect([one.staged, one.newest]).toEqual([3, { seq: 10, hash: rows[2]?.hash }])
    expect(await isDurable(one.durable())).toBe(true)
    expect(sent).toEqual([{ at: 0, after: before, seqs: [8, 9, 10] }])
    expect([one.staged, one.newest, acknowledged]).toEqual([0, { seq: 10, hash: rows[2]?.hash }, [[8, 9, 10]]])
    expect(told).toEqual([])
  })

  it('are sent one statement at a time, each after the one before', async () => {
    const one = shipper()
    answers = [() => new Promise((resolve) => clock.after(300, () => resolve('inserted')))]
    const [first] = add(one, 1)
    await clock.advance(100)
    add(one, 2)
    await clock.advance(100)
    expect(sent).toHaveLength(1)
    await clock.advance(1_000)
    expect(sent[1]).toEqual({ at: 300, after: { seq: 8, hash: first?.hash }, seqs: [9, 10] })
  })

  it('go on when more come after all were durable', async () => {
    const one = shipper()
    add(one, 1)
    await clock.advance(100)
    add(one, 1)
    expect(await isDurable(one.durable())).toBe(true)
    expect(acknowledged).toEqual([[8], [9]])
  })

  it('are at most five hundred in one statement', async () => {
    const one = shipper()
    add(one, 1_001)
    await clock.advance(100)
    expect(sent.map(({ seqs }) => seqs.length)).toEqual([500, 500, 1])
  })

  it('are cut between two appends: what one append writes is there as a whole, or not at all', async () => {
    const one = shipper()
    add(one, 499)
    add(one, 2)
    add(one, 499)
    await clock.advance(100)
    expect(sent.map(({ seqs }) => seqs.length)).toEqual([499, 2, 499])
  })

  it('are at most a megabyte in one statement, but for one that is larger by itself', async () => {
    const one = shipper()
    add(one, 3, 'y'.repeat(450_000))
    add(one, 2, 'y'.repeat(1_200_000))
    await clock.advance(100)
    expect(sent.map(({ seqs }) => seqs)).toEqual([[8, 9], [10], [11], [12]])
  })

  it.each([
    [0, [[8, 9]]],
    [1, [[8], [9]]],
  ])('go in one statement of a megabyte, and not with %i characters more', async (more, statements) => {
    const [blank] = entries(shipper(), 1, '')
    const half = 500_000 - (blank === undefined ? 0 : sharedRow(blank).body.length)
    const one = shipper()
    add(one, 1, 'y'.repeat(half))
    add(one, 1, 'y'.repeat(half + more))
    await clock.advance(100)
    expect(sent.map(({ seqs }) => seqs)).toEqual(statements)
  })
})

describe('whoever waits', () => {
  it('need not where nothing is on its way', async () => {
    expect(await isDurable(shipper().durable(), 0)).toBe(true)
  })

  it('waits for what was appended before, and for no later entry', async () => {
    const one = shipper()
    answers = ['inserted', () => new Promise(() => undefined)]
    add(one, 1)
    const first = one.durable()
    await Promise.resolve()
    await Promise.resolve()
    add(one, 1)
    const second = one.durable()
    expect(await isDurable(first)).toBe(true)
    expect(await isDurable(second)).toBe(false)
  })

  it('is told as each statement ends, the earlier one first', async () => {
    const one = shipper()
    answers = ['inserted', () => new Promise((resolve) => clock.after(500, () => resolve('inserted')))]
    add(one, 1)
    const first = one.durable()
    await Promise.resolve()
    await Promise.resolve()
    add(one, 1)
    const second = one.durable()
    expect([await isDurable(first, 100), await isDurable(second, 100)]).toEqual([true, false])
    expect(await isDurable(second, 400)).toBe(true)
  })

  it('waits for ever once another daemon wrote on', async () => {
    const one = shipper()
    answers = ['taken']
    hashes.set(8, 'of another')
    add(one, 1)
    expect(await isDurable(one.durable(), 60_000)).toBe(false)
    expect(told).toEqual(['another daemon wrote entry 8'])
    expect([sent.length, one.staged, acknowledged]).toEqual([1, 1, []])
  })

  it('waits for ever once the process stops, and nothing is sent any more', async () => {
    const one = shipper()
    answers = [trouble]
    add(one, 1)
    const durable = one.durable()
    await clock.advance(50)
    ending.abort()
    expect(await isDurable(durable, 60_000)).toBe(false)
    expect(sent).toHaveLength(1)
  })

  it('hears nothing of an entry whose answer comes after that: the copy gets it with what others wrote', async () => {
    let answer = (): void => undefined
    answers = [() => new Promise((resolve) => (answer = () => resolve('inserted')))]
    const one = shipper()
    add(one, 1)
    await clock.advance(0)
    ending.abort()
    answer()
    await clock.advance(1_000)
    expect(acknowledged).toEqual([])
  })

  it('hears nothing of entries that are added after the process stopped', async () => {
    const one = shipper()
    ending.abort()
    add(one, 1)
    expect(await isDurable(one.durable(), 60_000)).toBe(false)
    expect(sent).toEqual([])
  })
})

describe('trouble of the store', () => {
  it('is told once and once more when it is over; the identical statement is sent again, less and less often', async () => {
    const one = shipper()
    answers = Array.from({ length: 6 }, () => trouble)
    add(one, 2)
    await clock.advance(200)
    // What is appended meanwhile is another statement's.
    add(one, 1)
    await clock.advance(10_000)
    expect(sent.slice(0, 7).map(({ at }) => at)).toEqual([0, 100, 300, 700, 1_500, 2_500, 3_500])
    expect(new Set(sent.slice(0, 7).map(({ seqs }) => seqs.join()))).toEqual(new Set(['8,9']))
    expect(sent[7]?.seqs).toEqual([10])
    expect(told).toEqual(['away', 'well'])
  })

  it('is told again when it comes again', async () => {
    const one = shipper()
    answers = [trouble, 'inserted', trouble]
    add(one, 1)
    await clock.advance(1_000)
    add(one, 1)
    await clock.advance(1_000)
    expect(told).toEqual(['away', 'well', 'away', 'well'])
  })
})

describe('a sequence that is taken', () => {
  it('is ours when our last entry stands there: an earlier statement was executed', async () => {
    const one = shipper()
    answers = [trouble, 'taken']
    const rows = add(one, 2)
    for (const { seq, hash } of rows) hashes.set(seq, hash)
    expect(await isDurable(one.durable())).toBe(true)
    expect([sent.length, acknowledged]).toEqual([2, [[8, 9]]])
  })

  it('is asked about again while it is not known whose it is', async () => {
    const one = shipper()
    // The node does not show it yet.
    answers = ['taken']
    add(one, 2)
    expect(await isDurable(one.durable())).toBe(true)
    expect([sent.map(({ at }) => at), told]).toEqual([[0, 100], []])
  })

  it.each([1, 2, 3])('is ours as far as %i of our entries stand there, and the others follow', async (standing) => {
    const one = shipper()
    answers = ['taken']
    const rows = add(one, 4)
    for (const { seq, hash } of rows.slice(0, standing)) hashes.set(seq, hash)
    expect(await isDurable(one.durable())).toBe(true)
    expect(acknowledged).toEqual([[8, 9, 10, 11].slice(0, standing), [8, 9, 10, 11].slice(standing)])
    expect(sent[1]).toEqual({
      at: 0,
      after: { seq: 7 + standing, hash: rows[standing - 1]?.hash },
      seqs: acknowledged[1],
    })
  })

  it('is the end where another daemon wrote on after a part of ours, and that part is durable', async () => {
    const one = shipper()
    answers = ['taken', 'taken']
    const [first] = add(one, 3)
    hashes = new Map([...hashes, [8, first?.hash ?? ''], [9, 'of another'], [10, 'of another']])
    expect(await isDurable(one.durable(), 60_000)).toBe(false)
    expect([acknowledged, told]).toEqual([[[8]], ['another daemon wrote entry 9']])
  })
})

describe('an entry before ours that is not there', () => {
  it('is waited for when the node is only behind', async () => {
    const one = shipper()
    answers = ['nothing']
    add(one, 1)
    expect(await isDurable(one.durable())).toBe(true)
    expect([sent.map(({ at }) => at), told]).toEqual([[0, 100], []])
  })

  it('is the end when another one stands in its place', async () => {
    const one = shipper()
    answers = ['nothing']
    hashes.set(before.seq, 'of another')
    add(one, 1)
    expect(await isDurable(one.durable(), 5_000)).toBe(false)
    expect(told).toEqual(['entry 7 of the shared journal is not the one that was written'])
  })

  it('is put back from the copy when the store lost it, and ours follow', async () => {
    const one = shipper()
    const [first] = add(one, 1)
    await clock.advance(10)
    copied = first === undefined ? [] : [first]
    answers = ['nothing']
    add(one, 1)
    expect(await isDurable(one.durable())).toBe(true)
    expect(sent.map(({ seqs }) => seqs)).toEqual([[8], [9], [8], [9]])
    expect(told).toEqual(['1 put back'])
  })

  it('is the end when the store went on from an older one', async () => {
    const one = shipper()
    const [first] = add(one, 1)
    await clock.advance(10)
    copied = first === undefined ? [] : [first]
    hashes.set(before.seq, 'of another')
    answers = ['nothing']
    add(one, 1)
    expect(await isDurable(one.durable(), 5_000)).toBe(false)
    expect(told).toEqual(['the shared journal went on from an older entry'])
  })
})

describe('what the store confirmed', () => {
  /** Two entries are durable and copied, and the store shows the one before them as its newest. */
  async function confirmed(): Promise<{ one: Shipper; rows: EntryRow[] }> {
    const one = shipper()
    const rows = add(one, 2)
    await clock.advance(10)
    copied = rows
    sent = []
    return { one, rows }
  }

  it('is put back from the copy once the store lacks it, though nothing is appended', async () => {
    const { one } = await confirmed()
    await clock.run(one.mend())
    expect([told, sent]).toEqual([['2 put back'], [{ at: clock.now(), after: before, seqs: [8, 9] }]])
  })

  it('is left alone where the store has it', async () => {
    const { one, rows } = await confirmed()
    newest = 9
    hashes = new Map(rows.map(({ seq, hash }) => [seq, hash]))
    await clock.run(one.mend())
    expect([told, sent]).toEqual([[], []])
  })

  it('is left alone where only the node that is asked lacks it', async () => {
    const { one, rows } = await confirmed()
    for (const { seq, hash } of rows) hashes.set(seq, hash)
    await clock.run(one.mend())
    expect([told, sent]).toEqual([[], []])
  })

  it('is the end of the tenure when the store went on from an older entry', async () => {
    const { one } = await confirmed()
    hashes.set(before.seq, 'of another')
    await clock.run(one.mend())
    expect([told, sent]).toEqual([['the shared journal went on from an older entry'], []])
  })

  it('is left to the append that is under way, which finds a gap by itself', async () => {
    const { one } = await confirmed()
    answers = [() => new Promise(() => undefined)]
    add(one, 1)
    await clock.run(one.mend())
    expect([told, sent.length]).toEqual([[], 1])
  })

  it('is put back once, however often it is asked for meanwhile, and again when it is lost again', async () => {
    const { one } = await confirmed()
    await clock.run(Promise.all([one.mend(), one.mend()]))
    expect(told).toEqual(['2 put back'])
    await clock.run(one.mend())
    expect(told).toEqual(['2 put back', '2 put back'])
  })

  it('is told as far as it was put back when the store is in trouble on the way', async () => {
    const { one } = await confirmed()
    const [first] = copied
    // A larger one goes alone.
    copied = copied.map((row, index) =>
      index === 1 && first !== undefined ? { ...row, data: 'x'.repeat(1_000_001) } : row,
    )
    answers = ['inserted', trouble]
    await expect(clock.run(one.mend())).rejects.toBe(trouble)
    expect(told).toEqual(['1 put back'])
  })
})
