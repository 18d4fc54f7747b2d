/**
 * The access rules of an application credential: the calls of the table and nothing else, as
 * `openstack application credential create --access-rules FILE` takes them.
 *
 * keystonemiddleware compares method and path of each request, whole, with the service type that the service has in its own
 * configuration. So the paths are those behind the server's root, with the version in front.
 */
import { callTable, type ApiCall } from './call-table.ts'

/** What the daemon asks. Masakari is asked once, by the person who imports from it, with a login of their own. */
export type DaemonService = Exclude<ApiCall['service'], 'instance-ha'>
export const daemonCalls: readonly (ApiCall & { service: DaemonService })[] = callTable.filter(
  (call): call is ApiCall & { service: DaemonService } => call.service !== 'instance-ha',
)

export interface AccessRule {
  service: string
  method: string
  path: string
}

/** What stands before the routes where a service has a port or a name of its own, as its installation guide has it. */
const roots: Record<DaemonService, string> = {
  identity: '/v3',
  compute: '/v2.1',
  volume: '/v3/{project_id}',
  placement: '',
}
/** The types that services go by. Cinder has had several: a rule for one that nobody uses allows nothing. */
const types: Record<DaemonService, string[]> = {
  identity: ['identity'],
  compute: ['compute'],
  volume: ['block-storage', 'volumev3'],
  placement: ['placement'],
}

/** Each method and path once: the actions of an instance are one path. Calls that need no token need no rule. */
export function accessRules(calls: typeof daemonCalls = daemonCalls): AccessRule[] {
  const rules = calls
    .filter(({ policy }) => policy !== null)
    .flatMap(({ service, method, route }) =>
      types[service].map((type) => ({ service: type, method, path: `${roots[service]}${route}` })),
    )
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()]
}
