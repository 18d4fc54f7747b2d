/**
 * Conditions: CEL, type-checked when a workflow is loaded, so that a misspelt fact fails the load and not the night.
 *
 * The only file that knows the CEL library. Facts are plain JavaScript values; whole numbers become BigInt here, because
 * the library takes a JavaScript number for a CEL double and `power_state == 1` would never hold.
 */
import { Environment } from '@marcbachmann/cel-js'

/** The declared variables: group -> fact -> CEL type. */
export type Declarations = Record<string, Record<string, string>>

export interface Mistake {
  message: string
  /** Where in the expression it begins, in characters, or null. */
  offset: number | null
}

export type Checked = { evaluate: (facts: object) => unknown } | { mistake: Mistake }

/** Checks expressions against one set of declared variables. */
export class Conditions {
  readonly #environment: Environment

  constructor(declarations: Declarations, plain: Record<string, string> = {}) {
    this.#environment = new Environment({ unlistedVariablesAreDyn: false })
    for (const [name, schema] of Object.entries(declarations)) this.#environment.registerVariable({ name, schema })
    for (const [name, type] of Object.entries(plain)) this.#environment.registerVariable(name, type)
  }

  /** `wanted`: the types that the result may have. `evaluate` throws what the library throws, e.g. for a missing map key. */
  compile(expression: string, wanted: readonly string[]): Checked {
    const checked = this.#environment.check(expression)
    if (!checked.valid) {
      const error = checked.error as { summary?: string; message?: string; range?: { start?: number } } | undefined
      const message = error?.summary ?? error?.message ?? 'not a CEL expression'
      return { mistake: { message, offset: error?.range?.start ?? null } }
    }
    const type = String(checked.type)
    if (!wanted.includes(type)) {
      return { mistake: { message: `it gives ${type}, but must give ${wanted.join(' or ')}`, offset: null } }
    }
    const program = this.#environment.parse(expression)
    return { evaluate: (facts) => program(celFacts(facts)) as unknown }
  }
}

/** Facts are asked by dozens of conditions: converted once for each instance. */
const converted = new WeakMap<object, Record<string, unknown>>()

function celFacts(facts: object): Record<string, unknown> {
  const known = converted.get(facts)
  if (known !== undefined) return known
  const made = celValue(facts) as Record<string, unknown>
  converted.set(facts, made)
  return made
}

function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  if (Array.isArray(value)) return value.map(celValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, celValue(inner)]))
}
