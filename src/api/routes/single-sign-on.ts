/** Login by single sign-on: what is offered, the way to Keystone, and the address to which Keystone's page posts the token. */
import type { FastifyInstance } from 'fastify'
import { refuseForeign } from '../logins.ts'
import type { RestServer } from '../rest.ts'
import { named } from '../schemas/named-answers.ts'
import * as requests from '../schemas/requests.ts'
import { callbackPath, type SingleSignOn } from '../single-sign-on.ts'
import { loginsAMinute } from './session.ts'

const config = { rateLimit: { max: loginsAMinute, timeWindow: 60_000 }, recordsNothing: true } as const

export function singleSignOnRoutes(server: RestServer, signOn: SingleSignOn): void {
  server.get(
    '/v1/sso',
    {
      schema: {
        tags: ['login'],
        summary: 'Logins by single sign-on that the pages offer, and why the last one of this browser was refused',
        querystring: requests.nothing,
        response: { 200: named('ssoOffer') },
      },
    },
    (request) => signOn.offer(request),
  )
  server.post(
    '/v1/sso',
    {
      config,
      schema: {
        tags: ['login'],
        summary: 'Begins a login by single sign-on: the browser goes to the address that is answered',
        body: requests.signingOn,
        response: { 201: named('ssoBegun') },
      },
    },
    async (request, reply) => {
      refuseForeign(request)
      const { location, cookie } = await signOn.begin(request, request.body)
      return reply.code(201).header('set-cookie', cookie).send({ location })
    },
  )
}

/** Not of the REST API: a browser comes here, with a form, and is sent on. */
export async function signOnCallback(server: FastifyInstance, signOn: SingleSignOn): Promise<void> {
  await server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, parsed) =>
      parsed(null, body),
    )
    scope.post(callbackPath, { config }, async (request, reply) => {
      const { location, cookies } = await signOn.finish(request, request.body)
      return reply.header('set-cookie', cookies).header('cache-control', 'no-store').redirect(location, 303)
    })
    done()
  })
}
