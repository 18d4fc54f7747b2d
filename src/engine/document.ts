/** The shape of the workflow document for hosts. What references what is checked in check.ts. */
import { z } from 'zod'
import { stepKinds, type StepKind } from '../domain/plan.ts'
import {
  closed,
  codes,
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
  text,
  wholeNumber,
} from './document-parts.ts'

const routeKey = z.enum([...codes, 'default'] as const)

/** A guest is rebooted only where it crashed: crash-document.ts. */
const workflowSteps = Object.keys(stepKinds).filter((kind) => kind !== 'reboot') as [StepKind, ...StepKind[]]

/** Where an error may lead besides a recipe. */
export const ends = ['fail', 'stuck', 'left'] as const

const step = closed({
  id,
  do: oneOf(workflowSteps),
  landing: oneOf(['stopped', 'as-before', 'original']).optional(),
  deadline: limit,
  when: condition.optional(),
  retry: retry.optional(),
  onError: z
    .partialRecord(routeKey, text(`a recipe, or one of: ${ends.join(', ')}`), {
      error: (issue) =>
        issue.code === 'invalid_type'
          ? 'must be a mapping of error codes to recipes'
          : 'must be an error code of docs/reference/errors.md, or default',
    })
    .optional(),
})

const note = closed({ when: condition.optional(), say: sentence })
const debt = closed({
  when: condition.optional(),
  code: z
    .string({ error: 'must be a code' })
    .regex(/^[A-Z][A-Z0-9_]*$/, { error: 'must be a code: upper case letters, digits and _' }),
  say: sentence,
})

const rule = closed({
  id,
  when: condition.optional(),
  recover: reference.optional(),
  leave: isSo,
  hold: isSo,
  reason,
  because: sentence,
  expect: oneOf(['running', 'stopped', 'original']).optional(),
  priority: wholeNumber(-1_000, 1_000).optional(),
  notes: z.array(note, { error: 'must be a list of notes' }).optional(),
  debts: z.array(debt, { error: 'must be a list of debts' }).optional(),
})

const hostStep = closed({ deadline: limit })

export const documentSchema = closed({
  ...head,
  host: closed({ fence: hostStep, 'force-down': hostStep, survey: hostStep }),
  instances: closed({
    order: z.array(closed({ by: condition, descending: z.boolean({ error: 'must be true or false' }).optional() }), {
      error: 'must be a list of keys to sort by',
    }),
    rules: rulesOf(rule),
    notes: z.array(note, { error: 'must be a list of notes' }).optional(),
  }),
  recipes: recipesOf(
    closed({
      rounds: wholeNumber(1, 1_000).optional(),
      steps: z.array(step, { error: 'must be a list of steps' }).min(1, { error: 'must hold at least one step' }),
      finally: z.array(step, { error: 'must be a list of steps' }).optional(),
    }),
  ),
})

export type WorkflowDocument = z.infer<typeof documentSchema>
export type Rule = WorkflowDocument['instances']['rules'][number]
export type RecipeDocument = WorkflowDocument['recipes'][string]
export type StepDocument = RecipeDocument['steps'][number]
