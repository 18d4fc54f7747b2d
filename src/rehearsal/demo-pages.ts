/**
 * `lifeboat demo --web`: the daemon itself with its pages, on a simulated cloud whose plugs are pulled from the page. It listens on
 * this machine alone, and opens by a link that works once.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listenForPeople, type WebOptions } from '../api/index.ts'
import { Daemon } from '../daemon/daemon.ts'
import { defaultOwnerPolicy } from '../engine/owner-policy.ts'
import { openJournal } from '../journal/journal.ts'
import type { OpenStackCloud } from '../openstack/cloud-client.ts'
import { startSimulator } from '../simulator/index.ts'
import { installed } from '../system/installed.ts'
import { systemClock as clock } from '../system/system-clock.ts'
import { demoNotices, onCall, type DemoNotices } from './demo-notices.ts'
import { demoHosts, demoInstances, demoRacks, demoSegmentOf } from './demo-cloud.ts'
import { plugsOf } from './plugs.ts'
import { shippedWorkflows } from './shipped-workflows.ts'
import { simulatedParts } from './simulated-parts.ts'

export interface DemoPagesOptions {
  /** 0: any free one. */
  port: number
}

const beatMs = 2_000

/** Quick enough to watch, slow enough to see: a recovery of a host takes some seconds. */
const timings = {
  scheduleMs: 150,
  claimMs: 100,
  rebuildMs: 200,
  volumesMs: 150,
  spawnMs: 2_500,
  powerMs: 200,
  finishMs: 150,
  confirmMs: 400,
  agentStartMs: 1_500,
  brokerReconnectMs: 2_000,
}

const visitor = 'alex'
const dayMs = 86_400_000

const rules: ReturnType<WebOptions['rules']> = {
  roles: { admin: 'admin' },
  projects: [],
  sessionMs: dayMs,
  requestsAMinute: 6_000,
  sso: [],
}

/** Runs until `stopped`. Throws API_UNAVAILABLE when the port is taken. */
export async function runDemoPages(
  write: (text: string) => void,
  { port }: DemoPagesOptions,
  stopped: Promise<string>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-demo-'))
  const teardown: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })]
  try {
    const simulator = await startSimulator({
      clock,
      hosts: [...demoHosts],
      port: null,
      reportIntervalMs: beatMs,
      serviceDownTimeMs: 4 * beatMs,
      tokenLifeMs: dayMs,
      timings,
    })
    teardown.push(() => simulator.close())
    for (const [rack, members] of demoRacks) simulator.addAggregate(`rack-${rack}`, [...members], { rack })
    for (const instance of demoInstances()) simulator.addInstance(instance)
    simulator.addUser(visitor, ['admin'])
    const journalPath = join(directory, 'journal.db')
    const journal = openJournal(journalPath, { clock })
    teardown.push(() => journal.close())
    const notices = demoNotices(clock)
    const { isOut, setOut } = notices
    const parts = demoParts(simulator, journal, notices)
    const daemon = new Daemon({ ...parts, journalPath })
    const key = randomBytes(16).toString('base64url')
    const login = { user: visitor, password: 'secret', userDomain: 'Default', project: null }
    const listener = await listenForPeople(
      {
        operations: daemon.operations,
        review: daemon.review,
        clock,
        people: (parts.cloud as OpenStackCloud).people,
        observer: {},
        simulation: plugsOf(simulator, demoRacks, [
          { id: `receiver:${onCall}`, title: `receiver ${onCall}`, isOut, setOut },
        ]),
      },
      {
        host: '127.0.0.1',
        port,
        tls: null,
        trustedProxies: [],
        rules: () => rules,
        pages: installed('dist/web'),
        door: { key, login },
      },
    )
    teardown.push(() => listener.close())
    daemon.start()
    daemon.watchReadiness()
    teardown.push(() => daemon.stop('the demo is over'))
    write(
      `A simulated cloud of ${demoHosts.length} hosts in three segments, with ${simulator.world.instances.size} instances. Nothing real is touched.\n\n` +
        `  ${listener.address}/open/${key}\n\n` +
        'Open this link: it works once, on this machine. Pull a plug at the top of the page and watch. Ctrl-C ends the demo.\n',
    )
    await stopped
  } finally {
    for (const end of teardown.toReversed()) await end()
  }
}

function demoParts(
  simulator: Awaited<ReturnType<typeof startSimulator>>,
  journal: ReturnType<typeof openJournal>,
  { rules: noticeRules, deliver }: DemoNotices,
): ReturnType<typeof simulatedParts> {
  const { host: workflow } = shippedWorkflows(defaultOwnerPolicy)
  const brake = {
    maxHosts: 10,
    maxShare: 0.5,
    failureDomain: { key: 'rack', maxHosts: 2, maxShare: 1 },
    // An evaluator tries one thing after another, and has not the patience of a data centre.
    coolDownMs: 10 * beatMs,
  }
  const parts = simulatedParts(simulator, { clock, journal, workflow, beatMs, wire: simulator.wire(), brake })
  return { ...parts, segmentOf: demoSegmentOf, cloudName: 'simulated', notices: { rules: noticeRules, deliver } }
}
