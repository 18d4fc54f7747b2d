/** TEMPORARY until the TCP listener of the API is there. */
import { readFileSync, existsSync } from 'node:fs'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { restServer } from '../../src/api/rest-server.ts'
import type { Clock } from '../../src/domain/clock.ts'
import { LifeboatError } from '../../src/domain/errors.ts'

export async function listenShim(daemon: Daemon, clock: Clock, port: number) {
  const sources = { operations: daemon.operations, review: daemon.review, now: () => clock.wall() }
  const roleOf = (cookie: string | undefined): any => /role=(\w+)/.exec(cookie ?? '')?.[1] ?? null
  const identify = (request: any): any => {
    const role = roleOf(request.headers.cookie)
    if (role === null) throw new LifeboatError('AUTH_FAILED', 'Log in first')
    return { asker: { name: role === 'admin' ? 'ann' : role, role, by: 'token' }, via: null }
  }
  const server: any = restServer(sources, identify as never)
  const { access } = (await import('../../src/api/access.ts')) as any
  for (const path of ['GET /*', 'HEAD /*']) access[path] = 'nobody'
  server.post('/v1/session', (request: any, reply: any) => {
    const role = request.body.user ?? 'admin'
    reply.header('set-cookie', `role=${role}; Path=/; HttpOnly; SameSite=Strict`)
    return reply.send({ name: role, role, by: 'token' })
  })
  server.delete('/v1/session', (_request: any, reply: any) =>
    reply.header('set-cookie', 'role=; Path=/; Max-Age=0').code(204).send(),
  )
  server.get('/v1/events', (request: any, reply: any) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    reply.raw.write('retry: 2000\n\n')
    const from = Number(
      request.headers['last-event-id'] ?? request.query.after ?? daemon.operations.status().journal.entries,
    )
    const stop = daemon.review.follow(from, (entry) =>
      reply.raw.write(`id: ${entry.seq}\nevent: entry\ndata: ${JSON.stringify(entry)}\n\n`),
    )
    request.raw.on('close', stop)
  })
  server.get('/*', (request: any, reply: any) => {
    const path = request.url.split('?')[0]
    if (path.startsWith('/v1/')) return reply.code(404).send({ error: { code: 'NOT_FOUND', message: 'no such' } })
    const file = `dist/web${path}`
    reply.header(
      'content-security-policy',
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    )
    if (path.startsWith('/assets/') && existsSync(file))
      return reply
        .type(file.endsWith('.js') ? 'text/javascript' : file.endsWith('.css') ? 'text/css' : 'image/svg+xml')
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(readFileSync(file))
    return reply.type('text/html').send(readFileSync('dist/web/index.html'))
  })
  const url = await server.listen({ host: '127.0.0.1', port })
  return { url, close: () => server.close() }
}
