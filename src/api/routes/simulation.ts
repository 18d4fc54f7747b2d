/** The demo's own: the plugs of its simulated cloud, and the door through which its one visitor comes in without a password. */
import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Plug, Simulation } from '../../domain/simulation.ts'
import type { Login } from '../../domain/token-holder.ts'
import type { Logins } from '../logins.ts'
import type { RestServer } from '../rest.ts'
import { nothing, pulling } from '../schemas/requests.ts'
import { sessionCookie } from '../session-cookie.ts'

/** Opens once, with the key that the demo prints as it starts. */
export interface Door {
  key: string
  login: Login
}

const plug: z.ZodType<Plug> = z.object({
  id: z.string(),
  kind: z.enum(['host', 'rack', 'bmc', 'service', 'receiver']),
  title: z.string(),
  out: z.boolean(),
  within: z.string().nullable(),
})
const plugs = z.array(plug)

export function simulationRoutes(server: RestServer, simulation: Simulation): void {
  server.get('/v1/simulation', { schema: { querystring: nothing, response: { 200: plugs } } }, () => simulation.plugs())
  server.post('/v1/simulation', { schema: { body: pulling, response: { 200: plugs } } }, ({ body }) => {
    simulation.set(body.plug, body.out)
    return simulation.plugs()
  })
}

const used = 'This link opens once, and it was opened already. Start the demo again for a new one.\n'

export function doorRoute(server: FastifyInstance, logins: Logins, { key, login }: Door): void {
  let open = true
  // Who only asks whether the link works (a chat, a browser that looks ahead) must not use it up.
  const exposeHeadRoute = false
  server.get<{ Params: { key: string } }>('/open/:key', { exposeHeadRoute }, async (request, reply) => {
    const [given, wanted] = [Buffer.from(request.params.key), Buffer.from(key)]
    if (!open || given.length !== wanted.length || !timingSafeEqual(given, wanted))
      return reply.code(403).type('text/plain; charset=utf-8').send(used)
    // Before the login is begun, or two who come at once would both be let in.
    open = false
    const { name, lengthMs } = await logins.begin(login).catch((thrown: unknown) => {
      open = true
      throw thrown
    })
    return reply
      .header('set-cookie', sessionCookie(name, lengthMs, false))
      .header('cache-control', 'no-store')
      .redirect('/', 303)
  })
}
