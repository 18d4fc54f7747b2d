// A simulated cloud with boards, for the installed daemon: writes its clouds.yaml and the configuration of a segment with fencing
// into DIRECTORY, runs until killed. At SIGUSR1 the host cmp01 dies.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { systemClock } from '../../dist/system/system-clock.js'
import { startSimulator } from '../../dist/simulator/index.js'

const [directory] = process.argv.slice(2)
const simulator = await startSimulator({
  clock: systemClock,
  hosts: 3,
  reportIntervalMs: 1_000,
  serviceDownTimeMs: 4_000,
})
for (const [name, state] of [
  ['web', 'active'],
  ['batch', 'stopped'],
])
  simulator.addInstance({ host: 'cmp01', name, state })

const { region_name, ...auth } = simulator.cloud()
writeFileSync(join(directory, 'clouds.yaml'), stringify({ clouds: { simulated: { auth, region_name } } }))

// Fenced by a program of the operator's.
const program = '/usr/local/bin/board'
const armed = {
  mode: 'armed',
  // As often as this cloud's hosts beat, and some: nobody waits for a minute.
  monitor: { poll_interval: '1s', default_beat_interval: '2s' },
  fencing: {
    board: { kind: 'command', fence: [program, 'off', '{host}'], verify: [program, 'is-off', '{host}'] },
  },
  segments: [{ name: 'all', match: { hosts: ['cmp*'] }, storage: 'shared', fencing: ['board'] }],
}
writeFileSync(join(directory, 'armed.yaml'), stringify(armed))
const { username, password } = simulator.bmcAccess
const headers = {
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  'content-type': 'application/json',
}
writeFileSync(
  join(directory, 'board'),
  `#!/usr/bin/node
const [what, host] = process.argv.slice(2)
const system = '${simulator.url}/redfish/v1/Systems/' + host
const headers = ${JSON.stringify(headers)}
const order = { method: 'POST', headers, body: '{"ResetType":"ForceOff"}' }
const off = () => fetch(system + '/Actions/ComputerSystem.Reset', order).then(({ ok }) => ok)
const isOff = () => fetch(system, { headers }).then((reply) => reply.json()).then(({ PowerState }) => PowerState === 'Off')
void (what === 'off' ? off() : isOff()).then((well) => process.exit(well ? 0 : 1))
`,
)
process.on('SIGUSR1', () => simulator.crash('cmp01'))
process.stdout.write('ready\n')
