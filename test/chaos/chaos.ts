/**
 * Rounds of random trouble on a real Nova (test/lab, which must be built; it is started when it does not answer). Each
 * round boots guests of several kinds, lets their host die, and lets one to three troubles strike at moments of the
 * recovery that its seed chose. Judged is what came of each guest: it is as its owner left it, or the journal's line says why not;
 * no guest ever ran twice. Judged again once the dead hosts have returned: what waited for them may undo what was well.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { lab, labCloud } from '../nova/lab.ts'
import { playRound, type Played } from './round.ts'
import { scriptOf, told, troubleKinds, type TroubleKind } from './script.ts'

/** Gives the exit code: 0 when every round went well, 1 when one did not, 2 for a wrong option. */
export async function chaos(words: string[]): Promise<number> {
  const options = optionsOf(words)
  if (typeof options === 'number') return options
  const { rounds, seed, only, logs } = options
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const cloud = await labCloud('chaos')
  const clouds = join(logs, 'clouds.yaml')
  writeFileSync(clouds, await lab('clouds'))
  await cloud.tidy()
  const all: Played[] = []
  for (let nth = 0; nth < rounds; nth += 1) {
    const script = scriptOf(seed + nth, only)
    process.stdout.write(`${nth + 1}/${rounds} ${told(script)} ... `)
    const round = await playRound(cloud, script, { clouds, logs })
    all.push(round)
    console.log(lineOf(round))
  }
  return summary(all, logs)
}

function optionsOf(words: string[]): { rounds: number; seed: number; only?: TroubleKind; logs: string } | number {
  const { values } = parseArgs({
    args: words,
    options: {
      rounds: { type: 'string', default: '100' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
      logs: { type: 'string' },
    },
  })
  const only = troubleKinds.find((kind) => kind === values.only)
  const rounds = Number(values.rounds)
  const seed = Number(values.seed)
  if (
    (values.only !== undefined && only === undefined) ||
    !Number.isSafeInteger(rounds) ||
    !Number.isSafeInteger(seed)
  ) {
    console.log(`--only takes one of:\n  ${troubleKinds.join('\n  ')}`)
    return values.only === 'list' ? 0 : 2
  }
  if (values.logs !== undefined) mkdirSync(values.logs, { recursive: true })
  return { rounds, seed, ...(only && { only }), logs: values.logs ?? mkdtempSync(join(tmpdir(), 'lifeboat-chaos-')) }
}

function lineOf({ seconds, failures, right, told: lines }: Played): string {
  const end = `${right} right, ${lines.length} told, ${seconds.toFixed(0)} s`
  const why = [...failures, ...lines].map((text) => `\n    ${text}`).join('')
  return `${failures.length === 0 ? 'ok' : 'FAILED'}: ${end}${why}`
}

function summary(all: Played[], logs: string): number {
  const failed = all.filter(({ failures }) => failures.length > 0)
  const sum = (of: (round: Played) => number): number => all.reduce((total, round) => total + of(round), 0)
  console.log(
    `${all.length} rounds, ${failed.length} failed; ${sum(({ right }) => right)} guests right, ` +
      `${sum(({ told: lines }) => lines.length)} told, ${sum(({ doubles }) => doubles)} ran twice`,
  )
  if (failed.length === 0) return 0
  console.log(`seeds that failed: ${failed.map(({ script }) => script.seed).join(' ')}; their logs: ${logs}`)
  return 1
}
