/**
 * The notice service: watches the journal, decides whom to notify about what (rules.ts, operators.ts, tenants.ts), puts it on record
 * and hands it to the dispatcher. Nothing waits for it: it reads entries after everyone else is through with them.
 */
import { setMaxListeners } from 'node:events'
import type { CountedGroup } from '../domain/brake.ts'
import { onOurClock, type Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import type { Entry, EntryKind } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import { foldIncidents, type Incident } from '../domain/incident.ts'
import type { Journal } from '../domain/journal.ts'
import type { Notice, NoticeAlert, NoticeTest, NoticeTestResult, ReceiverHealth } from '../domain/notice.ts'
import type { Observer } from '../domain/observer.ts'
import { isAboutTrouble } from './alerts.ts'
import { aboutOf, Dispatcher } from './dispatcher.ts'
import type { Deliver } from './delivery.ts'
import { noticeId } from './identity.ts'
import { Deduplication } from './deduplication.ts'
import { Health } from './health.ts'
import { HeldScopes } from './held-scopes.ts'
import { freezeDraft, isBeginning, operatorDraft, tellingKinds, type Known } from './operators.ts'
import { Owners } from './owners.ts'
import { Renewals } from './renewals.ts'
import { sendTest } from './send-test.ts'
import { mayHave, receiversOf, type Draft, type NoticeRules } from './rules.ts'
import { StandingAlerts } from './standing-alerts.ts'

const noticeKinds = ['notice.queued', 'notice.sent', 'notice.failed', 'notice.dead-lettered'] as const
const freezeKinds = ['monitor.frozen', 'monitor.thawed'] as const
/** What is told of these needs no more of their incident than how it began. */
const ofTheBeginning: ReadonlySet<EntryKind> = new Set<EntryKind>([
  ...(['return.changed', 'alarm.raised', 'proof.recorded', 'review.signed-off', 'operator.statement'] as const),
  ...(['operator.override', 'operator.cancelled', 'operator.start', 'incident.continued'] as const),
])
const watched: readonly EntryKind[] = [...tellingKinds, ...freezeKinds]

/** Rows about notices that a start reads. Fewer than may wait for all receivers: what waits longest is forgotten. */
const rowsRead = 10_000
/** Rows about hosts and incidents that a start reads. Fewer than the last minute had: some of it is not told. */
const causesRead = 2_000

/**
 * What happened this long before the end of the last run is looked at again: a crash may have come before it was told. What
 * was told is known by its id. Shorter: what waited for a slow listing is lost; longer: a new receiver gets old news.
 */
const lookBackMs = 60_000

/**
 * What is written after the last entry of one run and before the next one looks: the end of a tenure, the order that moved the journal, the
 * take-over, the workflows that a start pins. Their time says nothing about when the last run ended, and may be that of another machine's clock.
 */
const betweenRuns: readonly EntryKind[] = ['tenure.ended', 'journal.moved', 'tenure.began', 'workflow.pinned']

/** Such entries in a row. Fewer: what a crash left untold is taken for old. */
const betweenRunsAtMost = 50

/** With a journal that cannot be written nothing is told; tried again after this. */
const recordAgainMs = 5_000
/** Kept meanwhile; beyond it the oldest are lost. */
const owedAtMost = 1_000

export interface NoticeServiceParts {
  clock: Clock
  journal: Journal
  cloud: Pick<Cloud, 'listInstances'>
  observer: Observer
  mode: () => 'observe' | 'armed'
  incident: (id: string) => Incident | undefined
  /** What the brake holds now, by scope; null: not known yet. */
  heldGroups: () => readonly CountedGroup[] | null
  rules: NoticeRules
  deliver: ReadonlyMap<string, Deliver>
}

export class NoticeService {
  readonly #parts: NoticeServiceParts
  readonly #dispatcher: Dispatcher
  readonly #owners: Owners
  readonly #held: HeldScopes
  readonly #alerts = new StandingAlerts()
  readonly #health = new Health()
  readonly #renewals: Renewals
  readonly #stopping = new AbortController()
  #rules: NoticeRules
  #deliver: ReadonlyMap<string, Deliver>
  #started = false
  #inbox: Entry[] = []
  #owed: Notice[] = []
  #wake: (() => void) | null = null
  readonly #deduplication = new Deduplication()
  /** The newest entry that this run found. */
  #foundSeq = 0
  #freeze: { told: boolean; cancel: () => void } | null = null

  constructor(parts: NoticeServiceParts) {
    this.#parts = parts
    this.#rules = parts.rules
    this.#deliver = parts.deliver
    // The instances of every host that dies in a mass failure are read at once, and each reading listens for the stop: no leak.
    setMaxListeners(0, this.#stopping.signal)
    const rules = (): NoticeRules => this.#rules
    this.#dispatcher = new Dispatcher({ ...parts, rules, deliver: () => this.#deliver })
    this.#owners = new Owners({ ...parts, rules, signal: this.#stopping.signal })
    this.#renewals = new Renewals({
      ...{ clock: parts.clock, observer: parts.observer, deliver: () => this.#deliver },
      standing: (receiver) => this.#standingAt(receiver),
      ended: (receiver, problem) => this.#health.renewed(receiver, isoNow(parts.clock), problem),
    })
    this.#held = new HeldScopes({
      ...{ clock: parts.clock, mode: parts.mode, incident: parts.incident, groups: parts.heldGroups },
      tell: (cause, draft) => this.#send(cause, [draft]),
      tellAlone: (cause) => this.#send(cause, this.#toOperators(cause)),
    })
    parts.journal.onAppend((entry) => this.#hear(entry))
  }

  /** Other receivers from now on; what waits for those that are gone is given up. */
  configure(rules: NoticeRules, deliver: ReadonlyMap<string, Deliver>): void {
    this.#rules = rules
    this.#deliver = deliver
    if (!this.#started) return
    this.#dispatcher.pumpAll()
    this.#renewals.start()
  }

  /** How each receiver stands, in the order of the configuration. */
  health(): ReceiverHealth[] {
    const wallMs = this.#parts.clock.wall()
    return [...this.#rules.receivers.keys()].map((name) =>
      this.#health.of(name, this.#dispatcher.queue.size(name), wallMs),
    )
  }

  /** Sends a test; what becomes of it tells how the receiver stands, as a delivery does. Throws NOT_FOUND, USAGE. */
  async test(test: NoticeTest): Promise<NoticeTestResult> {
    const { clock, mode } = this.#parts
    const result = await sendTest(test, {
      ...{ receivers: this.#rules.receivers, deliver: (name) => this.#deliver.get(name), mode: mode() },
      ...{ wallMs: clock.wall(), signal: this.#stopping.signal },
    })
    this.#health.renewed(test.receiver, isoNow(clock), result.ok ? null : result.detail)
    return result
  }

  /** Goes on where the last run ended: what waits is sent, what was not told yet is told. */
  start(): void {
    const { journal } = this.#parts
    const rows = journal.read({ kinds: [...noticeKinds], newestFirst: true, limit: rowsRead }).toReversed()
    const missed = this.#lastMoments()
    this.#foundSeq = journal.read({ newestFirst: true, limit: 1 })[0]?.seq ?? 0
    const [first] = missed
    const kinds: EntryKind[] =
      this.#rules.receivers.size === 0
        ? []
        : ['incident.opened', 'process.failed', 'instance.failed', 'incident.closed', 'instances.watched']
    const before = journal.read({ kinds, newestFirst: true, limit: causesRead })
    const past = [...rows, ...before].filter(({ seq, kind }) => isNotice(kind) || seq < (first?.seq ?? Infinity))
    const known = new Set<string>()
    const causes = new Set(missed.map(({ seq }) => seq))
    const toldOf = new Map<number, Extract<Entry, { kind: 'notice.queued' }>[]>()
    for (const entry of past.toSorted((a, b) => a.seq - b.seq)) {
      this.#health.follow(entry)
      this.#dispatcher.queue.apply(entry, onOurClock(this.#parts.clock, entry.at))
      if (entry.kind === 'notice.queued') {
        const { id, cause } = entry.data
        known.add(id)
        this.#alerts.follow(entry.data)
        // What is looked at again is known from the moment on at which it happened: that the host was well before its death is
        // nothing new to those who were told of the death.
        if (causes.has(cause)) toldOf.set(cause, [...(toldOf.get(cause) ?? []), entry])
        else this.#recall(entry)
      } else this.#owners.follow(entry)
    }
    this.#forgetOver(first)
    const [freeze] = journal.read({ kinds: [...freezeKinds], newestFirst: true, limit: 1, ...upTo(first) })
    this.#started = true
    if (freeze !== undefined) this.#followFreeze(freeze, known)
    for (const entry of missed) {
      for (const told of toldOf.get(entry.seq) ?? []) this.#recall(told)
      this.#consider(entry, known)
    }
    this.#dispatcher.pumpAll()
    this.#renewals.start()
  }

  /** What stands at a receiver and has arrived there: the rest is on its way. */
  #standingAt(receiver: string): Notice[] {
    const { queue } = this.#dispatcher
    const rule = this.#rules.receivers.get(receiver)
    const standing = this.#alerts.at(receiver, this.#parts.clock.wall())
    return standing.filter((notice) => rule !== undefined && mayHave(rule, notice) && !queue.waits(receiver, notice.id))
  }

  /** What an earlier run told. */
  #recall(entry: Extract<Entry, { kind: 'notice.queued' }>): void {
    this.#owners.follow(entry)
    this.#held.recall(entry.data, onOurClock(this.#parts.clock, entry.at))
    this.#deduplication.told(entry.data, onOurClock(this.#parts.clock, entry.at))
  }

  /** What is on record is sent at the next start; what is under way gets a moment to end. */
  async stop(): Promise<void> {
    if (!this.#started) return
    this.#read()
    this.#started = false
    this.#wake?.()
    this.#freeze?.cancel()
    this.#held.stop()
    this.#stopping.abort()
    await Promise.all([this.#renewals.stop(), this.#dispatcher.stop()])
  }

  #hear(entry: Entry): void {
    this.#health.follow(entry)
    if (!this.#started || !watched.includes(entry.kind)) return
    // Ends are followed without receivers too: one that is configured again must not be told for ever of what is over.
    if (this.#rules.receivers.size === 0 && this.#alerts.isEmpty) return
    this.#inbox.push(entry)
    this.#wakeUp(0)
  }

  #wakeUp(delayMs: number): void {
    this.#wake ??= this.#parts.clock.after(delayMs, () => {
      this.#wake = null
      this.#read()
    })
  }

  /** Never throws: a bug here must not end a daemon that recovers hosts, nor keep from people what else happened. */
  #read(): void {
    for (const entry of this.#inbox.splice(0)) {
      try {
        this.#consider(entry)
        // Not of what a start looks at again: this run's own verdicts follow.
        this.#owners.foresee(entry)
      } catch (thrown) {
        this.#parts.observer.log?.('error', 'notice.broke', { seq: entry.seq }, ensureError(thrown))
      }
    }
    if (this.#owed.length > 0) this.#tell([])
  }

  #consider(entry: Entry, told: ReadonlySet<string> = new Set()): void {
    // First: what people were told before the entry decides about it.
    const toOperators = this.#held.takes(entry) ? [] : this.#toOperators(entry)
    this.#followFreeze(entry, told)
    this.#deduplication.follow(entry)
    this.#held.follow(entry)
    this.#send(entry, [...toOperators, ...this.#owners.ended(entry)], told)
    if (this.#owners.asks(entry)) void this.#tellOwners(entry, told)
    this.#owners.follow(entry)
  }

  #toOperators(entry: Entry): Draft[] {
    const draft = operatorDraft(entry, this.#known(entry))
    return draft === null ? [] : [draft]
  }

  async #tellOwners(entry: Entry, told: ReadonlySet<string>): Promise<void> {
    try {
      this.#send(entry, await this.#owners.affected(entry), told)
    } catch (thrown) {
      this.#parts.observer.log?.('error', 'notice.broke', { host: entry.host }, ensureError(thrown))
    }
  }

  #known(entry: Entry): Known {
    const { mode } = this.#parts
    const troubleTold = this.#deduplication.isTroubled(entry.host)
    const heldIn = this.#held.scopeOf(entry.incident)
    const ofRunBefore = entry.seq <= this.#foundSeq
    const offTold = this.#alerts.topicOf(entry.incident) === 'instances-off'
    return { mode: mode(), incident: this.#incident(entry), troubleTold, offTold, heldIn, ofRunBefore }
  }

  /** A freeze is told once it lasted; its end only when its beginning was told, in an earlier run too. */
  #followFreeze(entry: Entry, told: ReadonlySet<string>): void {
    if (entry.kind === 'monitor.frozen') this.#awaitUnfreeze(entry, told)
    if (entry.kind !== 'monitor.thawed' || this.#freeze === null) return
    this.#freeze.cancel()
    if (this.#freeze.told) this.#tellFreeze(entry, told)
    this.#freeze = null
  }

  #awaitUnfreeze(entry: Entry, told: ReadonlySet<string>): void {
    const { clock } = this.#parts
    this.#freeze?.cancel()
    const freeze = { told: told.has(noticeId(entry.hash, 'control-plane-frozen', null)), cancel: (): void => undefined }
    this.#freeze = freeze
    if (freeze.told) return
    const lastedMs = clock.now() - onOurClock(this.#parts.clock, entry.at)
    freeze.cancel = clock.after(Math.max(0, this.#rules.freezeDelayMs - lastedMs), () => {
      freeze.told = true
      this.#tellFreeze(entry, told)
    })
  }

  #tellFreeze(entry: Entry, told: ReadonlySet<string>): void {
    const draft = freezeDraft(entry, this.#known(entry))
    if (draft !== null) this.#send(entry, [draft], told)
  }

  #send(entry: Entry, drafts: readonly Draft[], told: ReadonlySet<string> = new Set()): void {
    const notices = drafts.flatMap((draft): Notice[] => {
      const alert = this.#alerts.alertOf(draft)
      if (alert === null && isAboutTrouble(draft)) return []
      const receivers = receiversOf(draft, this.#rules.receivers, alert, this.#alerts.toldOf(alert))
      const id = noticeId(entry.hash, draft.topic, draft.project ?? draft.held?.scope ?? null)
      // A trouble that was over in between is a new one, however soon it comes again.
      const isNew = entry.seq > this.#foundSeq && alert?.action === 'trigger' && alert.was === null
      const isOld = !isNew && this.#deduplication.isOld(draft, this.#parts.clock.now())
      if ((receivers.length === 0 && !this.#isUnheardEnd(alert)) || (!told.has(id) && isOld)) return []
      this.#deduplication.told(draft, onOurClock(this.#parts.clock, entry.at))
      if (told.has(id)) return []
      const notice = { ...draft, id, receivers, ...(alert !== null && { alert }) }
      this.#alerts.follow(notice)
      return [notice]
    })
    if (notices.length > 0) this.#tell(notices)
  }

  /** Of a trouble that a receiver was told of that is not configured now: it may come back, and the end is on record for it. */
  #isUnheardEnd(alert: NoticeAlert | null): boolean {
    if (alert?.action !== 'resolve') return false
    return [...this.#alerts.toldOf(alert)].some((name) => !this.#rules.receivers.has(name))
  }

  /** Record before act: what is not in the journal is not sent. */
  #tell(notices: readonly Notice[]): void {
    const { journal, observer } = this.#parts
    this.#owed.push(...notices)
    try {
      journal.append(this.#owed.map((data) => ({ kind: 'notice.queued', data, ...aboutOf(data) })))
    } catch (thrown) {
      const lost = this.#owed.splice(0, Math.max(0, this.#owed.length - owedAtMost)).length
      const level = lost > 0 ? 'error' : 'warn'
      observer.log?.(level, 'notice.not_recorded', { notices: this.#owed.length, lost }, ensureError(thrown))
      if (this.#started) this.#wakeUp(recordAgainMs)
      return
    }
    const recorded = this.#owed
    this.#owed = []
    for (const notice of recorded) this.#owners.remember(notice)
    this.#dispatcher.take(recorded)
  }

  /** Long after a recovery only how it began is read of it: it may have had thousands of instances. */
  #incident({ incident, kind, data }: Entry): Incident | undefined {
    const { journal } = this.#parts
    if (incident === null) return undefined
    if (kind === 'incident.phase' && !isBeginning(data)) return undefined
    if (!ofTheBeginning.has(kind)) return this.#parts.incident(incident)
    return foldIncidents(journal.read({ incident, kinds: ['incident.opened'], limit: 1 })).get(incident)
  }

  /** Failures that ended in the run before and whose end no receiver wanted to hear of: the next death there is a new one. */
  #forgetOver(first: Entry | undefined): void {
    const wasWell = (host: string, after: number): boolean =>
      this.#parts.journal
        .read({ kinds: ['verdict.changed'], host, after, ...upTo(first) })
        .some(({ kind, data }) => kind === 'verdict.changed' && data.kind === 'healthy')
    for (const { host, since } of this.#owners.failing()) if (wasWell(host, since)) this.#owners.forget(host)
    for (const { host, since } of this.#deduplication.troubled())
      if (wasWell(host, since)) this.#deduplication.well(host)
  }

  /** The last entries of the run before, when it may have ended before they were told. */
  #lastMoments(): Entry[] {
    const { journal } = this.#parts
    const newest = journal
      .read({ newestFirst: true, limit: betweenRunsAtMost })
      .find(({ kind }) => !betweenRuns.includes(kind))
    if (newest === undefined || this.#rules.receivers.size === 0) return []
    const since = Date.parse(newest.at) - lookBackMs
    const last = journal.read({ kinds: [...watched], newestFirst: true, limit: causesRead })
    const until = last.findIndex(({ at }) => Date.parse(at) < since)
    return last.slice(0, until < 0 ? last.length : until).toReversed()
  }
}

function isoNow(clock: Clock): string {
  return new Date(clock.wall()).toISOString()
}

/** Older than the entry. */
function upTo(first: Entry | undefined): { before?: number } {
  return first === undefined ? {} : { before: first.seq }
}

function isNotice(kind: EntryKind): boolean {
  return kind.startsWith('notice.')
}
