/**
 * One daemon's part in who is active: it follows the shared journal, stands by, takes over, keeps its lease and ends. Owns the one function that
 * changes the state. It decides by takeover.ts, and never by a clock of another machine.
 */
import { setMaxListeners } from 'node:events'
import { deadline, sleep } from '../../domain/clock.ts'
import { ensureError, LifeboatError } from '../../domain/errors.ts'
import { notActive, tenureMoves, type Exit, type TenureState, type TenureView } from '../../domain/tenure.ts'
import type { EntryRow } from '../chain.ts'
import type { JournalWriter } from '../journal.ts'
import { linkedRows, prepareEntry } from '../journal.ts'
import { KnownDaemons } from './known-daemons.ts'
import { nameIn } from './identity.ts'
import { Lease } from './lease.ts'
import { asError, CopyDiffers, notLeft, ownJournal } from './tenure-errors.ts'
import { agreement, newestCommon, putBack } from './lost-entries.ts'
import { entryRow } from './rows.ts'
import { Shipper } from './shipper.ts'
import { entryFormat, StoreTrouble, type TenureRow } from './store.ts'
import { SeenTenure } from './seen-tenure.ts'
import { blindness, takeover } from './takeover.ts'
import type { TenureParts } from './tenure-parts.ts'
import { leaseOnRecord, notShared, whereabouts } from './whereabouts.ts'

/** Pause between two looks. Longer: a take-over comes as much later. */
const lookEveryMs = 500
/** Entries that one look brings. */
const rowsAtOnce = 500
/** The active one has been silent for so long: a take-over may be near. */
const silentSoonMs = 2_000
/** Longest wait for the last entries at an orderly stop. Longer than a cluster needs to vote a dead node out. */
const releaseLimitMs = 10_000

export class Tenure implements Exit {
  readonly #parts: TenureParts
  readonly #ending = new AbortController()
  readonly #lapseListeners = new Set<() => void>()
  readonly #daemons: KnownDaemons
  #state: TenureState = 'following'
  #why = ''
  readonly #seen = new SeenTenure()
  /** Why the last look led to no take-over. */
  #waits: string | null = null
  #newest = 0
  #epoch = 0
  /** The hash up to which the copy is known to be what the store has; empty: not yet. */
  #agreed = ''
  #activeSince = 0
  /** When we saw the last tenure that was given up, by our clock; of those before this process, its start. */
  #handedOverAt: number | null = null
  #lease: Lease | null = null
  #shipper: Shipper | null = null
  #saysWhy = false
  #inTrouble = false
  /** A take-over that was sent and has not begun. `sentAt`: the first statement for this epoch, for any of them may be the one that was executed. */
  #attempt: { epoch: number; sentAt: number } | null = null
  /** Ends the writing of a first entry that must not stand there any more. */
  #giveUp = new AbortController()

  constructor(parts: TenureParts) {
    this.#parts = parts
    const { store, clock, copy, about } = parts
    this.#daemons = new KnownDaemons({
      ...{ store, clock, about, copiedSeq: () => copy.head().seq, signal: this.ended },
      // Then its commits are what a standby judges by.
      often: () => !this.mayAppend && clock.now() - this.#seen.unchangedSince > silentSoonMs,
      heard: () => {
        if (this.#state === 'active') this.#lookForBlindness()
      },
      met: (daemon) => parts.told({ kind: 'namesake', daemon }),
    })
    if (copy.read({ kinds: ['tenure.ended'], limit: 1 }).length > 0) this.#handedOverAt = clock.now()
    // Whatever waits to leave listens for the end: many writes at once are no leak.
    setMaxListeners(0, this.#ending.signal)
  }

  get state(): TenureState {
    return this.#state
  }

  /** Why it ended; empty before. */
  get why(): string {
    return this.#state === 'ended' ? this.#why : ''
  }

  /** Aborts when the tenure ends: nothing of this process may act after that. */
  get ended(): AbortSignal {
    return this.#ending.signal
  }

