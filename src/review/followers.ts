/** Anyone who follows the journal from one of its entries on: those on record first, then each as it is appended, none missed. */
import type { Entry } from '../domain/entry.ts'
import type { ReviewedJournal } from './incident-listing.ts'

export class Followers {
  readonly #journal: Pick<ReviewedJournal, 'each' | 'onDurable'>
  readonly #listening = new Set<(entry: Entry) => void>()

  constructor(journal: Pick<ReviewedJournal, 'each' | 'onDurable'>) {
    this.#journal = journal
    journal.onDurable((entry) => {
      for (const tell of this.#listening) tell(entry)
    })
  }

  /**
   * Calls with each entry after `seq`, in order, until the returned function is called. Those on record are told before this
   * returns: ask for what is new, and read what is old in pages.
   */
  follow(seq: number, listen: (entry: Entry) => void): () => void {
    let last = seq
    const tell = (entry: Entry): void => {
      if (entry.seq <= last) return
      last = entry.seq
      listen(entry)
    }
    for (const entry of this.#journal.each({ after: seq })) tell(entry)
    this.#listening.add(tell)
    return () => this.#listening.delete(tell)
  }
}
