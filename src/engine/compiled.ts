/** The workflow document for hosts made ready to run. */
import { Conditions } from './conditions.ts'
import type { RecipeDocument, Rule, StepDocument, WorkflowDocument } from './document.ts'
import { Expressions, type Condition, type Report, type Sentence } from './expressions.ts'
import { declarations, type Facts } from './facts.ts'
import type { Path } from '../formats/yaml-source.ts'

/** Facts of a step's condition: the rule's, and the power state that the instance must end in. */
export type StepFacts = Facts & { expected: 'running' | 'stopped' | 'any' }

export interface CompiledRule {
  rule: Rule
  when: Condition<Facts>
  because: Sentence<Facts>
  notes: CompiledNote[]
  leftovers: (CompiledNote & { code: string })[]
}

export interface CompiledNote {
  when: Condition<Facts>
  say: Sentence<Facts>
}

export interface CompiledStep {
  step: StepDocument
  when: Condition<StepFacts>
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

/** Compiles the document; what is wrong goes to `report`, and the result is then not to be used. */
export function compile(document: WorkflowDocument, report: Report): CompiledWorkflow {
  const ofRules = new Expressions<Facts>(ruleConditions, report)
  const ofSteps = new Expressions<StepFacts>(stepConditions, report)
  const noteOf = (note: { when?: string | undefined; say: string }, path: Path): CompiledNote => ({
    when: ofRules.condition(note.when, [...path, 'when']),
    say: ofRules.sentence(note.say, [...path, 'say']),
  })
  const stepsOf = (steps: StepDocument[] | undefined, path: Path): CompiledStep[] =>
    (steps ?? []).map((step, index) => ({ step, when: ofSteps.condition(step.when, [...path, index, 'when']) }))
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
        when: ofRules.condition(rule.when, [...path, 'when']),
        because: ofRules.sentence(rule.because, [...path, 'because']),
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