  /** Whether entries may be appended: it is active, also while its lease has run out. */
  get mayAppend(): boolean {
    return this.#shipper !== null && (this.#state === 'active' || this.#state === 'suspended')
  }

  get newest(): ReturnType<JournalWriter['head']> {
    return this.#shipper?.newest ?? this.#parts.copy.head()
  }

  get staged(): number {
    return this.#shipper?.staged ?? 0
  }

  /** Throws NOT_ACTIVE. */
  append(rows: readonly EntryRow[]): void {
    if (this.#shipper === null || !this.mayAppend) throw notActive(this.view())
    this.#shipper.add(rows)
  }

  /** Follows and stands by until it is active. Throws what ends it before: JOURNAL_CORRUPT, CONFIG_INVALID. `signal`: the process stops. */
  async untilActive(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.end('the daemon was stopped')
    signal.addEventListener('abort', stop, { once: true })
    void this.#daemons.keep()
    try {
      await this.#follow()
    } finally {
      // Once it is active, an orderly stop has something to record first, and frees the tenure (release).
      signal.removeEventListener('abort', stop)
    }
  }

  /** As Exit says. */
  async permit(signal?: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    if (this.#shipper === null || !this.mayAppend) throw notActive(this.view())
    // What others append from now on, it need not wait for.
    await this.#before(this.#shipper.durable(), signal)
    while (this.#lease?.isFresh() !== true) {
      if (!(await this.#before(this.#lease?.renew() ?? Promise.resolve(false), signal))) await sleep(clock, 100, signal)
    }
  }

  async recorded(signal?: AbortSignal): Promise<void> {
    if (this.#shipper !== null) await this.#before(this.#shipper.durable(), signal)
  }

  held(): boolean {
    return this.#state === 'active' && this.#lease?.held() === true
  }

  onLapse(listen: () => void): () => void {
    this.#lapseListeners.add(listen)
    return () => this.#lapseListeners.delete(listen)
  }

  /** Whoever comes next need not wait for a lease. Where the store does not answer, it has to. */
  async #free(): Promise<void> {
    const { store, identity } = this.#parts
    try {
      await store.release(this.#attempt?.epoch ?? this.#epoch, identity.holder)
    } catch (thrown) {
      if (!(thrown instanceof StoreTrouble)) throw thrown
    }
  }

  /** Waits for what was appended, then frees the tenure. Gives it up at once: another daemon takes over within a second. */
  async release(): Promise<void> {
    const { store, clock, identity } = this.#parts
    if (this.#shipper === null || !this.mayAppend) {
      this.end('the daemon was stopped')
      // It stopped in the middle of a take-over: it holds the row, and no daemon is active.
      if (this.#shipper === null && (this.#attempt !== null || this.#epoch > 0)) await this.#free()
      return
    }
    const limit = deadline(clock, releaseLimitMs)
    try {
      await this.permit(limit.signal)
      await store.release(this.#epoch, identity.holder)
    } catch (thrown) {
      // Not freed: the others wait for the lease, as after a crash.
      if (!(thrown instanceof StoreTrouble) && !(thrown instanceof LifeboatError)) throw thrown
    } finally {
      limit.release()
      this.end('it gave the tenure up')
    }
  }

  view(): TenureView {
    const about = this.#parts.about()
    const { row } = this.#seen
    const holder = row?.holder ?? ''
    const active = this.mayAppend ? about.name : holder === '' ? null : nameIn(holder)
    const namesake = this.#daemons.namesake()
    const others = namesake === null || this.mayAppend ? [] : [namesake]
    const known = [...others, ...this.#daemons.known()].find(({ name }) => name === active)
    return {
      state: this.#state,
      name: about.name,
      epoch: this.mayAppend ? this.#epoch : (row?.epoch ?? 0),
      active: active === null ? null : { name: active, address: known?.address ?? '' },
      waits: this.mayAppend ? null : this.#waits,
      leaseLeftMs: this.mayAppend ? (this.#lease?.leftMs() ?? 0) : null,
      staged: this.staged,
      behind: this.mayAppend ? 0 : Math.max(0, this.#newest - this.#parts.copy.head().seq),
      daemons: this.#daemons.known(),
      namesake,
    }
  }

  /** The tenure is over, for whatever reason: nothing leaves and nothing is appended any more. */
  end(why: string): void {
    if (this.#state === 'ended') return
    try {
      this.#move('ended', why)
      this.#lease?.end()
      // First: the process may end as it hears of the end, and the kernel delivers what a process leaves in its sockets.
      this.#lapse()
    } finally {
      this.#ending.abort()
    }
  }

  #move(state: TenureState, why: string): void {
    if (!tenureMoves[this.#state].includes(state))
      throw new LifeboatError('INVARIANT', `a tenure cannot go from ${this.#state} to ${state}`)
    this.#state = state
    this.#why = why
    this.#parts.told({ kind: 'state', state, why })
  }

  async #follow(): Promise<void> {
    const { clock } = this.#parts
    while (!this.ended.aborted) {
      try {
        const done = await this.#look()
        this.#tell(null)
        if (done) return
      } catch (thrown) {
        if (!(thrown instanceof StoreTrouble)) {
          if (this.#state === 'taking') await this.#free()
          this.end(ensureError(thrown).message)
          throw thrown
        }
        this.#tell(asError(thrown))
      }
      await sleep(clock, lookEveryMs, this.ended)
    }
  }

  /** Trouble with the store each time, and once that it is over. */
  #tell(problem: LifeboatError | null): void {
    if (problem === null && !this.#inTrouble) return
    this.#inTrouble = problem !== null
    this.#parts.told({ kind: 'trouble', problem })
  }

  /** One look, and what follows from it. True: this daemon is active now. */
  async #look(): Promise<boolean> {
    const { clock, copy, identity, leaseMs } = this.#parts
    const complete = await this.#pull()
    const { row, unchangedSince, renews } = this.#seen
    if (row === null) return false
    if (complete && this.#state === 'following') this.#move('standby', 'its copy is complete')
    if (!complete && this.#state === 'standby') this.#move('following', 'its copy is behind')
    // Our own take-over, whose answer was lost.
    if (this.#attempt !== null && row.holder === identity.holder && row.epoch === this.#attempt.epoch)
      return this.#begin(this.#attempt.sentAt, 'the answer to its take-over was lost', '', 0)
    this.#waits = 'the copy is not complete'
    if (this.#state !== 'standby') return false
    const decided = takeover(
      {
        tenure: row,
        unchangedSince,
        complete,
        flowingSince: this.#daemons.flowingSince(),
        readsNova: (this.#parts.about().goodPollAgeMs ?? Infinity) < 30_000,
        ours: identity.wasUs(row.holder) && !renews,
      },
      clock.now(),
      { leaseMs: Math.max(leaseMs, leaseOnRecord(copy)), knownFormat: entryFormat },
    )
    this.#waits = decided.take ? null : decided.why
    return decided.take && this.#isShared() ? this.#take(row, decided) : false
  }

  /** False, told once: its entries are still on their way here. Throws CONFIG_INVALID when a person ended the shared journal. */
  #isShared(): boolean {
    const problem = notShared(this.#parts.copy)
    if (problem?.code === 'CONFIG_INVALID') throw problem
    if (problem !== null && !this.#saysWhy) this.#parts.told({ kind: 'trouble', problem })
    this.#saysWhy = problem !== null
    if (problem !== null) this.#waits = problem.message
    return problem === null
  }

  /** Reads the tenure, and all entries that the copy lacks. False: there are more. */
  async #pull(): Promise<boolean> {
    const { store, copy, clock, cloud, pulled } = this.#parts
    for (;;) {
      const after = copy.head()
      const { tenure, rows, newest } = await store.look(after.seq, rowsAtOnce)
      // Before anything of it is taken in, or the copy is judged by it.
      if (tenure.cloud !== cloud)
        throw new LifeboatError(
          'CONFIG_INVALID',
          `The shared journal is that of the cloud ${tenure.cloud}, not of ${cloud}`,
        )
      this.#seen.see(tenure, clock.now())
      this.#newest = newest
      if (newest < after.seq) {
        // A journal of one daemon's own becomes the shared one by a person's order alone: two controllers may each have one.
        if (whereabouts(copy).place === 'own') throw ownJournal(after.seq)
        // The store lost entries, or this node lags: the copy says which.
        if ((await putBack(store, copy, (entries) => this.#restored(entries))) === 'other') throw await this.#differs()
        return false
      }
      const read = rows.map(entryRow)
      if (this.#agreed !== after.hash || (read[0]?.prev_hash ?? after.hash) !== after.hash) {
        const found = await agreement(store, copy, after.seq)
        if (found === 'other') throw await this.#differs()
        if (found === 'missing') return false
        this.#agreed = after.hash
      }
      if (rows.length === 0) return newest === after.seq
      if (pulled(read).some(({ kind }) => kind === 'tenure.ended')) this.#handedOverAt = clock.now()
      // They follow what was agreed, or they were not taken in.
      this.#agreed = copy.head().hash
      if (rows.length < rowsAtOnce) return true
    }
  }

  /** A journal of one daemon's own is no copy: it stays where it is, whatever the store has. */
  async #differs(): Promise<LifeboatError> {
    const { store, copy } = this.#parts
    const { seq } = copy.head()
    return whereabouts(copy).place === 'own' ? ownJournal(seq) : new CopyDiffers(await newestCommon(store, copy), seq)
  }

  async #take(row: TenureRow, { why, silentMs }: { why: string; silentMs: number }): Promise<boolean> {
    const { store, clock, copy, identity } = this.#parts
    const [last] = copy.read({ kinds: ['tenure.began'], newestFirst: true, limit: 1 })
    const before = last?.kind === 'tenure.began' ? last.data.epoch : 0
    const epoch = Math.max(row.epoch, before) + 1
    const sentAt = clock.now()
    if (this.#attempt?.epoch !== epoch) this.#attempt = { epoch, sentAt }
    const took = await store.take(row, { epoch, holder: identity.holder, format: entryFormat })
    // Not: it lives, another was quicker, or an earlier statement of ours whose answer was lost. The next look says which.
    return took ? this.#begin(sentAt, why, row.holder, silentMs) : false
  }

  /** The tenure is ours by the row; by the chain it is once our entry stands there. */
  async #begin(takenAt: number, why: string, from: string, silentMs: number): Promise<boolean> {
    const { store, clock, copy, identity, leaseMs, about } = this.#parts
    this.#move('taking', why)
    const epoch = this.#attempt?.epoch ?? 0
    this.#attempt = null
    this.#epoch = epoch
    const lease = new Lease({
      ...{ store, clock, leaseMs, epoch, holder: identity.holder, takenAt },
      lapsed: (problem) => this.#suspend(problem),
      renewed: () => void this.#mend(),
      resumed: () => {
        if (this.#state === 'suspended') this.#move('active', 'its lease was renewed')
      },
      lost: () => this.#lost(),
      signal: this.ended,
    })
    this.#lease = lease
    void lease.keep()
    const { version, configDigest: config } = about()
    const data = {
      epoch,
      holder: identity.holder,
      from,
      why,
      ...{ silentMs: Math.round(silentMs), leaseMs },
      version,
      format: entryFormat,
      config,
    }
    while (this.state === 'taking') {
      // A node that lags has the rest in a moment. And a person may have moved the journal while we took the row: the entry that says so came first.
      if (!(await this.#pulledAll()) || !this.#isShared()) {
        await sleep(clock, lookEveryMs, this.ended)
        continue
      }
      const at = new Date(clock.wall()).toISOString()
      const rows = linkedRows([prepareEntry({ kind: 'tenure.began', data })], copy.head(), at)
      if (!(await this.#write(rows))) continue
      this.#activeSince = clock.now()
      this.#move('active', why)
      return true
    }
    return false
  }

  /** As `#pull`, in the middle of a take-over: trouble is waited out, for as long as the row is ours. */
  async #pulledAll(): Promise<boolean> {
    try {
      return await this.#pull()
    } catch (thrown) {
      if (!(thrown instanceof StoreTrouble)) throw thrown
      this.#tell(asError(thrown))
      return false
    }
  }

  /** Writes the first entry. False: a last append of the predecessor came first, or the row is another's by now. */
  async #write(rows: readonly EntryRow[]): Promise<boolean> {
    const { store, clock, copy } = this.#parts
    const acknowledged = (rows: readonly EntryRow[]): void => {
      this.#lease?.confirmed()
      this.#parts.acknowledged(rows)
    }
    const late = new Promise<'late'>((resolve) => {
      this.#giveUp = new AbortController()
      this.#giveUp.signal.addEventListener('abort', () => resolve('late'), { once: true })
    })
    const giveUp = this.#giveUp
    const shipper = new Shipper({
      ...{ store, clock, copy, head: copy.head(), acknowledged },
      signal: AbortSignal.any([this.ended, giveUp.signal]),
      overtaken: (why) => {
        if (this.mayAppend) return this.end(why)
        // Another entry stands there, or another one before it: the next pull says which.
        this.#agreed = ''
        giveUp.abort()
      },
      trouble: (problem) => this.#parts.told({ kind: 'trouble', problem: problem && asError(problem) }),
      restored: (entries) => this.#restored(entries),
    })
    shipper.add(rows)
    const written = await Promise.race([shipper.durable(), late])
    if (written === 'late' || this.state !== 'taking') return false
    this.#shipper = shipper
    return true
  }

  /** A quiet cloud's journal may get no entry for hours, and no other daemon may be there to see what the store lost. */
  async #mend(): Promise<void> {
    try {
      await this.#shipper?.mend()
    } catch (thrown) {
      // Told by who appends.
      if (!(thrown instanceof StoreTrouble)) throw thrown
    }
  }

  #restored(entries: number): void {
    this.#parts.told({ kind: 'put-back', entries })
  }

  #suspend(problem: string): void {
    const why = problem === '' ? '' : `: ${problem}`
    if (this.#state === 'active') this.#move('suspended', `its last renewal is older than the lease${why}`)
    this.#lapse()
  }

  /** The row is another's. Before our first entry nothing was begun: we stand by again. */
  #lost(): void {
    if (this.#state === 'taking') {
      this.#move('standby', 'another daemon was quicker')
      this.#giveUp.abort()
    } else this.end('another daemon took over')
  }

  /** One that throws keeps neither the others from being cut off, nor the tenure from its end. */
  #lapse(): void {
    for (const listen of this.#lapseListeners)
      try {
        listen()
      } catch (thrown) {
        this.#parts.told({ kind: 'not-cut-off', problem: ensureError(thrown) })
      }
  }

  #lookForBlindness(): void {
    const { about, clock, shouldHandOver } = this.#parts
    const { name, goodPollAgeMs } = about()
    const namesake = this.#daemons.namesake()
    const why = blindness({
      goodPollAgeMs,
      activeForMs: clock.now() - this.#activeSince,
      lastHandOverAgoMs: this.#handedOverAt === null ? null : clock.now() - this.#handedOverAt,
      others: [...this.#daemons.known().filter((it) => it.name !== name), ...(namesake === null ? [] : [namesake])],
    })
    if (why !== null) shouldHandOver(why)
  }

  /** Waits, but no longer than until the tenure ends or `signal` aborts. */
  async #before<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const cutShort = (): LifeboatError => (this.ended.aborted ? notActive(this.view()) : notLeft())
    if (this.ended.aborted || signal?.aborted === true) throw cutShort()
    let stop = (): void => undefined
    const cut = new Promise<never>((_resolve, reject) => {
      stop = () => reject(cutShort())
      this.ended.addEventListener('abort', stop, { once: true })
      signal?.addEventListener('abort', stop, { once: true })
    })
    try {
      return await Promise.race([work, cut])
    } finally {
      this.ended.removeEventListener('abort', stop)
      signal?.removeEventListener('abort', stop)
    }
  }
}
