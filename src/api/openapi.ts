/** The OpenAPI document, made from the schemas that validate requests and describe answers. */
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { access } from './access.ts'
import * as answers from './schemas/answers.ts'
import { NamedAnswer } from './schemas/named-answers.ts'

const description = `The REST API of Lifeboat (docs/api.md). On the operators' Unix socket the file's group is the login. On TCP every
route needs a token of the cloud or a session, and the role that it names.`

/** Registers what collects the routes, then `add` adds them. */
export async function describe(server: FastifyInstance, add: (scope: FastifyInstance) => void): Promise<void> {
  const transform = createJsonSchemaTransform({})
  const transformObject = createJsonSchemaTransformObject({})
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Lifeboat', description, version: '1' },
      tags: [
        { name: 'cloud', description: 'The daemon, hosts and segments as they are now' },
        { name: 'incidents', description: 'What failed, what was done, what came of it' },
        { name: 'journal', description: 'The record, in pages and as it is written' },
        { name: 'plans', description: 'What would happen if a host died now' },
        { name: 'acts', description: 'What people order; each act is in the journal with who and why' },
        { name: 'login', description: 'Who you are' },
        { name: 'api', description: 'This description' },
      ],
      components: {
        securitySchemes: {
          token: { type: 'apiKey', in: 'header', name: 'X-Auth-Token', description: 'A token of the cloud' },
          bearer: { type: 'http', scheme: 'bearer', description: 'The same' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: '__Host-lifeboat',
            description: 'Begun with POST /v1/session',
          },
        },
      },
    },
    transform: (route) => {
      const { schema } = route
      const needed = access[`${[route.route.method].flat()[0]} ${route.url}`]
      const full: FastifySchema = {
        ...schema,
        response: { ...schemasOf(schema.response), '4XX': answers.failure, '5XX': answers.failure },
      }
      const done = transform({ ...route, schema: full })
      return {
        ...done,
        schema: {
          ...done.schema,
          operationId: operationIdOf([route.route.method].flat()[0] ?? '', route.url),
          description: needed === 'nobody' ? 'Without a login.' : `Needs the role ${needed}.`,
          security: needed === 'nobody' ? [] : [{ token: [] }, { bearer: [] }, { session: [] }],
        },
      }
    },
    transformObject: (given) => withoutUnused(transformObject(given)),
  })
  await server.register((scope, _options, done) => {
    add(scope)
    done()
  })
}

/** What answers are, by status: the schemas that the routes only name. */
function schemasOf(response: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(response ?? {}).map(([status, answer]: [string, unknown]) => {
      if (!(answer instanceof NamedAnswer)) return [status, answer]
      const schema = answers[answer.name]
      return [status, answer.isList ? z.array(schema as z.ZodType) : schema]
    }),
  )
}

/** getIncidentsIdReview: what programs that are made from the document call the route. */
function operationIdOf(method: string, url: string): string {
  const words = url.split(/[^A-Za-z]+/).slice(1)
  const named = words.filter((word) => word !== 'v')
  return `${method.toLowerCase()}${named.map((word) => `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`).join('')}`
}

/** Each schema is there twice, as what is sent and as what is answered; ours with a name are answers alone. */
function withoutUnused<T extends object>(document: T): T {
  const schemas = (document as { components?: { schemas?: Record<string, unknown> } }).components?.schemas ?? {}
  for (const name of Object.keys(schemas)) if (name.endsWith('Input')) Reflect.deleteProperty(schemas, name)
  return document
}
