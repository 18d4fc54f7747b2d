/**
 * What readiness is made of and Nova's services do not say: the plan of each host, and whether its fencing devices answer. Reads only,
 * beside everything else; never of a host while it may be fenced, and no plan while a recovery works.
 */
import type { Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import { ensureError } from '../domain/errors.ts'
import type { Fencer } from '../domain/fencing.ts'
import type { Journal } from '../domain/journal.ts'
import type { HostPlan } from '../domain/plan.ts'
import type { FenceReading, PlanCounts } from '../domain/readiness.ts'
import type { HostName } from '../domain/service.ts'
import type { IncidentStore } from '../control/incident-store.ts'
import type { Monitor } from '../monitor/monitor.ts'
import { HostRounds, type Pace } from './host-rounds.ts'
import { planCounts, type Seen } from './readiness.ts'

/**
 * One device a second at the most, in the whole cloud: a fence agent is a process of its own. Shorter pauses, and thousands of hosts keep a
 * core busy; longer ones, and a board that died is found later.
 */
const fencingPace: Pace = { everyMs: 600_000, retryMs: 600_000, atOnce: 4, pauseMs: () => 4_000 }

/** A board that takes longer is said not to answer. It is asked once for each method. */
const deviceLimitMs = 10_000

/** A fifth of the time of one connection: what is left is for the monitor, and for people. */
const planPace: Pace = {
  everyMs: 1_800_000,
  retryMs: 300_000,
  atOnce: 1,
  pauseMs: (tookMs) => Math.max(1_000, 4 * tookMs),
}

/** Lists of the whole cloud are the same for one host and the next. Longer plans with services and groups of long ago. */
const sharedForMs = 60_000

export interface ReadsParts {
  clock: Clock
  cloud: Cloud
  fencer: Pick<Fencer, 'look'>
  journal: Pick<Journal, 'onAppend'>
  monitor: Pick<Monitor, 'verdicts' | 'segment' | 'frozen' | 'lastPoll'>
  store: Pick<IncidentStore, 'open' | 'openOn'>
  plan: (cloud: Cloud, host: HostName) => Promise<HostPlan>
}

export class ReadinessReads {
  readonly #parts: ReadsParts
  readonly #fencing: HostRounds<FenceReading[]>
  readonly #plans: HostRounds<PlanCounts>

  constructor(parts: ReadsParts) {
    const { clock, monitor, store, journal, plan } = parts
    this.#parts = parts
    const cloud = withSharedLists(parts.cloud, clock)
    this.#fencing = new HostRounds({
      clock,
      pace: fencingPace,
      hosts: () => this.#hosts().filter((host) => monitor.segment(host).fencing.length > 0),
      mayRead: (host) => store.openOn(host) === undefined,
      read: (host, signal) => this.#look(host, signal),
    })
    this.#plans = new HostRounds({
      clock,
      pace: planPace,
      hosts: () => this.#hosts(),
      mayRead: () => monitor.frozen() === null && !store.open().some(({ held }) => held === null),
      read: async (host) => this.#counts(await plan(cloud, host)),
    })
    // A board answers few at once: what fences the host must not wait for a question of ours.
    journal.onAppend(({ kind, host }) => {
      if (kind === 'incident.opened' && host !== null) this.#fencing.cutOff(host)
      // What it evacuated is on other hosts now.
      if (kind === 'incident.closed') this.#plans.readAgain()
    })
  }

  fencing(host: HostName): Seen<FenceReading[]> {
    return this.#fencing.of(host)
  }

  plan(host: HostName): Seen<PlanCounts> {
    return this.#plans.of(host)
  }

  /** Someone asked for it. */
  notePlan(plan: HostPlan): void {
    this.#plans.note(plan.host, this.#counts(plan))
  }

  /** Until `stop` aborts. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    await Promise.all([this.#fencing.run(stop), this.#plans.run(stop)])
  }

  /** Before the first poll none is known. */
  #hosts(): HostName[] {
    return this.#parts.monitor.verdicts().map(({ host }) => host)
  }

  #counts(plan: HostPlan): PlanCounts {
    return planCounts(plan, this.#parts.monitor.segment(plan.host).storage, this.#now())
  }

  async #look(host: HostName, signal: AbortSignal): Promise<FenceReading[]> {
    const { fencer, monitor } = this.#parts
    const readings: FenceReading[] = []
    for (const method of monitor.segment(host).fencing) {
      if (signal.aborted) break
      try {
        const { power, detail } = await fencer.look(host, method, { limitMs: deviceLimitMs, signal })
        readings.push({ method, power, detail, at: this.#now() })
      } catch (thrown) {
        const { code, message } = ensureError(thrown)
        const power = code === 'FENCING_MISSING' ? null : 'unknown'
        readings.push({ method, power, detail: message, at: this.#now() })
      }
    }
    return readings
  }

  #now(): string {
    return new Date(this.#parts.clock.wall()).toISOString()
  }
}

/** The same cloud; what is listed of the cloud as a whole is asked for once for several hosts. */
function withSharedLists(cloud: Cloud, clock: Clock): Cloud {
  const kept = new Map<string, { until: number; answer: Promise<unknown> }>()
  const shared = <T>(name: string, read: () => Promise<T>): Promise<T> => {
    const known = kept.get(name)
    if (known !== undefined && clock.now() < known.until) return known.answer as Promise<T>
    const answer = read()
    kept.set(name, { until: clock.now() + sharedForMs, answer })
    // The next host asks again.
    answer.catch(() => kept.delete(name))
    return answer
  }
  const lists: Pick<Cloud, 'listServices' | 'listServerGroups' | 'listAggregates'> = {
    listServices: () => shared('services', () => cloud.listServices()),
    listServerGroups: () => shared('groups', () => cloud.listServerGroups()),
    listAggregates: () => shared('aggregates', () => cloud.listAggregates()),
  }
  return new Proxy(cloud, {
    get: (target, name) => {
      const own: unknown = Reflect.get(lists, name)
      const value: unknown = own ?? Reflect.get(target, name, target)
      return typeof value === 'function' && own === undefined ? (value.bind(target) as unknown) : value
    },
  })
}
