/** Row standby: a journal shared in Galera beside one of the daemon's own, in one run: an append, recoveries, and what a dead database node costs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { systemClock as clock } from '../../dist/system/system-clock.js'
import { openJournal } from '../../dist/journal/journal.js'
import { identityOf } from '../../dist/journal/shared/identity.js'
import { sharedJournal } from '../../dist/journal/shared/journal.js'
import { mariadbStore } from '../../dist/journal/shared/mariadb.js'
import { median, percentile, spread, until } from '../figures.mjs'
import { SimulatedCloud } from '../simulated.mjs'
import { figure } from '../targets.mjs'
import { marks } from './recovery.mjs'

const host = 'cmp01'
const where = '3 nodes, this machine'

/** @param options { appends, runs, many }: needs root and Debian's mariadb-server */
export async function standbyRows({ appends, runs, many }) {
  const { module } = await runnerImport('./test/galera/cluster.ts', { configFile: false, logLevel: 'error' })
  const cluster = new module.Cluster()
  await cluster.start()
  try {
    return [
      ...(await appendRows(cluster, module.account, appends)),
      ...(await recoveryRow(cluster, module.account, 20, runs)),
      ...(await recoveryRow(cluster, module.account, many, 1)),
      ...(await deathRow(cluster, module.account)),
    ]
  } finally {
    await cluster.stop()
  }
}

async function appendRows(cluster, account, appends) {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-bench-'))
  await cluster.tables('bench')
  const own = openJournal(join(directory, 'own.db'), { clock })
  const copy = openJournal(join(directory, 'copy.db'), { clock })
  const store = mariadbStore({ nodes: cluster.addresses, ...account, tls: null, clock })
  const about = { name: 'bench', address: '', version: '0', mode: 'armed', configDigest: '', goodPollAgeMs: 1 }
  const { journal, tenure } = sharedJournal({
    ...{ copy, store, clock, leaseMs: 6_000, cloud: 'bench', identity: identityOf('bench', copy.path) },
    ...{ about: () => about, told: () => undefined, shouldHandOver: () => undefined, copyTrouble: () => undefined },
  })
  try {
    await tenure.untilActive(new AbortController().signal)
    const shared = []
    const alone = []
    for (let n = 0; n < appends; n++) {
      const entry = { kind: 'alarm.raised', data: { code: 'BENCH', message: 'm'.repeat(900) } }
      const began = performance.now()
      journal.append([entry])
      await tenure.recorded()
      const between = performance.now()
      own.append([entry])
      shared.push(between - began)
      alone.push(performance.now() - between)
    }
    const base = { row: 'standby', where, unit: 'ms', digits: 2 }
    const note = (values) => `p50 ${percentile(values, 0.5).toFixed(2)} ms of ${values.length}`
    return [
      figure({
        ...base,
        what: 'an append durable in Galera, p99',
        value: percentile(shared, 0.99),
        note: note(shared),
      }),
      figure({ ...base, what: 'the same in SQLite, p99', value: percentile(alone, 0.99), note: note(alone) }),
    ]
  } finally {
    await store.close()
    journal.close()
    own.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** In turn, so that what else the machine does meets both. */
async function recoveryRow(cluster, account, instances, runs) {
  const own = []
  const shared = []
  for (let run = 0; run < runs; run++) {
    own.push(await recoverOnce(instances, null))
    shared.push(await recoverOnce(instances, { cluster, account }))
  }
  return [
    figure({
      row: 'standby',
      what: `proof of death -> all ${instances} recovered, ratio to a journal of its own`,
      where,
      value: median(shared) / median(own),
      digits: 2,
      target: 1.1,
      note: `shared ${spread(shared, 2)} s, its own ${spread(own, 2)} s (min / median / max of ${runs})`,
    }),
  ]
}

async function deathRow(cluster, account) {
  const well = await recoverOnce(20, { cluster, account })
  const struck = await recoverOnce(20, { cluster, account, strike: () => cluster.signal(1, 'SIGKILL') })
  await cluster.run(1)
  return [
    figure({
      row: 'standby',
      what: 'what the death of a database node costs a recovery of 20',
      where,
      value: struck - well,
      unit: 's',
      target: 10,
      note: `${struck.toFixed(2)} s with it, ${well.toFixed(2)} s without`,
    }),
  ]
}

/** Seconds from the proof to the last outcome. */
async function recoverOnce(instances, sharing) {
  const own = sharing === null ? {} : { shared_journal: sectionOf(sharing) }
  const cloud = await SimulatedCloud.start({ hosts: 4, config: own })
  const daemon = cloud.daemon()
  try {
    if (sharing !== null) await sharing.cluster.tables(cloud.simulator.cloud().auth_url)
    cloud.populate(host, instances)
    await daemon.start()
    await daemon.watched(4)
    const crashedAt = cloud.crash(host)
    if (sharing?.strike !== undefined) {
      await until('the first step', 60_000, () => daemon.entries({ kinds: ['step.issued'], limit: 1 }).length > 0)
      sharing.strike()
    }
    const { backS, provenS, recovered } = marks(await daemon.closed(host, 600_000), crashedAt)
    if (recovered < instances) throw new Error(`${recovered} of ${instances} were recovered`)
    return backS - provenS
  } finally {
    await daemon.stop()
    await cloud.close()
  }
}

function sectionOf({ cluster, account }) {
  const nodes = cluster.addresses.map((at) => `${at.host}:${at.port}`)
  return { nodes, user: account.user, password: account.password, name: 'bench' }
}
