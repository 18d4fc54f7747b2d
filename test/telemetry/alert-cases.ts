/**
 * What makes each alert fire, and what does not, over simulated time. `series` are in promtool's notation: a first value,
 * then what is added at each interval (`0x5` stands still for five more, `_x3` are three missed scrapes).
 */
export interface AlertCase {
  alert: string
  /** What the case shows. */
  when: string
  series: Record<string, string>
  /** Default: 1m. */
  interval?: string
  /** It is quiet here, for every series. */
  quietAt: string[]
  firesAt: string
  /** Beside alertname and severity, for each instance of the alert. */
  labels: Record<string, string>[]
}

const at = 'job="lifeboat",instance="a"'
const well = 'job="lifeboat",instance="well"'
const a = { job: 'lifeboat', instance: 'a' }
const day = 86_400

const counter = (alert: string, metric: string, fixed: string, labels: Record<string, string>): AlertCase[] => {
  const own = Object.entries(labels).map(([name, value]) => `,${name}="${value}"`)
  const series = `${metric}{${at}${fixed}${own.join('')}}`
  return [
    {
      alert,
      when: 'the first event of its kind counts, and is over a quarter of an hour later',
      series: { [series]: '_x9 1x60' },
      quietAt: ['5m', '40m'],
      firesAt: '12m',
      labels: [{ ...a, ...labels }],
    },
    {
      alert,
      when: 'one more counts, a missed scrape does not',
      series: { [series]: '3x30 _x3 3x40 4x20' },
      quietAt: ['25m', '49m', '70m'],
      firesAt: '76m',
      labels: [{ ...a, ...labels }],
    },
  ]
}

