/**
 * A daemon that kills itself: the built product against a simulated cloud in another process. `before` and `after` say on
 * which side of its Nth journal commit it dies; without them it lives until its incidents are closed.
 *
 * Plain JavaScript over dist/: a process of its own runs no TypeScript on every supported Node. Run `npm run build` first.
 */
import { readFileSync } from 'node:fs'
import { Daemon } from '../../dist/daemon/daemon.js'
import { simulatedParts } from '../../dist/rehearsal/simulated-parts.js'
import { systemClock as clock } from '../../dist/system/system-clock.js'
import { defaultOwnerPolicy } from '../../dist/engine/owner-policy.js'
import { parseWorkflow } from '../../dist/engine/workflow.js'
import { openJournal } from '../../dist/journal/journal.js'

const order = JSON.parse(process.argv[2])
const die = () => process.kill(process.pid, 'SIGKILL')

const real = openJournal(order.journal, { clock })
let commits = 0
const journal = {
  ...real,
  append: (entries) => {
    commits += 1
    if (commits === order.before) die()
    const written = real.append(entries)
    if (commits === order.after) die()
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
const parts = simulatedParts(cloud, { clock, journal, workflow, beatMs: order.beatMs })
const daemon = new Daemon({
  ...parts,
  executorSettings: { ...parts.executorSettings, ...order.executor },
  journalPath: order.journal,
})
daemon.start()
const look = setInterval(() => {
  if (daemon.store.open().length > 0) return
  clearInterval(look)
  void daemon.stop('over').then(() => {
    real.close()
    process.stdout.write(`${commits}\n`)
    process.exit(0)
  })
}, 20)
