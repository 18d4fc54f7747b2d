/**
 * A daemon's part in a shared journal: joins it, and says in words where it stands. Owns what the process needs for that: the exit that everything
 * asks before the journal is open, and parts that another daemon of this process can take the place of.
 */
import type { Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import { nameTaken, tenureStates, type Exit } from '../domain/tenure.ts'
import type { Config } from '../config/index.ts'
import type { JournalWriter } from '../journal/journal.ts'
import { identityOf } from '../journal/shared/identity.ts'
import { readNamedFile } from '../system/regular-file.ts'
import { sharedJournal, type SharedJournal } from '../journal/shared/journal.ts'
import type { ClusterEvent } from '../journal/shared/one-cluster.ts'
import type { SharedStore } from '../journal/shared/store.ts'
import type { CopyDiffers } from '../journal/shared/tenure-errors.ts'
import type { TenureEvent } from '../journal/shared/tenure-parts.ts'
import { Outage } from './outage.ts'
import { span } from '../domain/text/span.ts'

/** For systemd: started again at once, as after any end that was not ordered. */
export const deposedExitCode = 75

/** Asked by what is built before the journal is open. Nothing may leave before it is joined. */
export class JoinedExit implements Exit {
  #joined: Exit | null = null

  join(exit: Exit): void {
    this.#joined = exit
  }

  async permit(signal?: AbortSignal): Promise<void> {
    if (this.#joined === null)
      throw new LifeboatError('NOT_ACTIVE', 'This daemon has not joined the shared journal yet')
    return this.#joined.permit(signal)
  }

  async recorded(signal?: AbortSignal): Promise<void> {
    return this.#joined?.recorded(signal)
  }

  held(): boolean {
    return this.#joined?.held() ?? false
  }

  onLapse(listen: () => void): () => void {
    return this.#joined?.onLapse(listen) ?? (() => undefined)
  }
}

/** Throws CONFIG_INVALID when the CA file cannot be read. */
export async function sharedStore(
  { caFile, ...shared }: NonNullable<Config['sharedJournal']>,
  clock: Clock,
  observer: Observer = {},
): Promise<SharedStore> {
  // Only where a journal is shared: the driver costs every other daemon some megabytes.
  const { mariadbStore } = await import('../journal/shared/mariadb.ts')
  const toldOfCluster = (event: ClusterEvent): void => tellOfCluster(observer, event)
  return mariadbStore({ ...shared, tls: tlsOf(caFile), clock, toldOfCluster })
}

/** Once for each node, when it becomes so. */
export function tellOfCluster(observer: Observer, event: ClusterEvent): void {
  if (event.kind === 'moved') {
    const { from, to } = event
    const message = `The shared journal goes on in the database cluster ${to}; no node of ${from} answers any more`
    observer.log?.('warn', 'shared_journal.cluster_moved', { message, from, to })
    return
  }
  const node = `${event.node.host}:${event.node.port}`
  if (event.why === null)
    observer.log?.('info', 'shared_journal.node_used', { message: `${node} may be used again`, node })
  else observer.log?.('error', 'shared_journal.node_refused', { message: `${node} is not used: ${event.why}`, node })
}

/** Null: TLS is not used. Throws CONFIG_INVALID. */
export function tlsOf(caFile: string | null): { ca: Buffer } | null {
  return caFile === null ? null : { ca: readNamedFile('The CA file of the shared journal', caFile) }
}

export interface JoinParts {
  copy: JournalWriter
  store: SharedStore
  clock: Clock
  observer: Observer
  version: string
  /** Of the rules in force. */
  configDigest: () => string
  mode: () => string
  /** Age of the last good reading of Nova, ms; null before the first. */
  goodPollAgeMs: () => number | null
  onListenerError: (thrown: unknown) => void
  shouldHandOver: (why: string) => void
  /** The shared journal cannot be written, by what it said last. Over once an entry is durable again. */
  unwritable: (problem: string) => void
  /** So many entries were put back into the shared journal. */
  putBack: (entries: number) => void
}

/** Makes this daemon one of those that share the journal. It follows once `tenure.untilActive` is called. Throws JOURNAL_UNAVAILABLE. */
export function joinShared(
  shared: NonNullable<Config['sharedJournal']>,
  cloud: string,
  { copy, store, clock, observer, ...parts }: JoinParts,
): SharedJournal {
  const { name, address, leaseMs } = shared
  const outage = outageOf(observer, clock)
  const joined = sharedJournal({
    ...{ store, copy, clock, leaseMs, cloud },
    identity: identityOf(name, copy.path),
    about: () => ({
      ...{ name, address, version: parts.version },
      ...{ configDigest: parts.configDigest(), mode: parts.mode() },
      goodPollAgeMs: parts.goodPollAgeMs(),
    }),
    ...{ onListenerError: parts.onListenerError, shouldHandOver: parts.shouldHandOver },
    told: (event) => {
      if (event.kind === 'put-back') parts.putBack(event.entries)
      // A standby writes nothing: its trouble is that it cannot take over, and its status says so.
      if (event.kind === 'trouble' && event.problem !== null && joined.tenure.mayAppend)
        parts.unwritable(event.problem.message)
      if (event.kind !== 'trouble') tell(observer, name, event)
      else if (event.problem === null) outage.over()
      // Nothing repeats any other problem: each is told as it is found.
      else if (event.problem.retry === 'backoff') outage.failed(event.problem)
      else tellUnavailable(observer, event.problem)
    },
    copyTrouble: (problem) => {
      if (problem === null)
        observer.log?.('info', 'copy.available', { message: 'The copy of the journal is written again' })
      else
        observer.log?.(
          'error',
          'copy.unavailable',
          { message: 'The copy of the journal cannot be written; the shared journal is still written' },
          problem,
        )
    },
  })
  return joined
}

function outageOf(observer: Observer, clock: Clock): Outage {
  return new Outage({
    clock,
    away: (problem, { failures, awayMs }) => {
      const often = failures === 1 ? '' : ` (it failed ${failures} times in ${span(awayMs)})`
      tellUnavailable(observer, problem, { message: `${problem.message}${often}`, failures, awayMs })
    },
    back: ({ failures, awayMs }) => {
      const message = `The shared journal is there again after ${span(awayMs)}`
      observer.log?.('info', 'shared_journal.available', { message, failures, awayMs })
    },
  })
}

function tellUnavailable(observer: Observer, problem: LifeboatError, fields: Record<string, unknown> = {}): void {
  observer.log?.('warn', 'shared_journal.unavailable', { message: problem.message, ...fields }, problem)
}

function tell(observer: Observer, name: string, event: Exclude<TenureEvent, { kind: 'trouble' }>): void {
  if (event.kind === 'put-back')
    observer.log?.('error', 'shared_journal.put_back', {
      message: `The shared journal had lost ${event.entries} entries; this daemon put them back from its copy`,
      entries: event.entries,
    })
  else if (event.kind === 'not-cut-off') {
    const message = 'Something unanswered could not be cut off at the end of the lease: it may still arrive'
    observer.log?.('error', 'tenure.not_cut_off', { message }, event.problem)
  } else if (event.kind === 'namesake') {
    if (event.daemon === null)
      observer.log?.('info', 'shared_journal.name_free', { message: `No other daemon is called ${name} any more` })
    else observer.log?.('error', 'shared_journal.name_taken', { message: nameTaken(event.daemon), name })
  } else {
    const level = event.state === 'suspended' || event.state === 'ended' ? 'warn' : 'info'
    const message = `${name} is ${event.state} (${event.why}). ${tenureStates[event.state]}`
    observer.log?.(level, 'tenure', { message, state: event.state, why: event.why })
  }
}

/** What the copy alone has is not lost: it is there to be read. */
export function tellPutAside(observer: Observer, { message, common, newest }: CopyDiffers, path: string): void {
  observer.log?.('error', 'copy.put_aside', {
    message: `${message}. The copy is kept as ${path}; the daemon exits, and pulls a new copy when it starts again`,
    ...{ path, common, newest },
  })
}

/** Always the part in use: at a take-over another daemon of this process takes the place of the one that stood by. */
export function inUse<T extends object>(part: () => T): T {
  return new Proxy({} as T, {
    get: (_target, name) => {
      const owner = part()
      const value: unknown = Reflect.get(owner, name, owner)
      return typeof value === 'function' ? (value.bind(owner) as unknown) : value
    },
  })
}
