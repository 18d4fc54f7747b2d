/** A person's order that another daemon takes over: whether it can be given now, and its entry. The process ends in order, and stands by when it is started again. */
import type { NewEntry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { HandOverAnswer, HandOverOrder } from '../domain/operations.ts'
import { notActive, type TenureView } from '../domain/tenure.ts'
import { known } from '../orders/order-acts.ts'

export interface HandingOver {
  answer: HandOverAnswer
  entry: NewEntry
  /** What the last entries say of why it stopped. */
  why: string
}

/** Pure. Throws USAGE where no journal is shared, NOT_ACTIVE on a standby, CONFLICT when nobody stands by. */
export function handingOver(tenure: TenureView | null, { by, reason, via }: HandOverOrder): HandingOver {
  if (tenure === null)
    throw new LifeboatError(
      'USAGE',
      'This daemon has a journal of its own, so no other daemon can take over. Daemons share a journal only with shared_journal',
    )
  if (tenure.leaseLeftMs === null) throw notActive(tenure)
  const named = tenure.daemons.filter(({ name }) => name !== tenure.name)
  const others = tenure.namesake === null ? named : [...named, tenure.namesake]
  const standbys = others.filter(({ present }) => present).map(({ name }) => name)
  if (standbys.length === 0) {
    const seen =
      others.length === 0
        ? 'this one has never seen another'
        : `${others.map(({ name }) => name).join(', ')}: not heard from lately`
    throw new LifeboatError('CONFLICT', `No daemon stands by to take over: ${seen}. Start one first`, {
      retry: 'after',
    })
  }
  return {
    answer: { standbys },
    entry: { kind: 'operator.hand-over', actor: `operator:${by}`, data: { by, reason, ...known(via) } },
    why: `${by} ordered a hand-over: ${reason}`,
  }
}
