/**
 * Plans of live hosts, asked for by people: reading a host's instances takes Nova seconds, so each is a run that is looked at
 * until it is done. Reads only. Owns how many there are: people's curiosity must not slow a recovery down.
 */
import { randomUUID } from 'node:crypto'
import { sleep, type Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import { errorRecord, LifeboatError } from '../domain/errors.ts'
import type { HostPlan, PlanSubject } from '../domain/plan.ts'
import type { PlanRun } from '../domain/review.ts'

/** Runs kept to be looked at. Each may hold thousands of instances: more would cost memory for nothing. */
const runsKept = 10

/** Hosts read at once. More would crowd out the reads of a recovery. */
const runsAtOnce = 2

/** What is being read, as people say it. */
const reading: Partial<Record<keyof Cloud, string>> = {
  listInstances: 'its instances',
  listMigrations: 'migrations',
  listServices: 'services',
  listServerGroups: 'server groups',
  listAggregates: 'aggregates',
  getVolumes: 'volumes',
  listActions: 'histories of instances',
  mayActFor: 'roles in projects',
}

export class PlanRuns {
  readonly #clock: Clock
  readonly #cloud: Cloud
  readonly #plan: (cloud: Cloud, subject: PlanSubject) => Promise<HostPlan>
  readonly #runs = new Map<string, PlanRun>()
  /** Of those that are being read: resolves at their end. */
  readonly #ends = new Map<string, Promise<void>>()

  constructor(parts: { clock: Clock; cloud: Cloud; plan: (cloud: Cloud, subject: PlanSubject) => Promise<HostPlan> }) {
    this.#clock = parts.clock
    this.#cloud = parts.cloud
    this.#plan = parts.plan
  }

  /** Begins to read; what is being read already is not read twice. Throws USAGE when too many are under way. */
  start(subject: PlanSubject): PlanRun {
    const { host, failure } = subject
    const instance = subject.failure === 'instance' ? subject.instance : null
    const running = [...this.#runs.values()].filter(({ state }) => state === 'running')
    const same = running.find((run) => run.host === host && run.failure === failure && run.instance === instance)
    if (same !== undefined) return { ...same }
    if (running.length >= runsAtOnce) {
      const hosts = [...new Set(running.map((run) => run.host))]
      throw new LifeboatError('USAGE', `Plans of ${hosts.join(' and ')} are being made: wait for one`)
    }
    const run: PlanRun = {
      id: randomUUID(),
      ...{ host, failure, instance },
      state: 'running',
      startedAt: this.#now(),
      endedAt: null,
      progress: 'Begins',
      plan: null,
      error: null,
    }
    this.#runs.set(run.id, run)
    this.#forget()
    this.#ends.set(
      run.id,
      this.#read(run, subject).finally(() => this.#ends.delete(run.id)),
    )
    return { ...run }
  }

  /** As `find`, when it is over or `withinMs` have passed. */
  async finished(id: string, withinMs: number): Promise<PlanRun> {
    const end = this.#ends.get(id)
    if (end !== undefined) {
      const over = new AbortController()
      void end.then(() => over.abort())
      await sleep(this.#clock, withinMs, over.signal)
    }
    return this.find(id)
  }

  /** Throws NOT_FOUND: plans are kept in memory, and only the latest. */
  find(id: string): PlanRun {
    const run = this.#runs.get(id)
    if (run === undefined) throw new LifeboatError('NOT_FOUND', `There is no plan ${id}: only the latest are kept`)
    return { ...run }
  }

  async #read(run: PlanRun, subject: PlanSubject): Promise<void> {
    try {
      run.plan = await this.#plan(watched(this.#cloud, run), subject)
      run.state = 'done'
      run.progress = run.plan.service === undefined ? `${run.plan.instances.length} instances decided` : 'Decided'
    } catch (thrown) {
      run.error = errorRecord(thrown)
      run.state = 'failed'
      run.progress = run.error.message
    }
    run.endedAt = this.#now()
  }

  #forget(): void {
    const over = [...this.#runs.values()].filter(({ state }) => state !== 'running')
    for (const { id } of over.slice(0, Math.max(0, this.#runs.size - runsKept))) this.#runs.delete(id)
  }

  #now(): string {
    return new Date(this.#clock.wall()).toISOString()
  }
}

/** The same cloud; what it is asked for shows in the run's progress. */
function watched(cloud: Cloud, run: PlanRun): Cloud {
  const underWay = new Map<string, number>()
  const show = (what: string, change: 1 | -1): void => {
    const left = (underWay.get(what) ?? 0) + change
    if (left > 0) underWay.set(what, left)
    else underWay.delete(what)
    if (underWay.size > 0)
      run.progress = `Reading ${[...underWay].map(([name, count]) => (count > 1 ? `${name} (${count})` : name)).join(', ')}`
  }
  return new Proxy(cloud, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      const what = reading[name as keyof Cloud]
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(value, target, args)
        if (what === undefined || !(answer instanceof Promise)) return answer
        show(what, 1)
        return answer.finally(() => show(what, -1))
      }
    },
  })
}
