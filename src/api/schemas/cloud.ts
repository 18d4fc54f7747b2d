/** Answers about the daemon, hosts and segments. */
import { z } from 'zod'
import { tenureStates, type KnownDaemon, type TenureState, type TenureView } from '../../domain/tenure.ts'
import type { BrakeScope, CountedGroup, GroupOverride, HeldHost } from '../../domain/brake.ts'
import { returnStates, type OurFlags, type Leftover, type ReturnRules } from '../../domain/host-return.ts'
import type {
  ConfigurationState,
  DaemonStatus,
  HandOverAnswer,
  HostDetail,
  HostReturnDetail,
  LogLevel,
  LogLevelState,
  PauseState,
  ReloadReport,
} from '../../domain/operations.ts'
import type { ReceiverHealth } from '../../domain/notice.ts'
import { roles, type Caller, type SegmentStatus, type Welcome } from '../../domain/review.ts'
import type { Segment } from '../../domain/segment.ts'
import type { SsoOffer } from '../../domain/token-holder.ts'
import { verdictKinds, type VerdictKind } from '../../domain/verdict.ts'
import { incidentSummary } from './incidents.ts'
import {
  count,
  counts,
  hostCount,
  mode,
  namesOf,
  probeReading,
  order,
  time,
  verdictKind,
  verdictReason,
} from './shared.ts'

const byVerdict = counts(Object.keys(verdictKinds) as VerdictKind[])

const known = z.object({ name: z.string(), role: namesOf(roles), by: z.enum(['socket', 'token']) })
export const caller: z.ZodType<Caller> = known.meta({
  id: 'Caller',
  description: 'Who you are, and what you may do',
})
export const welcome: z.ZodType<Welcome> = known
  .extend({
    scope: z
      .string()
      .nullable()
      .describe('What your token is for: DOMAIN/NAME of a project, or system; null: you need no token here'),
    keystoneRoles: z.array(z.string()).describe('Your roles there, as Keystone says'),
    lastSeq: count.describe('The newest journal entry now: follow the events from there'),
    simulated: z.literal(true).exactOptional().describe('Only of the demo: the cloud is simulated'),
  })
  .meta({ id: 'Welcome', description: 'Who you are, what you may do, and where the journal ends' })

export const ssoOffer: z.ZodType<SsoOffer> = z
  .object({
    ways: z.array(z.object({ name: z.string() })),
    refused: z.string().nullable().describe('Why the last login of this browser was refused, for a minute'),
  })
  .meta({ id: 'SsoOffer', description: 'Logins by single sign-on that the pages offer' })
export const ssoBegun = z.object({ location: z.string().describe('Address at Keystone, for the browser') })

export const pauseState: z.ZodType<PauseState> = z.object({
  by: z.string(),
  reason: z.string(),
  since: time,
  until: z.string().nullable(),
})

const brakeScope: z.ZodType<BrakeScope> = z.object({
  scope: z.string().describe('cloud, segment:NAME or domain:NAME'),
  kind: z.enum(['cloud', 'segment', 'domain']),
  title: z.string(),
  down: count,
  cooling: count,
  allowed: count,
  fleet: count,
  hosts: z.array(z.string()),
  trippedSince: z.string().nullable(),
  message: z.string(),
})

const configurationState: z.ZodType<ConfigurationState> = z.object({
  files: z.array(z.string()),
  loadedAt: time,
  loadedBy: z.string(),
  waiting: z.array(z.string()).describe('Options that changed on disk and take effect at the next start'),
  refused: z
    .object({ at: time, by: z.string(), code: z.string(), message: z.string(), problems: z.array(z.string()) })
    .nullable()
    .describe('The last reload, if it was rejected'),
})

const logLevel: z.ZodType<LogLevel> = z.enum(['debug', 'info', 'warn', 'error'])
export const logLevelState: z.ZodType<LogLevelState> = z
  .object({
    level: logLevel,
    configured: logLevel.describe('What the configuration says'),
    until: z.string().nullable().describe('When it returns to that level'),
  })
  .meta({ id: 'LogLevelState' })

export const reloadReport: z.ZodType<ReloadReport> = z
  .object({
    changed: z.array(z.string()).describe('Options that changed and are in force'),
    waiting: z.array(z.string()).describe('Options that take effect at the next start'),
    mode: z.object({ from: mode, to: mode }).nullable(),
    files: z.array(z.string()),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'ReloadReport' })

