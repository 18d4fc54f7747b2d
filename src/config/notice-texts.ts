/** The file with the words of notices: any part of them, laid over the English ones. */
import { z } from 'zod'
import { instanceStates, noticeTopics, type NoticeTopic } from '../domain/notice.ts'
import { readRegularFile } from '../system/regular-file.ts'
import { english, templateProblem, variables, variablesOf, type Texts } from '../notices/texts.ts'
import { pathText } from './problems.ts'
import { problemText, readYaml, type Path } from '../formats/yaml-source.ts'

const words = z.strictObject({ subject: z.string().min(1).optional(), text: z.string().min(1).optional() })
const keys = (all: readonly string[]) => Object.fromEntries(all.map((key) => [key, words.optional()]))

const textsFile = z.strictObject({
  ...keys(Object.keys(noticeTopics)),
  line: z.string().min(1).optional(),
  more: z.string().min(1).optional(),
  observing: z.string().min(1).optional(),
  states: z
    .strictObject(Object.fromEntries(instanceStates.map((state) => [state, z.string().min(1).optional()])))
    .optional(),
})

/** The words of a file. Every problem is told as `file:line:col: what`; then the English words stand in. */
export function readTexts(file: string, tell: (problem: string) => void): Texts {
  let text: string
  try {
    text = readRegularFile(file).toString('utf8')
  } catch (thrown) {
    tell(`${file} cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    return english
  }
  const source = readYaml(text, file)
  const at = (path: Path, message: string): void => {
    tell(problemText({ ...source.valueAt(path), message }))
  }
  for (const problem of source.problems) tell(problemText(problem))
  if (source.problems.length > 0) return english
  const parsed = textsFile.safeParse(source.data ?? {})
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) at(path, `${pathText(path) || 'the file'}: ${message}`)
    return english
  }
  const given = parsed.data as Partial<Record<string, unknown>>
  for (const { path, template, known } of templatesIn(given)) {
    const problem = templateProblem(template, known)
    if (problem !== null) at(path, `${pathText(path)} ${problem}`)
  }
  return laidOver(given)
}

type Template = { path: Path; template: string; known: readonly string[] }

function templatesIn(given: Partial<Record<string, unknown>>): Template[] {
  return Object.entries(given).flatMap(([key, value]): Template[] => {
    if (typeof value === 'string')
      return [{ path: [key], template: value, known: key === 'line' || key === 'more' ? variables[key] : [] }]
    if (typeof value !== 'object' || value === null) return []
    const known = key === 'states' ? variables.states : variablesOf(key as NoticeTopic)
    return Object.entries(value as Record<string, string>).map(([inner, template]) => ({
      ...{ path: [key, inner], template, known },
    }))
  })
}

function laidOver(given: Partial<Record<string, unknown>>): Texts {
  const { line, more, observing, states, ...topics } = given as Partial<Texts>
  const changed = Object.entries(english.topics).map(([topic, own]) => [
    topic,
    { ...own, ...(topics as Partial<Record<string, object>>)[topic] },
  ])
  return {
    topics: Object.fromEntries(changed) as Texts['topics'],
    line: line ?? english.line,
    more: more ?? english.more,
    observing: observing ?? english.observing,
    states: { ...english.states, ...states },
  }
}
