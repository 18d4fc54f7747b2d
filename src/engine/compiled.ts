/** A workflow document made ready to run: every condition and every sentence compiled, every mistake in them reported. */
import { Conditions } from './conditions.ts'
import type { RecipeDocument, Rule, StepDocument, WorkflowDocument } from './document.ts'
import { declarations, type Facts } from './facts.ts'
import type { Path } from '../formats/yaml-source.ts'

/** Facts of a step's condition: the rule's, and the power state that the instance must end in. */
export type StepFacts = Facts & { expected: 'running' | 'stopped' | 'any' }

export type Report = (path: Path, message: string, offset?: number | null) => void

/** True or false; throws when the condition cannot be evaluated, e.g. for a metadata key that is not there. */
export type Condition = (facts: Facts | StepFacts) => boolean

/** A sentence with its facts filled in. */
export type Sentence = (facts: Facts) => string

export interface CompiledRule {
  rule: Rule
  when: Condition
  because: Sentence
  notes: CompiledNote[]
  leftovers: (CompiledNote & { code: string })[]
}

export interface CompiledNote {
  when: Condition
  say: Sentence
}

export interface CompiledStep {
  step: StepDocument
  when: Condition
}

export interface CompiledRecipe {
  recipe: RecipeDocument
  steps: CompiledStep[]
  finally: CompiledStep[]
}

export interface CompiledWorkflow {
  document: WorkflowDocument
  order: { key: (facts: Facts) => unknown; descending: boolean }[]
  rules: CompiledRule[]
  notes: CompiledNote[]
  recipes: Map<string, CompiledRecipe>
}

const ruleConditions = new Conditions(declarations)
const stepConditions = new Conditions(declarations, { expected: 'string' })

const always: Condition = () => true

/** Compiles the document; what is wrong goes to `report`, and the result is then not to be used. */
export function compile(document: WorkflowDocument, report: Report): CompiledWorkflow {
  const condition = (text: string | undefined, path: Path, conditions = ruleConditions): Condition => {
    if (text === undefined) return always
    const checked = conditions.compile(text, ['bool'])
    if ('evaluate' in checked) return (facts) => checked.evaluate(facts) === true
    report(path, `the condition is wrong: ${checked.mistake.message}`, checked.mistake.offset)
    return always
  }
  const noteOf = (note: { when?: string | undefined; say: string }, path: Path): CompiledNote => ({
    when: condition(note.when, [...path, 'when']),
    say: sentence(note.say, [...path, 'say'], report),
  })
  const stepsOf = (steps: StepDocument[] | undefined, path: Path): CompiledStep[] =>
    (steps ?? []).map((step, index) => ({ step, when: condition(step.when, [...path, index, 'when'], stepConditions) }))
  const { instances, recipes } = document
  return {
    document,
    order: instances.order.map(({ by, descending }, index) => {
      const checked = ruleConditions.compile(by, ['int', 'string', 'bool'])
      if (!('evaluate' in checked))
        report(
          ['instances', 'order', index, 'by'],
          `the key is wrong: ${checked.mistake.message}`,
          checked.mistake.offset,
        )
      return { key: 'evaluate' in checked ? checked.evaluate : () => 0, descending: descending ?? false }
    }),
    rules: instances.rules.map((rule, index) => {
      const path = ['instances', 'rules', index]
      return {
        rule,
        when: condition(rule.when, [...path, 'when']),
        because: sentence(rule.because, [...path, 'because'], report),
        notes: (rule.notes ?? []).map((note, at) => noteOf(note, [...path, 'notes', at])),
        leftovers: (rule.debts ?? []).map((one, at) => ({ ...noteOf(one, [...path, 'debts', at]), code: one.code })),
      }
    }),
    notes: (instances.notes ?? []).map((note, index) => noteOf(note, ['instances', 'notes', index])),
    recipes: new Map(
      Object.entries(recipes).map(([name, recipe]) => [
        name,
        {
          recipe,
          steps: stepsOf(recipe.steps, ['recipes', name, 'steps']),
          finally: stepsOf(recipe.finally, ['recipes', name, 'finally']),
        },
      ]),
    ),
  }
}

function sentence(text: string, path: Path, report: Report): Sentence {
  const parts: ((facts: Facts) => string)[] = []
  let at = 0
  for (const found of text.matchAll(/\$\{([^}]*)\}/g)) {
    const before = text.slice(at, found.index)
    parts.push(() => before)
    const expression = found[1] ?? ''
    const checked = ruleConditions.compile(expression, ['string', 'int', 'bool'])
    if ('evaluate' in checked) parts.push((facts) => String(checked.evaluate(facts)))
    else report(path, `\${${expression}} is wrong: ${checked.mistake.message}`, found.index)
    at = found.index + found[0].length
  }
  const rest = text.slice(at)
  if (rest.includes('${')) report(path, '${ without its }', at + rest.indexOf('${'))
  return (facts) => `${parts.map((part) => part(facts)).join('')}${rest}`
}
