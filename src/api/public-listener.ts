/**
 * The TCP listener for machines: metrics and health, read-only, without login. Nothing else is served here, so that anyone who
 * can reach the port can neither learn about instances nor change anything.
 */
import type { FastifyInstance } from 'fastify'
import { LifeboatError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import { createServer } from './server.ts'

export interface Health {
  ok: boolean
  problems: string[]
}

export interface PublicSources {
  contentType: string
  metricsText(): Promise<string>
  health: { live(): Health; ready(): Health }
  /** Whether this daemon is the one that acts: a proxy sends people and monitors there. Default: it is. */
  active?: () => Health
  observer?: Observer
}

/** The routes, not yet listening. */
export function publicListener(sources: PublicSources): FastifyInstance {
  const server = createServer({ observer: sources.observer })
  server.get('/metrics', async (_request, reply) => {
    const text = await sources.metricsText()
    return reply.type(sources.contentType).send(text)
  })
  for (const [route, look] of [
    ['/healthz', () => sources.health.live()],
    ['/readyz', () => sources.health.ready()],
    ['/active', () => sources.active?.() ?? { ok: true, problems: [] }],
  ] as const) {
    server.get(route, (_request, reply) => {
      const { ok, problems } = look()
      return reply
        .code(ok ? 200 : 503)
        .header('cache-control', 'no-store')
        .send({ ok, problems })
    })
  }
  return server
}

/** Listens; port 0 takes a free one. Throws API_UNAVAILABLE when the address is taken. */
export async function listenPublicly(
  sources: PublicSources,
  at: { host: string; port: number },
): Promise<{ address: string; close(): Promise<void> }> {
  const server = publicListener(sources)
  try {
    const address = await server.listen(at)
    return { address, close: () => server.close() }
  } catch (thrown) {
    await server.close()
    throw new LifeboatError(
      'API_UNAVAILABLE',
      `Cannot listen on ${at.host}:${at.port} (another program has it, or the address is not ours; see http.listen)`,
      { cause: thrown },
    )
  }
}
