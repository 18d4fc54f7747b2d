import { describe, expect, test } from 'vitest'
import type { BrakeScope } from '../../src/domain/brake.ts'
import { ensureError, LifeboatError, type ErrorRecord } from '../../src/domain/errors.ts'
import type { Incident } from '../../src/domain/incident.ts'
import type { VerdictKind } from '../../src/domain/verdict.ts'
import { redact } from '../../src/telemetry/logger.ts'
import { catalogue, type MetricEntry } from '../../src/telemetry/metrics.ts'
import { meaningOf, metricsPage, uses } from '../../src/telemetry/metrics-page.ts'
import { captured, entry, verdictOf } from './fixtures.ts'

const all: MetricEntry[] = Object.values(catalogue)
const of = { incident: 'i1', host: 'c1' }
const opened = {
  kind: 'incident.opened',
  ...of,
  data: {
    verdict: verdictOf('c1', 'host-down'),
    segment: 'az1',
    failure: 'host',
    mode: 'armed',
    openedBy: 'monitor',
    workflowDigest: 'd',
  },
} as const
const error: ErrorRecord = {
  code: 'NO_VALID_HOST',
  message: 'No valid host',
  certainty: 'applied',
  retry: 'after',
  chain: ['HTTP 400'],
  details: {},
}

describe('the brake', () => {
  const scope: BrakeScope = {
    scope: 'domain:r1',
    kind: 'domain',
    title: 'rack r1',
    down: 3,
    cooling: 1,
    allowed: 2,
    fleet: 8,
    hosts: ['a', 'b', 'c'],
    trippedSince: '2026-01-02T00:00:00.000Z',
    message: '3 of 8 hosts of rack r1 are down (limit 2)',
  }

  test('each scope is a gauge, zeros are said, and scopes that are gone are not', async () => {
    const { observer, sample } = captured()
    observer.brake([scope, { ...scope, scope: 'cloud', trippedSince: null }])
    expect(await sample('lifeboat_brake_tripped{scope="domain:r1"}')).toBe(1)
    expect(await sample('lifeboat_brake_tripped{scope="cloud"}')).toBe(0)
    expect(await sample('lifeboat_brake_hosts{scope="domain:r1",count="down"}')).toBe(3)
    expect(await sample('lifeboat_brake_hosts{scope="domain:r1",count="allowed"}')).toBe(2)
    observer.brake([{ ...scope, scope: 'cloud', trippedSince: null }])
    expect(await sample('lifeboat_brake_tripped{scope="domain:r1"}')).toBeUndefined()
    expect(await sample('lifeboat_brake_hosts{scope="domain:r1",count="down"}')).toBeUndefined()
  })

  test('tripping is an error, for a person has to look; opening is not', () => {
    const { observer, lines } = captured()
    const { scope: name, down, allowed, fleet, message } = scope
    const numbers = { scope: name, down, allowed, fleet, message }
    observer.entry(entry({ kind: 'brake.tripped', data: { ...numbers, hosts: ['a', 'b', 'c'] } }))
    observer.entry(entry({ kind: 'brake.released', data: { ...numbers, trippedForMs: 5 } }))
    expect(lines).toMatchObject([
      { level: 'error', scope: name, down: 3, allowed: 2, fleet: 8 },
      { level: 'info', scope: name, trippedForMs: 5 },
    ])
  })
})

