/**
 * Checks of the workflow document for hosts that its shape alone cannot tell: that names lead somewhere, that every rule and recipe
 * can be reached, that errors do not lead in circles, and that every instance gets a decision (law L9).
 */
import { ends, type RecipeDocument, type StepDocument, type WorkflowDocument } from './document.ts'
import type { Report } from './expressions.ts'
import type { Path } from '../formats/yaml-source.ts'

/** Reports every problem of references and reachability. */
export function checkReferences(document: WorkflowDocument, report: Report): void {
  checkRules(document, report)
  for (const [name, recipe] of Object.entries(document.recipes)) checkRecipe(name, recipe, document, report)
  checkCircles(document, report)
  checkReachable(document, report)
}

function checkRules(document: WorkflowDocument, report: Report): void {
  const { rules } = document.instances
  checkOrder(rules, ['instances', 'rules'], 'instance', report)
  for (const [index, rule] of rules.entries()) {
    const path = ['instances', 'rules', index]
    const decisions = [rule.recover, rule.leave, rule.hold].filter((decision) => decision !== undefined)
    if (decisions.length !== 1)
      report(path, `rule "${rule.id}" must say one of: recover: RECIPE, leave: true, hold: true`)
    if (rule.recover !== undefined) {
      checkRecipeExists(rule.recover, [...path, 'recover'], document, report)
      if (rule.expect === undefined)
        report(path, `rule "${rule.id}" recovers, so it must say expect: running, stopped or original`)
    } else {
      if (rule.expect !== undefined)
        report([...path, 'expect'], `rule "${rule.id}" does not recover, so it cannot say expect`)
      if (rule.debts !== undefined)
        report([...path, 'debts'], `rule "${rule.id}" does not recover, so it cannot leave debts`)
    }
  }
}

/** That each rule has a name of its own, that each can be reached, and that the last one takes every `what` that is left (law L9). */
export function checkOrder(
  rules: readonly { id: string; when?: string | undefined }[],
  list: Path,
  what: string,
  report: Report,
): void {
  const ids = new Set<string>()
  const conditions = new Map<string, string>()
  let all: string | null = null
  for (const [index, rule] of rules.entries()) {
    const path = [...list, index]
    if (ids.has(rule.id)) report([...path, 'id'], `rule "${rule.id}" is there twice; ids are unique`)
    ids.add(rule.id)
    const when = (rule.when ?? 'true').trim()
    const earlier = all ?? conditions.get(when) ?? null
    if (earlier !== null)
      report(path, `rule "${rule.id}" is never reached: rule "${earlier}" takes all of its ${what}s`)
    else if (when === 'false')
      report([...path, 'when'], `rule "${rule.id}" is never reached: its condition is never true`)
    conditions.set(when, conditions.get(when) ?? rule.id)
    if (when === 'true') all ??= rule.id
  }
  if (all === null)
    report([...list, rules.length - 1], `the last rule must take every ${what} that is left: a rule without when`)
}

/** What takes back or corrects what is ours. Anything else there would pass a cancel, a pause and a revoked proof. */
const closing: ReadonlySet<string> = new Set(['unlock', 'stop'])

function checkRecipe(name: string, recipe: RecipeDocument, document: WorkflowDocument, report: Report): void {
  const ids = new Set<string>()
  let returns = false
  for (const part of ['steps', 'finally'] as const) {
    for (const [index, step] of (recipe[part] ?? []).entries()) {
      const path = ['recipes', name, part, index]
      if (ids.has(step.id))
        report([...path, 'id'], `step "${step.id}" is there twice in recipe "${name}"; ids are unique`)
      ids.add(step.id)
      checkStep(step, path, report)
      for (const [code, route] of Object.entries(step.onError ?? {})) {
        if (isEnd(route)) continue
        checkRecipeExists(route, [...path, 'onError', code], document, report)
        if (route === name) returns = true
        if (part === 'finally') report([...path, 'onError', code], `a final step may only lead to: ${ends.join(', ')}`)
      }
      if (part === 'finally' && !closing.has(step.do))
        report(
          [...path, 'do'],
          `finally may only ${[...closing].join(' and ')}: it runs also after a cancel, and where the host may live`,
        )
    }
  }
  if (returns && recipe.rounds === undefined)
    report(
      ['recipes', name],
      `recipe "${name}" leads to itself, so it must say rounds: how many times it may be entered`,
    )
  if (!returns && recipe.rounds !== undefined)
    report(['recipes', name, 'rounds'], `recipe "${name}" never leads to itself, so rounds means nothing`)
}

