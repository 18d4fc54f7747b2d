/**
 * The metric catalogue: the only place where metrics are made. Names carry `lifeboat_`, base units and `_total` for counters;
 * labels come from closed sets, never from ids of instances, incidents or requests. metrics-page.ts writes docs/reference/metrics.md.
 *
 * A gauge that would freeze when its loop dies has a time stamp beside it (lifeboat_poll_timestamp_seconds).
 */
import { Counter, Gauge, Histogram, Registry, type MetricConfiguration } from 'prom-client'

const apiSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const appendSeconds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1]
const stepSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800]
/**
 * Close together where a decision lies: 2.5 to 3 heartbeats of 2 s (5, 6) and of 10 s (25, 30), Nova's service_down_time of
 * 60 s with a poll and a heartbeat around it (50 to 75), and 10 heartbeats, the most that a host that pauses is given (100).
 */
const detectionSeconds = [2.5, 5, 6, 7.5, 10, 15, 20, 25, 27.5, 30, 35, 40, 50, 60, 65, 75, 100, 150, 300]
const recoverySeconds = [1, 2.5, 5, 10, 15, 20, 30, 45, 60, 120, 300, 600, 1800, 3600]

export interface MetricEntry {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: readonly string[]
  buckets?: readonly number[]
}

/** Every metric, in the order of the page. */
export const catalogue = {
  buildInfo: {
    name: 'lifeboat_build_info',
    type: 'gauge',
    help: 'Always 1; the labels say which release runs',
    labels: ['version', 'node'],
  },
  startTime: { name: 'lifeboat_start_timestamp_seconds', type: 'gauge', help: 'When this daemon started', labels: [] },
  deaths: {
    name: 'lifeboat_runs_died',
    type: 'gauge',
    help: 'Runs of the daemon that died, without an orderly stop, in the ten minutes before this one started',
    labels: [],
  },
  configReloadOk: {
    name: 'lifeboat_config_last_reload_successful',
    type: 'gauge',
    help: '1 when the configuration that was read last is in force, 0 when it was refused and an earlier one holds on',
    labels: [],
  },
  configReloadTimestamp: {
    name: 'lifeboat_config_last_reload_success_timestamp_seconds',
    type: 'gauge',
    help: 'When the configuration in force was read',
    labels: [],
  },
  memoryUsed: {
    name: 'lifeboat_memory_resident_bytes',
    type: 'gauge',
    help: 'Resident memory of the daemon',
    labels: [],
  },
  memoryLimit: {
    name: 'lifeboat_memory_soft_limit_bytes',
    type: 'gauge',
    help: 'Above this much resident memory recoveries begin one after another',
    labels: [],
  },
  armed: { name: 'lifeboat_armed', type: 'gauge', help: '1 when the daemon acts, 0 when it only observes', labels: [] },
  paused: {
    name: 'lifeboat_paused',
    type: 'gauge',
    help: '1 while recoveries are paused in the whole cloud',
    labels: [],
  },
  pauses: {
    name: 'lifeboat_pauses',
    type: 'gauge',
    help: 'Pauses in force, by what they take in: cloud, segment or host',
    labels: ['scope'],
  },
  maintenance: {
    name: 'lifeboat_maintenance',
    type: 'gauge',
    help: 'Maintenance in force, by what it takes in: cloud, segment or host. Silent hosts in it are not recovered',
    labels: ['scope'],
  },
  pollTimestamp: {
    name: 'lifeboat_poll_timestamp_seconds',
    type: 'gauge',
    help: 'When the last poll ended that Nova answered. Alert on its age: everything else stands still with it',
    labels: [],
  },
  polls: { name: 'lifeboat_polls_total', type: 'counter', help: 'Polls of the compute services', labels: ['result'] },
  pollDuration: {
    name: 'lifeboat_poll_duration_seconds',
    type: 'histogram',
    help: 'How long a poll took, probes included',
    labels: [],
    buckets: apiSeconds,
  },
  hosts: {
    name: 'lifeboat_hosts',
    type: 'gauge',
    help: 'Hosts by what the monitor concludes about them',
    labels: ['segment', 'verdict'],
  },
  frozen: {
    name: 'lifeboat_frozen',
    type: 'gauge',
    help: '1 while verdicts are frozen because the control plane cannot be trusted',
    labels: [],
  },
  brakeTripped: {
    name: 'lifeboat_brake_tripped',
    type: 'gauge',
    help: '1 while the brake holds recoveries in this scope: cloud, segment:NAME or domain:NAME',
    labels: ['scope'],
  },
  brakeHosts: {
    name: 'lifeboat_brake_hosts',
    type: 'gauge',
    help: 'Hosts that count as down in this scope of the brake (count is down), and how many may be (count is allowed)',
    labels: ['scope', 'count'],
  },
  incidents: {
    name: 'lifeboat_incidents',
    type: 'gauge',
    help: 'Open incidents by phase; held is the hold code, or none',
    labels: ['phase', 'held'],
  },
  incidentsOpened: {
    name: 'lifeboat_incidents_opened_total',
    type: 'counter',
    help: 'Incidents opened',
    labels: ['segment', 'mode'],
  },
  incidentsClosed: {
    name: 'lifeboat_incidents_closed_total',
    type: 'counter',
    help: 'Incidents closed, by how',
    labels: ['segment', 'outcome'],
  },
  evacuations: {
    name: 'lifeboat_evacuations_total',
    type: 'counter',
    help: 'Evacuations that were tried, by how the attempt ended',
    labels: ['segment', 'outcome'],
  },
  instances: {
    name: 'lifeboat_instances_total',
    type: 'counter',
    help: 'Instances by how their recovery ended; code is the reason or the error code',
    labels: ['outcome', 'code'],
  },
  steps: {
    name: 'lifeboat_step_duration_seconds',
    type: 'histogram',
    help: 'From intending a step to reading its end back from the cloud',
    labels: ['kind', 'result'],
    buckets: stepSeconds,
  },
  requests: {
    name: 'lifeboat_api_request_duration_seconds',
    type: 'histogram',
    help: 'Requests to OpenStack and BMCs; status is the class of the answer, or none',
    labels: ['service', 'method', 'status'],
    buckets: apiSeconds,
  },
  cloudInfo: {
    name: 'lifeboat_cloud_info',
    type: 'gauge',
    help: 'Always 1; the label says the highest compute microversion of the cloud',
    labels: ['max_microversion'],
  },
  landsStopped: {
    name: 'lifeboat_cloud_lands_stopped',
    type: 'gauge',
    help: '1 when Nova can land an evacuated instance stopped (microversion 2.95), 0 when it cannot',
    labels: [],
  },
  credentialExpiry: {
    name: 'lifeboat_credential_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the credential that the daemon logs in with ends. Missing when it has no end or Keystone does not tell',
    labels: ['kind'],
  },
  fenceAttempts: {
    name: 'lifeboat_fence_attempts_total',
    type: 'counter',
    help: 'Fencing attempts that ended: succeeded, failed, or unknown where the host may have been fenced all the same',
    labels: ['method', 'result'],
  },
  fenceDuration: {
    name: 'lifeboat_fence_attempt_duration_seconds',
    type: 'histogram',
    help: 'How long a fencing attempt took, verification included',
    labels: ['method', 'result'],
    buckets: stepSeconds,
  },
  detection: {
    name: 'lifeboat_detection_latency_seconds',
    type: 'histogram',
    help: 'From the last heartbeat seen of a host to its verdict host-down. Freezes count; a host never seen beating does not',
    labels: ['segment'],
    buckets: detectionSeconds,
  },
  recovery: {
    name: 'lifeboat_recovery_duration_seconds',
    type: 'histogram',
    help: 'From opening an incident to the last outcome of its instances',
    labels: ['segment'],
    buckets: recoverySeconds,
  },
  recoveryProgress: {
    name: 'lifeboat_recovery_progress_timestamp_seconds',
    type: 'gauge',
    help: 'Of the recoveries under way (not held), the one that stood still longest: when its last entry was written',
    labels: ['segment'],
  },
  leftovers: {
    name: 'lifeboat_debts_total',
    type: 'counter',
    help: 'Things left behind that a person has to clean up',
    labels: ['code'],
  },
  returningHosts: {
    name: 'lifeboat_returning_hosts',
    type: 'gauge',
    help: 'Hosts that carry what a closed incident of ours set, by how far they are on their way back',
    labels: ['state'],
  },
  returns: {
    name: 'lifeboat_returns_total',
    type: 'counter',
    help: 'Returns of hosts that ended; code says how, e.g. BACK, TRAIT_LEFT, TAKEN_BACK_BY_OTHERS',
    labels: ['code'],
  },
  alarms: { name: 'lifeboat_alarms_total', type: 'counter', help: 'Alarms raised', labels: ['code'] },
  notices: {
    name: 'lifeboat_notices_total',
    type: 'counter',
    help: 'Notices by receiver: sent, failed (a try; it is tried again) or dead-lettered (given up)',
    labels: ['receiver', 'result'],
  },
  noticeQueue: {
    name: 'lifeboat_notice_queue',
    type: 'gauge',
    help: 'Notices that wait for a receiver, those under way included',
    labels: ['receiver'],
  },
  journalEntries: {
    name: 'lifeboat_journal_entries_total',
    type: 'counter',
    help: 'Journal entries written by this daemon',
    labels: [],
  },
  journalSequence: {
    name: 'lifeboat_journal_sequence',
    type: 'gauge',
    help: 'The sequence of the newest journal entry',
    labels: [],
  },
  journalTimestamp: {
    name: 'lifeboat_journal_timestamp_seconds',
    type: 'gauge',
    help: 'When the journal was last written or found writable',
    labels: [],
  },
  journalWritable: {
    name: 'lifeboat_journal_writable',
    type: 'gauge',
    help: '1 while the journal takes entries, 0 since the last try failed; nothing is done meanwhile',
    labels: [],
  },
  journalVerifyOk: {
    name: 'lifeboat_journal_last_verify_successful',
    type: 'gauge',
    help: '1 when the last walk over the whole hash chain found it whole, 0 when not. Missing until the first walk of this daemon',
    labels: [],
  },
  journalVerifyTimestamp: {
    name: 'lifeboat_journal_last_verify_success_timestamp_seconds',
    type: 'gauge',
    help: 'When the whole hash chain was last found whole. Missing until the first walk of this daemon',
    labels: [],
  },
  journalSize: {
    name: 'lifeboat_journal_size_bytes',
    type: 'gauge',
    help: 'Size of the journal, write-ahead log included',
    labels: [],
  },
  journalFree: {
    name: 'lifeboat_journal_free_bytes',
    type: 'gauge',
    help: 'Space left to the daemon where the journal lies',
    labels: [],
  },
  journalAppend: {
    name: 'lifeboat_journal_append_duration_seconds',
    type: 'histogram',
    help: 'How long it took to make entries durable',
    labels: ['result'],
    buckets: appendSeconds,
  },
} as const satisfies Record<string, MetricEntry>

