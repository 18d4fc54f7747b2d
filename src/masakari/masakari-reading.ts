/** Reads a Masakari with the daemon's own credentials, and makes sure that our loader takes what is made of it. */
import type { MasakariImport } from './masakari-import.ts'
import type { Clock } from '../domain/clock.ts'
import type { Wire } from '../domain/wire.ts'
import { createCloud, type CloudOptions } from '../openstack/cloud-client.ts'
import type { Environment } from '../openstack/clouds-file.ts'
import { masakariClient } from '../openstack/masakari.ts'
import { cloudConfigOf } from '../adapters/adapters.ts'
import { parseConfig, type Config } from '../config/index.ts'
import { masakariImport } from './masakari-import.ts'

export interface MasakariReading {
  clock: Clock
  env: Environment
  /** For a cloud in this process. */
  wire?: Wire
}

/** Reads only. Throws CATALOG_MISSING when the cloud has no Masakari, and what the cloud throws. */
export async function readMasakari(config: Config, { clock, env, wire }: MasakariReading): Promise<MasakariImport> {
  const cloudConfig = cloudConfigOf(config, { env })
  const options: CloudOptions = {
    config: cloudConfig,
    clock,
    observer: {},
    readTimeoutMs: config.api.readTimeoutMs,
    wire,
  }
  const masakari = masakariClient(options)
  const cloud = createCloud(options)
  try {
    const inventory = await masakari.inventory()
    const { services } = await cloud.listServices()
    const novaHosts = services.filter(({ binary }) => binary === 'nova-compute').map(({ host }) => host)
    const made = masakariImport({ from: cloudConfig.name, inventory, novaHosts: novaHosts.sort() })
    // Whatever names people gave over there: what we hand out must be a configuration here.
    parseConfig(made.yaml, null, {}, { withSecrets: false })
    return made
  } finally {
    masakari.close()
    cloud.close()
  }
}