describe('log lines', () => {
  test('an entry is a JSON line with the fields that operators search by', () => {
    const { observer, lines } = captured()
    observer.entry(
      entry({ kind: 'step.issued', ...of, instance: 'a', step: 'evacuate#1', data: { requestId: 'req-1' } }),
    )
    expect(lines[0]).toMatchObject({
      level: 'info',
      event: 'step.issued',
      msg: 'Step evacuate#1 issued, req-1',
      incident: 'i1',
      host: 'c1',
      instance: 'a',
      step: 'evacuate#1',
      requestId: 'req-1',
    })
    expect(lines[0]?.['time']).toBe('2026-01-02T00:00:00.000Z')
  })

  test('an error carries its code, certainty and chain', () => {
    const { observer, lines } = captured()
    observer.log(
      'error',
      'poll.failed',
      { message: 'Poll failed', host: 'c1' },
      new LifeboatError('API_TIMEOUT', 'No answer', { certainty: 'unknown', cause: new Error('socket hang up') }),
    )
    expect(lines[0]).toMatchObject({
      level: 'error',
      event: 'poll.failed',
      msg: 'Poll failed',
      err: { code: 'API_TIMEOUT', certainty: 'unknown', chain: ['socket hang up'] },
    })
  })

  test('a bug carries where it was thrown, and no secret with it', () => {
    const { observer, lines } = captured()
    const bug = new TypeError('x is not a function, password=hunter2')
    observer.log('error', 'http.failed', {}, ensureError(bug))
    const { stack } = lines.at(-1)!['err'] as { stack: string }
    expect(stack).toMatch(/^TypeError: x is not a function.*\n +at .*telemetry\.test\.ts/)
    expect(stack).not.toContain('hunter2')
  })

  test('a failed instance is an error, a left one is not', () => {
    const { observer, lines } = captured()
    for (const outcome of ['failed', 'stuck', 'left', 'recovered'] as const) {
      observer.entry(
        entry({
          kind: 'outcome.recorded',
          ...of,
          instance: 'a',
          data: { outcome, code: 'X', message: 'm', after: null },
        }),
      )
    }
    expect(lines.map((line) => line['level'])).toEqual(['error', 'error', 'info', 'info'])
  })

  test('polls and requests that went well are silent above debug', () => {
    const { observer, lines } = captured('info')
    observer.poll({ tookMs: 5, ok: true, hosts: 1, frozen: null, verdicts: [] })
    observer.request({
      service: 'compute',
      method: 'GET',
      route: '/os-services',
      result: '200',
      tookMs: 5,
      requestId: null,
    })
    expect(lines).toEqual([])
    observer.poll({ tookMs: 5, ok: false, hosts: 0, frozen: 'API_UNAVAILABLE', verdicts: [] })
    expect(lines).toHaveLength(1)
  })
})

describe('secrets never reach the log', () => {
  test.each([
    [{ password: 'hunter2' }],
    [{ auth: { identity: { application_credential: { secret: 'hunter2' } } } }],
    [{ headers: { 'X-Auth-Token': 'hunter2', Authorization: 'Basic hunter2' } }],
    [{ list: [{ user_data: 'hunter2' }, { adminPass: 'hunter2' }] }],
    [{ url: 'https://admin:hunter2@bmc1/redfish' }],
    [{ detail: 'sent {"auth": {"password": "hunter2"}}' }],
    [{ detail: 'X-Auth-Token: hunter2' }],
    [{ detail: 'Authorization: Bearer hunter2hunter2' }],
    [{ detail: 'token gAAAAABhunter2hunter2hunter2hunter2 expired' }],
    [{ args: ['--username=admin', '--password=hunter2'] }],
    [{ detail: 'ipmitool --password hunter2 power off' }],
    [{ detail: 'OS_PASSWORD=hunter2 and db_secret: hunter2' }],
    [{ nested: new Error('password: hunter2') }],
  ])('%j', (fields) => {
    const { observer, lines } = captured()
    observer.log(
      'info',
      'test',
      { message: 'Testing', ...fields },
      new LifeboatError('AUTH_FAILED', 'password=hunter2', { cause: new Error('token=hunter2'), details: fields }),
    )
    expect(lines).toHaveLength(1)
    expect(JSON.stringify(lines)).not.toContain('hunter2')
  })

  test('what only sounds alike stays', () => {
    const fields = {
      requestId: 'req-1',
      message: 'The token was refused',
      detail: 'see --token-file /etc/lifeboat/token',
      host: 'tokyo1',
      url: 'http://c1:8774/v2.1',
      passes: 3,
    }
    expect(redact(fields)).toEqual(fields)
  })

  test('a cycle ends', () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    expect(JSON.stringify(redact(cycle))).toContain('too deep')
  })
})

describe('the metric catalogue', () => {
  test.each(all.map((metric) => [metric.name, metric] as const))(
    '%s keeps the naming rules',
    (name, { type, help, labels }) => {
      expect(name).toMatch(/^lifeboat_[a-z_]+$/)
      expect(name.endsWith('_total')).toBe(type === 'counter')
      if (type === 'histogram') expect(name).toMatch(/_seconds$/)
      expect(help).toMatch(/^[A-Z1].*[^.]$/)
      for (const label of labels) expect(['host', 'instance', 'incident', 'request_id', 'route']).not.toContain(label)
    },
  )

  test.each(all.map((metric) => [metric.name, metric] as const))(
    '%s says what its labels hold and what to do with it',
    (name, { labels }) => {
      expect(uses[name] ?? '', name).not.toBe('')
      expect(labels.filter((label) => meaningOf(name, label) === '')).toEqual([])
    },
  )

  test('names are unique, and the page has each of them', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
    for (const { name } of all) expect(metricsPage()).toContain(`\`${name}\``)
  })

  test('everything that is served is in the catalogue', async () => {
    const served = (await captured().metricsText()).split('\n').flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? [])
    expect(served.sort()).toEqual(all.map(({ name }) => name).sort())
  })
})

