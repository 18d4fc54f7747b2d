/** What is read of Nova. Every list is complete or throws; nothing here changes anything. */
import type { Clock } from '../domain/clock.ts'
import type { CallOptions, Cloud } from '../domain/cloud.ts'
import { ensureError } from '../domain/errors.ts'
import type { Instance, InstanceAction, Migration } from '../domain/instance.ts'
import { askedAgain } from './asked-again.ts'
import { calls } from './call-table.ts'
import * as json from './compute-json.ts'
import { forReads, since } from './microversions.ts'
import { allPages, pageSize } from './paging.ts'
import { instanceOf, serverAnswer, serversAnswer } from './server-json.ts'
import { oneRowAHost } from './service-rows.ts'
import type { Session } from './session.ts'

type Reads = Pick<
  Cloud,
  | 'listServices'
  | 'listInstances'
  | 'listChangedInstances'
  | 'getInstance'
  | 'listMigrations'
  | 'listActions'
  | 'getAction'
  | 'guestRuns'
  | 'listServerGroups'
  | 'listAggregates'
>

export function computeReads(session: Session, clock: Clock): Reads {
  return {
    // Without a filter: conductor's and scheduler's rows tell control-plane trouble from dead hosts (docs/nova.md §4.2).
    listServices: async (options) => {
      const { data, answer, microversion } = await askedAgain(clock, options?.signal, (signal) =>
        session.read({ call: calls.listServices }, json.servicesAnswer, { ...options, signal }),
      )
      const { serverTimeMs, tookMs } = answer
      const showsLostCells = microversion >= since.unknownServices
      const { services, leftOver } = oneRowAHost(data.services.map(json.serviceOf))
      return { services, serverTimeMs, tookMs, showsLostCells, ...(leftOver.length > 0 && { leftOver }) }
    },
    // Nova leaves out what its owner soft-deleted, unless it is asked: each instance of a dead host gets a line (law L9).
    listInstances: (host, options) => listServers(session, { host, soft_deleted: '1' }, options),
    listChangedInstances: (sinceIso, options) => listServers(session, { 'changes-since': sinceIso }, options),
    getInstance: async (id, options) => {
      const { data } = await session.read({ call: calls.getServer, ids: { id } }, serverAnswer, options)
      return instanceOf(data.server)
    },
    listMigrations: (filter, options) => listMigrations(session, filter, options),
    listActions: (id, options) => listActions(session, id, options),
    getAction: async (id, request, options) => {
      const { data } = await session.read({ call: calls.getAction, ids: { id, request } }, json.actionAnswer, options)
      return json.actionOf(data.instanceAction)
    },
    // nova-compute refuses for every guest that does not run; the text of the 409 names the state that Nova has stored.
    guestRuns: async (id, options) => {
      try {
        const { data } = await session.read(
          { call: calls.guestDiagnostics, ids: { id } },
          json.diagnosticsAnswer,
          options,
        )
        return data.state === 'running'
      } catch (thrown) {
        const error = ensureError(thrown)
        if (error.code === 'INSTANCE_BUSY') return false
        throw error
      }
    },
    // Its pages have no links, and a cap of the server's own would look like the end: only an empty page is.
    listServerGroups: async (options) => {
      const fetch = async (_marker: string | undefined, seen: number) => {
        const query = { all_projects: '1', limit: String(pageSize), offset: String(seen) }
        const { data } = await session.read({ call: calls.listServerGroups, query }, json.serverGroupsAnswer, options)
        return { items: data.server_groups, linked: null }
      }
      const groups = await allPages(calls.listServerGroups.route, fetch, (group) => group.id)
      return groups.map(json.serverGroupOf)
    },
    listAggregates: async (options) => {
      const { data } = await askedAgain(clock, options?.signal, (signal) =>
        session.read({ call: calls.listAggregates }, json.aggregatesAnswer, { ...options, signal }),
      )
      return data.aggregates.map(json.aggregateOf)
    },
  }
}

async function listServers(
  session: Session,
  filter: Record<string, string>,
  options?: CallOptions,
): Promise<Instance[]> {
  const fetch = async (marker?: string) => {
    const query = { all_tenants: '1', ...filter, ...pageFrom(marker) }
    const { data } = await session.read({ call: calls.listServers, query }, serversAnswer, options)
    return { items: data.servers, linked: hasLink(data.servers_links), marker: data.servers.at(-1)?.id }
  }
  const servers = await allPages(calls.listServers.route, fetch, (server) => server.id)
  return servers.map(instanceOf)
}

async function listMigrations(
  session: Session,
  filter: Parameters<Cloud['listMigrations']>[0],
  options?: CallOptions,
): Promise<Migration[]> {
  const filters: Record<string, string> = {
    ...(filter.sourceHost === undefined ? {} : { source_compute: filter.sourceHost }),
    ...(filter.host === undefined ? {} : { host: filter.host }),
    ...(filter.instanceId === undefined ? {} : { instance_uuid: filter.instanceId }),
    ...(filter.type === undefined ? {} : { migration_type: filter.type }),
    ...(filter.status === undefined ? {} : { status: filter.status }),
  }
  const ask = async (query: Record<string, string>) => {
    const { data } = await session.read({ call: calls.listMigrations, query }, json.migrationsAnswer, options)
    return { items: data.migrations, linked: hasLink(data.migrations_links), marker: data.migrations.at(-1)?.uuid }
  }
  // Before 2.59 the list comes whole: limit, marker and changes-since are unknown there.
  const paged = forReads(await session.microversions(options)) >= since.migrationPaging
  const changed: Record<string, string> =
    filter.changedSince === undefined ? {} : { 'changes-since': filter.changedSince }
  const found = paged
    ? await allPages(
        calls.listMigrations.route,
        (marker) => ask({ ...filters, ...changed, ...pageFrom(marker) }),
        // Each cell counts its records by itself, so two cells have the same id.
        (migration) => migration.uuid ?? String(migration.id),
      )
    : (await ask(filters)).items
  return found.map(json.migrationOf)
}

async function listActions(session: Session, id: string, options?: CallOptions): Promise<InstanceAction[]> {
  const ask = async (query: Record<string, string>) => {
    const { data } = await session.read({ call: calls.listActions, ids: { id }, query }, json.actionsAnswer, options)
    const { instanceActions: items, links } = data
    return { items, linked: hasLink(links), marker: items.at(-1)?.request_id }
  }
  const paged = forReads(await session.microversions(options)) >= since.actionPaging
  const found = paged
    ? // One request can do two actions, so the request id alone does not tell them apart.
      await allPages(
        calls.listActions.route,
        (marker) => ask(pageFrom(marker)),
        (action) => `${action.request_id} ${action.action} ${action.start_time}`,
      )
    : (await ask({})).items
  return found.map(json.actionOf)
}

function pageFrom(marker: string | undefined): Record<string, string> {
  return { limit: String(pageSize), ...(marker === undefined ? {} : { marker }) }
}

function hasLink(links: unknown[] | undefined): boolean {
  return links !== undefined && links.length > 0
}
