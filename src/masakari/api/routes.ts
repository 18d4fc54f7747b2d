/** The routes below `/v1`, each with and without the project's id before it. */
import type { FastifyInstance } from 'fastify'
import { LifeboatError } from '../../domain/errors.ts'
import { notificationRoutes } from './notification-routes.ts'
import type { MasakariOptions, MasakariParts } from './parts.ts'
import { param, routeTable, type MayDo, type Routes } from './route-table.ts'
import { Rows } from './rows.ts'
import { segmentRoutes } from './segment-routes.ts'

export function masakariRoutes(
  server: FastifyInstance,
  parts: MasakariParts,
  rules: MasakariOptions['rules'],
  mayDo: MayDo,
): void {
  const rows = new Rows(parts, rules)
  for (const base of ['/v1', '/v1/:project([0-9a-fA-F-]+)']) {
    const routes = routeTable(server, base, mayDo)
    segmentRoutes(routes, rows, parts)
    notificationRoutes(routes, rows, parts)
    extensionRoutes(routes)
  }
}

function extensionRoutes({ route, reads }: Routes): void {
  route('/extensions', { GET: reads('extensions', 'index', () => ({ extensions: extensions.map(extension) })) })
  route('/extensions/:alias', {
    GET: reads('extensions', 'detail', (request) => {
      const alias = param(request, 'alias')
      if (!extensions.includes(alias)) throw new LifeboatError('NOT_FOUND', `There is no extension ${alias}`)
      return { extension: extension(alias) }
    }),
  })
}

const extensions = ['extensions', 'notifications', 'os-hosts', 'segments', 'versions', 'vmoves']

function extension(alias: string): object {
  return { alias, name: alias, description: '', namespace: '', updated: '2016-07-01T11:33:21Z', links: [] }
}
