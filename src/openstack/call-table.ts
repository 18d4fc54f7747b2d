/**
 * Every call that Lifeboat makes of OpenStack, each once: route, microversion, reason, and the policy that must allow it.
 *
 * The client builds its requests from this table and the documentation (policy snippet, access rules of an application
 * credential, preflight) is generated from it, so neither can forget a call.
 */
export interface ApiCall {
  service: 'identity' | 'compute' | 'volume' | 'placement' | 'instance-ha'
  method: 'GET' | 'POST' | 'PUT'
  /** Relative to the service's endpoint, ids as {id}: also the label in metrics. */
  route: string
  /** What is sent, in words; "none" where the service has no microversions for us. */
  microversion: string
  why: string
  /** The oslo.policy rule, or null: any valid token (or none). */
  policy: string | null
  /** Whether it changes something: never retried by the transport, and its failures can be "unknown". */
  write: boolean
}

const reads = 'min(2.90, max)'
const read = (
  service: ApiCall['service'],
  route: string,
  microversion: string,
  policy: string | null,
  why: string,
): ApiCall => ({
  service,
  method: 'GET',
  route,
  microversion,
  why,
  policy,
  write: false,
})
const action = (name: string, microversion: string, policy: string, why: string): ApiCall & { action: string } => ({
  service: 'compute',
  method: 'POST',
  route: '/servers/{id}/action',
  microversion,
  why,
  policy,
  write: true,
  action: name,
})

export const calls = {
  login: {
    service: 'identity',
    method: 'POST',
    route: '/auth/tokens',
    microversion: 'none',
    why: 'A token and the catalogue; also scoped to the project of an instance with encrypted volumes',
    policy: null,
    // It changes nothing that anybody could observe, so it may be sent again.
    write: false,
  },
  checkToken: read(
    'identity',
    '/auth/tokens',
    'none',
    'identity:validate_token',
    'Whose token a caller of the REST API or the pages has',
  ),
  listIdentityProviders: read(
    'identity',
    '/OS-FEDERATION/identity_providers',
    'none',
    'identity:list_identity_providers',
    'lifeboat check alone, with `web.sso`: where its protocol is looked for',
  ),
  federationProtocol: read(
    'identity',
    '/OS-FEDERATION/identity_providers/{provider}/protocols/{protocol}',
    'none',
    'identity:get_protocol',
    'lifeboat check alone, with `web.sso`: whether Keystone knows its protocol',
  ),
  applicationCredential: read(
    'identity',
    '/users/{user}/application_credentials/{id}',
    'none',
    'identity:get_application_credential',
    'When our own application credential ends; without it that is not told',
  ),
  computeVersions: read('compute', '/', 'none', null, 'The microversions of the cloud'),
  listServices: read('compute', '/os-services', reads, 'os_compute_api:os-services:list', 'The heartbeats: one poll'),
  updateService: {
    service: 'compute',
    method: 'PUT',
    route: '/os-services/{id}',
    microversion: reads,
    why: 'forced_down before the evacuations, disabled while the host is away or silent, both taken back on its return',
    policy: 'os_compute_api:os-services:update',
    write: true,
  },
  listServers: read(
    'compute',
    '/servers/detail',
    reads,
    'os_compute_api:servers:detail:get_all_tenants',
    'The instances of a host; what changed lately',
  ),
  getServer: read('compute', '/servers/{id}', reads, 'os_compute_api:servers:show', 'One instance, read back'),
  listMigrations: read(
    'compute',
    '/os-migrations',
    reads,
    'os_compute_api:os-migrations:index',
    'How evacuations and resizes stand',
  ),
  listActions: read(
    'compute',
    '/servers/{id}/os-instance-actions',
    reads,
    'os_compute_api:os-instance-actions:list',
    'Who stopped an instance: its owner or an orderly shutdown of the host',
  ),
  getAction: read(
    'compute',
    '/servers/{id}/os-instance-actions/{request}',
    reads,
    'os_compute_api:os-instance-actions:events:details',
    'What became of one order of ours',
  ),
  guestDiagnostics: read(
    'compute',
    '/servers/{id}/diagnostics',
    reads,
    'os_compute_api:os-server-diagnostics',
    'Whether a guest that was reported crashed runs: nova-compute asks its hypervisor',
  ),
  listServerGroups: read(
    'compute',
    '/os-server-groups',
    reads,
    'os_compute_api:os-server-groups:index:all_projects',
    'Affinity rules',
  ),
  listAggregates: read(
    'compute',
    '/os-aggregates',
    reads,
    'os_compute_api:os-aggregates:index',
    'Segments and policies by aggregate',
  ),
  listHypervisors: read(
    'compute',
    '/os-hypervisors/detail',
    'min(2.87, max)',
    'os_compute_api:os-hypervisors:list-detail',
    "A returning host's nodes in Placement; above 2.87 Nova would ask every nova-compute for its uptime",
  ),
  evacuate: action(
    'evacuate',
    '2.95 to land stopped, min(2.94, max) to land as before',
    'os_compute_api:os-evacuate',
    'Rebuilds an instance of a dead host elsewhere; never with force, never with a host',
  ),
  start: action('os-start', reads, 'os_compute_api:servers:start', 'An instance that ran runs again'),
  reboot: action('reboot', reads, 'os_compute_api:servers:reboot', 'A guest that crashed on a living host runs again'),
  stop: action(
    'os-stop',
    reads,
    'os_compute_api:servers:stop',
    'An instance that was off and landed running is stopped',
  ),
  lock: action('lock', reads, 'os_compute_api:os-lock-server:lock', 'Keeps the owner out between confirm and evacuate'),
  unlock: action('unlock', reads, 'os_compute_api:os-lock-server:unlock', 'Takes back a lock of ours'),
  resetState: action(
    'os-resetState',
    reads,
    'os_compute_api:os-admin-actions:reset_state',
    'Evacuate refuses other states',
  ),
  confirmResize: action(
    'confirmResize',
    reads,
    'os_compute_api:servers:confirm_resize',
    'A resized instance cannot be evacuated',
  ),
  getVolume: read('volume', '/volumes/{id}', 'none', 'volume:get', 'Whether a volume is encrypted'),
  listVolumes: read('volume', '/volumes/detail', 'none', 'volume:get_all', 'The same for many volumes at once'),
  listTraits: read(
    'placement',
    '/resource_providers/{id}/traits',
    '1.6',
    'placement:resource_providers:traits:list',
    'Whether the scheduler still avoids a host that was enabled again',
  ),
  listAllocations: read(
    'placement',
    '/allocations/{id}',
    '1.6',
    'placement:allocations:list',
    'Where Nova sent an evacuation that its destination has not taken: nothing else names it',
  ),
} as const satisfies Record<string, ApiCall>

/** For generated documentation. */
export const callTable: readonly ApiCall[] = Object.values(calls)

/** The path of a call: each {name} of its route replaced, escaped so that an id can never leave its segment. */
export function pathOf(call: ApiCall, ids: Record<string, string> = {}): string {
  return call.route.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(ids[name] ?? ''))
}
