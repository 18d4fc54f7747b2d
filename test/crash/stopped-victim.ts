/** A recovery by a daemon in a process of its own, which gets SIGSTOP at a commit of its journal and SIGCONT after its host came back, or did not. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sleep } from '../../src/domain/clock.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { startSimulator, type Simulator } from '../../src/simulator/index.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { seedJournal } from './seed.ts'
import { allRecovered, comeBack, cutOff, host, wellOnEither, type Meanwhile, type Stop } from './stop-checks.ts'
import { bundledVictim } from './victim.ts'

const workflowFile = fileURLToPath(new URL('../../recovery-workflows/host-failure.yaml', import.meta.url))
const workflow = parseWorkflow(readFileSync(workflowFile, 'utf8'), workflowFile, { ownerPolicy: defaultOwnerPolicy })

/** One evacuation after the other, so that after the first there is still one to send. */
const segment = { maxParallelPerHost: 1 }
const beatMs = 1_000
const executor = { tickMs: 20, reconcileQuietMs: 400 }

/** Until what had left before the stop has arrived. */
const arrivesMs = 300
/** In which the host is back: longer than any reading is good for across a standstill. */
const backMs = 4_500

export interface Ending {
  problems: string[]
  /** Of the daemon's journal. */
  commits: number
}

/** `stop` null: it is never stopped. */
export async function stopAndGoOn(
  stop: Stop | null,
  meanwhile: Exclude<Meanwhile, 'comes back and is cut off again'>,
): Promise<Ending> {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-stopped-'))
  const simulator = await startSimulator({ clock, hosts: 3, reportIntervalMs: beatMs, serviceDownTimeMs: 600_000 })
  try {
    const path = join(directory, 'journal.db')
    const ids = ['web', 'db'].map((name) => simulator.addInstance({ host, name }).uuid)
    cutOff(simulator)
    const seeded = openJournal(path, { clock })
    seedJournal(seeded, workflow, 'stopped-1', host)
    seeded.close()
    const { url, bmcAccess } = simulator
    const order = {
      ...{ url, access: simulator.cloud(), bmcAccess, journal: path, workflow: workflowFile },
      ...{ beatMs, executor, segment, stops: true, ...stop },
    }
    const victim = await bundledVictim()
    const child = spawn(process.execPath, [victim, JSON.stringify(order)], { stdio: ['ignore', 'pipe', 'pipe'] })
    let sentAfter: string[] = []
    const { output, errors } = await lived(child, async () => {
      await sleep(clock, arrivesMs)
      const before = simulator.requests().length
      if (meanwhile === 'comes back') comeBack(simulator)
      await sleep(clock, backMs)
      child.kill('SIGCONT')
      return () => (sentAfter = ordersIn(simulator, before))
    })
    if (child.exitCode !== 0) throw new Error(`the victim ended with ${child.exitCode}: ${errors}`)
    const [commits, said] = output.trim().split('\n').toReversed()
    const journal = openJournal(path, { clock })
    const entries = journal.read()
    const { broken } = journal.verify()
    journal.close()
    const problems =
      meanwhile === 'comes back'
        ? [
            ...sentAfter.map((says) => `sent although the host is back: ${says}`),
            ...wellOnEither(simulator, entries, ids),
          ]
        : allRecovered(simulator, entries, ids)
    if (broken !== null) problems.push(`the journal breaks at ${JSON.stringify(broken)}`)
    if (stop !== null && said !== 'stopped') problems.push('it was not stopped')
    return { problems, commits: Number(commits) }
  } finally {
    await simulator.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** What it printed, once it has ended. `stopped` is called when it says that it is, and gives what is to be done at its end. */
async function lived(
  child: ChildProcess,
  stopped: () => Promise<() => void>,
): Promise<{ output: string; errors: string }> {
  let output = ''
  let errors = ''
  let atEnd: Promise<() => void> | null = null
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    if (output.startsWith('stopped')) atEnd ??= stopped()
  })
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  await new Promise((resolve) => child.once('close', resolve))
  ;(await (atEnd as Promise<() => void> | null))?.()
  return { output, errors }
}

/** What was sent from then on that must not be sent to a host that lives. Our flags stay on it for longer than its daemon lives here. */
function ordersIn(simulator: Simulator, from: number): string[] {
  const service = `/os-services/${simulator.world.host(host).service.uuid}`
  return simulator
    .requests()
    .slice(from)
    .filter(
      ({ method, path, action }) =>
        method !== 'GET' && (path.startsWith('redfish/') || path.endsWith(service) || action === 'evacuate'),
    )
    .map(({ method, path, action }) => `${method} ${path} ${action ?? ''}`)
}
