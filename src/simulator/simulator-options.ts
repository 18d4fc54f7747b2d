/** What a simulated cloud can be asked to be, with the defaults, and what a client needs to reach it. */
import type { Clock } from '../domain/clock.ts'
import type { Timings } from './model.ts'

export interface SimulatorOptions {
  clock: Clock
  /** Number of compute hosts (cmp01, cmp02, …) or their names. Default 4. */
  hosts?: number | string[]
  /** Default "2.100" (Nova 31). "2.93" is Zed: no evacuate-to-stopped. */
  maxMicroversion?: string
  /** The lowest service version of the computes: below 62 the API refuses evacuate-to-stopped although it speaks 2.95. */
  computeVersion?: number
  /** Default 10 s and 60 s, as Nova's. */
  reportIntervalMs?: number
  serviceDownTimeMs?: number
  timings?: Partial<Timings>
  zone?: string
  region?: string
  /** Default one hour, as Keystone's. */
  tokenLifeMs?: number
  /** How long after its start a host's power sync runs, and how often from then on. Default 600 s; Nova's first comes within 60 s. */
  powerSyncMs?: number
  /** Default 0: any free port. Null: no socket at all; only `wire` reaches the cloud, at http://simulator. */
  port?: number | null
  /** Makes the ids of records and requests. Default: random UUIDs. */
  ids?: () => string
}

/** What a client needs to reach the cloud, in the words of clouds.yaml. */
export interface SimulatedCloudAccess {
  auth_url: string
  username: string
  password: string
  project_name: string
  user_domain_name: string
  project_domain_name: string
  region_name: string
}

/** Small enough for tests on the real clock; on a virtual clock they cost nothing. */
export const quickTimings: Timings = {
  scheduleMs: 5,
  claimMs: 5,
  rebuildMs: 5,
  volumesMs: 5,
  spawnMs: 10,
  powerMs: 5,
  rebootMs: 10,
  lifecycleDelayMs: 50,
  finishMs: 5,
  confirmMs: 10,
  agentStartMs: 20,
  brokerReconnectMs: 20,
  rpcTimeoutMs: 60,
}
