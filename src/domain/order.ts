/**
 * Orders: what a person (or the calendar in their name) has laid down for a host, a segment or the whole cloud.
 * A pause forbids acting; maintenance says besides that silence there is expected. Several may be in force at once.
 */
import type { HostName } from './service.ts'

/** Each kind with what it means. */
export const orderKinds = {
  pause: 'No recovery is begun, and those that run stop before their next write',
  maintenance: 'Silence is expected: no incident is opened, and an open one is held',
} as const

export type OrderKind = keyof typeof orderKinds

export const scopeKinds = ['cloud', 'segment', 'host'] as const

export interface Scope {
  kind: (typeof scopeKinds)[number]
  /** Null for the cloud. */
  name: string | null
}

export const wholeCloud: Scope = { kind: 'cloud', name: null }

/** Who gave an order that Lifeboat gave itself. */
export const itself = 'lifeboat'

export interface Order {
  kind: OrderKind
  scope: Scope
  by: string
  reason: string
  /** ISO, our wall clock. */
  since: string
  /** ISO as it was ordered; null: until a person ends it. */
  until: string | null
  /** `calendar:NAME` of a configured window, or null for a person's order. */
  source: string | null
  /** The journal entry that planned it; missing: it was not planned. */
  plan?: number
}

/** Maintenance that a person ordered for a later time, at which it becomes an order in force. */
export interface PlannedOrder {
  /** The journal entry that planned it: its number, by which it is withdrawn. */
  plan: number
  kind: 'maintenance'
  scope: Scope
  by: string
  reason: string
  /** ISO, our wall clock. */
  orderedAt: string
  /** ISO. */
  from: string
  /** ISO; null: until a person ends it. */
  until: string | null
}

/** Why the beginning of a planned maintenance was recorded late, or never. */
export const lateReasons = {
  daemon: 'no daemon was active',
  journal: 'the journal could not be written',
} as const

export type LateReason = keyof typeof lateReasons

/** A planned maintenance whose time has come, as what it is then. */
export function begun({ kind, scope, by, reason, from, until, plan }: PlannedOrder): Order {
  return { kind, scope, by, reason, since: from, until, source: null, plan }
}

export function sameScope(a: Scope, b: Scope): boolean {
  return a.kind === b.kind && a.name === b.name
}

/** Whether a scope takes in a host. A host may be known by several segments: the one on record and the one of today. */
export function covers(scope: Scope, host: HostName, segments: readonly string[]): boolean {
  switch (scope.kind) {
    case 'cloud':
      return true
    case 'segment':
      return scope.name !== null && segments.includes(scope.name)
    case 'host':
      return scope.name === host
  }
}

/** host cmp01, segment ceph, the whole cloud */
export function scopeText({ kind, name }: Scope): string {
  return kind === 'cloud' ? 'the whole cloud' : `${kind} ${name ?? ''}`
}

/** paused by ann until 2026-01-02T03:04:05.000Z (host cmp01): new memory */
export function orderText({ kind, scope, by, reason, until }: Order): string {
  const what = kind === 'pause' ? 'paused' : 'in maintenance'
  return `${what} by ${by} ${until === null ? 'until ended' : `until ${until}`} (${scopeText(scope)}): ${reason}`
}

/** maintenance 123 of host cmp01 (from 2026-11-23T01:00:00.000Z) */
export function plannedText({ plan, scope, from }: PlannedOrder): string {
  return `maintenance ${plan} of ${scopeText(scope)} (from ${from})`
}
