/** A scenario shown to a person: its README, then what happens as it happens, then how it ended. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RehearsalOptions } from '../../cli/composition.ts'
import { sleep, type Clock } from '../../domain/clock.ts'
import { LifeboatError } from '../../domain/errors.ts'
import type { Entry } from '../../domain/entry.ts'
import { sentenceOf } from '../../journal/report-sentences.ts'
import { rehearse } from './rehearse.ts'
import { loadScenario } from './scenario.ts'

const shipped = fileURLToPath(new URL('../../../test/scenarios', import.meta.url))

/** Real time that passes for as much of the scenario's, at most: hours of waiting are no show. */
const longestPauseMs = 60

/** Name and title of each shipped scenario. */
export function scenarioList(): { name: string; title: string }[] {
  if (!existsSync(shipped)) return []
  const names = readdirSync(shipped).filter((name) => existsSync(join(shipped, name, 'scenario.yaml')))
  return names.sort().map((name) => ({ name, title: loadScenario(join(shipped, name, 'scenario.yaml')).title }))
}

/** Plays it. Throws NOT_FOUND for an unknown name, CONFIG_INVALID for a bad scenario, STEP_TIMEOUT for one that hangs. */
export async function perform(
  write: (text: string) => void,
  { scenario: wanted, raw, live }: RehearsalOptions,
  clock: Clock,
): Promise<void> {
  const file = wanted.endsWith('.yaml') ? wanted : join(shipped, wanted, 'scenario.yaml')
  if (!existsSync(file))
    throw new LifeboatError('NOT_FOUND', `There is no scenario ${wanted}; lifeboat rehearse lists those there are`)
  const scenario = loadScenario(file)
  const why = join(dirname(file), 'README.md')
  write(existsSync(why) ? `${readFileSync(why, 'utf8').trim()}\n\n` : `${scenario.title}\n\n`)
  const names = new Map<string, string>()
  const transcript = await rehearse(scenario, {
    show: (line, entry) => {
      const text = raw || entry === null ? line : spoken(line, entry, names)
      if (text !== null) write(`${text}\n`)
    },
    ...(live && { pace: (ms) => sleep(clock, Math.min(longestPauseMs, ms / 10)) }),
  })
  write(`${transcript.lines.slice(transcript.lines.indexOf('')).join('\n')}\n`)
}

/** The entry as a sentence, with the instance's name in place of its id. */
function spoken(line: string, entry: Entry, names: Map<string, string>): string | null {
  if (entry.kind === 'plan.made') names.set(entry.data.instanceId, entry.data.name)
  const sentence = sentenceOf(entry)
  if (sentence === null || sentence === entry.kind) return null
  const host = entry.host === null || entry.instance !== null ? '' : `${entry.host}: `
  const told = [...names].reduce((text, [id, name]) => text.replaceAll(id, name), sentence)
  return `${line.slice(0, line.indexOf(' '))} ${host}${told}`
}
