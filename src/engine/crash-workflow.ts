/** A workflow document for crashed guests, ready to decide. Pure. */
import { LifeboatError } from '../domain/errors.ts'
import type { Instance } from '../domain/instance.ts'
import type { Recipe, WorkflowRecord } from '../domain/plan.ts'
import { Conditions } from './conditions.ts'
import { whyNotRestart, type CrashDecision, type CrashFacts, type CrashRules, type CrashWorkflow } from './crash.ts'
import { checkCrashDocument, type CrashDocument, type CrashRule } from './crash-document.ts'
import { crashDeclarations, crashFactsOf, earlyFactsOf } from './crash-facts.ts'
import { Expressions, notEvaluated, type Condition, type Report, type Sentence } from './expressions.ts'
import { retryOf } from './recipes.ts'

interface CompiledCrashRule {
  rule: CrashRule
  when: Condition<object>
  because: Sentence<object>
}

const conditions = new Conditions(crashDeclarations)

/** What is wrong goes to `report`, and the result is then not to be used. */
export function crashWorkflow(document: CrashDocument, record: WorkflowRecord, report: Report): CrashWorkflow {
  const expressions = new Expressions<object>(conditions, report)
  const rules = document.instances.rules.map((rule, index): CompiledCrashRule => {
    const path = ['instances', 'rules', index]
    return {
      rule,
      when: expressions.condition(rule.when, [...path, 'when']),
      because: expressions.sentence(rule.because, [...path, 'because']),
    }
  })
  checkCrashDocument(document, report)
  const recipes = recipesOf(document)
  return {
    ...record,
    failure: 'instance',
    decide: (facts, settings) => {
      const decision = decideBy(rules, recipes, facts, settings, 'read')
      if (decision === null) throw new LifeboatError('INVARIANT', `no rule of ${record.name} takes an instance`)
      return decision
    },
    decideUnread: (facts, settings) => decideBy(rules, recipes, facts, settings, 'unread'),
  }
}

function recipesOf({ recipes }: CrashDocument): Record<string, Recipe> {
  return Object.fromEntries(
    Object.entries(recipes).map(([name, { steps }]) => [
      name,
      {
        name,
        steps: steps.map(({ id, do: kind, deadline, retry }) => ({
          ...{ id, do: kind, deadlineMs: deadline },
          ...(retry !== undefined && { retry: retryOf(retry) }),
        })),
        finally: [],
      },
    ]),
  )
}

/** Null: none of these rules takes it, or, before all is read, the first that may take it cannot be evaluated yet. */
function decideBy(
  rules: readonly CompiledCrashRule[],
  recipes: Record<string, Recipe>,
  facts: CrashFacts,
  settings: CrashRules,
  late: 'read' | 'unread',
): CrashDecision | null {
  const { instance, host } = facts
  if (instance === null || instance.status === 'DELETED') return noRule('INSTANCE_GONE', 'Nova has no such instance')
  // The destination of a failed live migration reports a crash too, and so does a host with a guest that an evacuation left behind.
  if (instance.host !== host) {
    const where = `Nova shows it on ${instance.host ?? 'no host'}, not on ${host}`
    // The guest runs on its new host a moment before Nova shows it there: only the end of the task tells whether it came to this one.
    if (instance.taskState === 'migrating')
      return { do: 'wait', rule: '', message: `${where}, and is moving it (migrating)` }
    // So does one that is evacuated; there the task is gone for a moment, too, before Nova shows the new host.
    if (facts.evacuatedFrom.some((from) => from === instance.host))
      return { do: 'wait', rule: '', message: `${where}, and it is being evacuated from there` }
    return noRule('MOVED_BY_OTHERS', `${where}, so it did not crash there`)
  }
  const asked = (late === 'read' ? crashFactsOf : earlyFactsOf)(instance, facts, settings)
  for (const { rule, when, because } of rules) {
    try {
      if (when(asked)) return decided(rule, because(asked), recipes, facts, instance)
    } catch (thrown) {
      if (late === 'unread') return null
      return { do: 'leave', rule: rule.id, code: 'CONDITION_FAILED', message: notEvaluated(rule.id, thrown) }
    }
  }
  return null
}

function decided(
  { id, restart, leave, done, wait, reason: code = '' }: CrashRule,
  message: string,
  recipes: Record<string, Recipe>,
  facts: CrashFacts,
  instance: Instance,
): CrashDecision {
  const by = { rule: id, code, message }
  if (wait === true) return { do: 'wait', rule: id, message }
  if (leave === true) return { do: 'leave', ...by }
  const step = recipes[restart ?? '']?.steps[0]?.do
  if (restart === undefined || (step !== 'reboot' && step !== 'start')) {
    const runs = done === true && instance.vmState !== 'stopped' && facts.live !== 'off'
    return { do: 'nothing', status: done === true ? 'finished' : 'ignored', runs, ...by }
  }
  const objection = whyNotRestart(facts, instance, step)
  if (objection === null) return { do: 'restart', ...by, recipe: restart, step, recipes }
  const refused = `rule ${id} would restart it, and no workflow may: ${objection}`
  return { do: 'leave', rule: id, code: 'RESTART_REFUSED', message: refused }
}

function noRule(code: 'INSTANCE_GONE' | 'MOVED_BY_OTHERS', message: string): CrashDecision {
  return { do: 'nothing', rule: '', status: 'ignored', runs: false, code, message }
}
