/**
 * Moves a journal between one daemon's own file and the shared store, on a person's order and while no daemon writes it. Owns the order of the
 * steps: whatever interrupts them, no two places go on with one journal, and the same order goes on with what is missing.
 *
 * To the shared store: all entries as they are, then `journal.moved` in the file, then that entry in the store. Until then the file is one daemon's
 * own, and no daemon takes over in the store. To an own file: all entries into it, then `journal.moved` in the store, where only it or the first entry
 * of a daemon that takes over can stand, then that entry in the file.
 */
import { sleep, type Clock } from '../../domain/clock.ts'
import type { JournalPlace, NewEntry } from '../../domain/entry.ts'
import { LifeboatError } from '../../domain/errors.ts'
import { linkedRows, prepareEntry, type JournalWriter } from '../journal.ts'
import type { Head } from '../kept-head.ts'
import { isOfCopy, nameIn, type Identity } from './identity.ts'
import { putBack } from './lost-entries.ts'
import { entryRow, sharedRow } from './rows.ts'
import { entryFormat, StoreTrouble, type SharedStore, type TenureRow } from './store.ts'
import { whereabouts } from './whereabouts.ts'

const rowsAtOnce = 500
const againMs = 500
/** Longest time without any progress. Longer than a cluster needs to vote a dead node out. */
const patienceMs = 30_000

export interface MoveParts {
  store: SharedStore
  /** The file, locked: no daemon writes it. */
  copy: JournalWriter
  identity: Identity
  clock: Clock
  cloud: string
  by: string
  reason: string
}

export interface Moved {
  to: JournalPlace
  /** What both hold now. */
  head: Head
}

/** Throws CONFLICT, NOT_ACTIVE, CONFIG_INVALID (another cloud), JOURNAL_UNAVAILABLE, JOURNAL_CORRUPT. */
export async function moveToShared(parts: MoveParts): Promise<Moved> {
  const { store, copy } = parts
  mustBeWhole(copy)
  if (copy.head().seq === 0)
    throw conflict(
      `${copy.path} has no entries: there is nothing to move. Daemons with shared_journal begin a journal by themselves`,
    )
  await freeTenure(parts)
  // It was moved before, perhaps not to the end, and may have been moved out since.
  if (whereabouts(copy).place === 'shared') await pullAll(parts)
  const before = copy.head()
  const { place, moved } = whereabouts(copy)
  if (moved !== null && moved.seq === before.seq && !isOfCopy(moved.holder, copy.path))
    throw conflict(`The journal has been ${nameIn(moved.holder)}'s own since ${moved.at}: move it from there`)
  await copyAll(parts)
  if (place === 'own') {
    if ((await patiently(parts, () => store.hashAt(before.seq + 1))) !== null)
      throw conflict(
        `${copy.path} ends with entry ${before.seq}, and the shared journal goes on after that: this journal was moved before, and the file is an older one. Move the file away; the daemon pulls a new copy when it starts`,
      )
    copy.append([wordOf(parts, 'shared')])
    await copyAll(parts)
  }
  return { to: 'shared', head: copy.head() }
}

