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
    help: 'Runs of the daemon that died without an orderly stop in the ten minutes before this one started',
    labels: [],
  },
  configReloadOk: {
    name: 'lifeboat_config_last_reload_successful',
    type: 'gauge',
    help: '1 if the last reload succeeded, 0 if it was rejected and the previous configuration is still active',
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
    help: 'Above this resident memory, recoveries begin one at a time',
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
    help: 'Pauses in force, by scope',
    labels: ['scope'],
  },
  maintenance: {
    name: 'lifeboat_maintenance',
    type: 'gauge',
    help: 'Maintenance in force, by scope. Silent hosts in it are not recovered',
    labels: ['scope'],
  },
  pollTimestamp: {
    name: 'lifeboat_poll_timestamp_seconds',
    type: 'gauge',
    help: 'When the last poll that Nova answered ended. Alert on its age: without polls nothing is recovered',
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
    help: 'Hosts by verdict',
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
    help: 'Hosts that are down in this scope of the brake (count is down), and how many may be down (count is allowed)',
    labels: ['scope', 'count'],
  },
  incidents: {
    name: 'lifeboat_incidents',
    type: 'gauge',
    help: 'Open incidents by phase; held is why they wait (hold code), or none',
    labels: ['phase', 'held'],
  },
  incidentsOpened: {
    name: 'lifeboat_incidents_opened_total',
    type: 'counter',
    help: 'Incidents opened',
    labels: ['segment', 'failure', 'mode'],
  },
  incidentsClosed: {
    name: 'lifeboat_incidents_closed_total',
    type: 'counter',
    help: 'Incidents closed, by outcome',
    labels: ['segment', 'failure', 'outcome'],
  },
  evacuations: {
    name: 'lifeboat_evacuations_total',
    type: 'counter',
    help: 'Evacuation attempts, by result',
    labels: ['segment', 'outcome'],
  },
  instances: {
    name: 'lifeboat_instances_total',
    type: 'counter',
    help: 'Instances by outcome; code is the reason or the error code',
    labels: ['outcome', 'code'],
  },
  steps: {
    name: 'lifeboat_step_duration_seconds',
    type: 'histogram',
    help: 'Time from the record of a step to reading its result back from the cloud',
    labels: ['kind', 'result'],
    buckets: stepSeconds,
  },
  requests: {
    name: 'lifeboat_api_request_duration_seconds',
    type: 'histogram',
    help: 'Duration of requests to OpenStack and BMCs; status is the class of the answer, or none',
    labels: ['service', 'method', 'status'],
    buckets: apiSeconds,
  },
  cloudInfo: {
    name: 'lifeboat_cloud_info',
    type: 'gauge',
    help: 'Always 1; the label is the highest compute microversion of the cloud',
    labels: ['max_microversion'],
  },
  landsStopped: {
    name: 'lifeboat_cloud_lands_stopped',
    type: 'gauge',
    help: '1 if Nova can land an evacuated instance stopped (microversion 2.95), else 0',
    labels: [],
  },
  credentialExpiry: {
    name: 'lifeboat_credential_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the credential of the daemon expires. Missing if it never does, or Keystone does not say',
    labels: ['kind'],
  },
  fenceAttempts: {
    name: 'lifeboat_fence_attempts_total',
    type: 'counter',
    help: 'Fencing attempts by result; unknown: the host may or may not have been fenced',
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
    help: 'Time from the last heartbeat of a host to its verdict host-down. Includes freezes; excludes hosts never seen beating',
    labels: ['segment'],
    buckets: detectionSeconds,
  },
  recovery: {
    name: 'lifeboat_recovery_duration_seconds',
    type: 'histogram',
    help: 'Time from opening an incident to the outcome of its last instance',
    labels: ['segment'],
    buckets: recoverySeconds,
  },
  recoveryProgress: {
    name: 'lifeboat_recovery_progress_timestamp_seconds',
    type: 'gauge',
    help: 'When the last entry was written of the recovery that has stood still longest, of those under way and not held',
    labels: ['segment'],
  },
  leftovers: {
    name: 'lifeboat_debts_total',
    type: 'counter',
    help: 'Leftovers of recoveries that a person must clean up',
    labels: ['code'],
  },
  returningHosts: {
    name: 'lifeboat_returning_hosts',
    type: 'gauge',
    help: 'Hosts that still carry the flags of a closed incident, by how far their return to service is',
    labels: ['state'],
  },
  returns: {
    name: 'lifeboat_returns_total',
    type: 'counter',
    help: 'Returns of hosts that ended; code is the result, e.g. BACK, TRAIT_LEFT, TAKEN_BACK_BY_OTHERS',
    labels: ['code'],
  },
  alarms: { name: 'lifeboat_alarms_total', type: 'counter', help: 'Alarms raised', labels: ['code'] },
  reports: {
    name: 'lifeboat_reports_total',
    type: 'counter',
    help: "Reports of Masakari's monitors, by what was answered",
    labels: ['about', 'result'],
  },
  notices: {
    name: 'lifeboat_notices_total',
    type: 'counter',
    help: 'Notices by receiver: sent, failed (an attempt; it is retried) or dead-lettered (given up)',
    labels: ['receiver', 'result'],
  },
  noticeQueue: {
    name: 'lifeboat_notice_queue',
    type: 'gauge',
    help: 'Notices waiting for a receiver, including those being sent',
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
    help: '1 if the journal can be written, 0 if the last write failed. While it is 0, Lifeboat sends nothing',
    labels: [],
  },
  journalVerifyOk: {
    name: 'lifeboat_journal_last_verify_successful',
    type: 'gauge',
    help: '1 if the last check of the whole hash chain found it intact, else 0. Missing until the first check of this daemon',
    labels: [],
  },
  journalVerifyTimestamp: {
    name: 'lifeboat_journal_last_verify_success_timestamp_seconds',
    type: 'gauge',
    help: 'When a check last found the whole hash chain intact. Missing until the first check of this daemon',
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
    help: 'Free space for the daemon on the disk of the journal',
    labels: [],
  },
  active: {
    name: 'lifeboat_active',
    type: 'gauge',
    help: '1 while this daemon acts, 0 while it stands by. Missing where the journal is not shared',
    labels: [],
  },
  tenureEpoch: {
    name: 'lifeboat_tenure_epoch',
    type: 'gauge',
    help: 'Number of the tenure, as this daemon knows it: it rises with each take-over of the shared journal',
    labels: [],
  },
  leaseLeft: {
    name: 'lifeboat_lease_left_seconds',
    type: 'gauge',
    help: 'How long this daemon may act without another renewal; 0 while it is not active',
    labels: [],
  },
  standbys: {
    name: 'lifeboat_standbys',
    type: 'gauge',
    help: 'Daemons beside the active one that this daemon heard of within the last ten seconds',
    labels: [],
  },
  daemonsDiffer: {
    name: 'lifeboat_daemons_differ',
    type: 'gauge',
    help: 'Of those daemons, how many have another release, mode or configuration than this one',
    labels: [],
  },
  nameTaken: {
    name: 'lifeboat_name_taken',
    type: 'gauge',
    help: '1 while another daemon runs under the name of this one',
    labels: [],
  },
  journalBehind: {
    name: 'lifeboat_journal_behind_entries',
    type: 'gauge',
    help: "Entries of the shared journal that this daemon's copy lacks",
    labels: [],
  },
  journalStaged: {
    name: 'lifeboat_journal_staged_entries',
    type: 'gauge',
    help: 'Entries that the shared journal has not confirmed yet: what rests on them waits',
    labels: [],
  },
  journalPutBack: {
    name: 'lifeboat_journal_put_back_entries',
    type: 'gauge',
    help: "Entries that the shared journal had lost and this daemon's copy put back since it started",
    labels: [],
  },
  journalAside: {
    name: 'lifeboat_journal_copies_put_aside',
    type: 'gauge',
    help: 'Copies with other entries than the shared journal, which were put aside on this machine and are still there',
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
