/**
 * A daemon that kills or stops itself: the built product against a simulated cloud in another process. `before` and `after` say on
 * which side of its Nth journal commit it dies, or stands still where `stops` says so; without them it lives until its incidents are
 * closed. Stopped, it says so, and waits for its parent to continue it.
 *
 * Plain JavaScript over dist/: a process of its own runs no TypeScript on every supported Node. Run `npm run build` first. Started as one file (victim.ts).
 */
import { readFileSync, writeSync } from 'node:fs'
import { Daemon } from '../../dist/daemon/daemon.js'
import { simulatedParts } from '../../dist/rehearsal/simulated-parts.js'
import { systemClock as clock } from '../../dist/system/system-clock.js'
import { defaultOwnerPolicy } from '../../dist/engine/owner-policy.js'
import { parseWorkflow } from '../../dist/engine/workflow.js'
import { openJournal } from '../../dist/journal/journal.js'

const order = JSON.parse(process.argv[2])
const end = () => {
  if (order.stops === true) writeSync(1, 'stopped\n')
  process.kill(process.pid, order.stops === true ? 'SIGSTOP' : 'SIGKILL')
}

const real = openJournal(order.journal, { clock })
let commits = 0
const journal = {
  ...real,
  append: (entries) => {
    commits += 1
    if (commits === order.before) end()
    const written = real.append(entries)
    if (commits === order.after) end()
    return written
  },
}
const workflow = parseWorkflow(readFileSync(order.workflow, 'utf8'), order.workflow, {
  ownerPolicy: defaultOwnerPolicy,
})
const cloud = {
  cloud: () => order.access,
  bmcUrl: (host) => `${order.url}/redfish/v1/Systems/${host}`,
  bmcAccess: order.bmcAccess,
  probes: () => [],
}
const parts = simulatedParts(cloud, { clock, journal, workflow, beatMs: order.beatMs, segment: order.segment })
const daemon = new Daemon({
  ...parts,
  executorSettings: { ...parts.executorSettings, ...order.executor },
  journalPath: order.journal,
})
daemon.start()
const look = setInterval(() => {
  const [incident] = daemon.store.open()
  // What a person does who reads that its host lives.
  if (order.stops === true && incident?.held?.code === 'HOST_ALIVE' && incident.cancelled === null)
    void daemon.operations.cancel(incident.id, { by: 'ann', reason: 'the host is back' })
  if (incident !== undefined) return
  clearInterval(look)
  void daemon.stop('over').then(() => {
    real.close()
    process.stdout.write(`${commits}\n`)
    process.exit(0)
  })
}, 20)
