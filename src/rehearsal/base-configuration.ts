/** The configuration a scenario begins with, in the words of the configuration file; the scenario's own is laid over it. */

/** The Redfish controllers of the simulated hosts, asked as `like` says. @param host a template */
export function simulatedBmc(like: Record<string, unknown>, host: string): Record<string, unknown> {
  const kept = Object.entries(like).filter(([key]) => !/^(password|ca)(_file|_env)$/.test(key))
  return {
    ...Object.fromEntries(kept),
    system: `http://simulator/redfish/v1/Systems/${host}`,
    username: 'lab',
    password: 'lab',
  }
}

const bmc = simulatedBmc({ kind: 'redfish', request_timeout: '5s' }, '{host}')

/** Real defaults wherever there are any: a scenario shows what an operator gets. */
export function baseConfiguration(hosts: string[]): Record<string, unknown> {
  return {
    mode: 'armed',
    hosts: Object.fromEntries(hosts.map((host) => [host, { address: host }])),
    monitor: { poll_interval: '2s' },
    brake: { max_hosts: 4, max_share: 0.5 },
    probes: {
      network: { kind: 'tcp', port: 22 },
      ping: { kind: 'ping' },
      power: bmc,
      script: { kind: 'command', argv: ['check-host', '{host}'] },
    },
    fencing: {
      bmc: { ...bmc, off_timeout: '20s' },
      storage: { kind: 'command', fence: ['fence-storage', '{host}'], verify: ['verify-storage', '{host}'] },
    },
    defaults: {
      storage: 'shared',
      fencing: ['bmc'],
      probes: ['network', 'power'],
      brake: { max_hosts: 2, max_share: 0.5 },
    },
  }
}

/** `over` laid over `under`: maps are merged key by key, null takes a key away (RFC 7396), everything else is replaced. */
export function laidOver(under: unknown, over: unknown): unknown {
  if (!isMap(under) || !isMap(over)) return over === undefined ? under : over
  const merged = new Map(Object.entries(under))
  for (const [key, value] of Object.entries(over))
    if (value === null) merged.delete(key)
    else merged.set(key, laidOver(under[key], value))
  return Object.fromEntries(merged)
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
