// A simulated cloud on this machine's loopback, for the installed daemon to observe: writes its clouds.yaml, runs until killed.
import { chmodSync, writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { systemClock } from '../../dist/daemon/system-clock.js'
import { startSimulator } from '../../dist/simulator/index.js'

const [file] = process.argv.slice(2)
const simulator = await startSimulator({
  clock: systemClock,
  hosts: 3,
  reportIntervalMs: 1_000,
  serviceDownTimeMs: 8_000,
})
simulator.addInstance({ host: 'cmp01', name: 'web', state: 'active' })
const { region_name, ...auth } = simulator.cloud()
writeFileSync(file, stringify({ clouds: { simulated: { auth, region_name } } }))
chmodSync(file, 0o600)
process.stdout.write('ready\n')
