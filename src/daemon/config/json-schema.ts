/** The JSON Schema of the configuration file, for editors. Made from the same source as the loader, so it cannot lie. */
import { z } from 'zod'
import { configSchema } from './schema.ts'

/** The part of JSON Schema that the loader's own messages read. */
export interface JsonSchema {
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
    ...z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' }),
    title: 'Lifeboat configuration',
  } as unknown as JsonSchema
  return made
}

/** The text of config/lifeboat.schema.json. */
export function configSchemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`
}
