/**
 * What the brake holds, told once for each scope and not once for each host. Owns which groups people know of, what is new in them, and
 * which of them waits no longer. The groups come from the brake: nothing is grouped here.
 */
import type { CountedGroup, ScopeId } from '../domain/brake.ts'
import type { Clock } from '../domain/clock.ts'
import type { Entry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import type { Incident } from '../domain/incident.ts'
import type { Notice } from '../domain/notice.ts'
import { groupDraft, holdsOverDraft } from './group-drafts.ts'
import type { Draft } from './rules.ts'

/**
 * How long after the first hold a group is told. Shorter: of a rack whose hosts are found dead one after the other (Nova's heartbeats
 * are 10 s apart) people are told twice; longer: they hear late of what waits for them.
 */
const gatherMs = 10_000

/** A group that grew is told again, at the earliest this long after the last time. Shorter: each host of a growing failure wakes people. */
const growsMs = 60_000

/** Until Nova was read for the first time nobody knows the groups: asked again after this. */
const unknownMs = 5_000

export interface HeldScopesParts {
  clock: Clock
  /** What the brake holds now; null: not known yet. What is on its hosts is counted from the first question on. */
  groups: () => readonly CountedGroup[] | null
  mode: () => 'observe' | 'armed'
  incident: (id: string) => Incident | undefined
  tell: (cause: Entry, draft: Draft) => void
  /** Of an incident that the brake holds, and that is in no group. */
  tellAlone: (cause: Extract<Entry, { kind: 'incident.held' }>) => void
}

interface Told {
  title: string
  incidents: ReadonlySet<string>
  /** Monotonic ms. */
  at: number
}

export class HeldScopes {
  readonly #parts: HeldScopesParts
  readonly #told = new Map<ScopeId, Told>()
  /** Held by the brake, and not looked at since. */
  readonly #fresh = new Map<string, Extract<Entry, { kind: 'incident.held' }>>()
  /** The newest entry that may have changed a group. */
  #cause: Entry | null = null
  #next: { at: number; cancel: () => void } | null = null
  /** Ends the question that is about to be asked. */
  #counting: (() => void) | null = null

  constructor(parts: HeldScopesParts) {
    this.#parts = parts
  }

  /** Whether the entry is told here, with the others of its scope, and not by itself. */
  takes(entry: Entry): boolean {
    return entry.kind === 'incident.held' && entry.data.code === 'BRAKE'
  }

  follow(entry: Entry): void {
    if (entry.kind === 'incident.held' && entry.data.code === 'BRAKE') {
      this.#fresh.set(entry.incident ?? '', entry)
      this.#countSoon()
    } else if (!this.#mayChange(entry)) return
    this.#cause = entry
    this.#lookIn(gatherMs)
  }

  /** What an earlier run told; `at`: monotonic ms. */
  recall({ held }: Notice, at: number): void {
    if (held !== undefined) this.#remember(held, at)
  }

  /** The scope whose group has this incident, as it was told; null: none. */
  scopeOf(incident: string | null): { scope: ScopeId; title: string } | null {
    for (const [scope, { title, incidents }] of this.#told)
      if (incident !== null && incidents.has(incident)) return { scope, title }
    return null
  }

  stop(): void {
    this.#next?.cancel()
    this.#next = null
    this.#counting?.()
    this.#counting = null
  }

  /** Whether a group that people know of may be another after it. */
  #mayChange({ kind, incident }: Entry): boolean {
    if (this.#told.size === 0) return false
    if (kind === 'brake.tripped' || kind === 'brake.released') return true
    const moves = kind === 'incident.continued' || kind === 'incident.closed' || kind === 'proof.recorded'
    return (moves || kind === 'operator.override' || kind === 'operator.cancelled') && this.scopeOf(incident) !== null
  }

  #lookIn(delayMs: number): void {
    const { clock } = this.#parts
    const at = clock.now() + delayMs
    if (this.#next !== null && this.#next.at <= at) return
    this.#next?.cancel()
    const cancel = clock.after(delayMs, () => {
      this.#next = null
      this.#look()
    })
    this.#next = { at, cancel }
  }

  /** Asked once for all that are held in one moment, so that Nova can say how many instances wait by the time people are told. */
  #countSoon(): void {
    this.#counting ??= this.#parts.clock.after(0, () => {
      this.#counting = null
      this.#groups()
    })
  }

  /** Null as well while the journal takes nothing of what the brake finds: its guard says that. */
  #groups(): readonly CountedGroup[] | null {
    try {
      return this.#parts.groups()
    } catch (thrown) {
      if (ensureError(thrown).code !== 'JOURNAL_UNAVAILABLE') throw thrown
      return null
    }
  }

  #look(): void {
    const { tell, mode } = this.#parts
    const groups = this.#groups()
    if (groups === null) return this.#lookIn(unknownMs)
    const cause = this.#cause
    if (cause === null) return
    for (const group of groups) this.#lookAt(group, cause)
    this.#tellLonely(groups)
    for (const [scope, { title }] of this.#told) {
      if (groups.some((group) => group.scope === scope)) continue
      this.#told.delete(scope)
      tell(cause, holdsOverDraft(cause, { scope, title }, mode()))
    }
  }

  #lookAt(group: CountedGroup, cause: Entry): void {
    const { clock, tell, mode } = this.#parts
    const told = this.#told.get(group.scope)
    const fresh = group.members.filter(({ incident }) => told?.incidents.has(incident) !== true)
    // A start looks again at holds that the run before told.
    for (const incident of told?.incidents ?? []) this.#fresh.delete(incident)
    const waitMs = told === undefined ? 0 : told.at + growsMs - clock.now()
    if (fresh.length === 0 || waitMs > 0) {
      if (told !== undefined) this.#told.set(group.scope, { ...told, incidents: stillIn(group, told) })
      if (fresh.length > 0) this.#lookIn(waitMs)
      return
    }
    const [first] = fresh.flatMap(({ incident }) => this.#fresh.get(incident) ?? [])
    const draft = groupDraft(first ?? cause, group, mode())
    this.#remember(draft.held, clock.now())
    for (const { incident } of group.members) this.#fresh.delete(incident)
    tell(first ?? cause, draft)
  }

  /** One that the brake holds though no scope counts its host is told by itself: better twice than not at all. */
  #tellLonely(groups: readonly CountedGroup[]): void {
    const grouped = new Set(groups.flatMap(({ members }) => members.map(({ incident }) => incident)))
    for (const [id, entry] of this.#fresh) {
      if (grouped.has(id)) continue
      this.#fresh.delete(id)
      const incident = this.#parts.incident(id)
      const waits = incident?.held?.code === 'BRAKE' && incident.override === null && incident.cancelled === null
      if (waits && incident.proof === null) this.#parts.tellAlone(entry)
    }
  }

  #remember({ scope, title, incidents }: NonNullable<Notice['held']>, at: number): void {
    if (incidents.length === 0) this.#told.delete(scope)
    else this.#told.set(scope, { title, incidents: new Set(incidents), at })
  }
}

/** One that left is told when it comes again. */
function stillIn({ members }: CountedGroup, { incidents }: Told): Set<string> {
  return new Set(members.flatMap(({ incident }) => (incidents.has(incident) ? [incident] : [])))
}