/** Throws as `moveToShared`. */
export async function moveToOwn(parts: MoveParts): Promise<Moved> {
  const { store, copy, identity, clock } = parts
  mustBeWhole(copy)
  const row = await freeTenure(parts)
  await pullAll(parts)
  const head = copy.head()
  if (head.seq === 0) throw conflict('The shared journal has no entries: there is nothing to move')
  const { place, moved } = whereabouts(copy)
  if (moved !== null && isOfCopy(moved.holder, copy.path)) {
    // An earlier order came as far as that, and may not have freed the tenure.
    await free(parts, row)
    return { to: 'own', head }
  }
  if (moved !== null)
    throw conflict(`The journal has been ${nameIn(moved.holder)}'s own since ${moved.at}, and goes on there`)
  if (place === 'own') throw conflict(`${copy.path} is this machine's own journal already: it was never moved`)
  identity.owns()
  const epoch = await take(parts, row)
  const [entry] = linkedRows([prepareEntry(wordOf(parts, 'own'))], head, new Date(clock.wall()).toISOString())
  if (entry === undefined) throw new LifeboatError('INVARIANT', 'one entry makes one row')
  await patiently(parts, async () => {
    if ((await store.insert(head, [sharedRow(entry)])) === 'inserted') return 'done'
    const there = await store.hashAt(entry.seq)
    if (there === null || there === entry.hash) return there === null ? 'again' : 'done'
    throw conflict('A daemon took over meanwhile: nothing was moved. Stop it, and order this again')
  })
  copy.takeIn([entry])
  await free(parts, { epoch, holder: identity.holder })
  return { to: 'own', head: copy.head() }
}

/**
 * The store is lost for good, by a person's word: the file goes on by itself, as far as it came. Only where no node answers for half a minute: a
 * node that refuses to serve without a majority is an answer, for the majority may be elsewhere. Throws CONFLICT, JOURNAL_CORRUPT.
 */
export async function moveOutOfLostStore(parts: MoveParts): Promise<Moved> {
  const { copy, identity } = parts
  mustBeWhole(copy)
  const { place } = whereabouts(copy)
  if (place === 'own') throw conflict(`${copy.path} is this machine's own journal already, or has no entries`)
  const found = await foundStore(parts)
  if (found !== null)
    throw conflict(
      `The shared database is not lost: ${found}. Nothing was moved. While it has the tables, order this without --database-lost. If they are gone: lifeboat journal init, and start the daemons; they put the entries back from their copies. If no majority of its nodes will ever come back: begin the cluster again with the node that answers, or stop that node and order this again`,
    )
  identity.owns()
  copy.append([wordOf(parts, 'own')])
  return { to: 'own', head: copy.head() }
}

/** What the store says; null: no node of it said anything. */
async function foundStore({ store, clock }: MoveParts): Promise<string | null> {
  for (const until = clock.now() + patienceMs; clock.now() < until;) {
    try {
      await store.look(0, 0)
      return 'it answers'
    } catch (thrown) {
      if (!(thrown instanceof StoreTrouble)) throw thrown
      if (thrown.answered) return thrown.message
    }
    await sleep(clock, againMs)
  }
  return null
}

function wordOf({ identity, by, reason }: MoveParts, to: JournalPlace): NewEntry {
  return {
    kind: 'journal.moved',
    actor: `operator:${by}`,
    data: { to, holder: identity.holder, by, reason },
  }
}

function mustBeWhole(copy: JournalWriter): void {
  const { broken } = copy.verify()
  if (broken === null) return
  throw new LifeboatError(
    'JOURNAL_CORRUPT',
    `${copy.path} does not verify: entry ${broken.seq}: ${broken.problem}. Nothing was moved`,
  )
}

/**
 * The tenure, which nobody may hold but an earlier process with this copy: its lock is ours, so it is over. In a copied directory it may be alive.
 * An earlier order of this place is known after a restart of the machine too: no daemon could free the row for it once the journal was moved.
 */
async function freeTenure(parts: MoveParts): Promise<TenureRow> {
  const { store, copy, identity, cloud } = parts
  const { tenure } = await patiently(parts, () => store.look(0, 0))
  if (tenure.cloud !== cloud)
    throw new LifeboatError(
      'CONFIG_INVALID',
      `The shared journal is that of the cloud ${tenure.cloud}, not of ${cloud}. Nothing was moved`,
    )
  const { holder } = tenure
  if (holder === '' || identity.wasUs(holder) || isOfCopy(holder, copy.path)) return tenure
  throw new LifeboatError(
    'NOT_ACTIVE',
    `${nameIn(holder)} holds the shared journal. Nothing was moved. Stop every daemon that shares it first; if that machine is dead, start the daemon here, and stop it once it has taken over`,
    { retry: 'after', details: { active: nameIn(holder) } },
  )
}

