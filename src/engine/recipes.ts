/** Recipes for one instance: conditions answered, landings resolved, only what will be tried is left. Pure. */
import type { Landing } from '../domain/cloud.ts'
import type { Recipe, RecipeStep, RetryPolicy } from '../domain/plan.ts'
import { reachableFrom } from './check.ts'
import type { CompiledStep, CompiledWorkflow, StepFacts } from './compiled.ts'
import type { StepDocument } from './document.ts'

/** The recipe and every one that its errors can lead to, by name. Throws what a condition throws. */
export function recipesFor(name: string, workflow: CompiledWorkflow, facts: StepFacts): Record<string, Recipe> {
  const names = reachableFrom([name], workflow.document.recipes)
  const entries = [...workflow.recipes].filter(([candidate]) => names.has(candidate))
  return Object.fromEntries(
    entries.map(([candidate, { recipe, steps, finally: last }]) => [
      candidate,
      {
        name: candidate,
        ...(recipe.rounds !== undefined && { rounds: recipe.rounds }),
        steps: stepsFor(steps, facts),
        finally: stepsFor(last, facts),
      },
    ]),
  )
}

function stepsFor(steps: CompiledStep[], facts: StepFacts): RecipeStep[] {
  return steps.filter(({ when }) => when(facts)).map(({ step }) => resolved(step, facts))
}

function resolved(step: CompiledStep['step'], facts: StepFacts): RecipeStep {
  return {
    id: step.id,
    do: step.do,
    ...(step.landing !== undefined && { landing: landingFor(step.landing, facts) }),
    deadlineMs: step.deadline,
    ...(step.retry !== undefined && { retry: retryOf(step.retry) }),
    ...(step.onError !== undefined && { onError: step.onError }),
  }
}

export function retryOf({ on, attempts, first, cap }: NonNullable<StepDocument['retry']>): RetryPolicy {
  return { on, attempts, firstMs: first, capMs: cap }
}

/** A cloud below 2.95 knows one landing only; the recipe's stop step then does the rest. */
function landingFor(landing: Landing | 'original', facts: StepFacts): Landing {
  if (!facts.cloud.lands_stopped) return 'as-before'
  if (landing !== 'original') return landing
  return facts.expected === 'running' ? 'as-before' : 'stopped'
}