type Catalogue = typeof catalogue
export type MetricName = keyof Catalogue
type LabelOf<K extends MetricName> = Catalogue[K]['labels'][number]
type Made<K extends MetricName> = Catalogue[K]['type'] extends 'counter'
  ? Counter<LabelOf<K>>
  : Catalogue[K]['type'] extends 'gauge'
    ? Gauge<LabelOf<K>>
    : Histogram<LabelOf<K>>

export type Metrics = { [K in MetricName]: Made<K> }

/** All metrics of the catalogue in a registry of their own: two daemons in one process (tests) do not meet. */
export function createMetrics(): { metrics: Metrics; registry: Registry } {
  const registry = new Registry()
  const made = Object.entries(catalogue).map(([key, entry]) => [key, make(entry, registry)])
  return { metrics: Object.fromEntries(made) as Metrics, registry }
}

function make(entry: MetricEntry, registry: Registry): Counter | Gauge | Histogram {
  const settings: MetricConfiguration<string> = {
    name: entry.name,
    help: entry.help,
    labelNames: [...entry.labels],
    registers: [registry],
  }
  if (entry.type === 'counter') return new Counter(settings)
  if (entry.type === 'gauge') {
    const gauge = new Gauge(settings)
    // The library begins with 0, which reads as "not" or as 1970 before anybody looked: what is not known is not said.
    if (entry.labels.length === 0) gauge.remove()
    return gauge
  }
  return new Histogram({ ...settings, buckets: [...(entry.buckets ?? apiSeconds)] })
}
