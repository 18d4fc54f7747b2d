/**
 * The built pages, served as files: what has its hash in its name may be kept for ever, everything else is asked for again. They
 * hold no data, so they need no login; what they show comes from the REST API.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import files from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const forEver = 'public, max-age=31536000, immutable'
const askAgain = 'no-cache'

/** @param root directory of the built pages; without it `/` says so */
export async function servePages(server: FastifyInstance, root: string): Promise<void> {
  if (isBuilt(root)) {
    await server.register(files, {
      root,
      index: ['index.html'],
      cacheControl: false,
      dotfiles: 'ignore',
      // Written beside each file by the build (vite.config.ts): as small as can be, and nothing to do for the daemon.
      preCompressed: true,
      setHeaders: (answer, path) => {
        const hashed = path.startsWith(join(root, 'assets') + '/')
        answer.setHeader('cache-control', hashed ? forEver : askAgain)
        // A proxy must not give one browser what another one can unpack.
        answer.setHeader('vary', 'accept-encoding')
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
}

/** What answers an address that no file has: the pages themselves, where a page is asked for. */
export function pageFallback(root: string): (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null {
  const built = isBuilt(root)
  return (request, reply) =>
    built && isPage(request) ? reply.header('cache-control', askAgain).sendFile('index.html') : null
}

function isBuilt(root: string): boolean {
  return existsSync(join(root, 'index.html'))
}

/** A page's own address: the pages find out themselves what to show there. A missing file stays missing. */
function isPage({ method, url, headers }: FastifyRequest): boolean {
  const path = url.split('?')[0] ?? ''
  const wantsPage = (headers.accept ?? '').includes('text/html')
  return (method === 'GET' || method === 'HEAD') && wantsPage && !/^\/(v1|assets)(\/|$)/.test(path)
}
