/**
 * Watches the hosts in whose queues orders of ours and of owners still wait: people are told while the host is away, and what an order breaks
 * when the host's nova-compute starts is put right, where it is exactly what Lifeboat left there. Driven by the polls; one look at
 * a time for each host, and nobody waits for it.
 */
import { Moments } from '../domain/clock.ts'
import type { NewEntry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import { foldInstance, type InstanceRecovery, type StepRecord } from '../domain/incident.ts'
import type { Instance, InstanceId, InstanceAction, InstanceActionEvent } from '../domain/instance.ts'
import type { HostName } from '../domain/service.ts'
import { isOutByUs, type ReturnRecord } from '../domain/return-record.ts'
import { applyToStaleOrders, staleOrderKinds } from '../domain/stale-order-record.ts'
import { decideLatePower, isLatePower, mayLeaveError, takenAt, type LatePower } from '../domain/late-power-order.ts'
import { lastOrder } from '../domain/power-history.ts'
import {
  decideStaleOrder,
  isTaken,
  repairFailures,
  staleOrderCode,
  tellsOfFailures,
  watchedForMs,
  type StaleOrder,
  type StaleOrderDecision,
} from '../domain/stale-order.ts'
import { isBeating } from '../domain/verdict.ts'
import { repair, repairSteps, reconcileRepairs, type RepairRun } from '../executor/stale-order-steps.ts'
import { staleness } from '../monitor/freshness.ts'
import type { PollReport } from '../monitor/report.ts'
import type { AftermathParts } from './aftermath.ts'
import { orderHolds } from '../orders/order-holds.ts'

/**
 * A host that has just started is looked at in every poll for so long, and then now and then. Shorter: what it breaks late stays
 * broken for longer; longer costs more readings.
 */
const closelyForMs = 60_000
const laterEveryMs = 15_000

/** Nova's names of the writes of a repair. */
const repairActions: ReadonlySet<string> = new Set(['resetState', 'stop'])

/** What is remembered of one host between polls; a restart learns it again. */
interface Watch {
  beatingSince: number | null
  lookedAt: number
  look: Promise<void> | null
}

/** Orders that come while people have just been told wait for this long to be told together. Shorter: a page for each while a host is recovered. */
const tellAgainMs = 30_000

export class StaleOrders {
  readonly #parts: AftermathParts
  readonly #open = new Map<string, StaleOrder>()
  readonly #watches = new Map<HostName, Watch>()
  /** Up to which order people were told, by host. */
  readonly #told = new Map<HostName, number>()
  /** Instances that a look is at: two of their orders may have waited at two hosts. */
  readonly #lookedAt = new Map<InstanceId, Promise<void>>()
  /** Which orders a look has seen taken; a restart sees it again. */
  readonly #taken = new Set<number>()
  /** Until when a reset without an answer may be served, by its step and our monotonic clock. */
  readonly #served = new Map<string, number>()
  /** When people were told of the orders that wait at a host, monotonic. */
  readonly #toldAt = new Map<HostName, number>()
  readonly #moments: Moments

  constructor(parts: AftermathParts) {
    this.#parts = parts
    this.#moments = new Moments(parts.clock)
    const { journal } = parts
    for (const entry of journal.read({ kinds: [...staleOrderKinds] })) applyToStaleOrders(this.#open, entry)
    journal.onAppend((entry) => applyToStaleOrders(this.#open, entry))
    for (const host of this.#byHost().keys()) {
      const alarms = journal.read({ host, kinds: ['alarm.raised'], newestFirst: true, limit: 50 })
      const told = alarms.find(({ kind, data }) => kind === 'alarm.raised' && data.code === staleOrderCode)
      if (told !== undefined) this.#told.set(host, told.seq)
    }
  }

  /** Takes in a poll. Never throws: what cannot be looked at is told to the observer and looked at in the next poll. */
  consider(report: PollReport): void {
    const { clock, observer, signal } = this.#parts
    const verdicts = new Map(report.verdicts.map((verdict) => [verdict.host, verdict]))
    const byHost = this.#byHost()
    for (const host of this.#watches.keys()) if (!byHost.has(host)) this.#watches.delete(host)
    for (const [host, orders] of byHost) {
      const watch = this.#watches.get(host) ?? { beatingSince: null, lookedAt: -Infinity, look: null }
      this.#watches.set(host, watch)
      const verdict = verdicts.get(host)
      const beats = report.ok && report.frozen === null && verdict !== undefined && isBeating(verdict)
      watch.beatingSince = beats ? (watch.beatingSince ?? clock.now()) : null
      // One that beats takes them already: purging its queue helps no more, and what they did is told.
      if (!beats) this.#tell(host, orders)
      if (watch.beatingSince === null || watch.look !== null || signal.aborted) continue
      const closely = clock.now() - watch.beatingSince <= closelyForMs
      if (!closely && clock.now() - watch.lookedAt < laterEveryMs) continue
      watch.lookedAt = clock.now()
      watch.look = this.#look(orders, watch)
        .catch((thrown: unknown) => {
          const error = ensureError(thrown)
          if (error.code !== 'SHUTDOWN') observer.log?.('warn', 'stale_orders.look_failed', { host }, error)
        })
        .finally(() => (watch.look = null))
    }
  }

  /** Resolves when no look is under way. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#watches.values()].flatMap(({ look }) => look ?? []))
  }

  #byHost(): Map<HostName, StaleOrder[]> {
    const byHost = new Map<HostName, StaleOrder[]>()
    for (const order of this.#open.values()) byHost.set(order.host, [...(byHost.get(order.host) ?? []), order])
    return byHost
  }

  /** Once for each host, and again for orders that came later: beforehand nothing is broken, and a person can still avoid it. */
  #tell(host: HostName, orders: readonly StaleOrder[]): void {
    if (orders.every(({ seq }) => seq <= (this.#told.get(host) ?? 0))) return
    const now = this.#parts.clock.now()
    if (now - (this.#toldAt.get(host) ?? -Infinity) < tellAgainMs) return
    this.#toldAt.set(host, now)
    const data = { code: staleOrderCode, message: whatWaitsAt(host, orders, (order) => this.#nameOf(order)) }
    const [entry] = this.#parts.journal.append([{ kind: 'alarm.raised', host, data }])
    if (entry !== undefined) this.#told.set(host, entry.seq)
  }

  async #look(orders: readonly StaleOrder[], watch: Watch): Promise<void> {
    // First those that may have started a guest: a repair takes its time.
    for (const order of orders.toSorted((a, b) => Number(isOnGuest(b)) - Number(isOnGuest(a)))) {
      if (this.#parts.signal.aborted) return
      await this.#alone(order.instance, () => this.#lookAt(order, watch))
    }
  }

  /** Two looks at one instance would follow the same repair, and both write its end. */
  async #alone(instance: InstanceId, look: () => Promise<void>): Promise<void> {
    while (this.#lookedAt.has(instance)) await this.#lookedAt.get(instance)?.catch(() => undefined)
    const looked = look().finally(() => this.#lookedAt.delete(instance))
    this.#lookedAt.set(instance, looked)
    await looked
  }

  async #lookAt(order: StaleOrder, watch: Watch): Promise<void> {
    const { cloud, clock, signal } = this.#parts
    const open = repairSteps(this.#recovery(order)?.steps.values() ?? [])
    if (!isOnGuest(order)) await reconcileRepairs(this.#run(order, null, clock.now()), open)
    const askedAt = clock.now()
    const instance = await this.#read(order)
    const filter = { instanceId: order.instance }
    const hasRecord = instance !== null && order.power === undefined
    const records = hasRecord ? await cloud.listMigrations(filter, { signal }) : []
    const actions = instance === null ? [] : await cloud.listActions(order.instance, { signal })
    const event = await this.#eventOf(order, actions)
    const beatingForMs = watch.beatingSince === null ? 0 : clock.now() - watch.beatingSince
    if (isOnGuest(order)) {
      const known = { order, instance, event, watchedForMs, beatingForMs, lastOrder: lastOrder(actions) }
      const decision = decideLatePower(known)
      // One that touched no guest, but left its instance in ERROR, is put right as a rebuild is.
      const isHarmless = decision.do === 'close' && decision.end === 'harmless' && event?.result === 'Error'
      const hasBroken = instance?.vmState === 'error' || ofOrder(order, open).length > 0
      if (!isHarmless || !mayLeaveError(order.power) || !hasBroken)
        return void (decision.do === 'close' && this.#close(order, decision, this.#recovery(order)))
      await reconcileRepairs(this.#run(order, null, clock.now()), open)
    }
    const now = this.#recovery(order)
    const done = repairSteps(now?.steps.values() ?? [])
    // Nobody knows yet what becomes of it: nothing is sent beside it, and no end is said.
    if (done.some(({ status }) => status === 'intended')) return
    // What someone did before our own reset is seen no less for it.
    const repaired = new Set(done.flatMap(({ requestId }) => requestId ?? []))
    const ours = new Set([...(now?.steps.values() ?? [])].flatMap(({ requestId }) => requestId ?? []))
    const us = new Set(actions.filter(({ requestId }) => ours.has(requestId)).map(({ userId }) => userId))
    // Ours are those of our user, also where no answer told the request's id.
    const isRepair = ({ requestId, userId, action }: InstanceAction): boolean =>
      repaired.has(requestId) || (done.length > 0 && us.has(userId) && repairActions.has(action))
    const newest = actions.find((action) => !isRepair(action)) ?? null
    const wasTaken = this.#taken.has(order.seq)
    if (isTaken({ order, records, event })) this.#taken.add(order.seq)
    const decision = decideStaleOrder({
      ...{ order, instance, records, event, wasTaken },
      ...{ newest, ours },
      outcome: now?.outcome ?? null,
      isReset: done.some(isConfirmedReset),
      isResetForIt: ofOrder(order, done).some(isConfirmedReset),
      hostIsWell: this.#isWell(instance?.host ?? null),
      beatingForMs,
      blocked: this.#blocked(instance?.host ?? null, askedAt),
      failing: repairFailures(ofOrder(order, done), (at) => clock.now() - this.#moments.of(at)),
    })
    if (decision.do === 'close') this.#close(order, decision, now)
    else if (decision.do !== 'wait' && instance !== null) {
      await repair(this.#run(order, instance, askedAt), decision.do, instance, done)
      // The second half follows at once, and what was reached is said. What failed or was held back waits for the next look.
      const after = repairSteps(this.#recovery(order)?.steps.values() ?? [])
      if (after.length === done.length) return
      if (after.at(-1)?.status === 'confirmed') return this.#lookAt(order, watch)
      this.#tellOfFailures(order, after, now)
    }
  }

  /** What the host that it waited for did with an order that has no record; null while it has not taken it. */
  async #eventOf(order: StaleOrder, actions: readonly InstanceAction[]): Promise<InstanceActionEvent | null> {
    if (order.power === undefined || !actions.some(({ requestId }) => requestId === order.requestId)) return null
    const { events } = await this.#parts.cloud.getAction(order.instance, order.migration, {
      signal: this.#parts.signal,
    })
    return takenAt(order.host, events)
  }

  #close(
    order: StaleOrder,
    { end, message, straysOn }: Extract<StaleOrderDecision, { do: 'close' }>,
    recovery: InstanceRecovery | null,
  ): void {
    const { incident, instance, source: host, migration } = order
    const name = recovery?.plan.name ?? instance
    this.#taken.delete(order.seq)
    // A guest that may run where Nova does not know of it is a matter of that host.
    const base = { incident, instance, host: straysOn ?? host }
    const known = straysOn === undefined ? null : this.#parts.store.returnOf(straysOn)
    const keepsOut = known !== null && isOutByUs(known)
    const data = { code: staleOrderCode, migration, end, message, ...(keepsOut && { keepsOut }) }
    const entries: NewEntry[] = [{ kind: 'debt.settled', ...base, data }]
    if (end === 'not-ours') {
      const what = `${name}: nova-compute on ${order.host} took an order that had waited for it. Lifeboat does not repair the instance: ${message}. Repair it: openstack server set --state active ${instance}`
      entries.push({ kind: 'alarm.raised', ...base, data: { code: 'STALE_ORDER_STRUCK', message: what } })
    }
    if (end === 'struck') {
      const stays =
        keepsOut && !this.#mayBeInService(known) ? `. ${known.host} stays out of service until a person returns it` : ''
      const what = `${name}: nova-compute on ${order.host} has carried out the ${order.power ?? 'order'} that had waited for it: ${message}${stays}`
      entries.push({ kind: 'alarm.raised', ...base, data: { code: 'STALE_ORDER_STRUCK', message: what } })
    }
    // The one thing that a reset does not repair, and no call of Nova's API does.
    if (end === 'repaired' && order.resize === true) {
      const what = `${name}: a resize that had waited for nova-compute on ${order.host} put it in ERROR. Lifeboat has put its state right, and only a person can give it back its room in Placement, which counts it on ${order.host}: nova-manage placement heal_allocations --instance ${instance} --force`
      entries.push({ kind: 'alarm.raised', ...base, data: { code: 'STALE_ORDER_STRUCK', message: what } })
    }
    this.#parts.journal.append(entries)
  }

  /** An enable of ours is on its way, or someone has enabled it. */
  #mayBeInService({ host, open }: ReturnRecord): boolean {
    const service = this.#parts.monitor.service(host)
    return open?.kind === 'enable' || (service?.status === 'enabled' && !service.forcedDown)
  }

  #tellOfFailures(order: StaleOrder, steps: readonly StepRecord[], known: InstanceRecovery | null): void {
    if (!tellsOfFailures(ofOrder(order, steps))) return
    const { incident, instance, source: host } = order
    const message = `${known?.plan.name ?? instance}: an order that had waited for nova-compute on ${order.host} put it in ERROR, and its repair fails: ${steps.at(-1)?.error?.message ?? ''}. Lifeboat tries again, less and less often. Repair it: openstack server set --state active ${instance}`
    this.#parts.journal.append([
      { kind: 'alarm.raised', incident, instance, host, data: { code: 'STALE_ORDER_REPAIR_FAILS', message } },
    ])
  }

  #nameOf(order: StaleOrder): string {
    return this.#recovery(order)?.plan.name ?? order.instance
  }

  async #read({ instance }: StaleOrder): Promise<Instance | null> {
    const { cloud, signal } = this.#parts
    try {
      return await cloud.getInstance(instance, { signal })
    } catch (thrown) {
      if (ensureError(thrown).code === 'INSTANCE_GONE') return null
      throw thrown
    }
  }

  /** As the journal tells now; its incident is over by then, as a rule. */
  #recovery({ incident, instance }: StaleOrder): InstanceRecovery | null {
    return foldInstance(instance, this.#parts.journal.read({ incident, instance }))
  }

  #run(order: StaleOrder, instance: Instance | null, askedAt: number): RepairRun {
    const { cloud, journal, clock, signal, settings } = this.#parts
    const host = instance?.host ?? null
    const mayWrite = (): boolean => this.#blocked(host, askedAt) === null && this.#isWell(host)
    return {
      order,
      cloud,
      journal,
      clock,
      signal,
      ...settings,
      mayWrite,
      servedUntil: (step) => this.#servedUntil(step),
    }
  }

  /** From when it was first asked for in this run: what an earlier run sent may be younger than the wall clock says. */
  #servedUntil(step: string): number {
    const { clock, settings } = this.#parts
    const until = this.#served.get(step) ?? clock.now() + settings.longestRequestMs
    this.#served.set(step, until)
    return until
  }

  #isWell(host: HostName | null): boolean {
    const { monitor, store } = this.#parts
    return host !== null && monitor.verdict(host)?.kind === 'healthy' && store.openOn(host) === undefined
  }

  /** @param askedAt when the instance was asked for */
  #blocked(host: HostName | null, askedAt: number): string | null {
    const { mode, orders, monitor } = this.#parts
    if (mode() === 'observe') return 'the daemon only observes'
    const ordered = host === null ? null : orderHolds(host, orders, [monitor.segment(host).name])
    return ordered?.message ?? monitor.frozen()?.message ?? this.#stale(askedAt)
  }

  /** Why what was asked of Nova then, or what is known of the hosts, may be untrue by now; or null. */
  #stale(askedAt: number): string | null {
    const { clock, monitor, reading, standstill } = this.#parts
    const read = monitor.lastRead()
    const oldest = read === null ? null : { ...read, askedAt: Math.min(read.askedAt, askedAt) }
    return staleness(oldest, standstill.last(), clock.now(), reading())
  }
}

function isConfirmedReset({ kind, status }: StepRecord): boolean {
  return kind === 'reset-state' && status === 'confirmed'
}

/** The writes of the repair of that order alone. */
function ofOrder({ migration }: StaleOrder, steps: readonly StepRecord[]): StepRecord[] {
  return steps.filter(({ key }) => key.includes(`.${migration}.`))
}

function isOnGuest(order: StaleOrder): order is StaleOrder & { power: LatePower } {
  return order.power !== undefined && isLatePower(order.power)
}

/** Orders that an alarm names. More than a person reads. */
const namedAtMost = 10

/** For people, before anything is broken. */
function whatWaitsAt(host: HostName, orders: readonly StaleOrder[], nameOf: (order: StaleOrder) => string): string {
  const given = orders.filter(({ power }) => power !== undefined)
  const purge = `purge its queue in Nova's message bus before it starts (rabbitmqctl purge_queue compute.${host})`
  const broken = `Orders that were given up or overtaken wait for nova-compute on ${host}; when it starts, it takes them and puts their instances in ERROR. To avoid that, ${purge}. Lifeboat repairs the instances that nobody has changed since${maySpawn(orders, nameOf)}`
  if (given.length === 0) return broken
  const named = given.slice(0, namedAtMost).map((order) => `${order.power} of ${nameOf(order)}`)
  const more = given.length > namedAtMost ? `, and ${given.length - namedAtMost} more` : ''
  const acts = `Orders that were given as ${host} died wait for its nova-compute (${named.join(', ')}${more}). When that starts, it carries them out although these instances are elsewhere: guests may run twice, or instances go to ERROR. Nothing in Nova takes them back: ${purge}`
  return given.length === orders.length ? acts : `${acts}. ${broken}`
}

/** Of two orders of one instance the first that fails leaves the task that the second one expects. */
function maySpawn(orders: readonly StaleOrder[], nameOf: (order: StaleOrder) => string): string {
  const second = orders.filter(({ older = [] }) => older.length > 0).map(nameOf)
  if (second.length === 0) return ''
  const named = second.slice(0, namedAtMost).join(', ')
  const more = second.length > namedAtMost ? `, and ${second.length - namedAtMost} more` : ''
  return `. For ${named}${more}, an earlier order also waits for another dead host: if both hosts start before Lifeboat has repaired what the first broke, these guests may run twice`
}
