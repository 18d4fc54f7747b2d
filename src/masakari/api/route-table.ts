/** Adds the routes below `/v1`: who may use each, and the answer to a method that a path does not have. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Identified } from '../../api/rest.ts'
import type { Writer } from '../../domain/failover-segment.ts'
import { faultBody, faultType } from './faults.ts'

/** What someone wants to do, by the name of Masakari's policy rule, and the option whose roles may. */
export interface Act {
  rule: string
  by: 'readers' | 'writers' | 'reporters'
}

/** Throws AUTH_FORBIDDEN. */
export type MayDo = (request: FastifyRequest, act: Act) => Promise<Identified>

export type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** A path answers 405 to those of these methods that it does not have, and 404 to every other method. */
const methodsOf = { list: ['GET', 'POST'], object: ['GET', 'PUT', 'DELETE'] } as const

type Method = (typeof methodsOf)[keyof typeof methodsOf][number]

export interface Routes {
  mayDo: MayDo
  route: (path: string, own: Partial<Record<Method, Answer>>) => void
  reads: (resource: string, act: 'index' | 'detail', answer: (request: FastifyRequest) => unknown) => Answer
  writes: (
    resource: string,
    act: 'create' | 'update' | 'delete',
    answer: (request: FastifyRequest, reply: FastifyReply, writer: Writer) => unknown,
  ) => Answer
}

export function routeTable(server: FastifyInstance, base: string, mayDo: MayDo): Routes {
  return {
    mayDo,
    route: (path, own) => {
      const url = `${base}${path}`
      for (const method of methodsOf[/:\w+$/.test(path) ? 'object' : 'list'])
        server.route({ method, url, handler: own[method] ?? wrongMethod })
    },
    reads: (resource, act, answer) => async (request) => {
      await mayDo(request, { rule: `${resource}:${act}`, by: 'readers' })
      return answer(request)
    },
    writes: (resource, act, answer) => async (request, reply) => {
      const { caller, via } = await mayDo(request, { rule: `${resource}:${act}`, by: 'writers' })
      return answer(request, reply, { by: caller.name, via })
    },
  }
}

const wrongMethod: Answer = async (_request, reply) =>
  reply
    .code(405)
    .header('content-type', faultType)
    .send(faultBody(405, 'The method specified is not allowed for this resource.'))

/** An id may end with `.json`. */
export function param(request: FastifyRequest, name: string): string {
  return ((request.params as Record<string, string>)[name] ?? '').replace(/\.json$/, '')
}
