/** Answers that hold plans. */
import { z } from 'zod'
import type { Instance } from '../../domain/instance.ts'
import { stepKinds, type HostPlan, type InstancePlan, type Recipe, type RecipeStep } from '../../domain/plan.ts'
import type { PlanRun } from '../../domain/review.ts'
import type { InitialState } from '../../domain/survey.ts'
import { decision } from './incidents.ts'
import { codeAndMessage, errorRecord, namesOf, time } from './shared.ts'

const instance: z.ZodType<Instance> = z
  .object({
    id: z.string(),
    name: z.string(),
    projectId: z.string(),
    userId: z.string(),
    host: z.string().nullable(),
    status: z.string(),
    vmState: z.string(),
    taskState: z.string().nullable(),
    powerState: z.number(),
    locked: z.boolean(),
    lockedReason: z.string().nullable(),
    launchedAt: z.string().nullable(),
    createdAt: z.string(),
    updatedAt: z.string(),
    metadata: z.record(z.string(), z.string()),
    tags: z.array(z.string()),
    flavor: z.object({
      name: z.string(),
      vcpus: z.number(),
      ramMb: z.number(),
      diskGb: z.number(),
      ephemeralGb: z.number(),
      swapMb: z.number(),
      extraSpecs: z.record(z.string(), z.string()),
    }),
    imageId: z.string().nullable(),
    volumeIds: z.array(z.string()),
    availabilityZone: z.string().nullable(),
    fault: z.string().nullable(),
  })
  .meta({ id: 'Instance', description: 'As Nova showed it before anything was done' })

const original: z.ZodType<InitialState> = z.object({
  instance,
  wanted: z.enum(['running', 'stopped', 'unknown']).describe('What its owner had'),
  wantedBecause: z.string(),
  flagged: z.boolean().describe('The sources disagreed'),
  locked: z.boolean(),
  lockedReason: z.string().nullable(),
  knownEvacuations: z.array(z.string()),
  resize: z
    .object({ migrationUuid: z.string(), sourceHost: z.string(), destHost: z.string(), sourceUp: z.boolean() })
    .nullable(),
})

const recipeStep = z.object({
  id: z.string(),
  do: namesOf(stepKinds),
  landing: z.enum(['stopped', 'as-before', 'original']).exactOptional(),
  deadlineMs: z.number(),
  when: z.string().exactOptional(),
  retry: z
    .object({ on: z.array(z.string()), attempts: z.number(), firstMs: z.number(), capMs: z.number() })
    .exactOptional(),
  onError: z
    .record(z.string(), z.string())
    .exactOptional()
    .describe('Error code or default: the recipe to continue with'),
}) as unknown as z.ZodType<RecipeStep>

const recipe: z.ZodType<Recipe> = z
  .object({
    name: z.string(),
    rounds: z.number().exactOptional(),
    steps: z.array(recipeStep),
    finally: z.array(recipeStep),
  })
  .meta({ id: 'Recipe' })

export const instancePlan: z.ZodType<InstancePlan> = z
  .object({
    instanceId: z.string(),
    name: z.string(),
    projectId: z.string(),
    rule: z.string(),
    decision,
    reason: z.string(),
    message: z.string(),
    original,
    recipe: z.string().nullable(),
    recipes: z.record(z.string(), recipe),
    expected: z.enum(['running', 'stopped']).nullable(),
    asProject: z.string().nullable(),
    priority: z.number(),
    exclusive: z.string().nullable(),
    debts: z.array(codeAndMessage),
    notes: z.array(z.string()),
  })
  .meta({ id: 'InstancePlan' })

const hostPlan: z.ZodType<HostPlan> = z.object({
  host: z.string(),
  workflow: z.object({ name: z.string(), revision: z.number(), digest: z.string() }),
  instances: z.array(instancePlan),
  service: z
    .object({
      rule: z.string(),
      do: z.enum(['disable', 'leave']),
      enable: z.enum(['automatic', 'confirm']).nullable().describe('null: as its segment says'),
      because: z.string(),
    })
    .exactOptional()
    .describe(
      'What becomes of its service, where its nova-compute fails. Absent where its segment fences the host then (`on_service_down`)',
    ),
})

export const planRun: z.ZodType<PlanRun> = z
  .object({
    id: z.string(),
    host: z.string(),
    failure: z.enum(['host', 'process', 'instance']),
    instance: z.string().nullable(),
    state: z.enum(['running', 'done', 'failed']),
    startedAt: time,
    endedAt: z.string().nullable(),
    progress: z.string().describe('What is being read, for people'),
    plan: hostPlan.nullable(),
    error: errorRecord.nullable(),
  })
  .meta({ id: 'PlanRun' })
