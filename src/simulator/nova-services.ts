/** os-services of the simulated Nova: the list, PUT and DELETE with every rule of docs/nova.md §1.2. */
import { sleep } from '../domain/clock.ts'
import { followStatus } from './disabled-trait.ts'
import { asRecord } from './exchange.ts'
import type { Minor } from './microversion.ts'
import type { SimService } from './model.ts'
import { badRequest, conflict, notFound } from './nova-errors.ts'
import { serviceView } from './nova-views.ts'
import { pythonString, pythonText } from './python-text.ts'
import type { World } from './world.ts'

/** Migrations in these do not keep a service from being deleted; `finished` does: the resize waits for its confirmation. */
const settled = new Set(['confirmed', 'reverted', 'error', 'failed', 'completed', 'cancelled', 'done'])

const uuidForm = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

export function listServices(world: World, query: URLSearchParams, minor: Minor): unknown {
  for (const key of query.keys()) {
    if (key !== 'host' && key !== 'binary' && minor >= 75) {
      throw badRequest(`Additional properties are not allowed ('${key}' was unexpected)`)
    }
  }
  const host = query.get('host')
  const binary = query.get('binary')
  const rows = world.services().filter(
    (service) =>
      (host === null || service.host === host) &&
      (binary === null || service.binary === binary) &&
      // An unreachable cell's computes are missing below 2.69, without a word.
      (minor >= 69 || !world.downCell.has(service.host)),
  )
  return { services: rows.map((service) => serviceView(world, service, minor)) }
}

/**
 * Throws NovaError with Nova's own words. The row is written at once; a change of status is answered only when the host's
 * nova-compute has answered, or after a call's time limit where Nova still takes a dead one for up.
 */
export async function updateService(world: World, uuid: string, body: unknown, minor: Minor): Promise<unknown> {
  if (minor < 53) throw notFound('The resource could not be found.')
  if (!uuidForm.test(uuid)) throw badRequest(`Invalid uuid ${uuid}`)
  const change = checkedChange(body)
  const service = world.services().find((at) => at.uuid === uuid)
  if (service === undefined) throw notFound(`Service ${uuid} could not be found.`)
  if (service.binary !== 'nova-compute') {
    throw badRequest(
      `Updating a ${service.binary} service is not supported. Only nova-compute services can be updated.`,
    )
  }
  if (change.status === 'enabled' && change.disabledReason !== undefined) {
    throw badRequest("Specifying 'disabled_reason' with status 'enabled' is invalid.")
  }
  if (change.forcedDown === false) refuseWhileEvacuationsRemain(world, service.host)
  if (change.status === undefined && change.forcedDown === undefined) {
    throw badRequest("No updates were requested. Fields 'status' or 'forced_down' should be specified.")
  }
  const before = service.status
  const written = apply(world, service, change)
  const host = world.host(service.host)
  if (service.status !== before && world.isUp(service) && !(host.agent && host.connected))
    await sleep(world.clock, world.options.timings.rpcTimeoutMs)
  return { service: serviceView(world, service, minor, written) }
}

/** Throws NovaError with Nova's own words: not while an instance is there, nor while one is on its way there or away. */
export function deleteService(world: World, uuid: string): void {
  if (!uuidForm.test(uuid)) throw badRequest(`Invalid uuid ${uuid}`)
  const service = world.services().find((at) => at.uuid === uuid)
  if (service === undefined) throw notFound(`Service ${uuid} could not be found.`)
  const { host } = service
  if ([...world.instances.values()].some((instance) => instance.host === host))
    throw conflict('Unable to delete compute service that is hosting instances. Migrate or delete the instances first.')
  if (world.migrations.some(({ source, dest, status }) => (source === host || dest === host) && !settled.has(status)))
    throw conflict(
      'Unable to delete compute service that has in-progress migrations. Complete the migrations or delete the instances first.',
    )
  world.deletedServices.add(host)
}

/** True when the row was written: a PUT of what is already there leaves it, and its updated_at, alone. */
function apply(world: World, service: SimService, change: Change): boolean {
  const before = [service.status, service.disabledReason, service.forcedDown]
  if (change.status !== undefined) {
    service.status = change.status
    service.disabledReason = change.status === 'disabled' ? (change.disabledReason ?? null) : null
  }
  if (change.forcedDown !== undefined) service.forcedDown = change.forcedDown
  const after = [service.status, service.disabledReason, service.forcedDown]
  const written = after.some((value, column) => value !== before[column])
  if (written) service.lastWrite = world.wall()
  if (change.status !== undefined) followStatus(world, world.host(service.host))
  return written
}

interface Change {
  status?: 'enabled' | 'disabled'
  disabledReason?: string
  forcedDown?: boolean
}

function checkedChange(body: unknown): Change {
  const given = asRecord(body)
  if (given === null) throw badRequest('Malformed request body')
  for (const key of Object.keys(given)) {
    if (!['status', 'disabled_reason', 'forced_down'].includes(key)) {
      throw badRequest(`Additional properties are not allowed ('${key}' was unexpected)`)
    }
  }
  const change: Change = {}
  const { status, disabled_reason: reason, forced_down: forcedDown } = given
  if (status !== undefined) {
    if (status !== 'enabled' && status !== 'disabled') {
      throw badRequest(
        `Invalid input for field/attribute status. Value: ${pythonString(status)}. ${pythonText(status)} is not one of ['enabled', 'disabled']`,
      )
    }
    change.status = status
  }
  if (reason !== undefined) {
    if (typeof reason !== 'string' || reason.length < 1 || reason.length > 255) {
      throw badRequest(`Invalid input for field/attribute disabled_reason. Value: ${pythonString(reason)}.`)
    }
    change.disabledReason = reason
  }
  if (forcedDown !== undefined) {
    if (typeof forcedDown !== 'boolean')
      throw badRequest(`Invalid input for field/attribute forced_down. Value: ${pythonString(forcedDown)}.`)
    change.forcedDown = forcedDown
  }
  return change
}

function refuseWhileEvacuationsRemain(world: World, host: string): void {
  const remaining = world.migrations.some(
    (at) => at.type === 'evacuation' && at.source === host && at.status === 'done',
  )
  if (!remaining) return
  throw badRequest(
    `Unable to force up host ${host} as \`done\` evacuation migration records remain associated with the host. ` +
      'Ensure the compute service has been restarted, allowing these records to move to `completed` before retrying this request.',
  )
}
