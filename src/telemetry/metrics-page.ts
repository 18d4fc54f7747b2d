/**
 * docs/reference/metrics.md, made from the catalogue: each metric with its unit, its labels and what to do with it. Owns the words
 * that only the page needs; the names are metrics.ts's. A test holds the two together.
 */
import { incidentEnds } from '../domain/entry.ts'
import { catalogue, type MetricEntry } from './metrics.ts'

/** What to do with each metric, by name: the alert that uses it, or how it is read. */
export const uses: Record<string, string> = {
  lifeboat_build_info: 'Shows which release runs where. Missing: LifeboatAbsent',
  lifeboat_start_timestamp_seconds:
    'A value that keeps changing means that the daemon restarts in a loop (LifeboatRestarting)',
  lifeboat_runs_died: '3 or more: it dies in a loop (LifeboatRestarting). Each run sets it once, at its start',
  lifeboat_memory_resident_bytes: 'Compare with the soft limit (LifeboatMemoryHigh)',
  lifeboat_memory_soft_limit_bytes: 'To raise it, give the unit or the machine more memory',
  lifeboat_armed: 'LifeboatNotArmed when it stays 0. Observing is right only while you try it out',
  lifeboat_paused: 'LifeboatPausedLong when it stays 1',
  lifeboat_pauses: 'What is paused now; a pause ends at its end or by lifeboat resume',
  lifeboat_maintenance: 'What is in maintenance now',
  lifeboat_poll_timestamp_seconds: 'LifeboatPollStale on its age',
  lifeboat_polls_total: 'Share of failed polls: how well Nova answers',
  lifeboat_poll_duration_seconds: 'Near the poll interval, every verdict comes late: look at Nova, or poll less often',
  lifeboat_hosts: 'The fleet at a glance. LifeboatContradiction, LifeboatHostDown',
  lifeboat_frozen: 'LifeboatFrozen when it stays 1',
  lifeboat_brake_tripped: 'LifeboatBrakeHeld',
  lifeboat_brake_hosts: 'How close each scope is to its limit: down against allowed',
  lifeboat_incidents:
    'What is under way and what waits. LifeboatIncidentHeld, LifeboatNeedsPerson, LifeboatFenceFailed',
  lifeboat_incidents_opened_total: 'How often hosts and their nova-computes fail, by segment',
  lifeboat_incidents_closed_total: 'How incidents ended; a person stopped the cancelled ones',
  lifeboat_evacuations_total: 'Share not confirmed: how well Nova evacuates',
  lifeboat_instances_total: 'LifeboatInstanceNotRecovered for failed and stuck, LifeboatInstanceLeft for left',
  lifeboat_step_duration_seconds: 'Where the time of a recovery goes, by kind of step',
  lifeboat_api_request_duration_seconds: 'How fast and how well OpenStack answers',
  lifeboat_cloud_info: 'A change means that Nova was upgraded',
  lifeboat_cloud_lands_stopped: 'LifeboatCannotLandStopped when it is 0',
  lifeboat_credential_expiry_timestamp_seconds: 'LifeboatCredentialExpiring two weeks before',
  lifeboat_fence_attempts_total: 'Which method works and which does not. LifeboatFenceMethodFailing',
  lifeboat_fence_attempt_duration_seconds: 'Fencing takes most of the time before the first evacuation',
  lifeboat_detection_latency_seconds: 'Compare with docs/detection.md; a growing tail means a slow poll or probe',
  lifeboat_recovery_duration_seconds: 'How long owners waited, without detection',
  lifeboat_recovery_progress_timestamp_seconds: 'LifeboatRecoveryStuck on its age',
  lifeboat_debts_total: 'LifeboatDebtLeft: the incident says what to clean up',
  lifeboat_returning_hosts: 'LifeboatHostKeptOut, LifeboatReturnWaits: capacity that you do not have',
  lifeboat_returns_total: 'TRAIT_LEFT: the scheduler still avoids that host',
  lifeboat_alarms_total: 'LifeboatAlarm: each is an entry in the journal',
  lifeboat_reports_total:
    '`unknown-host` above 0: a monitor names its host otherwise than Nova does, and protects nothing (LifeboatUnknownHostReported). Correct its host name',
  lifeboat_notices_total: 'LifeboatNoticeDeadLettered',
  lifeboat_notice_queue: 'LifeboatNoticesWait when it stays above 0: a receiver takes no notices',
  lifeboat_config_last_reload_successful: 'LifeboatReloadFailed when it is 0',
  lifeboat_config_last_reload_success_timestamp_seconds: 'Shows whether the file that you changed is in force',
  lifeboat_journal_entries_total: 'Its rate shows how much happens',
  lifeboat_journal_sequence: 'It falls only if someone replaced the journal',
  lifeboat_journal_timestamp_seconds:
    'How long nothing was written. A quiet cloud writes little: alert on writable instead',
  lifeboat_journal_writable: 'LifeboatJournalUnwritable when it is 0',
  lifeboat_journal_last_verify_successful: 'LifeboatJournalBroken when it is 0',
  lifeboat_journal_last_verify_success_timestamp_seconds: 'LifeboatJournalNotVerified on its age',
  lifeboat_active: 'LifeboatNobodyActive, LifeboatTwoActive. A load balancer asks GET /active instead',
  lifeboat_tenure_epoch: 'LifeboatTakesOverOften',
  lifeboat_lease_left_seconds: 'It swings between the lease and a second less; lower: the database commits slowly',
  lifeboat_standbys: 'LifeboatNoStandby when it stays 0',
  lifeboat_daemons_differ: 'LifeboatDaemonsDiffer when it stays above 0',
  lifeboat_name_taken: 'LifeboatNameTaken when it stays 1',
  lifeboat_journal_behind_entries: 'A standby that stays behind cannot take over: look at its log',
  lifeboat_journal_staged_entries: 'Above 0 for seconds: the database does not commit, and recoveries wait for it',
  lifeboat_journal_put_back_entries: 'LifeboatEntriesPutBack: the database lost what it had confirmed',
  lifeboat_journal_copies_put_aside: 'LifeboatCopyPutAside: a copy had entries that the shared journal has not',
  lifeboat_journal_size_bytes: 'Shows how fast the disk fills',
  lifeboat_journal_free_bytes: 'LifeboatDiskFilling',
  lifeboat_journal_append_duration_seconds: 'Each write to Nova waits for one: a slow disk slows every recovery',
}