async function free(parts: MoveParts, { epoch, holder }: Pick<TenureRow, 'epoch' | 'holder'>): Promise<void> {
  if (holder !== '') await patiently(parts, () => parts.store.release(epoch, holder))
}

/** All entries of the file are in the store after it, exactly as they are. */
async function copyAll(parts: MoveParts): Promise<void> {
  const { store, copy } = parts
  await patiently(parts, async () => {
    const end = await putBack(store, copy)
    if (end === 'other')
      throw conflict(
        `The shared tables hold a different journal from ${copy.path}. Nothing was moved. Use an empty database: lifeboat journal init`,
      )
    return end === 'whole' ? 'done' : 'again'
  })
}

/** The file holds all entries of the store after it, and the store all of the file. */
async function pullAll(parts: MoveParts): Promise<void> {
  const { store, copy } = parts
  await patiently(parts, async () => {
    const { seq, hash } = copy.head()
    const { rows, newest } = await store.look(seq, rowsAtOnce)
    if (rows.length > 0) {
      copy.takeIn(rows.map(entryRow))
      return 'more'
    }
    if (newest < seq) {
      if (whereabouts(copy).place === 'own') throw conflict(`${copy.path} is this machine's own journal already`)
      await copyAll(parts)
    }
    // As all nodes agree: this one may be behind the others.
    if ((await store.hashAt(seq + 1)) !== null) return 'again'
    if (seq > 0 && (await store.hashAt(seq)) !== hash)
      throw conflict(
        `The copy ${copy.path} differs from the shared journal at entry ${seq}. Move the copy away, and order this again`,
      )
    return 'done'
  })
}

/** Nobody can take over from here on, for as long as a daemon waits for one that is silent. Gives the epoch. */
async function take(parts: MoveParts, seen: TenureRow): Promise<number> {
  const { store, copy, identity } = parts
  const [last] = copy.read({ kinds: ['tenure.began'], newestFirst: true, limit: 1 })
  const epoch = Math.max(seen.epoch, last?.kind === 'tenure.began' ? last.data.epoch : 0) + 1
  return patiently(parts, async () => {
    if (await store.take(seen, { epoch, holder: identity.holder, format: entryFormat })) return epoch
    const { tenure } = await store.look(0, 0)
    if (tenure.holder === identity.holder) return epoch
    throw conflict('A daemon took over meanwhile: nothing was moved. Stop it, and order this again')
  })
}

/** Tries again while the store is in trouble or `again`; at once when there is `more`. Throws JOURNAL_UNAVAILABLE when it does not pass. */
async function patiently<T>({ clock }: MoveParts, step: () => Promise<T>): Promise<Exclude<T, 'again' | 'more'>> {
  let problem: StoreTrouble | null = null
  for (let progressAt = clock.now(); clock.now() - progressAt < patienceMs;) {
    const began = clock.now()
    try {
      const end = await step()
      if (end === 'more') {
        progressAt = clock.now()
        continue
      }
      if (end !== 'again') return end as Exclude<T, 'again' | 'more'>
    } catch (thrown) {
      if (!(thrown instanceof StoreTrouble)) throw thrown
      problem = thrown
      if (thrown.kind === 'refused') break
      // A step of many statements, of which each ends within seconds: some went well.
      if (clock.now() - began > patienceMs / 2) progressAt = clock.now()
    }
    await sleep(clock, againMs)
  }
  throw new LifeboatError(
    'JOURNAL_UNAVAILABLE',
    `The shared journal cannot be used: ${problem?.message ?? 'its nodes do not agree'}. Order this again: it goes on where it stopped`,
    { certainty: 'unknown', retry: 'backoff', cause: problem },
  )
}

function conflict(message: string): LifeboatError {
  return new LifeboatError('CONFLICT', message, { retry: 'after' })
}
