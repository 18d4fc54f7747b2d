/**
 * Every place (recipe and step) of the shipped workflows, each with a way to get there: a scene whose instance the rules send
 * into the recipe, or a scene and the errors that route there from it. Read from the documents, so that a new recipe or step
 * is rehearsed without anybody adding it here; a place that no known scene reaches is named by `unreached`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { LifeboatError, type ErrorCode } from '../../src/domain/errors.ts'
import type { InstanceRecovery } from '../../src/domain/incident.ts'
import type { Workflow } from '../../src/domain/plan.ts'
import { documentSchema, type WorkflowDocument } from '../../src/engine/document.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import type { StartState } from '../../src/simulator/index.ts'
import type { Intercept, Sending } from './mortal-daemon.ts'
import { rehearse, type Ending, type Scene } from './rehearsal.ts'

const directory = new URL('../../recovery-workflows/', import.meta.url)

export interface Shipped {
  file: string
  workflow: Workflow
  document: WorkflowDocument
}

/** Every shipped workflow for dead hosts: those of the other failures have no recipes, and crash tests of their own. */
export function shippedWorkflows(): Shipped[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => ({ file, source: readFileSync(new URL(file, directory), 'utf8') }))
    .map(({ file, source }) => ({ file, source, written: parse(source, { maxAliasCount: 1_000 }) as unknown }))
    .filter(({ written }) => (written as { failure: string }).failure === 'host')
    .map(({ file, source, written }) => ({
      file,
      workflow: parseWorkflow(source, file, { ownerPolicy: defaultOwnerPolicy }),
      document: documentSchema.parse(written),
    }))
}

/** An error that a step's write meets once, and the recipe that it leads to. */
export interface Route {
  recipe: string
  step: string
  code: ErrorCode
}

export interface Way {
  name: string
  scene: Scene
  routes: Route[]
  /** How it ends when nothing else goes wrong. */
  reference: Ending
  /** What this way reaches and no way before it. */
  places: Set<string>
}

const states: StartState[] = [
  'paused',
  'active',
  'stopped',
  'stopped-by-power-sync',
  'resized-running',
  'resized-stopped',
  'rebuilding',
  'error',
]

/** What may lie on a dead host. Those that reach nothing new are left out again. */
const candidates: Scene[] = [
  ...states.map((state): Scene => ({ name: state, instance: { state }, segment: openPolicy(state) })),
  ...states.map((state): Scene => ({
    name: `${state}, the other host down`,
    instance: { state },
    segment: openPolicy(state),
    otherDown: true,
  })),
  {
    name: 'active, encrypted, without its key',
    instance: { state: 'active', encrypted: true, project: 'project-demo' },
  },
  {
    name: 'paused, encrypted, without its key',
    instance: { state: 'paused', encrypted: true, project: 'project-demo' },
  },
  { name: 'paused, locked by its owner', instance: { state: 'paused', lockedReason: 'mine' } },
  ...(['active', 'paused', 'resized-stopped', 'rebuilding'] as const).flatMap((state): Scene[] => [
    { name: `${state}, on an old cloud`, instance: { state, metadata: { lifeboat: 'stopped' } }, oldCloud: true },
    { name: `${state}, on an old cloud, the other host down`, instance: { state }, oldCloud: true, otherDown: true },
  ]),
  { name: 'active, encrypted', instance: { state: 'active', encrypted: true } },
  {
    name: 'active, perhaps encrypted, on an old cloud',
    instance: { state: 'active', volumeBacked: true, project: 'project-demo' },
    oldCloud: true,
    cinderDown: true,
  },
]

function openPolicy(state: StartState): NonNullable<Scene['segment']> {
  const memoryLost = state === 'paused' ? 'start' : 'stopped'
  return { policy: { stopped: 'evacuate', errorBefore: 'evacuate', memoryLost, unasked: 'recover' } }
}

/** All places of a document, as `recipe.step`. */
export function placesOf({ recipes }: WorkflowDocument): string[] {
  return Object.entries(recipes).flatMap(([name, { steps, finally: last }]) =>
    [...steps, ...(last ?? [])].map(({ id }) => `${name}.${id}`),
  )
}

/** The ways that together reach every place, and the places that none reaches. */
export async function findWays({ workflow, document }: Shipped): Promise<{ ways: Way[]; unreached: string[] }> {
  const missing = new Set(placesOf(document))
  const ways: Way[] = []
  const plans: { scene: Scene; recovery: InstanceRecovery }[] = []
  const consider = async (scene: Scene, routes: Route[]): Promise<void> => {
    const reference = await rehearse(workflow, scene, { intercept: routed(routes) })
    const places = new Set([...visited(reference.recovery)].filter((place) => missing.has(place)))
    if (routes.length === 0 && reference.recovery !== null) plans.push({ scene, recovery: reference.recovery })
    if (places.size === 0) return
    for (const place of places) missing.delete(place)
    const by = routes.map(({ recipe, step, code }) => `${recipe}.${step} meets ${code}`)
    ways.push({ name: [scene.name, ...by].join('; '), scene, routes, reference, places })
  }
  for (const scene of candidates) await consider(scene, [])
  for (const { scene, recovery } of plans) {
    if (missing.size === 0) break
    for (const [recipe, routes] of routesFrom(recovery)) {
      const here = recovery.plan.recipes[recipe]
      const steps = [...(here?.steps ?? []), ...(here?.finally ?? [])]
      if (steps.some(({ id }) => missing.has(`${recipe}.${id}`))) await consider(scene, routes)
    }
  }
  return { ways, unreached: [...missing] }
}

/** The shortest chain of errors from the plan's recipe to each other that it can lead to. */
function routesFrom({ plan }: InstanceRecovery): Map<string, Route[]> {
  const found = new Map<string, Route[]>()
  const waiting = plan.recipe === null ? [] : [{ recipe: plan.recipe, routes: [] as Route[] }]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { recipe, routes } = next
    for (const step of plan.recipes[recipe]?.steps ?? [])
      for (const [code, target] of Object.entries(step.onError ?? {})) {
        if (code === 'default' || plan.recipes[target] === undefined || found.has(target) || target === plan.recipe)
          continue
        const chain = [...routes, { recipe, step: step.id, code: code as ErrorCode }]
        found.set(target, chain)
        waiting.push({ recipe: target, routes: chain })
      }
  }
  return found
}

function visited(recovery: InstanceRecovery | null): Set<string> {
  return new Set([...(recovery?.steps.keys() ?? [])].map((key) => key.split('.').slice(1, 3).join('.')))
}

/** Meets each route's error once, at its place, and leaves everything else to `inner`. */
export function routed(routes: Route[], inner: Intercept = (_sending, pass) => pass()): Intercept {
  const left = [...routes]
  return (sending, pass) => {
    const next = left[0]
    if (next === undefined || !isAt(sending, next)) return inner(sending, pass)
    left.shift()
    return Promise.reject(new LifeboatError(next.code, 'rehearsed'))
  }
}

export function isAt(sending: Sending, place: { recipe: string; step: string }): boolean {
  return sending.recipe === place.recipe && sending.step === place.step
}
