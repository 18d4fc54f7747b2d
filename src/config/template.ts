/** Templates such as "https://{bmc}/Systems/1": {name} is a variable of the host, {{ and }} are the braces themselves. */
import { LifeboatError } from '../domain/errors.ts'
import type { HostName } from '../domain/service.ts'
import { filledIn } from '../domain/template.ts'

export { variablesIn } from '../domain/template.ts'

/**
 * `template` with the variables of `host` filled in. Throws CONFIG_INVALID for a variable that this host does not have:
 * a wrong guess here would fence a wrong machine.
 */
export function hostVariable(
  config: { hosts: Record<string, Record<string, string>> },
  template: string,
  host: HostName,
): string {
  const own: Record<string, string> = Object.hasOwn(config.hosts, host) ? (config.hosts[host] ?? {}) : {}
  const variables = new Map([...Object.entries(own), ['host', host] as const])
  return filledIn(template, (name) => {
    const value = variables.get(name)
    if (value !== undefined) return value
    const known = [...variables.keys()].sort().map((key) => `{${key}}`)
    throw new LifeboatError(
      'CONFIG_INVALID',
      `"${template}" needs {${name}}, which host ${host} does not have (it has ${known.join(', ')}; add it under hosts.${host})`,
      {
        details: { template, host },
      },
    )
  })
}

/** Names of the variables in a PromQL query. Only {name} is one: a selector such as {job="node"} never looks like that. */
export function queryVariables(query: string): string[] {
  return [...query.matchAll(/\{([A-Za-z_]\w*)\}/g)].map((match) => match[1] ?? '')
}
