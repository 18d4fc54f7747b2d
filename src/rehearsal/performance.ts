/** A scenario shown to a person: its README, then what happens as it happens, then how it ended. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sleep, type Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Entry } from '../domain/entry.ts'
import { nearNames } from '../domain/near-names.ts'
import { lineOf } from '../domain/text/entry-sentence.ts'
import { installed } from '../system/installed.ts'
import { rehearse } from './rehearse.ts'
import { isFirstSight } from './rows.ts'
import { loadScenario, type Scenario } from './scenario.ts'
import type { Ground, Stage } from './stage.ts'
import type { Transcript } from './transcript.ts'

/** How a scenario is shown. */
export interface RehearsalOptions {
  /** A shipped scenario's name, or the path of a scenario.yaml. */
  scenario: string
  /** Every journal entry instead of sentences. */
  raw: boolean
  /** At a pace for people; false: as fast as it goes. */
  live: boolean
}

/** What is told of a scenario while it is played. */
export interface RehearsalLine {
  /** Of the scenario's own time, since it began: 00:01:07.250. Null before and after. */
  since: string | null
  /** Of the journal entry behind it; null where there is none. */
  seq: number | null
  actor: string | null
  host: string | null
  /** By name. */
  instance: string | null
  /** Of the entry; or scenario (its title), script (what is done to the cloud), end (how everything ended). */
  kind: string
  message: string
  /** For people; null: they are not told of it. */
  text: string | null
}

const shipped = installed('test/scenarios')

/** Real time that passes for as much of the scenario's, at most: hours of waiting are no show. */
const longestPauseMs = 60

/** Name and title of each shipped scenario. */
export function scenarioList(): { name: string; title: string }[] {
  return shippedNames().map((name) => ({ name, title: loadScenario(join(shipped, name, 'scenario.yaml')).title }))
}

function shippedNames(): string[] {
  if (!existsSync(shipped)) return []
  return readdirSync(shipped)
    .filter((name) => existsSync(join(shipped, name, 'scenario.yaml')))
    .sort()
}

/**
 * Plays it and tells each line as it comes. Throws NOT_FOUND for an unknown name or a file that is not there, CONFIG_INVALID
 * for a bad scenario, STEP_TIMEOUT for one that hangs.
 */
export async function perform(
  tell: (line: RehearsalLine) => void,
  { scenario: wanted, raw, live }: RehearsalOptions,
  clock: Clock,
): Promise<void> {
  const file = fileOf(wanted)
  const scenario = loadScenario(file)
  const why = join(dirname(file), 'README.md')
  const story = existsSync(why) ? readFileSync(why, 'utf8').trim() : scenario.title
  const transcript = await show(tell, { scenario, story, raw, live, clock })
  tellEnd(tell, transcript.lines.slice(transcript.lines.indexOf('')))
}

export interface Show {
  scenario: Scenario
  /** For people, before it begins. */
  story: string
  raw: boolean
  live: boolean
  clock: Clock
  ground?: Ground
  /** Looks at the stage when the script is over. */
  inspect?: (stage: Stage) => void
}

/** Plays it and tells each line as it comes, up to its end. Throws STEP_TIMEOUT for a script that hangs. */
export function show(
  tell: (line: RehearsalLine) => void,
  { scenario, story, raw, live, clock, ground, inspect }: Show,
): Promise<Transcript> {
  tell({ ...bare, kind: 'scenario', message: scenario.title, text: `${story}\n` })
  const names = new Map<string, string>()
  return rehearse(scenario, {
    ground,
    show: (line, entry) => {
      const since = line.slice(0, line.indexOf(' '))
      const rest = line.slice(line.indexOf(' ') + 1)
      if (entry === null) return tell({ ...bare, since, kind: 'script', message: rest.replace(/^\* /, ''), text: line })
      const sentence = spoken(entry, names)
      const { seq, actor, host, instance, kind } = entry
      const name = instance === null ? null : (names.get(instance) ?? instance)
      const about = host === null || instance !== null ? '' : `${host}: `
      const text = raw ? line : sentence === null || isFirstSight(entry) ? null : `${since} ${about}${sentence}`
      tell({ since, seq, actor, host, instance: name, kind, message: sentence ?? kind, text })
    },
    ...(inspect !== undefined && { inspect }),
    ...(live && { pace: (ms) => sleep(clock, Math.min(longestPauseMs, ms / 10)) }),
  })
}

/** How everything ended: a line of text is empty where a paragraph ends. */
export function tellEnd(tell: (line: RehearsalLine) => void, lines: readonly string[]): void {
  let gap = ''
  for (const line of lines) {
    if (line !== '') tell({ ...bare, kind: 'end', message: line, text: `${gap}${line}` })
    gap = line === '' ? '\n' : ''
  }
}

const bare = { since: null, seq: null, actor: null, host: null, instance: null }

/** A shipped scenario by its name; whatever has a slash or ends as YAML does is a path, of the file or of its directory. */
export function fileOf(wanted: string): string {
  if (wanted.includes('/') || /\.ya?ml$/.test(wanted)) {
    const stats = statSync(wanted, { throwIfNoEntry: false })
    if (stats === undefined) throw notFound(`There is no file ${wanted}`, [])
    return stats.isDirectory() ? join(wanted, 'scenario.yaml') : wanted
  }
  const names = shippedNames()
  if (names.includes(wanted)) return join(shipped, wanted, 'scenario.yaml')
  const near = nearNames(wanted, names)
  const like = near.length > 0 || wanted === '' ? near : names.filter((name) => name.includes(wanted)).slice(0, 5)
  throw notFound(`There is no scenario "${wanted}"`, [
    ...(like.length === 0 ? [] : [`did you mean ${like.join(' or ')}?`]),
    ...(existsSync(wanted) ? [`a file or directory is named with a slash: ./${wanted}`] : []),
    '`lifeboat rehearse` lists those there are; a file of your own is named by its path, ending in .yaml',
  ])
}

function notFound(message: string, problems: string[]): LifeboatError {
  return new LifeboatError('NOT_FOUND', message, { details: { problems } })
}

/** The entry as a sentence, with the instance's name in place of its id; null for one that has none. */
function spoken(entry: Entry, names: Map<string, string>): string | null {
  if (entry.kind === 'plan.made') names.set(entry.data.instanceId, entry.data.name)
  const sentence = lineOf(entry)
  if (sentence === entry.kind) return null
  return [...names].reduce((text, [id, name]) => text.replaceAll(id, name), sentence)
}
