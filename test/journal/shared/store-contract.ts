/** What every shared store must do, whatever stands behind it. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { DaemonRow, SharedRow, SharedStore } from '../../../src/journal/shared/store.ts'

/** A row whose hash follows from its text; the store knows nothing of the chain. */
export function row(seq: number, text: string): SharedRow {
  return { seq, body: text, hash: createHash('sha256').update(text).digest('hex') }
}

/** Rows 1, 2, ... with these texts. */
export function rows(...texts: readonly string[]): SharedRow[] {
  return texts.map((text, index) => row(index + 1, text))
}

/** What an insert of the first rows comes after. */
export const start = { seq: 0, hash: '' }

const unseen = { epoch: 0, beat: 0 }

function word(name: string, beat: number, goodPollAgeMs: number | null): DaemonRow {
  return {
    ...{ name, beat, goodPollAgeMs, address: `https://${name}`, version: '1', mode: 'armed' },
    ...{ configDigest: 'd'.repeat(64), copiedSeq: 7, at: '2026-01-02T03:04:05.678Z' },
  }
}

/** @param makeStore two daemons' views of one empty store of the cloud `blue` */
export function storeContract(name: string, makeStore: () => Promise<[SharedStore, SharedStore]>): void {
  describe(name, () => {
    entriesContract(makeStore)
    textsContract(makeStore)
    tenureContract(makeStore)
    daemonsContract(makeStore)
  })
}

function entriesContract(makeStore: () => Promise<[SharedStore, SharedStore]>): void {
  it('lets one of two win that insert at one sequence, and tells the other that it is taken', async () => {
    const [one, two] = await makeStore()
    const ends = await Promise.all([one.insert(start, rows('a')), two.insert(start, rows('b'))])
    expect(ends.toSorted()).toEqual(['inserted', 'taken'])
    const winner = ends[0] === 'inserted' ? 'a' : 'b'
    expect([await one.hashAt(1), await two.hashAt(1)]).toEqual([row(1, winner).hash, row(1, winner).hash])
  })

  it('writes no row of a statement of which one sequence is taken', async () => {
    const [one] = await makeStore()
    await one.insert(start, rows('a', 'b'))
    expect(await one.insert(row(1, 'a'), [row(2, 'x'), row(3, 'y')])).toBe('taken')
    expect((await one.look(0, 10)).rows).toEqual(rows('a', 'b'))
  })

  it.each([
    ['is missing', row(2, 'b')],
    ['is another one', { ...row(1, 'a'), hash: 'f'.repeat(64) }],
  ])('writes nothing where the entry before %s', async (_how, before) => {
    const [one] = await makeStore()
    await one.insert(start, rows('a'))
    const batch = [row(before.seq + 1, 'c'), row(before.seq + 2, 'd')]
    expect(await one.insert(before, batch)).toBe('nothing')
    expect((await one.look(0, 10)).newest).toBe(1)
  })

  it('answers a statement that is repeated with taken, and changes nothing', async () => {
    const [one] = await makeStore()
    await one.insert(start, rows('a', 'b'))
    expect(await one.insert(start, rows('a', 'b'))).toBe('taken')
    expect((await one.look(0, 10)).rows).toEqual(rows('a', 'b'))
  })

  it('gives the rows after a sequence in order, and at most so many', async () => {
    const [one] = await makeStore()
    await one.insert(start, rows('a', 'b', 'c', 'd'))
    const { rows: found, newest } = await one.look(1, 2)
    expect([found, newest]).toEqual([[row(2, 'b'), row(3, 'c')], 4])
    expect((await one.look(4, 2)).rows).toEqual([])
    expect((await one.look(0, 0)).rows).toEqual([])
  })

  it('writes five hundred rows in one statement', async () => {
    const [one] = await makeStore()
    await one.insert(start, rows('a'))
    const batch = Array.from({ length: 500 }, (_, index) => row(index + 2, `entry ${index + 2}`))
    expect(await one.insert(row(1, 'a'), batch)).toBe('inserted')
    expect((await one.look(1, 1_000)).rows).toEqual(batch)
  })

  it('sees in a hash what the other daemon has just written, and null where nothing is', async () => {
    const [one, two] = await makeStore()
    await one.insert(start, rows('a'))
    expect([await two.hashAt(1), await two.hashAt(2)]).toEqual([row(1, 'a').hash, null])
  })
}

