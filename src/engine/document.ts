/**
 * The shape of a workflow document: a closed schema. An unknown key is an error, because a misspelt one would otherwise
 * silently take a rule away. What references what is checked in check.ts.
 */
import { z } from 'zod'
import { errorCodes, type ErrorCode } from '../domain/errors.ts'
import { stepKinds, type StepKind } from '../domain/plan.ts'
import { duration } from '../formats/duration-schema.ts'

/** An object with these keys and no others; the message of an unknown key names them. What is checked of a value says what its type says. */
function closed<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, {
    error: (issue) => {
      const allowed = Object.keys(shape).join(', ')
      // workflow.ts puts in which.
      if (issue.code === 'unrecognized_keys') return `unknown key; allowed here: ${allowed}`
      return `must be a mapping with: ${allowed}`
    },
  })
}

function text(what: string) {
  return z.string({ error: `must be ${what}` }).min(1)
}

function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, { error: `must be one of: ${values.join(', ')}` })
}

function wholeNumber(least: number, most: number) {
  return z
    .int({ error: `must be a whole number from ${least} to ${most}` })
    .min(least)
    .max(most)
}

const reference = text('the name of a recipe')
const id = z
  .string({ error: 'must be an id' })
  .regex(/^[a-z][a-z0-9-]*$/, { error: 'must be an id: lower case letters, digits and hyphens' })
const condition = text('a condition (CEL), in quotes')
/** Zero would fail every step at once; the upper bound only keeps the end of a step a date that can be written. */
const limit = duration('1ms', '1000000d')

const codes = Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]
const errorCode = z.enum(codes, { error: 'must be an error code of docs/reference/errors.md' })
const routeKey = z.enum([...codes, 'default'] as const)

/** A guest is rebooted only where it crashed, and no workflow is about that. */
const workflowSteps = Object.keys(stepKinds).filter((kind) => kind !== 'reboot') as [StepKind, ...StepKind[]]

/** Where an error may lead besides a recipe. */
export const ends = ['fail', 'stuck', 'left'] as const

const step = closed({
  id,
  do: oneOf(workflowSteps),
  landing: oneOf(['stopped', 'as-before', 'original']).optional(),
  deadline: limit,
  when: condition.optional(),
  retry: closed({
    on: z
      .array(errorCode, { error: 'must be a list of error codes' })
      .min(1, { error: 'must name at least one error code' }),
    attempts: wholeNumber(2, 1_000),
    first: limit,
    cap: limit,
  }).optional(),
  onError: z
    .partialRecord(routeKey, text(`a recipe, or one of: ${ends.join(', ')}`), {
      error: (issue) =>
        issue.code === 'invalid_type'
          ? 'must be a mapping of error codes to recipes'
          : 'must be an error code of docs/reference/errors.md, or default',
    })
    .optional(),
})

const note = closed({ when: condition.optional(), say: text('a sentence; ${…} inserts a fact') })
const debt = closed({
  when: condition.optional(),
  code: z
    .string({ error: 'must be a code' })
    .regex(/^[A-Z][A-Z0-9_]*$/, { error: 'must be a code: upper case letters, digits and _' }),
  say: text('a sentence; ${…} inserts a fact'),
})

const rule = closed({
  id,
  when: condition.optional(),
  recover: reference.optional(),
  leave: z.literal(true, { error: 'must be true, or not there' }).optional(),
  hold: z.literal(true, { error: 'must be true, or not there' }).optional(),
  reason: z
    .string({ error: 'must be a code, e.g. RUNNING' })
    .regex(/^[A-Z][A-Z0-9_]*$/, { error: 'must be a code: upper case letters, digits and _' }),
  because: text('a sentence; ${…} inserts a fact'),
  expect: oneOf(['running', 'stopped', 'original']).optional(),
  priority: wholeNumber(-1_000, 1_000).optional(),
  notes: z.array(note, { error: 'must be a list of notes' }).optional(),
  debts: z.array(debt, { error: 'must be a list of debts' }).optional(),
})

const hostStep = closed({ deadline: limit })

export const documentSchema = closed({
  apiVersion: oneOf(['lifeboat/v1']),
  kind: oneOf(['RecoveryWorkflow']),
  metadata: closed({ name: id, revision: wholeNumber(1, 1_000_000_000), summary: text('a sentence') }),
  failure: oneOf(['host']),
  host: closed({ fence: hostStep, 'force-down': hostStep, survey: hostStep }),
  instances: closed({
    order: z.array(closed({ by: condition, descending: z.boolean({ error: 'must be true or false' }).optional() }), {
      error: 'must be a list of keys to sort by',
    }),
    rules: z.array(rule, { error: 'must be a list of rules' }).min(1, { error: 'must hold at least one rule' }),
    notes: z.array(note, { error: 'must be a list of notes' }).optional(),
  }),
  recipes: z.record(
    id,
    closed({
      rounds: wholeNumber(1, 1_000).optional(),
      steps: z.array(step, { error: 'must be a list of steps' }).min(1, { error: 'must hold at least one step' }),
      finally: z.array(step, { error: 'must be a list of steps' }).optional(),
    }),
    {
      error: (issue) =>
        issue.code === 'invalid_key'
          ? 'must be an id: lower case letters, digits and hyphens'
          : 'must be a mapping of recipes',
    },
  ),
})

export type WorkflowDocument = z.infer<typeof documentSchema>
export type Rule = WorkflowDocument['instances']['rules'][number]
export type RecipeDocument = WorkflowDocument['recipes'][string]
export type StepDocument = RecipeDocument['steps'][number]
