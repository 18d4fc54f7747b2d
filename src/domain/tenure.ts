/**
 * Who of several daemons acts. Owns the words for it and the port that whatever leaves the house asks: a write to Nova, a power-off, a
 * notice, an answer to a person. A daemon with a journal of its own acts always; with a shared journal, the one whose tenure it is.
 */
import { LifeboatError } from './errors.ts'

/** Where a daemon with a shared journal stands, each with what it means. */
export const tenureStates = {
  following: 'Its copy of the journal is not complete: it must not take over',
  standby: 'Its copy is complete, and another daemon is active: it reads Nova and sends nothing',
  taking: 'It has taken the tenure and not written its first entry yet: no daemon is active',
  active: 'Its first entry began the tenure: while its lease holds, it acts',
  suspended: 'It is active, and its last renewal is older than the lease: it records and sends nothing',
  ended: 'Another tenure began, or it was stopped: the process ends',
} as const

export type TenureState = keyof typeof tenureStates

/** Which state may follow which. */
export const tenureMoves: Readonly<Record<TenureState, readonly TenureState[]>> = {
  following: ['standby', 'ended'],
  standby: ['following', 'taking', 'ended'],
  taking: ['active', 'standby', 'ended'],
  active: ['suspended', 'ended'],
  suspended: ['active', 'ended'],
  ended: [],
}

/** What a write, a notice or an answer asks before it leaves. */
export interface Exit {
  /**
   * Resolves once all that was appended is durable and this daemon may act. Throws NOT_ACTIVE (nothing was sent and nothing may be) or,
   * when `signal` aborts first, HELD_BACK.
   */
  permit(signal?: AbortSignal): Promise<void>
  /** Resolves once all that was appended is durable. Throws NOT_ACTIVE when that cannot be any more, HELD_BACK when `signal` aborts first. */
  recorded(signal?: AbortSignal): Promise<void>
  /** Whether it may act at this very moment: asked in the tick in which bytes leave. */
  held(): boolean
  /** Calls once the lease is over or the tenure has ended: what is still unanswered must not be delivered after that. */
  onLapse(listen: () => void): () => void
}

/** Of a daemon with a journal of its own. */
export const openExit: Exit = {
  permit: () => Promise.resolve(),
  recorded: () => Promise.resolve(),
  held: () => true,
  onLapse: () => () => undefined,
}

/** A daemon as the others know it. */
export interface KnownDaemon {
  name: string
  /** Where its pages are, for people; empty when it has none. */
  address: string
  version: string
  mode: string
  configDigest: string
  copiedSeq: number
  /** Age of its last good reading of Nova when it wrote this, in ms; null before the first. */
  goodPollAgeMs: number | null
  /** ISO, by the clock of its own machine: for people. */
  at: string
  /** Whether it was heard of within the last seconds, by our clock. */
  present: boolean
}

/** How things stand, for people and machines. */
export interface TenureView {
  state: TenureState
  /** This daemon. */
  name: string
  epoch: number
  /** The active daemon; null when there is none, or it is not known. */
  active: { name: string; address: string } | null
  /** Why it does not take over; null when it is active, or has not looked yet. */
  waits: string | null
  /** What is left of the own lease, in ms; null when this daemon is not active. */
  leaseLeftMs: number | null
  /** Entries that were appended here and are not durable yet. */
  staged: number
  /** Entries that the shared journal has and the copy has not, as far as is known. */
  behind: number
  /** Each name once. */
  daemons: KnownDaemon[]
  /** Another daemon that runs under this one's name; null when there is none. */
  namesake: KnownDaemon | null
}

/** The daemon that acts instead of this one, for people; null: none does, as far as is known. */
export function actsElsewhere({ state, active, name, namesake }: Whereabouts): TenureView['active'] {
  if (active?.name !== name) return active
  const isItself = namesake === null || state === 'active' || state === 'suspended'
  return isItself ? null : { ...active, name: `another daemon called ${name}` }
}

/** What people are told where another daemon, whose pages are at `address`, has the name of this one. */
export function nameTaken({ name, address }: { name: string; address: string }): string {
  const where = address === '' ? '' : ` (${address})`
  return `Another daemon is called ${name} too${where}: give each its own shared_journal.name, and restart it`
}

type Whereabouts = Pick<TenureView, 'state' | 'active' | 'name' | 'namesake'>

/** Refuses an act on a daemon that is not active, with the way to the one that is. */
export function notActive(view: Whereabouts): LifeboatError {
  const { state, active, name } = view
  const other = actsElsewhere(view)
  const who = active?.name === name ? `Another daemon called ${name}` : other?.name
  const where =
    other === null
      ? 'No daemon is active at this moment: try again in a few seconds'
      : `${who} is active: do it there${other.address === '' ? '' : ` (${other.address})`}`
  const details = { state, active: active?.name ?? null, address: active?.address ?? null }
  return new LifeboatError('NOT_ACTIVE', `${name} is not active. ${where}`, { retry: 'after', details })
}