function textsContract(makeStore: () => Promise<[SharedStore, SharedStore]>): void {
  it.each([
    ['quotes, backslashes and what a driver might replace', `it's "so" \\ and \\0 \\' ? :name %s --`],
    ['characters of four bytes, other normal forms and a zero', 'é e\u0301 漢 😀 \u0000 end '],
    ['a hundred kilobytes', 'ü'.repeat(50_000)],
  ])('gives %s back as they were', async (_what, text) => {
    const [one] = await makeStore()
    await one.insert(start, rows(text))
    expect((await one.look(0, 1)).rows).toEqual(rows(text))
  })
}

function tenureContract(makeStore: () => Promise<[SharedStore, SharedStore]>): void {
  it('says what the journal is of, and that nobody has begun', async () => {
    const [one] = await makeStore()
    const tenure = { epoch: 0, beat: 0, holder: '', format: 1, cloud: 'blue' }
    expect(await one.look(0, 0)).toEqual({ tenure, rows: [], newest: 0 })
  })

  it('lets one of two take the tenure from what both saw', async () => {
    const [one, two] = await makeStore()
    const took = await Promise.all([
      one.take(unseen, { epoch: 1, holder: 'one', format: 1 }),
      two.take(unseen, { epoch: 1, holder: 'two', format: 1 }),
    ])
    expect(took.toSorted()).toEqual([false, true])
    expect([await one.renew(1, 'one'), await two.renew(1, 'two')]).toEqual(took)
  })

  it('keeps what was taken: epoch, holder and format, with a beat that begins again', async () => {
    const [one] = await makeStore()
    await one.take(unseen, { epoch: 1, holder: 'one', format: 1 })
    await one.renew(1, 'one')
    expect((await one.look(0, 0)).tenure).toMatchObject({ epoch: 1, beat: 1 })
    await one.take({ epoch: 1, beat: 1 }, { epoch: 5, holder: 'other/2', format: 2 })
    const tenure = { epoch: 5, beat: 0, holder: 'other/2', format: 2, cloud: 'blue' }
    expect((await one.look(0, 0)).tenure).toEqual(tenure)
  })

  it('lets nobody take a tenure that was renewed since it was seen', async () => {
    const [one, two] = await makeStore()
    await one.take(unseen, { epoch: 1, holder: 'one', format: 1 })
    expect(await one.renew(1, 'one')).toBe(true)
    expect(await two.take({ epoch: 1, beat: 0 }, { epoch: 2, holder: 'two', format: 1 })).toBe(false)
    expect(await one.renew(1, 'one')).toBe(true)
  })

  it.each([
    ['of another holder', 1, 'two'],
    ['of another epoch', 2, 'one'],
    ['of a holder whose name differs in case', 1, 'ONE'],
  ])('says that a tenure %s is not ours, and neither renews nor frees it', async (_whose, epoch, holder) => {
    const [one, two] = await makeStore()
    await one.take(unseen, { epoch: 1, holder: 'one', format: 1 })
    expect([await two.renew(epoch, holder), await two.release(epoch, holder)]).toEqual([false, false])
    expect((await one.look(0, 0)).tenure).toMatchObject({ epoch: 1, beat: 0, holder: 'one' })
  })

  it('frees a tenure for whoever saw it, and does not renew it any more', async () => {
    const [one] = await makeStore()
    await one.take(unseen, { epoch: 1, holder: 'one', format: 1 })
    expect(await one.release(1, 'one')).toBe(true)
    expect((await one.look(0, 0)).tenure.holder).toBe('')
    expect(await one.renew(1, 'one')).toBe(false)
  })
}

function daemonsContract(makeStore: () => Promise<[SharedStore, SharedStore]>): void {
  it('keeps the last word of each daemon as it was said', async () => {
    const [one] = await makeStore()
    await one.report(word('ctl1', 1, null))
    await one.report(word('ctl2', 1, 5))
    await one.report(word('ctl1', 2, 12))
    expect(await one.daemons()).toEqual([word('ctl1', 2, 12), word('ctl2', 1, 5)])
  })
}
