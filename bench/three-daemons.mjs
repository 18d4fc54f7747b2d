/** Three daemons over one journal in three real database nodes, beside a simulated cloud, for one measurement. Needs root and Debian's mariadb-server. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { parse, stringify } from 'yaml'
import { DaemonProcess } from './daemon-process.mjs'
import { freePort, SimulatedCloud } from './simulated.mjs'

const names = ['ctl1', 'ctl2', 'ctl3']

export class ThreeDaemons {
  daemons = []

  /** @param options of `SimulatedCloud.start`. The daemons are not started yet. */
  static async prepare(options) {
    const { module } = await runnerImport('./test/galera/cluster.ts', { configFile: false, logLevel: 'error' })
    const three = new ThreeDaemons()
    three.cluster = new module.Cluster()
    three.cloud = await SimulatedCloud.start(options)
    try {
      await three.cluster.start()
      await three.cluster.tables(three.cloud.simulator.cloud().auth_url)
      for (const name of names) three.daemons.push(await three.#daemonOf(name, module.account))
    } catch (thrown) {
      await three.close()
      throw thrown
    }
    return three
  }

  async start() {
    for (const daemon of this.daemons) await daemon.start()
  }

  /** The entry that began the newest tenure, as a daemon's copy has it. */
  lastTenure(daemon = this.daemons[0]) {
    return daemon.entries({ kinds: ['tenure.began'], newestFirst: true, limit: 1 })[0]
  }

  /** The active daemon, and the others. */
  parted() {
    const active = this.daemons[names.indexOf(this.lastTenure().data.holder.split('/')[0])]
    return { active, others: this.daemons.filter((daemon) => daemon !== active) }
  }

  async close() {
    await Promise.all(this.daemons.map((daemon) => daemon.kill()))
    await this.cloud.close()
    await this.cluster.stop()
  }

  /** On a machine of its own, but for the processor. */
  async #daemonOf(name, account) {
    const { cloud, cluster } = this
    const nodes = cluster.addresses.map((at) => `${at.host}:${at.port}`)
    const stateDir = join(cloud.directory, name)
    const port = await freePort()
    const config = join(cloud.directory, `${name}.yaml`)
    const shared = { nodes, user: account.user, password: account.password, name }
    const about = { ...parse(readFileSync(cloud.config, 'utf8')), shared_journal: shared }
    mkdirSync(stateDir)
    writeFileSync(config, stringify({ ...about, http: { listen: `127.0.0.1:${port}` } }))
    const access = Object.entries(cloud.simulator.cloud()).map(([key, value]) => [
      `OS_${key.toUpperCase()}`,
      `${value}`,
    ])
    return new DaemonProcess({ config, port, env: Object.fromEntries(access), stateDir })
  }
}