const knownDaemon: z.ZodType<KnownDaemon> = z.object({
  name: z.string(),
  address: z.string(),
  version: z.string(),
  mode: z.string(),
  configDigest: z.string(),
  copiedSeq: count,
  goodPollAgeMs: z.number().nullable(),
  at: time,
  present: z.boolean(),
})

const tenure: z.ZodType<TenureView> = z
  .object({
    state: z.enum(Object.keys(tenureStates) as [TenureState, ...TenureState[]]),
    name: z.string(),
    epoch: count,
    active: z.object({ name: z.string(), address: z.string() }).nullable().describe('Null: nobody, as far as is known'),
    waits: z.string().nullable().describe('Why it does not take over; null: it is active, or has not looked yet'),
    leaseLeftMs: z.number().nullable().describe('Null: this daemon is not active'),
    staged: count.describe('Entries that are not durable yet'),
    behind: count.describe('Entries that the copy lacks'),
    daemons: z.array(knownDaemon),
    namesake: knownDaemon.nullable().describe("Another daemon that runs under this one's name; null: there is none"),
  })
  .meta({ id: 'Tenure' })
export const receiverHealth: z.ZodType<ReceiverHealth> = z
  .object({
    receiver: z.string().describe('Its name in the configuration'),
    waiting: count.describe('Notices that are yet to arrive'),
    takenAt: time.nullable().describe('When it last took one; null if that is not on record'),
    failingSince: time.nullable().describe('Since when it takes nothing; null while it does'),
    problem: z.string().nullable().describe('What became of the last try; null while it takes notices'),
    dead: z.boolean().describe('It has taken nothing for a minute or longer'),
  })
  .meta({ id: 'ReceiverHealth' })

export const daemonStatus: z.ZodType<DaemonStatus> = z
  .object({
    version: z.string(),
    mode,
    pid: count,
    startedAt: time,
    cloud: z.string().nullable(),
    lastPoll: z.object({ at: time, ok: z.boolean(), tookMs: z.number(), error: z.string().nullable() }).nullable(),
    frozen: z
      .object({
        ...{ reason: z.string(), message: z.string(), since: time },
        thawsAt: time
          .nullable()
          .describe('From when on verdicts move again: the first good answer after it. Null while the fault lasts'),
      })
      .nullable()
      .describe('Why verdicts are frozen'),
    restartLoop: z
      .object({ died: count, message: z.string() })
      .nullable()
      .describe('Set if earlier runs kept dying; null once this run has lasted'),
    paused: pauseState.nullable().describe('The pause of the whole cloud'),
    tenure: tenure.nullable().describe('Where it stands among the daemons that share its journal'),
    standingOrders: z.array(order),
    brake: z.array(brakeScope).describe('The scopes where the brake holds recoveries'),
    receivers: z.array(receiverHealth).describe('How each receiver of notices stands'),
    hosts: byVerdict,
    incidents: z.object({
      open: count,
      held: count,
      unsettled: z
        .object({
          incidents: count,
          left: count.describe('Instances that were left where they were'),
          lost: count.describe('Instances that failed or are stuck'),
        })
        .describe('Closed incidents with instances not back that nobody has signed off'),
    }),
    journal: z.object({ path: z.string(), entries: count, head: z.string() }),
    workflow: z.object({ name: z.string(), revision: count, digest: z.string() }),
    configuration: configurationState,
    logLevel: logLevelState,
  })
  .meta({ id: 'DaemonStatus' })

const heldHost: z.ZodType<HeldHost> = z.object({
  host: z.string(),
  segment: z.string(),
  incident: z.string(),
  since: time,
})

export const heldGroups: z.ZodType<CountedGroup[]> = z.array(
  z
    .object({
      scope: z.string().describe('cloud, segment:NAME or domain:NAME'),
      kind: z.enum(['cloud', 'segment', 'domain']),
      title: z.string(),
      message: z.string(),
      down: count,
      allowed: count,
      fleet: count,
      trippedSince: time,
      also: z.array(z.string()).describe('Other scopes that hold some of them too'),
      instances: count.describe('On the hosts that were counted'),
      running: count,
      uncounted: count.describe('Hosts of which Nova has not shown the instances yet'),
      members: z.array(
        z.object({
          host: z.string(),
          segment: z.string(),
          incident: z.string(),
          since: time,
          count: hostCount.nullable().describe('null: not counted yet'),
        }),
      ),
    })
    .meta({ id: 'HeldGroup', description: 'Hosts that one scope of the brake holds: one failure' }),
)

