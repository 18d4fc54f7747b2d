/**
 * policy.yaml of Nova, Cinder, Placement and Keystone for a role of Lifeboat's own: what the calls of the table need, and
 * nothing else that administrators may. Made from the table; what a call needs beyond its own rule stands here.
 */
import { daemonCalls, type DaemonService } from './access-rules.ts'
import type { ApiCall } from './call-table.ts'
import { novaAdminRules } from './nova-admin-rules.ts'

export const role = 'lifeboat'

/** Rules that Nova asks beside a call's own. */
const beside: Partial<Record<string, string[]>> = {
  'os_compute_api:servers:detail:get_all_tenants': [
    'os_compute_api:servers:detail',
    // By host, and those that changed lately.
    'os_compute_api:servers:allow_all_filters',
    // Their hosts, and what their flavors ask for.
    'os_compute_api:os-extended-server-attributes',
    'os_compute_api:servers:show:flavor-extra-specs',
  ],
  'os_compute_api:os-migrations:index': [
    // Split off by later releases.
    'os_compute_api:os-migrations:index:all_projects',
    'os_compute_api:os-migrations:index:host',
  ],
  'os_compute_api:os-instance-actions:events:details': [
    'os_compute_api:os-instance-actions:show',
    'os_compute_api:os-instance-actions:events',
  ],
  'os_compute_api:os-server-groups:index:all_projects': ['os_compute_api:os-server-groups:index'],
}

const admin = 'role:admin'
const systemReader = `${admin} or (role:reader and system_scope:all)`
const reader = `${admin} or (role:reader and project_id:%(project_id)s)`
const member = `${admin} or (role:member and project_id:%(project_id)s)`

/** Who may by default; only for rules that others than administrators have. */
const othersToo: Record<string, string> = {
  'os_compute_api:servers:detail': reader,
  'os_compute_api:servers:show': reader,
  'os_compute_api:servers:show:flavor-extra-specs': reader,
  'os_compute_api:os-instance-actions:list': reader,
  'os_compute_api:os-instance-actions:show': reader,
  'os_compute_api:os-server-groups:index': reader,
  'os_compute_api:servers:start': member,
  'os_compute_api:servers:stop': member,
  'os_compute_api:servers:reboot': member,
  'os_compute_api:servers:confirm_resize': member,
  'os_compute_api:os-lock-server:lock': member,
  'os_compute_api:os-lock-server:unlock': member,
  'volume:get': reader,
  'volume:get_all': reader,
  'placement:resource_providers:traits:list': `${admin} or role:service`,
  'placement:allocations:list': `${admin} or role:service`,
  'identity:validate_token': `${systemReader} or role:service or user_id:%(target.token.user_id)s`,
  'identity:list_identity_providers': systemReader,
  'identity:get_protocol': systemReader,
}

/** The database layers of Nova and Cinder show other projects' things only to who counts as an administrator. */
const counted: [rule: string, check: string] = ['context_is_admin', `${admin} or role:${role}`]

/** What gives administrators more than we need, by an alias, is said again without us. */
const narrowed: Partial<Record<DaemonService, [rule: string, check: string][]>> = {
  compute: [
    counted,
    ['admin_api', admin],
    ['admin_or_owner', `${admin} or project_id:%(project_id)s`],
    ['project_reader_or_admin', reader],
    ['project_member_or_admin', member],
    ['project_manager_or_admin', `${admin} or (role:manager and project_id:%(project_id)s)`],
    ...['index', 'show', 'create', 'delete'].map((act): [string, string] => [
      `os_compute_api:os-keypairs:${act}`,
      `${admin} or user_id:%(user_id)s`,
    ]),
    ...novaAdminRules.map((rule): [string, string] => [rule, admin]),
  ],
  volume: [counted, ['admin_api', admin], ['admin_or_owner', `${admin} or project_id:%(project_id)s`]],
}

const titles: Record<DaemonService, string> = {
  compute: 'Nova',
  volume: 'Cinder',
  placement: 'Placement',
  identity: 'Keystone',
}

/** Rule -> check of one service; empty when nothing has to be said there. */
export function policyRules(service: DaemonService, calls: readonly ApiCall[] = daemonCalls): Map<string, string> {
  const needed = calls
    .filter((call) => call.service === service && call.policy !== null)
    .flatMap(({ policy }) => [policy ?? '', ...(beside[policy ?? ''] ?? [])])
  if (needed.length === 0) return new Map()
  const rules = new Map(narrowed[service])
  for (const rule of needed) rules.set(rule, `${othersToo[rule] ?? admin} or role:${role}`)
  return rules
}

/** Name of the file -> text, for each service that has something to say. */
export function policyFiles(): [name: string, text: string][] {
  return (Object.keys(titles) as DaemonService[]).flatMap((service): [string, string][] => {
    const rules = policyRules(service)
    if (rules.size === 0) return []
    const ours = [...rules].filter(([, check]) => check.includes(`role:${role}`))
    const others = [...rules].filter(([, check]) => !check.includes(`role:${role}`))
    return [[`${titles[service].toLowerCase()}-policy.yaml`, policyText(titles[service], ours, others)]]
  })
}

type Rules = readonly (readonly [rule: string, check: string])[]

function policyText(title: string, ours: Rules, others: Rules): string {
  const lines = (rules: Rules): string => rules.map(([rule, check]) => `"${rule}": "${check}"\n`).join('')
  const head = `# Made by npm run generate from the calls that Lifeboat makes (docs/reference/openstack-calls.md).
# For ${title}'s policy.yaml: what the role "${role}" may. Where your policy.yaml has one of these rules, join the two.
${lines(ours)}`
  if (others.length === 0) return head
  return `${head}
# context_is_admin lets the role see all projects. These stay with administrators.
${lines(others)}`
}