function checkStep(step: StepDocument, path: Path, report: Report): void {
  if (step.do === 'evacuate' && step.landing === undefined)
    report(path, `step "${step.id}" evacuates, so it must say landing: stopped, as-before or original`)
  if (step.do !== 'evacuate' && step.landing !== undefined)
    report([...path, 'landing'], `step "${step.id}" does not evacuate, so it has no landing`)
  checkRetry(step, path, report)
  // A failed evacuation leaves the instance in ERROR, and from there it lands running whatever was asked (fact 2).
  const dirty = step.do === 'evacuate' ? (step.retry?.on ?? []).filter((code) => needsReset.has(code)) : []
  if (dirty.length > 0)
    report(
      [...path, 'retry', 'on'],
      `${dirty.join(', ')} leaves the instance in ERROR: route it by onError to a recipe that begins with reset-state`,
    )
}

export function checkRetry({ retry }: Pick<StepDocument, 'retry'>, path: Path, report: Report): void {
  if (retry !== undefined && retry.first > retry.cap)
    report([...path, 'retry', 'cap'], 'cap must not be shorter than first')
}

const needsReset = new Set<string>([
  'NO_VALID_HOST',
  'EVACUATION_FAILED',
  'DESTINATION_DIED',
  'EVACUATION_LOST',
  'GUEST_ON_DESTINATION',
])

export function checkRecipeExists(
  name: string,
  path: Path,
  { recipes }: { recipes: Readonly<Record<string, unknown>> },
  report: Report,
): void {
  if (Object.hasOwn(recipes, name)) return
  report(path, `there is no recipe "${name}"; there are: ${Object.keys(recipes).join(', ')}`)
}

function checkCircles(document: WorkflowDocument, report: Report): void {
  const done = new Set<string>()
  const walk = (name: string, trail: string[]): void => {
    if (trail.includes(name)) {
      const circle = [...trail.slice(trail.indexOf(name)), name].join(' -> ')
      report(
        ['recipes', name],
        `recipes lead in a circle: ${circle}; only a recipe with rounds may lead back, to itself`,
      )
      return
    }
    if (done.has(name)) return
    for (const route of routesOf(document.recipes[name])) if (route !== name) walk(route, [...trail, name])
    done.add(name)
  }
  for (const name of Object.keys(document.recipes)) walk(name, [])
}

function checkReachable(document: WorkflowDocument, report: Report): void {
  const reached = reachableFrom(
    document.instances.rules.flatMap((rule) => rule.recover ?? []),
    document.recipes,
  )
  checkUsed(reached, document, report)
}

export function checkUsed(
  used: ReadonlySet<string>,
  { recipes }: { recipes: Readonly<Record<string, unknown>> },
  report: Report,
): void {
  for (const name of Object.keys(recipes))
    if (!used.has(name)) report(['recipes', name], `recipe "${name}" is never used by a rule or an error route`)
}

/** The recipes themselves and all that their errors can lead to. */
export function reachableFrom(names: readonly string[], recipes: WorkflowDocument['recipes']): Set<string> {
  const reached = new Set<string>()
  const waiting = [...names]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (reached.has(name) || !Object.hasOwn(recipes, name)) continue
    reached.add(name)
    waiting.push(...routesOf(recipes[name]))
  }
  return reached
}

function routesOf(recipe: RecipeDocument | undefined): string[] {
  const steps = [...(recipe?.steps ?? []), ...(recipe?.finally ?? [])]
  return steps.flatMap((step) => Object.values(step.onError ?? {})).filter((route) => !isEnd(route))
}

function isEnd(route: string): boolean {
  return (ends as readonly string[]).includes(route)
}
