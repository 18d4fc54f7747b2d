/**
 * At which machine a fencing method aims for which host. One machine that stands for two hosts is refused: its power-off would prove the
 * death of both, and the one that lives would run its guests twice (law L1). Pure: says what the configuration alone shows.
 */
import type { HostName } from '../domain/service.ts'
import { variablesIn } from '../domain/template.ts'
import type { Config, FencingConfig } from './config.ts'
import { candidates, gapsOf, namedHosts } from './fence-coverage.ts'
import type { Report } from './secrets.ts'
import { hostVariable } from './template.ts'

type Parts = Pick<Config, 'hosts' | 'fencing' | 'segments' | 'defaults'>

/** Hosts whose fencing aims at the same machine; at least two. */
export interface SharedTarget {
  /** As the first of them reaches it. */
  method: string
  target: string
  hosts: HostName[]
}

/** Reports every host whose fencing aims at another's machine, and every method that aims at one machine for all. */
export function checkTargets(config: Parts, report: Report): void {
  for (const name of aimlessMethods(config))
    report(
      ['fencing', name],
      'aims at the same machine for every host, and its power-off would prove the death of each of them (name the host in it, {host} or ' +
        'a variable under hosts, or use it in segments of one host alone)',
    )
  for (const { method, target, hosts } of sharedTargets(config)) {
    const [first = '', ...others] = hosts
    for (const host of others)
      report(
        Object.hasOwn(config.hosts, host) ? ['hosts', host] : ['fencing', method],
        `${method} aims at ${target} for ${host} as for ${first}: the power-off of one would prove the death of both (each host its own)`,
      )
  }
}

/** Of the hosts that the configuration names: no others have variables of their own. */
export function sharedTargets(config: Parts): SharedTarget[] {
  const aimless = new Set(aimlessMethods(config))
  return sharedAims(config, (host) =>
    methodsOf(config, host).flatMap((method) => {
      const aim = config.fencing[method]
      // What is refused as aimless is refused once.
      if (aim === undefined || aimless.has(method) || gapsOf(config, host, [method]).length > 0) return []
      return { method, kind: aim.kind, texts: texts(aim) }
    }),
  )
}

/** What reaches a machine by texts that take the host's variables, all of which it has. */
export interface Aim {
  method: string
  kind: string
  texts: readonly string[]
}

/** Machines that stand for several hosts, as far as the same kind of aim says so. */
export function sharedAims(config: Parts, aimsOf: (host: HostName) => readonly Aim[]): SharedTarget[] {
  const found = new Map<string, SharedTarget>()
  for (const host of namedHosts(config)) {
    for (const { method, kind, texts: templates } of aimsOf(host)) {
      const target = templates.map((text) => hostVariable(config, text, host)).join(' ')
      const key = [kind, target.toLowerCase().replace(/\/+$/, '')].join(' ')
      const same = found.get(key)
      if (same === undefined) found.set(key, { method, target, hosts: [host] })
      else if (!same.hosts.includes(host)) same.hosts.push(host)
    }
  }
  return [...found.values()].filter(({ hosts }) => hosts.length > 1)
}

/** Methods in which nothing is of the host, and which more than one host may use. */
function aimlessMethods({ fencing, segments, defaults }: Parts): string[] {
  const shared = segments.filter(({ match }) => {
    const [only = '*', ...more] = match.hosts
    return more.length > 0 || /[*?]/.test(only) || match.zones.length > 0 || match.aggregates.length > 0
  })
  const used = new Set([...shared.flatMap(({ segment }) => segment.fencing), ...defaults.fencing])
  return Object.entries(fencing).flatMap(([name, method]) => (used.has(name) && isAimless(method) ? [name] : []))
}

function methodsOf(config: Parts, host: HostName): string[] {
  return [...new Set(candidates(config, host).flatMap(({ fencing }) => fencing))]
}

function isAimless(method: FencingConfig): boolean {
  return texts(method).flatMap(variablesIn).length === 0
}

/** What says which machine is read for the proof. */
function texts(method: FencingConfig): string[] {
  switch (method.kind) {
    case 'redfish':
      return [method.system]
    case 'fence-agent':
      return [method.agent, ...Object.entries(method.options).map(([name, value]) => `${name}=${value}`)]
    case 'command':
      return [...method.verify]
  }
}