describe('metrics', () => {
  test('hosts are counted by verdict, and a count that ended reads zero', async () => {
    const { observer, sample } = captured()
    const poll = (kinds: ('healthy' | 'host-down')[]) =>
      observer.poll({
        tookMs: 100,
        ok: true,
        hosts: 2,
        frozen: null,
        verdicts: kinds.map((kind, n) => verdictOf(`c${n}`, kind)),
      })
    poll(['healthy', 'host-down'])
    expect(await sample('lifeboat_hosts{segment="az1",verdict="host-down"}')).toBe(1)
    poll(['healthy', 'healthy'])
    expect(await sample('lifeboat_hosts{segment="az1",verdict="host-down"}')).toBe(0)
    expect(await sample('lifeboat_hosts{segment="az1",verdict="healthy"}')).toBe(2)
  })

  test('the poll time stamp moves only with polls that Nova answered', async () => {
    const { observer, sample, clock } = captured()
    clock.advance(10_000)
    observer.poll({ tookMs: 1, ok: true, hosts: 0, frozen: null, verdicts: [] })
    clock.advance(10_000)
    observer.poll({ tookMs: 1, ok: false, hosts: 0, frozen: 'API_UNAVAILABLE', verdicts: [] })
    expect(await sample('lifeboat_poll_timestamp_seconds')).toBe(Date.UTC(2026, 0, 2) / 1000 + 10)
    expect(await sample('lifeboat_frozen')).toBe(1)
    expect(await sample('lifeboat_polls_total{result="failed"}')).toBe(1)
  })

  test('a death is one observation of the detection latency, from the last heartbeat seen to host-down', async () => {
    const { observer, sample } = captured()
    const change = (host: string, kind: VerdictKind, sinceBeatMs?: number) => {
      const verdict = verdictOf(host, kind)
      const evidence = { ...verdict.evidence, silentMs: 1_000, ...(sinceBeatMs !== undefined && { sinceBeatMs }) }
      observer.entry(entry({ kind: 'verdict.changed', host, data: { ...verdict, evidence, from: 'suspect' } }, 0))
    }
    const seen = async () => [
      await sample('lifeboat_detection_latency_seconds_count{segment="az1"}'),
      await sample('lifeboat_detection_latency_seconds_sum{segment="az1"}'),
    ]
    change('c1', 'suspect', 4_000)
    change('c1', 'host-down', 26_000)
    expect(await seen()).toEqual([1, 26])
    change('c1', 'suspect', 27_000)
    change('c1', 'host-down', 28_000)
    change('c1', 'recovering', 29_000)
    expect(await seen()).toEqual([1, 26])
    change('c1', 'healthy')
    change('c1', 'host-down', 4_000)
    change('c2', 'host-down', 70_000)
    expect(await seen()).toEqual([3, 100])
    change('c2', 'contradiction')
    change('c2', 'host-down', 30_000)
    expect(await seen()).toEqual([4, 130])
    change('c3', 'host-down')
    expect(await seen()).toEqual([4, 130])
    expect(await sample('lifeboat_detection_latency_seconds_bucket{le="25",segment="az1"}')).toBe(1)
    expect(await sample('lifeboat_detection_latency_seconds_bucket{le="27.5",segment="az1"}')).toBe(2)
  })

  test('an incident gives its step durations, evacuations, outcomes and recovery time', async () => {
    const { observer, sample } = captured()
    const result = { migration: 'm', host: 'c2', vmState: 'active', powerState: 1 }
    const history = [
      entry(opened, 0),
      entry({ kind: 'fence.attempt', ...of, data: { method: 'bmc', phase: 'trying', message: '' } }, 1),
      entry({ kind: 'fence.attempt', ...of, data: { method: 'bmc', phase: 'succeeded', message: '' } }, 2),
      entry(
        {
          kind: 'step.intended',
          ...of,
          instance: 'a',
          step: 'e#1',
          data: { kind: 'evacuate', attempt: 1, before: null, request: null },
        },
        3,
      ),
      entry({ kind: 'step.failed', ...of, instance: 'a', step: 'e#1', data: { error } }, 5),
      entry(
        {
          kind: 'step.intended',
          ...of,
          instance: 'a',
          step: 'e#2',
          data: { kind: 'evacuate', attempt: 2, before: null, request: null },
        },
        5,
      ),
      entry({ kind: 'step.confirmed', ...of, instance: 'a', step: 'e#2', data: { result } }, 9),
      entry({ kind: 'debt.recorded', ...of, instance: 'a', data: { code: 'LEFTOVER_MIGRATION', message: '' } }, 9),
      entry(
        {
          kind: 'outcome.recorded',
          ...of,
          instance: 'a',
          data: { outcome: 'recovered', code: 'RUNNING', message: '', after: null },
        },
        11,
      ),
      entry({ kind: 'incident.closed', ...of, data: { outcome: 'done', message: '', counts: {} } }, 60),
    ]
    for (const one of history) observer.entry(one)
    const expected = {
      'lifeboat_fence_attempts_total{method="bmc",result="succeeded"}': 1,
      'lifeboat_step_duration_seconds_sum{kind="evacuate",result="failed"}': 2,
      'lifeboat_step_duration_seconds_sum{kind="evacuate",result="confirmed"}': 4,
      'lifeboat_evacuations_total{segment="az1",outcome="NO_VALID_HOST"}': 1,
      'lifeboat_evacuations_total{segment="az1",outcome="confirmed"}': 1,
      'lifeboat_instances_total{outcome="recovered",code="RUNNING"}': 1,
      'lifeboat_recovery_duration_seconds_sum{segment="az1"}': 11,
      'lifeboat_incidents_closed_total{segment="az1",failure="host",outcome="done"}': 1,
      'lifeboat_debts_total{code="LEFTOVER_MIGRATION"}': 1,
      lifeboat_journal_entries_total: history.length,
    }
    const found = await Promise.all(
      Object.keys(expected).map(async (series) => [series, await sample(series)] as const),
    )
    expect(Object.fromEntries(found)).toEqual(expected)
  })

  test('open incidents are counted by phase and hold, and gone when closed', async () => {
    const { observer, sample } = captured()
    observer.incidents([
      { phase: 'fencing', held: { code: 'BRAKE', message: '', since: '' } } as Incident,
      { phase: 'recovering', held: null } as Incident,
    ])
    expect(await sample('lifeboat_incidents{phase="fencing",held="BRAKE"}')).toBe(1)
    observer.incidents([])
    expect(await sample('lifeboat_incidents{phase="fencing",held="BRAKE"}')).toBeUndefined()
  })

  test.each([
    ['202', '2xx'],
    ['409', '4xx'],
    ['API_TIMEOUT', 'none'],
  ])('a request that ended with %s counts under %s', async (result, status) => {
    const { observer, sample } = captured()
    observer.request({
      service: 'compute',
      method: 'POST',
      route: '/servers/{id}/action',
      result,
      tookMs: 250,
      requestId: 'r',
    })
    expect(
      await sample(`lifeboat_api_request_duration_seconds_sum{service="compute",method="POST",status="${status}"}`),
    ).toBe(0.25)
  })

  test('what the cloud can and when the credential ends show, and go when they are gone', async () => {
    const { observer, sample } = captured()
    const seen = { maxMicroversion: '2.93', landsStopped: false }
    const expiresAt = Date.UTC(2026, 1, 1)
    const expiry = 'lifeboat_credential_expiry_timestamp_seconds{kind="application-credential"}'
    observer.cloud({ ...seen, credential: { kind: 'application-credential', expiresAt } })
    expect(await sample(expiry)).toBe(expiresAt / 1000)
    expect(await sample('lifeboat_cloud_lands_stopped')).toBe(0)
    observer.cloud({ maxMicroversion: '2.100', landsStopped: true, credential: null })
    expect(await sample(expiry)).toBeUndefined()
    expect(await sample('lifeboat_cloud_lands_stopped')).toBe(1)
    expect(await sample('lifeboat_cloud_info{max_microversion="2.93"}')).toBeUndefined()
    expect(await sample('lifeboat_cloud_info{max_microversion="2.100"}')).toBe(1)
  })

  test('the progress of recoveries is that of the one that stands still longest; what is held or over does not count', async () => {
    const { observer, sample } = captured()
    const incident = (id: string, held: Incident['held'] = null) =>
      ({
        id,
        process: null,
        segment: 'az1',
        phase: 'recovering',
        held,
        openedAt: '2026-01-02T00:00:00.000Z',
      }) as Incident
    const progress = async () => sample('lifeboat_recovery_progress_timestamp_seconds{segment="az1"}')
    const base = Date.UTC(2026, 0, 2) / 1000
    observer.incidents([incident('i0')])
    expect(await progress()).toBe(base)
    observer.entry(entry({ kind: 'recipe.entered', incident: 'i1', data: { recipe: 'r', because: '' } }, 60))
    observer.entry(entry({ kind: 'recipe.entered', incident: 'i2', data: { recipe: 'r', because: '' } }, 90))
    observer.incidents([incident('i1'), incident('i2')])
    expect(await progress()).toBe(base + 60)
    observer.incidents([incident('i1', { code: 'BRAKE', message: '', since: '' }), incident('i2')])
    expect(await progress()).toBe(base + 90)
    observer.incidents([])
    expect(await progress()).toBeUndefined()
  })

  test('the journal says whether it takes entries and when its chain was last whole', async () => {
    const { observer, journalWrite, sample, clock } = captured()
    journalWrite({ tookMs: 1, problem: 'disk full' })
    expect(await sample('lifeboat_journal_writable')).toBe(0)
    journalWrite({ tookMs: 1, problem: null })
    expect(await sample('lifeboat_journal_writable')).toBe(1)
    clock.advance(60_000)
    observer.journalVerified(true)
    clock.advance(60_000)
    observer.journalVerified(false)
    expect(await sample('lifeboat_journal_last_verify_successful')).toBe(0)
    expect(await sample('lifeboat_journal_last_verify_success_timestamp_seconds')).toBe(
      Date.UTC(2026, 0, 2) / 1000 + 60,
    )
  })

  test("the machine's resources are asked for at each scrape; what cannot be read keeps what was known", async () => {
    const { beforeScrape, sample } = captured()
    let free: number | undefined = 7
    beforeScrape(() => ({ memoryUsed: 1, memoryLimit: 2, journalSize: 3, journalFree: free }))
    expect(await sample('lifeboat_journal_free_bytes')).toBe(7)
    free = undefined
    expect(await sample('lifeboat_journal_free_bytes')).toBe(7)
    free = 5
    expect(await sample('lifeboat_journal_free_bytes')).toBe(5)
    expect(await sample('lifeboat_memory_resident_bytes')).toBe(1)
  })

  test('the build and the mode show', async () => {
    const { observer, sample } = captured()
    observer.entry(entry({ kind: 'daemon.started', data: { version: '0.1.0', mode: 'armed', pid: 1 } }))
    expect(await sample('lifeboat_armed')).toBe(1)
    expect(await sample(`lifeboat_build_info{version="0.1.0",node="${process.version}"}`)).toBe(1)
  })

  test('orders are counted by what they take in; only a pause of the whole cloud pauses the cloud', async () => {
    const { observer, sample } = captured()
    const order = { by: 'ada', reason: 'x', since: '2026-01-01T00:00:00.000Z', until: null, source: null }
    const pause = { ...order, kind: 'pause' as const }
    const counts = async (): Promise<unknown[]> => [
      await sample('lifeboat_paused'),
      await sample('lifeboat_pauses{scope="cloud"}'),
      await sample('lifeboat_pauses{scope="segment"}'),
      await sample('lifeboat_maintenance{scope="cloud"}'),
      await sample('lifeboat_maintenance{scope="host"}'),
    ]
    observer.orders([
      { ...pause, scope: { kind: 'segment', name: 'a' } },
      { ...pause, scope: { kind: 'segment', name: 'b' } },
      { ...order, kind: 'maintenance', scope: { kind: 'cloud', name: null } },
      { ...order, kind: 'maintenance', scope: { kind: 'host', name: 'cmp01' } },
    ])
    expect(await counts()).toEqual([0, 0, 2, 1, 1])
    observer.orders([{ ...pause, scope: { kind: 'cloud', name: null } }])
    expect(await counts()).toEqual([1, 1, 0, 0, 0])
  })
})
