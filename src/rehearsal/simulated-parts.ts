/** The daemon's parts for a simulated cloud: the real client, the real fencing, the real everything, over HTTP. */
import type { CloudBrake } from '../domain/brake.ts'
import type { Clock } from '../domain/clock.ts'
import type { ReviewedJournal } from '../review/incident-listing.ts'
import type { Observer } from '../domain/observer.ts'
import type { Workflow } from '../domain/plan.ts'
import { builtInSettings, type Segment } from '../domain/segment.ts'
import type { Exit } from '../domain/tenure.ts'
import type { Wire } from '../domain/wire.ts'
import { defaultOwnerPolicy } from '../engine/owner-policy.ts'
import { parseAnyWorkflow } from '../engine/workflow.ts'
import { createFencer } from '../fencing/fencer.ts'
import type { FencingMethod } from '../fencing/method.ts'
import { redfishMethod } from '../fencing/redfish.ts'
import { defaultMonitorSettings } from '../monitor/settings.ts'
import { createCloud } from '../openstack/cloud-client.ts'
import { loadCloudConfig } from '../openstack/clouds-file.ts'
import type { Simulator } from '../simulator/index.ts'
import type { DaemonParts } from '../daemon/daemon.ts'
import { shippedWorkflows } from './shipped-workflows.ts'

/** The rules that the demo and tests begin with. */
export const simulatedSegment: Segment = {
  ...builtInSettings,
  name: 'simulated',
  storage: 'shared',
  fencing: ['bmc'],
  probes: ['network', 'bmc'],
  brake: { maxHosts: 2, maxShare: 0.5 },
}

export interface SimulatedOptions {
  clock: Clock
  journal: ReviewedJournal
  /** The one for hosts; the others are the shipped ones. */
  workflow: Workflow
  /** The cloud's report interval. */
  beatMs: number
  observer?: Observer
  segment?: Partial<Segment>
  mode?: 'observe' | 'armed'
  /** Reaches the simulator without sockets, the same way in every run. */
  wire?: Wire | undefined
  brake?: Partial<CloudBrake>
  /** What each write to Nova asks first. Default: a journal of its own, which asks nothing. */
  exit?: Exit
  /** The method that is used, made of the plain one: the same for what is fenced. */
  fencing?: (plain: FencingMethod) => FencingMethod
}

/** Everything a Daemon needs but its journal's path. */
export function simulatedParts(simulator: Simulator, options: SimulatedOptions): Omit<DaemonParts, 'journalPath'> {
  const { clock, journal, workflow, beatMs, wire, exit, fencing = (plain) => plain } = options
  const observer = options.observer ?? {}
  const access = simulator.cloud()
  const env = Object.fromEntries(
    Object.entries(access).map(([key, value]) => [`OS_${key.toUpperCase()}`, String(value)]),
  )
  const bmc = redfishMethod({
    name: 'bmc',
    clock,
    observer,
    requestLimitMs: 2_000,
    wire,
    system: (host) => ({ url: simulator.bmcUrl(host), ...simulator.bmcAccess }),
    verify: { pauseMs: 50, limitMs: 2_000 },
  })
  const segment: Segment = { ...simulatedSegment, ...options.segment }
  return {
    clock,
    cloud: createCloud({
      config: loadCloudConfig({ env, workDir: '/' }),
      clock,
      observer,
      readTimeoutMs: 5_000,
      writeTimeoutMs: 5_000,
      wire,
      exit,
    }),
    fencer: createFencer({ clock, methods: new Map([['bmc', fencing(bmc)]]), observer }),
    journal,
    observer,
    probes: new Map(simulator.probes().map((probe) => [probe.name, probe])),
    segmentOf: () => segment,
    mode: options.mode ?? 'armed',
    workflows: { ...shippedWorkflows(defaultOwnerPolicy), host: workflow },
    ownerPolicy: defaultOwnerPolicy,
    parsePinned: (source) => parseAnyWorkflow(source, 'journal', { ownerPolicy: defaultOwnerPolicy }),
    // The BMC of a crashed host reads On, which says nothing: one kind of probe is all that a simulated host has.
    monitorSettings: {
      ...defaultMonitorSettings,
      pollIntervalMs: beatMs / 2,
      defaultIntervalMs: beatMs,
      minDeadProbeKinds: 1,
      startSilenceMs: 4 * beatMs,
      quietAfterFreezeMs: 6 * beatMs,
    },
    cloudBrake: {
      ...segment.brake,
      failureDomain: null,
      coolDownMs: 60 * beatMs,
      steadyMs: 30 * beatMs,
      siteLossShare: 0.5,
      ...options.brake,
    },
    executorSettings: {
      maxParallel: 32,
      tickMs: 100,
      reconcileQuietMs: 500,
      longestRequestMs: 5_000,
      fenceRetryMs: 2_000,
      fenceRetryMaxMs: 16_000,
    },
    version: 'simulated',
    cloudName: null,
  }
}
