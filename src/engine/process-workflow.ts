/**
 * The workflow document for a nova-compute that is down on a host that lives: whether Lifeboat disables its service, and who enables it
 * again. What holds whatever it says is in domain/process-failure.ts and control/process-failures.ts. Pure.
 */
import type { z } from 'zod'
import { LifeboatError } from '../domain/errors.ts'
import type { ProcessRuling, WorkflowRecord } from '../domain/plan.ts'
import { checkOrder } from './check.ts'
import { Conditions, type Declarations } from './conditions.ts'
import { closed, condition, head, id, isSo, oneOf, rulesOf, sentence } from './document-parts.ts'
import { Expressions, notEvaluated, type Report } from './expressions.ts'
import type { FactsOf } from './facts.ts'

const rule = closed({
  id,
  when: condition.optional(),
  disable: isSo,
  leave: isSo,
  enable: oneOf(['automatic', 'confirm']).optional(),
  because: sentence,
})

export const processSchema = closed({ ...head, services: closed({ rules: rulesOf(rule) }) })

type ProcessDocument = z.infer<typeof processSchema>

/** Group -> fact -> CEL type. recovery-workflows/README.md says what each means; a test compares the two. */
export const processDeclarations = {
  host: { name: 'string', zone: 'string', aggregates: 'list<string>' },
  service: { missed_beats: 'int' },
  report: { by: 'string' },
  failures: { recent: 'int' },
  segment: { name: 'string' },
} as const satisfies Declarations

export type ProcessRuleFacts = FactsOf<typeof processDeclarations>

export interface ProcessWorkflow extends WorkflowRecord {
  failure: 'process'
  /** Asked once, when the failure begins. */
  decide(facts: ProcessRuleFacts): ProcessRuling
}

const conditions = new Conditions(processDeclarations)

/** What is wrong goes to `report`, and the result is then not to be used. */
export function processWorkflow(document: ProcessDocument, record: WorkflowRecord, report: Report): ProcessWorkflow {
  const expressions = new Expressions<ProcessRuleFacts>(conditions, report)
  const list = ['services', 'rules']
  checkOrder(document.services.rules, list, 'service', report)
  const rules = document.services.rules.map((each, index) => {
    const path = [...list, index]
    if ((each.disable === undefined) === (each.leave === undefined))
      report(path, `rule "${each.id}" must say one of: disable: true, leave: true`)
    if (each.leave === true && each.enable !== undefined)
      report([...path, 'enable'], `rule "${each.id}" disables nothing, so it cannot say enable`)
    return {
      ...each,
      applies: expressions.condition(each.when, [...path, 'when']),
      say: expressions.sentence(each.because, [...path, 'because']),
    }
  })
  return {
    ...record,
    failure: 'process',
    decide: (facts) => {
      for (const { id: name, applies, say, leave, enable } of rules) {
        try {
          if (applies(facts))
            return { rule: name, do: leave === true ? 'leave' : 'disable', enable: enable ?? null, because: say(facts) }
        } catch (thrown) {
          return { rule: name, do: 'leave', enable: null, because: notEvaluated(name, thrown) }
        }
      }
      throw new LifeboatError('INVARIANT', `no rule of ${record.name} takes a service`)
    },
  }
}
