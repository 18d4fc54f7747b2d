/** The shape of the workflow document for crashed guests, and the checks that its shape alone cannot make. */
import { z } from 'zod'
import { checkOrder, checkRecipeExists, checkRetry, checkUsed } from './check.ts'
import {
  closed,
  condition,
  head,
  id,
  isSo,
  limit,
  oneOf,
  reason,
  recipesOf,
  reference,
  retry,
  rulesOf,
  sentence,
} from './document-parts.ts'
import type { Report } from './expressions.ts'

/** What ends a crash: nothing else is ever ordered for a guest whose host lives. */
const step = closed({ id, do: oneOf(['reboot', 'start']), deadline: limit, retry: retry.optional() })

const rule = closed({
  id,
  when: condition.optional(),
  restart: reference.optional(),
  leave: isSo,
  ignore: isSo,
  done: isSo,
  wait: isSo,
  reason: reason.optional(),
  because: sentence,
})

export const crashSchema = closed({
  ...head,
  instances: closed({ rules: rulesOf(rule) }),
  recipes: recipesOf(
    closed({
      steps: z
        .array(step, { error: 'must be a list of steps' })
        .length(1, { error: 'must hold one step: after it Lifeboat looks again' }),
    }),
  ),
})

export type CrashDocument = z.infer<typeof crashSchema>
export type CrashRule = CrashDocument['instances']['rules'][number]

/** Reports every problem of references and reachability. */
export function checkCrashDocument(document: CrashDocument, report: Report): void {
  const { rules } = document.instances
  const list = ['instances', 'rules']
  checkOrder(rules, list, 'instance', report)
  for (const [index, each] of rules.entries()) {
    const path = [...list, index]
    const { restart, leave, ignore, done, wait } = each
    if ([restart, leave, ignore, done, wait].filter((one) => one !== undefined).length !== 1)
      report(
        path,
        `rule "${each.id}" must say one of: restart: RECIPE, leave: true, ignore: true, done: true, wait: true`,
      )
    if (wait === undefined && each.reason === undefined) report(path, `rule "${each.id}" must say its reason, a code`)
    if (wait !== undefined && each.reason !== undefined)
      report([...path, 'reason'], `rule "${each.id}" only waits, so it has no reason`)
    if (restart !== undefined) checkRecipeExists(restart, [...path, 'restart'], document, report)
  }
  for (const [name, { steps }] of Object.entries(document.recipes))
    for (const [index, each] of steps.entries()) checkRetry(each, ['recipes', name, 'steps', index], report)
  checkUsed(new Set(rules.flatMap(({ restart }) => restart ?? [])), document, report)
}
