/**
 * The built pages, served as files: what has its hash in its name may be kept for ever, everything else is asked for again. They
 * hold no data, so they need no login; what they show comes from the REST API.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import files from '@fastify/static'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { errorBody } from './server.ts'

const forEver = 'public, max-age=31536000, immutable'
const askAgain = 'no-cache'

/** @param root directory of the built pages; without it `/` says so */
export async function servePages(server: FastifyInstance, root: string): Promise<void> {
  const built = existsSync(join(root, 'index.html'))
  if (built) {
    await server.register(files, {
      root,
      index: ['index.html'],
      cacheControl: false,
      dotfiles: 'ignore',
      setHeaders: (answer, path) => {
        const hashed = path.startsWith(join(root, 'assets') + '/')
        answer.setHeader('cache-control', hashed ? forEver : askAgain)
      },
    })
  } else {
    server.get('/', (_request, reply) =>
      reply
        .code(404)
        .type('text/plain; charset=utf-8')
        .send('The pages are not installed (npm run build makes them). The REST API is under /v1: see docs/api.md\n'),
    )
  }
  server.setNotFoundHandler((request, reply) => {
    if (built && isPage(request)) return reply.header('cache-control', askAgain).sendFile('index.html')
    const message = `There is no ${request.method} ${request.url.split('?')[0]?.slice(0, 200) ?? ''}`
    return reply.code(404).send(errorBody('NOT_FOUND', message))
  })
}

/** A page's own address: the pages find out themselves what to show there. A missing file stays missing. */
function isPage({ method, url, headers }: FastifyRequest): boolean {
  const path = url.split('?')[0] ?? ''
  const wantsPage = (headers.accept ?? '').includes('text/html')
  return (method === 'GET' || method === 'HEAD') && wantsPage && !/^\/(v1|assets)(\/|$)/.test(path)
}
