/** What the journal says and what the simulated cloud was asked, as one sequence. */
import type { Entry } from '../../src/domain/entry.ts'
import type { Simulator } from '../../src/simulator/index.ts'

export type Asked = ReturnType<Simulator['requests']>[number]

export type Moment = { at: number; entry: Entry; asked?: never } | { at: number; asked: Asked; entry?: never }

/** What was asked comes before what was written in the same millisecond. Null where the clock was set back: both have no other order. */
export function timelineOf(entries: readonly Entry[], requests: readonly Asked[]): Moment[] | null {
  const written = entries.map((entry) => ({ at: Date.parse(entry.at), entry }))
  const asked = requests.map((request) => ({ at: request.at, asked: request }))
  if (!isInOrder(written) || !isInOrder(asked)) return null
  return [...asked, ...written].toSorted((a, b) => a.at - b.at)
}

function isInOrder(moments: readonly { at: number }[]): boolean {
  return moments.every(({ at }, nth) => nth === 0 || at >= (moments[nth - 1]?.at ?? 0))
}
