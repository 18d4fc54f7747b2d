/** The simulator as a cloud under test, on the real clock with quick heartbeats. */
import { performance } from 'node:perf_hooks'
import type { Clock } from '../../src/domain/clock.ts'
import { startSimulator, type Simulator } from '../../src/simulator/index.ts'
import type { CloudUnderTest } from './cloud-under-test.ts'

const realClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after: (delayMs, fire) => {
    const timer = setTimeout(fire, delayMs)
    return () => clearTimeout(timer)
  },
}

/** How long what is slow takes. Shorter: a test misses what it is to see meanwhile. */
const slowMs = 1_500

/** A fresh simulated cloud; `close` ends it. */
export async function simulatedCloud(
  maxMicroversion: string,
): Promise<CloudUnderTest & { simulator: Simulator; close(): Promise<void> }> {
  const simulator = await startSimulator({
    clock: realClock,
    maxMicroversion,
    reportIntervalMs: 100,
    // Shorter, and a worker that stands still for a moment makes hosts dead.
    serviceDownTimeMs: 1_000,
    powerSyncMs: 3_600_000,
    timings: { rpcTimeoutMs: 1_000, lifecycleDelayMs: 1_500 },
  })
  const access = simulator.cloud()
  return {
    name: `simulator ${maxMicroversion}`,
    simulator,
    computeUrl: `${simulator.url}/compute/v2.1`,
    identityUrl: access.auth_url,
    credentials: { username: access.username, password: access.password, project: access.project_name },
    plainCredentials: { username: 'demo', password: 'secret', project: 'demo' },
    maxMinor: Number(maxMicroversion.split('.')[1]),
    hosts: ['cmp01', 'cmp02', 'cmp03'],
    quietHost: 'cmp04',
    pace: { pollMs: 3, limitMs: 30_000, rpcTimeoutMs: 1_000, lifecycleDelayMs: 1_500 },
    prefix: 'ct',
    crash: async (host) => simulator.crash(host),
    isolate: async (host) => simulator.isolate(host),
    start: async (host) => simulator.start(host),
    crashGuest: async (id, how) => simulator.crashGuest(id, { unheard: how === 'unheard' }),
    pauseGuest: async (id) => simulator.pauseGuest(id),
    fault: async (host, fault) => {
      simulator.fault(host, {
        spawnFails: fault?.fail ?? false,
        stopFails: fault?.stopFail ?? false,
        slowSpawnMs: fault?.slow === true ? slowMs : 0,
        slowMoveMs: fault?.slowMove === true ? slowMs : 0,
      })
    },
    truth: async () => simulator.truth(),
    tidy: async () => undefined,
    close: () => simulator.close(),
  }
}
