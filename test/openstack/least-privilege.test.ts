/** The access rules and the policies cover every call of the table, and open nothing beside it. */
import { describe, expect, it } from 'vitest'
import { accessRules, daemonCalls } from '../../src/openstack/access-rules.ts'
import { callTable, pathOf, type ApiCall } from '../../src/openstack/call-table.ts'
import { novaAdminRules } from '../../src/openstack/nova-admin-rules.ts'
import { policyFiles, policyRules } from '../../src/openstack/policy-snippets.ts'

/** As keystonemiddleware compares a request with a rule. */
function allowed(service: string, method: string, path: string): boolean {
  return accessRules().some((rule) => {
    const pattern = rule.path.replace(/\{[^}]*\}/g, '[^/]+')
    return rule.service === service && rule.method === method && new RegExp(`^${pattern}$`).test(path)
  })
}

describe('access rules', () => {
  it.each(callTable.filter(({ service, policy }) => service === 'compute' && policy !== null).map((call) => [call]))(
    'allow $method $route',
    (call: ApiCall) => {
      expect(allowed('compute', call.method, `/v2.1${pathOf(call, { id: 'a1', request: 'req-1' })}`)).toBe(true)
    },
  )

  it('allow volumes under either type of Cinder, below a project', () => {
    for (const type of ['volumev3', 'block-storage']) expect(allowed(type, 'GET', '/v3/p1/volumes/v1')).toBe(true)
  })

  it.each([
    ['compute', 'DELETE', '/v2.1/servers/a1'],
    ['compute', 'POST', '/v2.1/servers'],
    ['compute', 'DELETE', '/v2.1/os-services/a1'],
    ['volumev3', 'POST', '/v3/p1/volumes/v1/action'],
    ['placement', 'PUT', '/resource_providers/a1/traits'],
    ['identity', 'POST', '/v3/users'],
  ])('allow no %s %s %s', (service, method, path) => expect(allowed(service, method, path)).toBe(false))

  it('each is there once', () => {
    const rules = accessRules().map((rule) => JSON.stringify(rule))
    expect(new Set(rules).size).toBe(rules.length)
  })
})

describe('policies', () => {
  it.each(
    daemonCalls.filter(({ policy }) => policy !== null).map((call) => [call.policy ?? '', call.service] as const),
  )('%s is granted to the role', (policy, service) =>
    expect(policyRules(service).get(policy)).toMatch(/ or role:lifeboat$/),
  )

  it('what Nova leaves to administrators stays with them, unless a call needs it', () => {
    const rules = policyRules('compute')
    const needed = new Set<string>(callTable.flatMap(({ policy }) => policy ?? []))
    const refused = novaAdminRules.filter((rule) => rules.get(rule) === 'role:admin')
    expect(refused.filter((rule) => needed.has(rule))).toEqual([])
    expect(refused).toContain('os_compute_api:os-migrate-server:migrate')
    expect(refused).toContain('os_compute_api:os-services:delete')
  })

  it('no rule leans on context_is_admin, which the role has', () => {
    for (const [, text] of policyFiles()) expect(text).not.toMatch(/rule:context_is_admin/)
  })

  it('a service of which nothing is asked needs no file', () => {
    expect(policyRules('identity', []).size).toBe(0)
  })
})
