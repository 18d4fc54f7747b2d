/** Plays one round on the lab: guests, a death, trouble, the end of it, the return of the hosts; judged before and after that. */
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CloudUnderTest } from '../contract/cloud-under-test.ts'
import { until } from '../nova/daemon-process.ts'
import { lab } from '../nova/lab.ts'
import { pauseMs } from '../nova/stage.ts'
import type { Judgement } from './judge.ts'
import type { Script } from './script.ts'
import { ChaosStage } from './stage.ts'
import { strike } from './troubles.ts'

/** From the boot of a tenant until every incident must be over. Too short: an order that its conductor died over fails a round. */
const recoveryLimitMs = 300_000
/**
 * From the end of the last trouble until a tenant boots a server. Too short: the boot is younger than an order that it shall overtake by
 * less than the clocks of Nova's API nodes may differ.
 */
const bootAfterMs = 75_000
/** After the hosts are back: what Nova had sent them, and what their own start does to guests, has happened by then. */
const aftermathMs = 6_000

export interface Played {
  script: Script
  seconds: number
  /** Empty: the round went well. */
  failures: string[]
  /** How many guests are as their owners left them at the end, and what the journal says of the others. */
  right: number
  told: string[]
  doubles: number
}

export async function playRound(
  cloud: CloudUnderTest,
  script: Script,
  at: { clouds: string; logs: string },
): Promise<Played> {
  const began = Date.now()
  const logSizes = await labLogSizes()
  const stage = new ChaosStage(cloud, script, at.clouds, at.logs)
  const failures: string[] = []
  const record: Record<string, unknown> = { script }
  let last: Judgement = { right: 0, told: [], wrong: [], doubles: [] }
  const look = async (when: string): Promise<void> => {
    last = await steadily(() => stage.judgement())
    record[when] = last
    failures.push(...[...last.wrong, ...last.doubles].map((text) => `${when}: ${text}`))
  }
  // Anyone who interrupts the rounds leaves no daemon behind.
  const lastWill = (): void => void stage.daemon.kill()
  process.once('exit', lastWill)
  try {
    await stage.set()
    await stage.die(script.dead, script.death)
    record['troubles'] = await Promise.all(script.troubles.map((trouble) => strike(stage, trouble)))
    await recovered(stage)
    await stage.decide()
    await look('after the recovery')
    await stage.hostsReturn()
    await pauseMs(aftermathMs)
    await look('after the return')
    if (!stage.daemon.runs) failures.push('the daemon ended by itself')
  } catch (thrown) {
    failures.push(thrown instanceof Error ? thrown.message : String(thrown))
    await look('given up').catch(() => undefined)
  }
  record['guests'] = stage.guests
  record['failures'] = failures
  await stage.clean().catch((thrown: unknown) => {
    failures.push(`not clean afterwards: ${String(thrown)}`)
  })
  process.off('exit', lastWill)
  if (failures.length > 0) await keep(stage, record, logSizes)
  else rmSync(stage.daemon.stateDir, { recursive: true, force: true })
  const { right, told, doubles } = last
  return { script, seconds: (Date.now() - began) / 1_000, failures, right, told, doubles: doubles.length }
}

/** Life goes on in a cloud: someone boots a server, and it shows which orders were lost on their way to the conductor. */
async function recovered(stage: ChaosStage): Promise<void> {
  const isOver = (): Promise<boolean> => stage.over().catch(() => false)
  const soon = await until('every incident is over soon', isOver, bootAfterMs).then(
    () => true,
    () => false,
  )
  if (soon) return
  await stage.bootLater()
  await until('every incident is over', isOver, recoveryLimitMs)
}

/** A control plane that was just started again answers some requests with errors. */
async function steadily<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask()
    } catch (thrown) {
      if (tries === 20) throw thrown
      await pauseMs(500)
    }
  }
}

/** Beside the journal and the daemon's log, which lie in the round's directory already. */
async function keep(stage: ChaosStage, record: object, sizes: Map<string, number>): Promise<void> {
  const { stateDir } = stage.daemon
  writeFileSync(join(stateDir, 'round.json'), JSON.stringify(record, null, 2))
  const folder = (await lab('logs')).trim()
  mkdirSync(join(stateDir, 'nova'), { recursive: true })
  for (const [name, size] of await labLogSizes()) {
    const text = readFileSync(join(folder, name))
    writeFileSync(join(stateDir, 'nova', name), text.subarray(Math.min(sizes.get(name) ?? 0, size)))
  }
  copyFileSync(join(folder, '..', 'state', 'events.jsonl'), join(stateDir, 'nova', 'events.jsonl'))
}

async function labLogSizes(): Promise<Map<string, number>> {
  const folder = (await lab('logs')).trim()
  const names = readdirSync(folder).filter((name) => /^(nova|cmp)/.test(name) && name.endsWith('.log'))
  return new Map(names.map((name) => [name, statSync(join(folder, name)).size]))
}
