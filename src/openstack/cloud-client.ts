/**
 * The Cloud port over HTTP: puts the parts together, and tells `lifeboat check` how it reaches the cloud.
 *
 * Nothing is sent when it is made: the first call logs in.
 */
import type { Clock } from '../domain/clock.ts'
import type { CallOptions, Cloud } from '../domain/cloud.ts'
import { ensureError } from '../domain/errors.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import type { Exit } from '../domain/tenure.ts'
import type { SsoWay, TokenCheck } from '../domain/token-holder.ts'
import type { Wire } from '../domain/wire.ts'
import { endpointOf } from './catalogue.ts'
import type { CloudConfig, ServiceKind } from './cloud-config.ts'
import { computeBase } from './compute-root.ts'
import { computeReads } from './compute-reads.ts'
import { credentialExpiry, type AskExpiry } from './credential-expiry.ts'
import { computeWrites } from './compute-writes.ts'
import { knowsProtocol } from './federation.ts'
import { Keystone } from './keystone.ts'
import { forReads, formatMicroversion, landsStopped } from './microversions.ts'
import { Session } from './session.ts'
import { tokenCheck } from './token-check.ts'
import { Transport } from './transport.ts'
import { getVolumes } from './volumes.ts'
import { Allocations } from './allocations.ts'
import { hostTraits } from './host-traits.ts'

export interface CloudOptions {
  config: CloudConfig
  clock: Clock
  observer: Observer
  /** Each call's time limit, retries and login included. Default: 30 s. */
  readTimeoutMs?: number
  /** Default: 60 s. Shorter than Nova's own RPC timeout would make ordinary slowness an unknown outcome. */
  writeTimeoutMs?: number
  /** Default: 64 MiB, about 10,000 instances in one answer. */
  largestAnswerBytes?: number
  /** The role in an instance's own project that lets us evacuate there. Default: admin, as in Nova's policies. */
  evacuateRoles?: readonly string[]
  userAgent?: string
  /** For a cloud in this process. Default: sockets. */
  wire?: Wire | undefined
  /** 0 to 1, for the jitter of pauses between tries. Default: Math.random. */
  random?: (() => number) | undefined
  /** What every write waits for. Default: nothing. */
  exit?: Exit | undefined
}

/** How the cloud is reached, for people. No secrets. */
export interface CloudDescription {
  cloud: string
  source: string
  authUrl: string
  user: { id: string; name: string }
  project: { id: string; name: string }
  roles: string[]
  /** Milliseconds of life left in the token. */
  tokenLeftMs: number
  /** Null: the catalogue has none. */
  endpoints: Record<ServiceKind, string | null>
  compute: { minMicroversion: string; maxMicroversion: string; readsAt: string; landsStopped: boolean }
}

export interface OpenStackCloud extends Cloud {
  describe(options?: CallOptions): Promise<CloudDescription>
  /** Whose tokens people show to us. */
  people: TokenCheck
  /** Whether Keystone has that federation protocol. Throws AUTH_FORBIDDEN where the policy does not let us look. */
  knowsProtocol(way: SsoWay, options?: CallOptions): Promise<boolean>
  /** Until when our credential is good; null when it has no end, or the cloud does not tell. */
  credentialExpiry: AskExpiry
  /** Closes idle connections. */
  close(): void
}

/** What a client of one service stands on. @throws LifeboatError CONFIG_INVALID when a CA, certificate or key file cannot be read */
export function openSession(options: CloudOptions): {
  session: Session
  transport: Transport
  keystone: Keystone
} {
  const { config, clock, observer } = options
  const readMs = options.readTimeoutMs ?? config.apiTimeoutMs ?? 30_000
  const writeMs = options.writeTimeoutMs ?? config.apiTimeoutMs ?? 60_000
  const transport = new Transport({
    clock,
    observer,
    tls: config.tls,
    userAgent: options.userAgent ?? 'lifeboat',
    largestAnswerBytes: options.largestAnswerBytes ?? 64 * 1024 * 1024,
    wire: options.wire,
    random: options.random,
    exit: options.exit,
  })
  const keystone = new Keystone(config, transport, clock, readMs)
  const session = new Session(config, transport, keystone, clock, { readMs, writeMs }, options.exit)
  return { session, transport, keystone }
}

/** @throws LifeboatError CONFIG_INVALID when a CA, certificate or key file cannot be read */
export function createCloud(options: CloudOptions): OpenStackCloud {
  const { config, clock } = options
  const { session, transport, keystone } = openSession(options)
  const roles = options.evacuateRoles ?? ['admin']
  const allocations = new Allocations(session)
  return {
    ...computeReads(session, clock),
    ...computeWrites(session),
    capabilities: async (callOptions) => {
      const range = await session.microversions(callOptions)
      return { computeMaxMicroversion: formatMicroversion(range.max), landsStopped: landsStopped(range) }
    },
    getVolumes: (ids, callOptions) => getVolumes(session, ids, callOptions),
    allocatedHosts: (id, callOptions) => allocations.hostsOf(id, callOptions),
    hostTraits: (host, callOptions) => hostTraits(session, host, callOptions),
    mayActFor: (projectId, callOptions) => mayActFor(session, projectId, roles, callOptions),
    knowsProtocol: (way, callOptions) => knowsProtocol(session, way, callOptions),
    credentialExpiry: credentialExpiry(session, config.credential),
    describe: (callOptions) => describe(session, config, clock, callOptions),
    people: tokenCheck({ config, transport, keystone, clock }),
    close: () => transport.close(),
  }
}

/** What Keystone says when it is a plain no, as against not answering. */
const plainNo: readonly ErrorCode[] = ['AUTH_FAILED', 'AUTH_FORBIDDEN', 'NOT_FOUND']

async function mayActFor(
  session: Session,
  projectId: string,
  roles: readonly string[],
  options?: CallOptions,
): Promise<boolean> {
  // First our own: when that is refused, the credentials are wrong, which says nothing about the project.
  await session.token(undefined, options)
  try {
    const token = await session.token(projectId, options)
    return token.roles.some((role) => roles.includes(role))
  } catch (thrown) {
    if (plainNo.includes(ensureError(thrown).code)) return false
    throw thrown
  }
}

async function describe(
  session: Session,
  config: CloudConfig,
  clock: Clock,
  options?: CallOptions,
): Promise<CloudDescription> {
  const token = await session.token(undefined, options)
  const range = await session.microversions(options)
  return {
    cloud: config.name,
    source: config.source,
    authUrl: config.authUrl,
    user: token.user,
    project: token.project,
    roles: token.roles,
    tokenLeftMs: token.endsAtMs - clock.now(),
    endpoints: {
      compute: computeBase(endpointOf('compute', config.endpoints.compute, token)),
      volume: endpointOrNull(() => endpointOf('volume', config.endpoints.volume, token)),
      placement: endpointOrNull(() => endpointOf('placement', config.endpoints.placement, token)),
    },
    compute: {
      minMicroversion: formatMicroversion(range.min),
      maxMicroversion: formatMicroversion(range.max),
      readsAt: formatMicroversion(forReads(range)),
      landsStopped: landsStopped(range),
    },
  }
}

function endpointOrNull(find: () => string): string | null {
  try {
    return find()
  } catch (thrown) {
    if (ensureError(thrown).code === 'CATALOG_MISSING') return null
    throw thrown
  }
}
