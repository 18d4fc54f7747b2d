/**
 * What the brake is told and what it tells: its rules over the whole cloud, and each of its scopes with numbers. The rules of
 * one segment are in segment.ts.
 */
import type { BrakeLimits } from './segment.ts'
import type { HostName } from './service.ts'

/** A scope is a set of hosts with limits of its own: the cloud, each segment, each failure domain. */
export type ScopeKind = 'cloud' | 'segment' | 'domain'

/** `cloud`, `segment:NAME` or `domain:NAME`; stable, for machines (journal, metrics). */
export type ScopeId = string

/** The rules of the cloud's scope, and what holds in every scope. */
export interface CloudBrake extends BrakeLimits {
  /** Aggregates with this metadata key name the domains (racks, say) of their hosts. Null: no domains. */
  failureDomain: ({ key: string } & BrakeLimits) | null
  /**
   * How long a host counts on once its recovery began, its incident closed or not; 0 is not at all. Too short: a guest that
   * kills each host it lands on is carried through the fleet. Too long: an unrelated failure waits for a person.
   */
  coolDownMs: number
  /**
   * How long the down hosts of a tripped scope must be the same before it opens. Too short: hosts that are still booting
   * after a power loss are fenced. Too long: those that stay away wait for nothing.
   */
  steadyMs: number
  /** More than this share of the cloud's hosts (and two at least) is the loss of a site, whatever the limits allow. */
  siteLossShare: number
}

/** One scope as it stands, for people and machines. */
export interface BrakeScope {
  scope: ScopeId
  kind: ScopeKind
  /** How a sentence calls it: `segment az1`, `rack r7`, `the cloud`. */
  title: string
  /** Hosts that count as down, those in their cool-down among them. */
  down: number
  /** Of them, those that count only because their recovery began a short while ago. */
  cooling: number
  /** How many may be. */
  allowed: number
  fleet: number
  hosts: HostName[]
  /** ISO time since which it holds every recovery that has not begun; null when it is open. */
  trippedSince: string | null
  message: string
}

/** A host whose recovery the brake holds. */
export interface HeldHost {
  host: HostName
  segment: string
  incident: string
  /** ISO. */
  since: string
}

/** One failure: the hosts that the same scope holds. Each is in one group, that of the narrowest scope that holds it. */
export interface HeldGroup extends Pick<
  BrakeScope,
  'scope' | 'kind' | 'title' | 'message' | 'down' | 'allowed' | 'fleet'
> {
  trippedSince: string
  /** Other scopes that hold some of them too, as sentences call them. */
  also: string[]
  members: HeldHost[]
}

/** What Nova showed on a host that is not surveyed yet. */
export interface HostCount {
  instances: number
  running: number
  projects: number
  /** ISO. */
  at: string
}

/** A group with what is on its hosts. */
export interface CountedGroup extends Omit<HeldGroup, 'members'> {
  /** Of the hosts that were counted. */
  instances: number
  running: number
  /** Hosts of which Nova has not shown the instances yet. */
  uncounted: number
  members: (HeldHost & { count: HostCount | null })[]
}

/** An order to override the brake for some of a group: those that the person saw. */
export interface GroupOverride {
  overridden: HeldHost[]
  /** Incidents that were named, and that the scope does not hold any more. */
  skipped: string[]
}
