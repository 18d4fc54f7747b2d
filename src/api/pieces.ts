/**
 * Answers that hold thousands of things, written as JSON in pieces, with a turn for others between them: writing all at once
 * would hold up heartbeats and steps. Nothing but the writing: what is answered was read before.
 */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { sleep, type Clock } from '../domain/clock.ts'
import { piece } from '../domain/columns.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import type { JournalPage, JournalQuery, Review } from '../domain/review.ts'

/** Elements of a list that are written at once: a few ms, for instances with all their steps. */
const pieceSize = 250

/**
 * The answer itself, or, where one of its lists is long, a stream of the same JSON.
 *
 * @param lists whether long ones are written as they are or by columns (domain/columns.ts)
 */
export function inPieces<T extends object>(
  answer: T,
  reply: { type(name: string): unknown },
  clock: Clock,
  lists?: 'columns',
): T {
  if (!Object.values(answer).some(isLong)) return answer
  void (reply as FastifyReply).type('application/json; charset=utf-8')
  // Described as JSON; sent piece by piece.
  return Readable.from(jsonPieces(answer, () => sleep(clock, 0), lists)) as unknown as T
}

function isLong(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > pieceSize
}

/** Entries of the journal that are read at once: some 20 ms where each is a plan. */
const entriesAtOnce = 200

/** A page of the journal as `Review.journal` gives it; a long one is read in turns with others. */
export async function journalInPieces(
  review: Pick<Review, 'journal'>,
  { limit, ...query }: JournalQuery,
  clock: Clock,
): Promise<JournalPage> {
  if (limit === undefined || limit <= entriesAtOnce) return review.journal({ ...query, ...omitUndefined({ limit }) })
  const entries: JournalPage['entries'] = []
  let head: JournalPage['head'] | null = null
  for (let { after } = query; ; await sleep(clock, 0)) {
    const left = limit - entries.length
    const page = review.journal({ ...query, ...omitUndefined({ after }), limit: Math.min(entriesAtOnce, left) })
    entries.push(...page.entries)
    // Newest first, what is written between the pieces is not in the answer: anyone who goes on from its head must not miss it.
    if (query.newestFirst === true) head ??= page.head
    if (page.next === null || left <= entriesAtOnce) return { ...page, head: head ?? page.head, entries }
    after = page.next
  }
}

/** The JSON of an object, its long lists in pieces. `pause` is awaited after each of those. */
export async function* jsonPieces(
  answer: object,
  pause: () => Promise<void>,
  lists?: 'columns',
): AsyncGenerator<string> {
  const [begin, end] = lists === 'columns' ? ['{"byColumns":[', ']}'] : ['[', ']']
  let before = '{'
  for (const [name, value] of Object.entries(answer) as [string, unknown][]) {
    if (value === undefined) continue
    const key = `${before}${JSON.stringify(name)}:`
    before = ','
    if (!isLong(value)) {
      yield key + JSON.stringify(value)
      continue
    }
    for (let at = 0; at < value.length; at += pieceSize) {
      const some = value.slice(at, at + pieceSize)
      const text = lists === 'columns' ? columnsOf(some) : JSON.stringify(some).slice(1, -1)
      yield (at === 0 ? key + begin : ',') + text
      await pause()
    }
    yield end
  }
  yield before === '{' ? '{}' : '}'
}

/** What was written of each part, by the part's first element. An entry goes when that element does. */
const written = new WeakMap<object, { some: readonly unknown[]; text: string }>()

/**
 * The JSON of a part by columns. It is kept, and given again while the part has the very same objects: a page asks for an incident of thousands of
 * instances every few seconds, and most parts are as they were. No element may be changed in place (review/incident-record.ts).
 */
function columnsOf(some: readonly unknown[]): string {
  const [first] = some
  if (typeof first !== 'object' || first === null) return JSON.stringify(piece(some))
  const known = written.get(first)
  const isSame = known?.some.length === some.length && some.every((one, nth) => one === known.some[nth])
  if (known !== undefined && isSame) return known.text
  const text = JSON.stringify(piece(some))
  written.set(first, { some, text })
  return text
}
