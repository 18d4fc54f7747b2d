/** What `lifeboat check` asks of the cloud: whether it answers, what it can do, and whether it lets this user. Reads only. */
import type { CheckLine } from './check-lines.ts'
import type { Aggregate } from '../domain/instance.ts'
import { ensureError } from '../domain/errors.ts'
import type { ServiceRecord } from '../domain/service.ts'
import type { OpenStackCloud } from '../openstack/cloud-client.ts'
import { fail, ok, skip, warn } from './check-lines.ts'

/** What the checks of hosts need of the cloud. */
export interface Fleet {
  computes: ServiceRecord[]
  aggregates: Aggregate[]
}

const listServices = 'list services'
const listAggregates = 'list aggregates'
const readAllocations = 'read allocations'
const permissions = [
  listServices,
  listAggregates,
  'list server groups',
  'list migrations',
  'list instances of all projects',
] as const

/** Every line that a cloud would have got. */
export function skippedCloud(why: string): CheckLine[] {
  return ['compute', 'landing', 'volumes', 'placement', ...permissions, readAllocations].map((what) => skip(what, why))
}

/** Gives what was read, or null where the cloud did not answer or did not permit it. */
export async function* checkCloud(cloud: OpenStackCloud): AsyncGenerator<CheckLine, Fleet | null> {
  try {
    yield* described(await cloud.describe())
  } catch (thrown) {
    yield fail('cloud', thrown, 'Check clouds.yaml, OS_CLOUD and the region')
    yield* skippedCloud('the cloud could not be used')
    return null
  }
  let services: ServiceRecord[] | null = null
  let leftOver: ServiceRecord[] = []
  let aggregates: Aggregate[] | null = null
  const reads: Record<(typeof permissions)[number], () => Promise<unknown>> = {
    [listServices]: async () => ({ services, leftOver = [] } = await cloud.listServices()),
    [listAggregates]: async () => (aggregates = await cloud.listAggregates()),
    'list server groups': () => cloud.listServerGroups(),
    'list migrations': () => cloud.listMigrations({ status: 'accepted' }),
    'list instances of all projects': () => cloud.listInstances('lifeboat-check'),
  }
  for (const what of permissions) {
    try {
      await reads[what]()
      yield ok(what, 'permitted')
    } catch (thrown) {
      yield fail(what, thrown, 'The policy must allow this user to do it')
    }
  }
  for (const { host, id } of leftOver)
    yield warn(
      `service of ${host}`,
      `Nova lists nova-compute of ${host} twice; Lifeboat ignores the row that was written longer ago (${id})`,
      `If ${host} was moved to another cell, delete what it left: openstack compute service delete ${id}`,
    )
  yield await allocationsLine(cloud)
  return fleetOf(services, aggregates)
}

/** Needed after two deaths at once only: no reason to call the cloud unusable. */
async function allocationsLine(cloud: OpenStackCloud): Promise<CheckLine> {
  try {
    // Placement answers for a consumer that it does not know: nothing is allocated to it.
    await cloud.allocatedHosts('00000000-0000-0000-0000-000000000000')
    return ok(readAllocations, 'permitted')
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'CATALOG_MISSING') return skip(readAllocations, 'the catalogue has no placement service')
    return warn(
      readAllocations,
      error.message,
      'Without this, when two hosts die together, an evacuation that Nova sent to the second one waits an hour, then for a person: allow placement:allocations:list (config/openstack/placement-policy.yaml)',
    )
  }
}

function fleetOf(services: ServiceRecord[] | null, aggregates: Aggregate[] | null): Fleet | null {
  if (services === null || aggregates === null) return null
  return { computes: services.filter((row) => row.binary === 'nova-compute'), aggregates }
}

function* described(found: Awaited<ReturnType<OpenStackCloud['describe']>>): Generator<CheckLine> {
  const { user, project, roles, authUrl, endpoints, compute } = found
  yield ok('keystone', `${user.name} on project ${project.name} at ${authUrl}, roles ${roles.join(', ')}`)
  if (!roles.includes('admin'))
    yield warn(
      'roles',
      'no admin role',
      "Nova's default policy asks for admin; with a policy of your own this may be right",
    )
  yield ok('compute', `${endpoints.compute}, ${compute.minMicroversion} to ${compute.maxMicroversion}`)
  yield compute.landsStopped
    ? ok('landing', 'evacuate can land stopped (2.95)')
    : warn(
        'landing',
        'no 2.95: instances are evacuated as before and stopped afterwards',
        'Nova 27 (2023.1) or newer lands them stopped',
      )
  if (endpoints.volume === null)
    yield warn(
      'volumes',
      'no volume service in the catalogue',
      'Lifeboat cannot tell whether volumes are encrypted, and treats every instance with volumes as if they were',
    )
  if (endpoints.placement === null)
    yield warn(
      'placement',
      'no placement service in the catalogue',
      'Lifeboat cannot see whether the scheduler uses a returned host again, nor where an evacuation went that its destination never took; everything else works',
    )
}
