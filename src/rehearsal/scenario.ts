/**
 * A scenario as its author writes it: a cloud, a configuration, instances, and a script of timed faults and acts. Owns the
 * format of scenario.yaml and says every mistake with its place.
 */
import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { z } from 'zod'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import { section, text } from '../config/pieces.ts'
import { duration } from '../formats/duration-schema.ts'
import { pathText } from '../config/problems.ts'
import { problemText, readYaml, type Problem } from '../formats/yaml-source.ts'
import { acts, type ActName } from './acts.ts'
import { condition, type Condition } from './condition.ts'
import { setting } from './setting.ts'

const timing = {
  at: duration('0s', '30d').optional().describe('Time since the scenario began'),
  after: duration('0s', '30d').optional().describe('Time since the step before'),
  when: condition.optional().describe('As soon as this holds'),
  within: duration('0s', '30d').optional().describe('With when: the script goes on after so long all the same'),
  note: text().optional().describe('What a person should know'),
}

const actOptions = Object.fromEntries(Object.entries(acts).map(([name, act]) => [name, act.schema.optional()]))

const step = z.strictObject({ ...timing, ...actOptions }).transform((given, context): Step => {
  const { at, after, when, within, note, ...rest } = given as Record<string, unknown> & Timing
  const chosen = Object.entries(rest).filter(([, value]) => value !== undefined)
  if ([at, after, when].filter((value) => value !== undefined).length > 1)
    context.addIssue({ code: 'custom', message: 'has more than one of at, after and when' })
  if (within !== undefined && when === undefined)
    context.addIssue({ code: 'custom', message: 'has within, which belongs to when' })
  if (chosen.length > 1) context.addIssue({ code: 'custom', message: 'has more than one act' })
  const [name, value] = chosen[0] ?? []
  return { at, after, when, within, note, act: name === undefined ? null : { name: name as ActName, given: value } }
})

interface Timing {
  at?: number | undefined
  after?: number | undefined
  when?: Condition | undefined
  within?: number | undefined
  note?: string | undefined
}

export interface Step extends Timing {
  act: { name: ActName; given: unknown } | null
}

const schema = section({
  title: text().describe('What is shown, in one sentence'),
  ...setting,
  script: z.array(step).min(1),
})

export type Scenario = z.output<typeof schema> & { name: string }

/** Throws CONFIG_INVALID; `details.problems` has every problem as file:line:col. */
export function loadScenario(file: string): Scenario {
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (thrown) {
    throw new LifeboatError('CONFIG_INVALID', `The scenario ${file} cannot be read: ${ensureError(thrown).message}`, {
      cause: thrown,
    })
  }
  return parseScenario(content, file, basename(dirname(file)))
}

/** As loadScenario, of a text. */
export function parseScenario(content: string, file: string, name: string): Scenario {
  const source = readYaml(content, file)
  if (source.problems.length > 0) throw invalid(file, source.problems)
  const parsed = schema.safeParse(source.data ?? {})
  if (parsed.success) return { ...parsed.data, name }
  const problems = parsed.error.issues.map((issue) => {
    const where = pathText(issue.path) || 'the scenario'
    const allowed =
      issue.code === 'unrecognized_keys' && issue.path[0] === 'script' ? ` (acts: ${Object.keys(acts).join(', ')})` : ''
    return { ...source.valueAt(issue.path), message: `${where}: ${issue.message}${allowed}` }
  })
  throw invalid(file, problems)
}

function invalid(file: string, problems: Problem[]): LifeboatError {
  const lines = problems.map(problemText)
  return new LifeboatError('CONFIG_INVALID', `${file} is no valid scenario: ${lines[0] ?? ''}`, {
    details: { problems: lines },
  })
}
