/** Log in and out: a session for pages, made from a token or from a name and a password that Keystone checks. */
import { z } from 'zod'
import { sessionCookie } from '../session-cookie.ts'
import { refuseForeign, type Logins } from '../logins.ts'
import type { RestServer } from '../rest.ts'
import * as requests from '../schemas/requests.ts'
import { named } from '../schemas/named-answers.ts'

/** Logins from one address in a minute. More is someone who guesses; fewer, and a shared address locks a team out. */
export const loginsAMinute = 10

/** What is made from a secret and repeats what was sent is never compressed: its length would tell of the secret (BREACH). */
const compress = false

export function sessionRoutes(server: RestServer, logins: Logins): void {
  const config = { rateLimit: { max: loginsAMinute, timeWindow: 60_000 }, recordsNothing: true } as const
  server.post(
    '/v1/session',
    {
      compress,
      config,
      schema: {
        tags: ['login'],
        summary: 'Starts a session for the pages',
        body: requests.loggingIn,
        response: { 201: named('caller') },
      },
    },
    async (request, reply) => {
      refuseForeign(request)
      const { name, lengthMs, caller: who } = await logins.begin(request.body)
      // The browser forgets its earlier one, so nobody could end that any more.
      logins.end(logins.shown(request))
      return reply
        .code(201)
        .header('set-cookie', sessionCookie(name, lengthMs, request.protocol === 'https'))
        .send(who)
    },
  )
  server.delete(
    '/v1/session',
    {
      config: { recordsNothing: true },
      schema: { tags: ['login'], summary: 'Ends the session', response: { 204: z.undefined() } },
    },
    (request, reply) => {
      refuseForeign(request)
      logins.end(logins.shown(request))
      return reply
        .code(204)
        .header('set-cookie', sessionCookie('', 0, request.protocol === 'https'))
        .send()
    },
  )
}