export const alertCases: AlertCase[] = [
  {
    alert: 'LifeboatAbsent',
    when: 'the daemon is gone; a few missed scrapes are not',
    series: { [`lifeboat_build_info{${at},version="1",node="20"}`]: '1x10 _x3 1x10 _x30' },
    quietAt: ['10m', '13m', '24m'],
    firesAt: '32m',
    labels: [{ job: 'lifeboat' }],
  },
  {
    alert: 'LifeboatAbsent',
    when: 'the daemon of one cloud is gone, and that of another one runs',
    series: {
      [`lifeboat_build_info{${at},version="1",node="20"}`]: '1x10 _x3 1x10 _x60',
      'lifeboat_build_info{job="other",instance="c",version="1",node="20"}': '1x100',
    },
    quietAt: ['10m', '13m', '24m'],
    firesAt: '60m',
    labels: [{ job: 'lifeboat' }],
  },
  {
    alert: 'LifeboatRestarting',
    when: 'four starts in half an hour; one is a restart',
    series: {
      [`lifeboat_start_timestamp_seconds{${at}}`]: '0x10 600x10 1200x3 1400x3 1600x3 1800x20',
      [`lifeboat_start_timestamp_seconds{${well}}`]: '0x10 600x60',
    },
    quietAt: ['15m'],
    firesAt: '33m',
    labels: [a],
  },
  {
    alert: 'LifeboatRestarting',
    when: 'three runs died before one that was scraped; it is over once a run has lasted ten minutes',
    series: {
      [`lifeboat_runs_died{${at}}`]: '_x10 3x40',
      [`lifeboat_start_timestamp_seconds{${at}}`]: '_x10 600x40',
      [`lifeboat_runs_died{${well}}`]: '_x10 2x40',
      [`lifeboat_start_timestamp_seconds{${well}}`]: '_x10 600x40',
    },
    quietAt: ['9m', '21m'],
    firesAt: '12m',
    labels: [a],
  },
  {
    alert: 'LifeboatPollStale',
    when: 'the last good poll is three minutes old; two missed scrapes hide nothing and raise nothing',
    series: {
      [`lifeboat_poll_timestamp_seconds{${at}}`]: '0+60x10 _x1 720+60x5 1020x30',
      [`lifeboat_poll_timestamp_seconds{${well}}`]: '0+60x60',
      [`lifeboat_start_timestamp_seconds{${at}}`]: '0x60',
      [`lifeboat_start_timestamp_seconds{${well}}`]: '0x60',
    },
    quietAt: ['5m', '11m', '18m'],
    firesAt: '22m',
    labels: [a],
  },
  {
    alert: 'LifeboatPollStale',
    when: 'Nova never answered since the start',
    series: { [`lifeboat_start_timestamp_seconds{${at}}`]: '0x60' },
    quietAt: ['1m', '2m'],
    firesAt: '5m',
    labels: [a],
  },
  {
    alert: 'LifeboatNotArmed',
    when: 'it observes for more than a day',
    series: { [`lifeboat_armed{${at}}`]: '1x12 0x60', [`lifeboat_armed{${well}}`]: '1x30 0x10 1x40' },
    interval: '1h',
    quietAt: ['12h', '30h'],
    firesAt: '38h',
    labels: [a],
  },
  {
    alert: 'LifeboatPausedLong',
    when: 'a pause lasts for more than four hours',
    series: { [`lifeboat_paused{${at}}`]: '0x60 1x400', [`lifeboat_paused{${well}}`]: '0x60 1x100 0x300' },
    quietAt: ['1h', '4h'],
    firesAt: '310m',
    labels: [a],
  },
  {
    alert: 'LifeboatReloadFailed',
    when: 'the file was refused',
    series: {
      [`lifeboat_config_last_reload_successful{${at}}`]: '1x10 0x30',
      [`lifeboat_config_last_reload_successful{${well}}`]: '1x40',
    },
    quietAt: ['10m'],
    firesAt: '18m',
    labels: [a],
  },
  ...['password', 'application-credential'].flatMap((kind): AlertCase[] =>
    (
      [
        ['LifeboatCredentialExpiring', '5d', '7d'],
        ['LifeboatCredentialEnding', '17d', '19d'],
      ] as const
    ).map(([alert, quiet, fires]) => ({
      alert,
      when: `the ${kind} comes to its end; one that was renewed does not, nor one without an end`,
      series: {
        [`lifeboat_credential_expiry_timestamp_seconds{${at},kind="${kind}"}`]: `${20 * day}x480`,
        [`lifeboat_credential_expiry_timestamp_seconds{${well},kind="${kind}"}`]: `${20 * day}x96 ${80 * day}x400`,
        [`lifeboat_credential_expiry_timestamp_seconds{job="lifeboat",instance="token",kind="token"}`]: '3600+3600x480',
      },
      interval: '1h',
      quietAt: [quiet],
      firesAt: fires,
      labels: [{ ...a, kind }],
    })),
  ),
  {
    alert: 'LifeboatCannotLandStopped',
    when: '2.95 is missing; a single old API node that answers once is not',
    series: {
      [`lifeboat_cloud_lands_stopped{${at}}`]: '1x10 0x120',
      [`lifeboat_cloud_lands_stopped{${well}}`]: '1x10 0x10 1x110',
    },
    quietAt: ['20m', '45m'],
    firesAt: '75m',
    labels: [a],
  },
  {
    alert: 'LifeboatMemoryHigh',
    when: 'it stays above the soft limit',
    series: {
      [`lifeboat_memory_resident_bytes{${at}}`]: '100x10 300x40',
      [`lifeboat_memory_soft_limit_bytes{${at}}`]: '200x50',
      [`lifeboat_memory_resident_bytes{${well}}`]: '100x10 300x2 100x40',
      [`lifeboat_memory_soft_limit_bytes{${well}}`]: '200x50',
    },
    quietAt: ['10m', '20m'],
    firesAt: '25m',
    labels: [a],
  },
  ...counter('LifeboatAlarm', 'lifeboat_alarms_total', '', { code: 'JOURNAL_CORRUPT' }),
  ...counter('LifeboatUnknownHostReported', 'lifeboat_reports_total', ',about="PROCESS",result="unknown-host"', {}),
  {
    alert: 'LifeboatUnknownHostReported',
    when: 'reports that are taken or refused for another reason do not count',
    series: {
      [`lifeboat_reports_total{${at},about="VM",result="taken"}`]: '0+1x30',
      [`lifeboat_reports_total{${at},about="VM",result="repeated"}`]: '0+1x30',
      [`lifeboat_reports_total{${at},about="VM",result="unknown-host"}`]: '_x19 1x20',
    },
    quietAt: ['15m'],
    firesAt: '22m',
    labels: [a],
  },
  ...counter('LifeboatNoticeDeadLettered', 'lifeboat_notices_total', ',result="dead-lettered"', { receiver: 'pager' }),
  {
    alert: 'LifeboatNoticeDeadLettered',
    when: 'only what was given up counts, not what was sent or is tried again',
    series: {
      [`lifeboat_notices_total{${at},receiver="pager",result="sent"}`]: '0+1x30',
      [`lifeboat_notices_total{${at},receiver="pager",result="failed"}`]: '0+1x30',
      [`lifeboat_notices_total{${at},receiver="pager",result="dead-lettered"}`]: '_x20 1x20',
    },
    quietAt: ['18m'],
    firesAt: '22m',
    labels: [{ ...a, receiver: 'pager' }],
  },
  {
    alert: 'LifeboatNoticesWait',
    when: 'a receiver takes nothing; one that was away for a moment is not told of',
    series: {
      [`lifeboat_notice_queue{${at},receiver="pager"}`]: '0x10 2x30',
      [`lifeboat_notice_queue{${at},receiver="room"}`]: '0x10 3x12 0x30',
    },
    quietAt: ['24m'],
    firesAt: '28m',
    labels: [{ ...a, receiver: 'pager' }],
  },
  {
    alert: 'LifeboatFrozen',
    when: 'a freeze lasts; a short one is ordinary',
    series: { [`lifeboat_frozen{${at}}`]: '0x10 1x30', [`lifeboat_frozen{${well}}`]: '0x10 1x3 0x30' },
    quietAt: ['10m', '19m'],
    firesAt: '22m',
    labels: [a],
  },
  {
    alert: 'LifeboatBrakeHeld',
    when: 'the brake of a scope trips',
    series: {
      [`lifeboat_brake_tripped{${at},scope="segment:az1"}`]: '0x10 1x10',
      [`lifeboat_brake_tripped{${at},scope="cloud"}`]: '0x20',
    },
    quietAt: ['10m'],
    firesAt: '11m',
    labels: [{ ...a, scope: 'segment:az1' }],
  },
  {
    alert: 'LifeboatContradiction',
    when: 'a host beats under someone’s forced_down',
    series: {
      [`lifeboat_hosts{${at},segment="az1",verdict="contradiction"}`]: '0x10 1x10',
      [`lifeboat_hosts{${at},segment="az2",verdict="contradiction"}`]: '0x20',
      [`lifeboat_hosts{${at},segment="az1",verdict="healthy"}`]: '9x20',
    },
    quietAt: ['10m'],
    firesAt: '11m',
    labels: [{ ...a, segment: 'az1', verdict: 'contradiction' }],
  },
  {
    alert: 'LifeboatHostDown',
    when: 'a dead host stays without recovery; one that is taken up at once does not',
    series: {
      [`lifeboat_hosts{${at},segment="az1",verdict="host-down"}`]: '0x10 1x40',
      [`lifeboat_hosts{${at},segment="az2",verdict="host-down"}`]: '0x10 1x1 0x40',
    },
    quietAt: ['10m', '24m'],
    firesAt: '27m',
    labels: [{ ...a, segment: 'az1', verdict: 'host-down' }],
  },
  ...['FENCING_MISSING', 'HOST_ALIVE', 'NOVA_REFUSED', 'WORKFLOW_UNREADABLE', 'INTERNAL_ERROR'].map(
    (held): AlertCase => ({
      alert: 'LifeboatNeedsPerson',
      when: `an incident waits, ${held}; another one goes on by itself`,
      series: {
        [`lifeboat_incidents{${at},phase="fencing",held="${held}"}`]: '_x10 1x10',
        [`lifeboat_incidents{${at},phase="fencing",held="none"}`]: '1x20',
        [`lifeboat_incidents{${well},phase="fencing",held="BRAKE"}`]: '1x20',
      },
      quietAt: ['9m'],
      firesAt: '11m',
      labels: [{ ...a, held }],
    }),
  ),
  {
    alert: 'LifeboatFenceFailed',
    when: 'an incident is held because nothing could fence its host',
    series: {
      [`lifeboat_incidents{${at},phase="fencing",held="FENCE_FAILED"}`]: '_x10 1x10',
      [`lifeboat_incidents{${well},phase="fencing",held="none"}`]: '1x20',
    },
    quietAt: ['9m'],
    firesAt: '11m',
    labels: [a],
  },
  {
    alert: 'LifeboatIncidentHeld',
    when: 'a hold lasts; those that have alerts of their own do not count here',
    series: {
      [`lifeboat_incidents{${at},phase="fencing",held="PAUSED"}`]: '_x10 1x30',
      [`lifeboat_incidents{${at},phase="fencing",held="FENCE_FAILED"}`]: '1x40',
      [`lifeboat_incidents{${at},phase="recovering",held="none"}`]: '1x40',
      [`lifeboat_incidents{${well},phase="fencing",held="FROZEN"}`]: '_x10 1x2 _x30',
      [`lifeboat_incidents{${well},phase="recovering",held="LATE_LOCK"}`]: '1x40',
    },
    quietAt: ['9m', '19m'],
    firesAt: '22m',
    labels: [{ ...a, held: 'PAUSED' }],
  },
  {
    alert: 'LifeboatRecoveryStuck',
    when: 'no entry for half an hour; one that ended after 19 quiet minutes is over',
    series: {
      [`lifeboat_recovery_progress_timestamp_seconds{${at},segment="az1"}`]: '0+60x10 600x60',
      [`lifeboat_recovery_progress_timestamp_seconds{${at},segment="az2"}`]: '0+60x10 600x19 _x60',
    },
    quietAt: ['20m', '39m'],
    firesAt: '42m',
    labels: [{ ...a, segment: 'az1' }],
  },
  ...['failed', 'stuck'].flatMap((outcome) =>
    counter('LifeboatInstanceNotRecovered', 'lifeboat_instances_total', '', { outcome, code: 'NO_VALID_HOST' }),
  ),
  {
    alert: 'LifeboatInstanceNotRecovered',
    when: 'recovered and left ones do not count',
    series: {
      [`lifeboat_instances_total{${at},outcome="recovered",code="RUNNING"}`]: '_x5 1x30',
      [`lifeboat_instances_total{${at},outcome="left",code="SHELVED"}`]: '_x5 1x30',
      [`lifeboat_instances_total{${at},outcome="failed",code="STATE_MISMATCH"}`]: '_x10 1x30',
    },
    quietAt: ['8m'],
    firesAt: '12m',
    labels: [{ ...a, outcome: 'failed', code: 'STATE_MISMATCH' }],
  },
  ...counter('LifeboatInstanceLeft', 'lifeboat_instances_total', ',outcome="left"', { code: 'LOCAL_DISK' }),
  ...counter('LifeboatDebtLeft', 'lifeboat_debts_total', '', { code: 'RESIZE_LEFTOVER' }),
  ...counter('LifeboatFenceMethodFailing', 'lifeboat_fence_attempts_total', ',result="failed"', { method: 'bmc' }),
  {
    alert: 'LifeboatFenceMethodFailing',
    when: 'success is no failure',
    series: {
      [`lifeboat_fence_attempts_total{${at},method="bmc",result="succeeded"}`]: '_x5 1x30',
      [`lifeboat_fence_attempts_total{${at},method="pdu",result="unknown"}`]: '_x10 1x30',
    },
    quietAt: ['8m'],
    firesAt: '12m',
    labels: [{ ...a, method: 'pdu' }],
  },
  {
    alert: 'LifeboatHostKeptOut',
    when: 'a host stays out for an hour',
    series: {
      [`lifeboat_returning_hosts{${at},state="kept-out"}`]: '0x10 1x100',
      [`lifeboat_returning_hosts{${at},state="away"}`]: '1x110',
      [`lifeboat_returning_hosts{${well},state="kept-out"}`]: '0x10 1x30 0x70',
    },
    quietAt: ['10m', '69m'],
    firesAt: '75m',
    labels: [{ ...a, state: 'kept-out' }],
  },
  {
    alert: 'LifeboatReturnWaits',
    when: 'nobody lets a host back for half an hour',
    series: {
      [`lifeboat_returning_hosts{${at},state="waiting-confirmation"}`]: '0x10 1x100',
      [`lifeboat_returning_hosts{${well},state="waiting-confirmation"}`]: '0x10 1x10 0x90',
    },
    quietAt: ['10m', '39m'],
    firesAt: '45m',
    labels: [{ ...a, state: 'waiting-confirmation' }],
  },
  {
    alert: 'LifeboatJournalUnwritable',
    when: 'a write failed, also when the scrape after it was missed',
    series: {
      [`lifeboat_journal_writable{${at}}`]: '1x10 0x0 _x2 1x20',
      [`lifeboat_journal_writable{${well}}`]: '1x40',
    },
    quietAt: ['10m', '25m'],
    firesAt: '13m',
    labels: [a],
  },
  {
    alert: 'LifeboatJournalBroken',
    when: 'the walk over the chain found a break',
    series: {
      [`lifeboat_journal_last_verify_successful{${at}}`]: '1x10 0x40',
      [`lifeboat_journal_last_verify_successful{${well}}`]: '1x50',
    },
    quietAt: ['10m', '20m'],
    firesAt: '27m',
    labels: [a],
  },
  {
    alert: 'LifeboatJournalNotVerified',
    when: 'the last good walk is more than two days old; a restart in between hides nothing',
    series: {
      [`lifeboat_journal_last_verify_success_timestamp_seconds{${at}}`]: '0x30 _x60',
      [`lifeboat_start_timestamp_seconds{${at}}`]: `0x30 ${31 * 3600}x60`,
      [`lifeboat_journal_last_verify_success_timestamp_seconds{${well}}`]: `0x23 ${day}x24 ${2 * day}x40`,
      [`lifeboat_start_timestamp_seconds{${well}}`]: '0x100',
    },
    interval: '1h',
    quietAt: ['40h', '48h'],
    firesAt: '50h',
    labels: [a],
  },
  {
    alert: 'LifeboatJournalNotVerified',
    when: 'a daemon that runs for more than two days never did',
    series: { [`lifeboat_start_timestamp_seconds{${at}}`]: '0x100' },
    interval: '1h',
    quietAt: ['24h', '48h'],
    firesAt: '50h',
    labels: [a],
  },
  {
    alert: 'LifeboatDiskFilling',
    when: 'little room is left, and stays so',
    series: {
      [`lifeboat_journal_free_bytes{${at}}`]: '5e9x10 5e8x20',
      [`lifeboat_journal_free_bytes{${well}}`]: '5e9x30',
    },
    quietAt: ['10m', '14m'],
    firesAt: '17m',
    labels: [a],
  },
  {
    alert: 'LifeboatNobodyActive',
    when: 'the active one is gone and nobody follows; a take-over is no silence',
    series: {
      [`lifeboat_active{${at}}`]: '1x10 _x30',
      [`lifeboat_active{${well}}`]: '0x9 0x2 1x10 0x18',
    },
    quietAt: ['10m', '13m', '21m'],
    firesAt: '26m',
    labels: [{ job: 'lifeboat' }],
  },
  {
    alert: 'LifeboatTwoActive',
    when: 'both say so for minutes; two that change places are not',
    series: {
      [`lifeboat_active{${at}}`]: '1x10 0x10 1x10',
      [`lifeboat_active{${well}}`]: '0x10 1x20',
    },
    quietAt: ['9m', '12m', '20m'],
    firesAt: '26m',
    labels: [{ job: 'lifeboat' }],
  },
  {
    alert: 'LifeboatNoStandby',
    when: 'none is left, and stays so',
    series: { [`lifeboat_standbys{${at}}`]: '1x10 0x40' },
    quietAt: ['10m', '20m'],
    firesAt: '28m',
    labels: [{ job: 'lifeboat' }],
  },
  {
    alert: 'LifeboatDaemonsDiffer',
    when: 'they still differ half an hour after an upgrade began',
    series: { [`lifeboat_daemons_differ{${at}}`]: '0x10 1x60' },
    quietAt: ['10m', '40m'],
    firesAt: '48m',
    labels: [{ job: 'lifeboat' }],
  },
  {
    alert: 'LifeboatNameTaken',
    when: 'two daemons have had one name for five minutes, and not while one is given another',
    series: { [`lifeboat_name_taken{${at}}`]: '0x10 1x2 0x10 1x20' },
    quietAt: ['12m', '23m', '26m'],
    firesAt: '30m',
    labels: [{ job: 'lifeboat' }],
  },
  {
    alert: 'LifeboatTakesOverOften',
    when: 'the tenure changes three times within an hour; twice is an upgrade',
    series: { [`lifeboat_tenure_epoch{${at}}`]: '7x10 8x10 9x80 10x10 11x10 12x10' },
    quietAt: ['15m', '40m', '95m'],
    firesAt: '125m',
    labels: [{ job: 'lifeboat' }],
  },
  {
    alert: 'LifeboatCopyPutAside',
    when: 'a copy was put aside and is still there',
    series: {
      [`lifeboat_journal_copies_put_aside{${at}}`]: '0x10 1x10',
      [`lifeboat_journal_copies_put_aside{${well}}`]: '0x20',
    },
    quietAt: ['9m'],
    firesAt: '12m',
    labels: [a],
  },
  {
    alert: 'LifeboatEntriesPutBack',
    when: 'a copy put entries back',
    series: {
      [`lifeboat_journal_put_back_entries{${at}}`]: '0x10 5x10',
      [`lifeboat_journal_put_back_entries{${well}}`]: '0x20',
    },
    quietAt: ['9m'],
    firesAt: '12m',
    labels: [a],
  },
]
