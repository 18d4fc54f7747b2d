/** The JSON Schema of the configuration file, for editors. Made from the same source as the loader, so it cannot lie. */
import { z } from 'zod'
import { configSchema } from './schema.ts'

/** live: a reload changes it at once. restart: it is read at the start alone. */
export type ReloadMark = 'live' | 'restart'

/** The part of JSON Schema that the loader's own messages read. */
export interface JsonSchema {
  'x-lifeboat-reload'?: ReloadMark
  type?: string
  enum?: unknown[]
  required?: string[]
  description?: string
  const?: unknown
  default?: unknown
  properties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema
  items?: JsonSchema
  oneOf?: JsonSchema[]
  anyOf?: JsonSchema[]
}

let made: JsonSchema | null = null

export function configJsonSchema(): JsonSchema {
  made ??= {
    ...marked(
      z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' }) as unknown as JsonSchema,
      'restart',
    ),
    title: 'Lifeboat configuration',
  } as unknown as JsonSchema
  return made
}

export function reloadMark(schema: JsonSchema): ReloadMark | undefined {
  return schema['x-lifeboat-reload']
}

/**
 * Every option with its mark. What is not marked as live in the schema is read at the start alone: an option that someone
 * adds and forgets must not promise what no reload does.
 */
function marked(schema: JsonSchema, around: ReloadMark): JsonSchema {
  const own = reloadMark(schema) ?? around
  const each = (inner: Record<string, JsonSchema>): Record<string, JsonSchema> =>
    Object.fromEntries(
      Object.entries(inner).map(([key, option]) => {
        const mark = reloadMark(option) ?? own
        const isOption = option.properties === undefined
        return [key, { ...marked(option, mark), ...(isOption && { 'x-lifeboat-reload': mark }) }]
      }),
    )
  const { properties, additionalProperties, items, oneOf, anyOf } = schema
  return {
    ...schema,
    ...(properties && { properties: each(properties) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: marked(additionalProperties, own) }),
    ...(items && { items: marked(items, own) }),
    ...(oneOf && { oneOf: oneOf.map((option) => marked(option, own)) }),
    ...(anyOf && { anyOf: anyOf.map((option) => marked(option, own)) }),
  }
}

/** The text of config/lifeboat.schema.json. */
export function configSchemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`
}