export const handOver: z.ZodType<HandOverAnswer> = z.object({
  standbys: z.array(z.string()).describe('Daemons that stand by: one of them takes over'),
})

export const groupOverride: z.ZodType<GroupOverride> = z.object({
  overridden: z.array(heldHost),
  skipped: z.array(z.string()).describe('Incidents that the scope does not hold any more'),
})

export const returnState = namesOf(returnStates)

const hostShape = {
  host: z.string(),
  segment: z.string(),
  zone: z.string().nullable(),
  verdict: verdictKind,
  reason: verdictReason,
  message: z.string(),
  status: z.string(),
  state: z.string().nullable(),
  forcedDown: z.boolean(),
  silentMs: z.number(),
  sinceBeatMs: z.number().exactOptional().describe('Since its last beat: a freeze does not restart it'),
  intervalMs: z.number(),
  missedBeats: z.number(),
  probes: z.array(probeReading),
  incident: z.string().nullable().describe('Its open incident'),
  standingOrders: z.array(order),
  returning: returnState.nullable(),
  setAside: z
    .object({
      incident: z.string(),
      because: z.string(),
      since: time,
      keptOut: z
        .object({ by: z.string(), reason: z.string() })
        .nullable()
        .describe('Who keeps it out, however well it is; null: Lifeboat enables it by itself'),
    })
    .nullable()
    .describe('Disabled by Lifeboat while silent, so that Nova sends it no guest of that incident'),
  at: time,
}
export const hostStatus = z.object(hostShape).meta({ id: 'HostStatus' })

const mark: z.ZodType<OurFlags> = z.object({
  incidents: z.array(z.string()),
  serviceId: z.string(),
  forcedDown: z.boolean(),
  disabled: z.boolean(),
  reasons: z.array(z.string()),
})
const leftover: z.ZodType<Leftover> = z.object({
  code: z.string(),
  message: z.string(),
  instance: z.string().nullable(),
})
export const hostReturn: z.ZodType<HostReturnDetail> = z
  .object({
    state: returnState,
    code: z.string().nullable(),
    message: z.string(),
    since: z.string().nullable(),
    leftovers: z.array(leftover),
    order: z.object({ by: z.string(), reason: z.string(), keepOut: z.boolean(), at: time }).nullable(),
  })
  .meta({ id: 'HostReturn' })
const returnRules: z.ZodType<ReturnRules> = z.object({
  mode: z.enum(['automatic', 'confirm']),
  healthyMs: z.number(),
  maxReturns: z.number(),
  withinMs: z.number(),
  startStopped: z.enum(['ask', 'always']),
})
export const hostDetail: z.ZodType<HostDetail> = z
  .object({
    ...hostShape,
    updatedAt: z.string().nullable().describe('The last heartbeat seen, cloud time'),
    disabledReason: z.string().nullable(),
    mark: mark.nullable().describe('The flags that Lifeboat set on its service and has not cleared'),
    return: hostReturn.nullable(),
    returnRules,
    incidents: z.array(incidentSummary),
  })
  .meta({ id: 'HostDetail' })

const rules: z.ZodType<Segment> = z.object({
  name: z.string(),
  storage: z.enum(['shared', 'local']),
  fencing: z.array(z.string()),
  probes: z.array(z.string()),
  onDeclaredDown: z.enum(['recover', 'hold', 'ignore']),
  onDisabledDown: z.enum(['hold', 'recover']),
  onServiceDown: z.enum(['hold', 'fence']),
  fencingLimitMs: z.number().nullable(),
  policy: z.object({
    stopped: z.enum(['evacuate', 'leave']),
    errorBefore: z.enum(['leave', 'evacuate']),
    memoryLost: z.enum(['stopped', 'start']),
    unasked: z.enum(['recover', 'leave']),
  }),
  brake: z.object({ maxHosts: z.number(), maxShare: z.number() }),
  priority: z.number(),
  maxParallelPerHost: z.number(),
  return: returnRules,
  restart: z
    .object({
      unasked: z.enum(['recover', 'leave']),
      maxRestarts: z.number(),
      withinMs: z.number(),
      maxPerHost: z.number(),
    })
    .describe('How a guest that crashes on a living host is restarted'),
})
export const segmentStatus: z.ZodType<SegmentStatus> = z
  .object({
    name: z.string(),
    hosts: z.array(z.string()),
    verdicts: byVerdict,
    openIncidents: z.array(z.string()),
    rules,
  })
  .meta({ id: 'SegmentStatus' })