/** What the values of a label are, by label, or by metric and label where it means something of its own. */
export const labelMeanings: Record<string, string> = {
  version: "Lifeboat's release",
  node: "Node's release",
  scope: 'cloud, segment or host',
  'lifeboat_brake_tripped scope': 'cloud, segment:NAME or domain:NAME',
  'lifeboat_brake_hosts scope': 'cloud, segment:NAME or domain:NAME',
  count: 'down or allowed',
  result: 'how it ended',
  'lifeboat_polls_total result': 'ok or failed',
  'lifeboat_step_duration_seconds result': 'confirmed or failed',
  'lifeboat_fence_attempts_total result': 'succeeded, failed or unknown',
  'lifeboat_fence_attempt_duration_seconds result': 'succeeded, failed or unknown',
  about: 'COMPUTE_HOST, PROCESS or VM',
  'lifeboat_reports_total result':
    'taken: on record; ignored: nothing follows from it; repeated, maintenance, unknown-host: refused',
  'lifeboat_notices_total result': 'sent, failed or dead-lettered',
  'lifeboat_journal_append_duration_seconds result': 'written or failed',
  segment: 'name of the segment',
  verdict: 'the verdict: healthy, suspect, host-down, …',
  phase:
    'how far the incident is: confirming, fencing, …, sweeping; watching: of a process; restarting: of an instance',
  held: 'why it waits (hold code), or none',
  mode: 'observe or armed',
  outcome: 'how it ended',
  'lifeboat_incidents_closed_total outcome': Object.keys(incidentEnds).join(', '),
  failure: 'host, process or instance; unknown for an incident of an earlier run',
  'lifeboat_instances_total outcome': 'recovered, left, failed or stuck',
  'lifeboat_evacuations_total outcome': 'confirmed, or the error code',
  code: 'reason or error code',
  kind: 'kind of step',
  'lifeboat_credential_expiry_timestamp_seconds kind': 'token, password or application-credential',
  service: 'identity, compute, volume, placement or bmc',
  method: 'HTTP method',
  'lifeboat_fence_attempts_total method': 'name of the fencing method, or operator',
  'lifeboat_fence_attempt_duration_seconds method': 'name of the fencing method, or operator',
  status: '1xx to 5xx, or none without an answer',
  max_microversion: 'for example 2.100',
  state: 'how far its return to service is',
  receiver: 'name of the receiver of notices',
}

const entries: readonly MetricEntry[] = Object.values(catalogue)

/** The unit, which the end of the name says, as Prometheus has it. */
export function unitOf({ name, type }: Pick<MetricEntry, 'name' | 'type'>): string {
  if (name.endsWith('_timestamp_seconds')) return 'Unix time, s'
  if (name.endsWith('_seconds')) return 's'
  if (name.endsWith('_bytes')) return 'bytes'
  if (type === 'counter') return 'count since the start'
  return name.endsWith('_info') ? '–' : 'number'
}

/** What a label's values are; empty when nobody said. */
export function meaningOf(metric: string, label: string): string {
  return labelMeanings[`${metric} ${label}`] ?? labelMeanings[label] ?? ''
}

/** docs/reference/metrics.md. */
export function metricsPage(): string {
  const rows = entries.map((entry) => {
    const labels = entry.labels.map((label) => `\`${label}\`: ${meaningOf(entry.name, label)}`).join('; ')
    return `| \`${entry.name}\` | ${entry.type} | ${unitOf(entry)} | ${labels} | ${entry.help} | ${uses[entry.name] ?? ''} |`
  })
  const head = [
    '# Metrics',
    '',
    '`src/telemetry/metrics-page.ts` writes this page from `src/telemetry/metrics.ts`: change the text there.',
    'The alerts are in `config/prometheus/lifeboat.rules`, what to do about each in [runbook.md](../runbook.md), the dashboard in',
    '`config/grafana/lifeboat.json`. No label is ever the id of an instance, an incident or a request: the log and the journal have',
    'those.',
    '',
    '| Name | Type | Unit | Labels | Meaning | What to do with it |',
    '| --- | --- | --- | --- | --- | --- |',
  ]
  return `${[...head, ...rows].join('\n')}\n`
}
