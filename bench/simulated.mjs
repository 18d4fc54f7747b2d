/**
 * A simulated cloud for one measurement, and the configuration of a daemon that watches it. The cloud lives in the
 * benchmark's own process; the daemon is another one and reaches it over HTTP, as it would a real cloud.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { systemClock as clock } from '../dist/system/system-clock.js'
import { startSimulator } from '../dist/simulator/index.js'
import { DaemonProcess } from './daemon-process.mjs'
import { NovaClient } from './nova.mjs'

/** A rebuild of about 1.1 s: that of a quick hypervisor with shared disks. */
export const realistic = {
  scheduleMs: 150,
  claimMs: 100,
  rebuildMs: 150,
  volumesMs: 100,
  spawnMs: 300,
  powerMs: 150,
  finishMs: 100,
  confirmMs: 250,
  agentStartMs: 200,
}

/** The same with a slower hypervisor: the floor is then about that of a real Nova on two cores. */
export const slower = { ...realistic, spawnMs: 4_200 }

/** A file system in memory, or null: what is left of an append there is the daemon's own work, without the disk's. */
export const memoryDirectory = existsSync('/dev/shm') ? '/dev/shm' : null

/** Heartbeats as on the lab. Nova's stamps have whole seconds: quicker beats could not be told apart. */
export const beatMs = 2_000

export class SimulatedCloud {
  /** @param options { hosts, timings?, beatMs?, downMs?, place?, config? }: `config` is laid over the daemon's configuration */
  static async start(options) {
    const cloud = new SimulatedCloud()
    const { hosts, timings = realistic, beatMs: beat = beatMs, downMs = 4 * beat } = options
    cloud.simulator = await startSimulator({
      clock,
      hosts,
      timings,
      reportIntervalMs: beat,
      serviceDownTimeMs: downMs,
    })
    cloud.directory = mkdtempSync(join(options.place ?? tmpdir(), 'lifeboat-bench-'))
    cloud.lifeDirectory = join(cloud.directory, 'alive')
    mkdirSync(cloud.lifeDirectory)
    for (const name of cloud.simulator.world.hosts.keys()) writeFileSync(join(cloud.lifeDirectory, name), '')
    cloud.port = await freePort()
    cloud.config = join(cloud.directory, 'lifeboat.yaml')
    writeFileSync(cloud.config, stringify(laidOver(configuration(cloud, beat), options.config ?? {})))
    return cloud
  }

  /** Running instances on a host. */
  populate(host, count) {
    for (let n = 0; n < count; n++) this.simulator.addInstance({ host, name: `app-${n}`, state: 'active' })
  }

  nova() {
    return new NovaClient(this.simulator.cloud(), `${this.simulator.url}/compute/v2.1`)
  }

  daemon(program) {
    const env = Object.fromEntries(
      Object.entries(this.simulator.cloud()).map(([key, value]) => [`OS_${key.toUpperCase()}`, String(value)]),
    )
    const { config, port } = this
    return new DaemonProcess({ config, port, env, stateDir: join(this.directory, 'state'), program })
  }

  /** The host loses its power with everything on it; its BMC, fed on its own, still says On. Gives the wall time. */
  crash(host) {
    rmSync(join(this.lifeDirectory, host))
    const at = Date.now()
    this.simulator.crash(host)
    return at
  }

  async close() {
    await this.simulator.close()
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** As config/lab.yaml, but with one witness beside Nova, since a simulated host has no network of its own: a file. */
function configuration({ simulator, port, lifeDirectory }, beat) {
  const brake = { max_hosts: 1000, max_share: 1 }
  return {
    mode: 'armed',
    http: { listen: `127.0.0.1:${port}` },
    web: { listen: false },
    log: { level: 'warn' },
    monitor: {
      poll_interval: `${beat / 2}ms`,
      default_beat_interval: `${beat}ms`,
      start_silence: `${4 * beat}ms`,
      min_dead_probe_kinds: 1,
    },
    brake,
    probes: { power: { kind: 'command', argv: ['test', '-e', join(lifeDirectory, '{host}')], timeout: '1s' } },
    fencing: {
      bmc: {
        kind: 'redfish',
        system: `${simulator.url}/redfish/v1/Systems/{host}`,
        ...simulator.bmcAccess,
        off_timeout: '15s',
      },
    },
    defaults: { storage: 'shared', fencing: ['bmc'], probes: ['power'], brake },
  }
}

/** Section by section. */
function laidOver(base, changes) {
  const changed = Object.entries(changes).map(([section, change]) => [section, { ...base[section], ...change }])
  return { ...base, ...Object.fromEntries(changed) }
}

/** A port of this machine that nobody listens on. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
