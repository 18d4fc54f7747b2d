/** The conditions and sentences of one document, compiled against the facts of its kind; every mistake in them is reported. */
import type { Path } from '../formats/yaml-source.ts'
import type { Conditions } from './conditions.ts'

export type Report = (path: Path, message: string, offset?: number | null) => void

/** True or false; throws when the condition cannot be evaluated, e.g. for a metadata key that is not there. */
export type Condition<F> = (facts: F) => boolean

/** A sentence with its facts filled in. */
export type Sentence<F> = (facts: F) => string

export class Expressions<F extends object> {
  readonly #conditions: Conditions
  readonly #report: Report

  /** What is wrong goes to `report`, and what is compiled is then not to be used. */
  constructor(conditions: Conditions, report: Report) {
    this.#conditions = conditions
    this.#report = report
  }

  /** No text: always true. */
  condition(text: string | undefined, path: Path): Condition<F> {
    if (text === undefined) return () => true
    const checked = this.#conditions.compile(text, ['bool'])
    if ('evaluate' in checked) return (facts) => checked.evaluate(facts) === true
    this.#report(path, `the condition is wrong: ${checked.mistake.message}`, checked.mistake.offset)
    return () => true
  }

  /** `${…}` inserts a fact. */
  sentence(text: string, path: Path): Sentence<F> {
    const parts: Sentence<F>[] = []
    let at = 0
    for (const found of text.matchAll(/\$\{([^}]*)\}/g)) {
      const before = text.slice(at, found.index)
      parts.push(() => before)
      const expression = found[1] ?? ''
      const checked = this.#conditions.compile(expression, ['string', 'int', 'bool'])
      if ('evaluate' in checked) parts.push((facts) => String(checked.evaluate(facts)))
      else this.#report(path, `\${${expression}} is wrong: ${checked.mistake.message}`, found.index)
      at = found.index + found[0].length
    }
    const rest = text.slice(at)
    if (rest.includes('${')) this.#report(path, '${ without its }', at + rest.indexOf('${'))
    return (facts) => `${parts.map((part) => part(facts)).join('')}${rest}`
  }
}

/** What is said of a rule whose condition or sentence could not be evaluated for an instance. */
export function notEvaluated(rule: string, thrown: unknown): string {
  const said = (thrown instanceof Error ? thrown.message : String(thrown)).replace(/\n.*/s, '')
  return `rule ${rule} could not be evaluated: ${said}`
}
