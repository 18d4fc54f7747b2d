/**
 * One look at an instance that was reported crashed: what Nova shows, what its hypervisor says, what its owner wants. It only reads, and no
 * more than the decision needs.
 *
 * Nova asks the hypervisor through nova-compute, and a dying nova-compute keeps a worker of nova-api busy for the whole RPC timeout. So
 * Lifeboat asks about one instance of a host at a time, and after one silence about none of that host for a while.
 */
import type { Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import { ensureError, type ErrorCode } from '../domain/errors.ts'
import type { Aggregate, Instance, InstanceId } from '../domain/instance.ts'
import type { HostName } from '../domain/service.ts'
import {
  isJudgedByHypervisor,
  type CancelledCrash,
  type CrashFacts,
  type CrashRules,
  type CrashWorkflow,
  type LiveLook,
} from '../engine/crash.ts'
import { readEncryption } from '../executor/encryption.ts'

/** After a silence Lifeboat asks about no instance of that host for this long. Longer: guests wait although nova-compute is back. */
const silentForMs = 10_000

/** Answers of Nova that mean that nova-compute did not answer it. */
const silences: ReadonlySet<ErrorCode> = new Set(['API_FAULT', 'API_TIMEOUT'])

export class Hypervisors {
  readonly #clock: Clock
  readonly #cloud: Pick<Cloud, 'guestRuns'>
  readonly #asking = new Map<HostName, Promise<unknown>>()
  readonly #silentUntil = new Map<HostName, number>()

  constructor(clock: Clock, cloud: Pick<Cloud, 'guestRuns'>) {
    this.#clock = clock
    this.#cloud = cloud
  }

  /** Throws any error of the cloud that says nothing about the guest. */
  ask(host: HostName, instance: InstanceId, signal: AbortSignal): Promise<Exclude<LiveLook, null>> {
    const before = this.#asking.get(host) ?? Promise.resolve()
    const answer = before.then(() => this.#ask(host, instance, signal))
    const over = answer.then(
      () => undefined,
      () => undefined,
    )
    this.#asking.set(host, over)
    void over.then(() => this.#asking.get(host) === over && this.#asking.delete(host))
    return answer
  }

  async #ask(host: HostName, instance: InstanceId, signal: AbortSignal): Promise<Exclude<LiveLook, null>> {
    if (this.#clock.now() < (this.#silentUntil.get(host) ?? -Infinity)) return 'silent'
    this.#silentUntil.delete(host)
    try {
      return (await this.#cloud.guestRuns(instance, { signal })) ? 'running' : 'off'
    } catch (thrown) {
      const { code } = ensureError(thrown)
      if (code === 'AUTH_FORBIDDEN') return 'forbidden'
      if (!silences.has(code)) throw thrown
      this.#silentUntil.set(host, this.#clock.now() + silentForMs)
      return 'silent'
    }
  }
}

export interface CrashLook {
  cloud: Cloud
  hypervisors: Hypervisors
  host: HostName
  instance: InstanceId
  /** Both by the cloud's clock, ms since the epoch. */
  crashedAt: number
  reportedAt: number
  sinceMs: number
  requests: CrashFacts['requests']
  evacuatedFrom: CrashFacts['evacuatedFrom']
  cancelled: CancelledCrash | null
  rules: CrashRules
  workflow: CrashWorkflow
  signal: AbortSignal
}

/** Throws what reading the cloud throws. */
export async function lookAtCrashed(look: CrashLook): Promise<CrashFacts> {
  const { cloud, host, rules, workflow, signal } = look
  const { crashedAt, reportedAt, sinceMs, requests, evacuatedFrom, cancelled } = look
  const instance = await getInstance(look)
  const unread: CrashFacts = {
    ...{
      host,
      instance,
      crashedAt,
      reportedAt,
      sinceMs,
      requests,
      evacuatedFrom,
      cancelled,
      aggregates: [] as Aggregate[],
    },
    ...{ live: null, actions: null, encrypted: false, mayActForProject: false },
  }
  if (instance === null || instance.host !== host) return unread
  const aggregates = (await cloud.listAggregates({ signal })).filter(({ hosts }) => hosts.includes(host))
  const known = { ...unread, aggregates }
  if (workflow.decideUnread(known, rules)?.do === 'nothing') return known
  const [live, actions, encryption] = await Promise.all([
    isJudgedByHypervisor(instance) ? look.hypervisors.ask(host, instance.id, signal) : null,
    instance.vmState === 'stopped' || cancelled !== null ? cloud.listActions(instance.id, { signal }) : null,
    readEncryption(cloud, instance, { signal }),
  ])
  return { ...known, live, actions, ...encryption }
}

async function getInstance({ cloud, instance, signal }: CrashLook): Promise<Instance | null> {
  try {
    return await cloud.getInstance(instance, { signal })
  } catch (thrown) {
    if (ensureError(thrown).code === 'INSTANCE_GONE') return null
    throw thrown
  }
}
