/**
 * One word for the rules that daemons of one cloud must have in common. Owns what belongs to them: all that changes what a recovery does; not what
 * belongs to one machine, nor who may ask. Two daemons that do the same have the same word, in whatever order their files say it.
 */
import { createHash } from 'node:crypto'
import { withoutSecrets, type Config } from '../config/index.ts'
import type { Workflows } from '../engine/workflow.ts'
import { canonicalJson } from '../journal/canonical.ts'

/** Their order means nothing: any of them fits, or each of them is asked. That of fencing methods and of segments does. */
const sets: ReadonlySet<string> = new Set([
  ...['hosts', 'zones', 'aggregates', 'probes', 'alive', 'dead'],
  ...['topics', 'segments', 'projects', 'to'],
])

type Documents = Readonly<Record<keyof Workflows, { digest: string }>>

/** @param zone of this machine, for windows that name none */
export function rulesDigest(config: Config, workflows: Documents, zone = machineZone()): string {
  const { host, process, instance } = workflows
  const { fenceRetryMs, fenceRetryMaxMs, ...of } = withoutSecrets(config)
  const { mode, monitor, brake, executor, ownerPolicy, hosts, probes, fencing, defaults, segments, notices, api } = of
  const rules = {
    lease: config.sharedJournal?.leaseMs ?? null,
    workflows: [host, process, instance].map(({ digest }) => digest),
    windows: config.maintenanceWindows.map((window) => windowText(window, zone)).toSorted(),
    ...{ fenceRetryMs, fenceRetryMaxMs, api },
    ...{ mode, monitor, brake, executor, ownerPolicy, hosts, probes, fencing, defaults, segments, notices },
  }
  return createHash('sha256')
    .update(canonicalJson(ordered(rules, '')))
    .digest('hex')
}

function windowText({ scopes, timezone, ...window }: Config['maintenanceWindows'][number], zone: string): string {
  const where = scopes.map((scope) => canonicalJson(scope)).toSorted()
  return canonicalJson({ ...window, scopes: where, timezone: timezone ?? zone })
}

/** A copy in which lists whose order means nothing are in one order. */
function ordered(value: unknown, key: string): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => ordered(item, ''))
    return sets.has(key) && items.every(isWord) ? items.toSorted(compared) : items
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, ordered(part, name)]))
}

function isWord(item: unknown): item is string | number {
  return typeof item === 'string' || typeof item === 'number'
}

function compared(one: string | number, other: string | number): number {
  return String(one) < String(other) ? -1 : 1
}

function machineZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}
