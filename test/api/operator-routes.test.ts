import { describe, expect, it } from 'vitest'
import { onSocket, restServer } from '../../src/api/rest-server.ts'
import type { Observer } from '../../src/domain/observer.ts'
import type { Operations } from '../../src/domain/operations.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { aStatus, fakeOperations } from './fake-operations.ts'
import { fakeReview } from './fake-review.ts'

const now = Date.parse('2026-01-02T03:04:05Z')
const by = 'alice'

const clock = { now: () => now, wall: () => now, after: () => () => undefined }
const routes = (operations: Operations, observer: Observer = {}) =>
  restServer({ operations, review: fakeReview(), clock, observer }, onSocket)

describe('acts', () => {
  it.each([
    [
      '/v1/recover',
      { host: 'cmp01', by, proof: 'pulled the cords' },
      202,
      ['recover', { host: 'cmp01', by, proof: 'pulled the cords' }],
    ],
    [
      '/v1/incidents/i-1/again',
      { by, reason: 'there is room' },
      202,
      ['tryAgain', 'i-1', { by, reason: 'there is room', proof: null }],
    ],
    [
      '/v1/incidents/i-1/again',
      { by, proof: 'I pulled its cords' },
      202,
      ['tryAgain', 'i-1', { by, reason: '', proof: 'I pulled its cords' }],
    ],
    ['/v1/pause', { by, reason: 'work' }, 200, ['pause', { by, reason: 'work', until: null }]],
    [
      '/v1/pause',
      { by, reason: 'work', until: '2026-01-02T05:00:00Z' },
      200,
      ['pause', { by, reason: 'work', until: '2026-01-02T05:00:00Z' }],
    ],
    ['/v1/resume', { by, reason: 'done' }, 204, ['resume', { by, reason: 'done' }]],
    [
      '/v1/pause',
      { by, reason: 'work', scope: { kind: 'segment', name: 'ceph' } },
      200,
      ['pause', { by, reason: 'work', until: null, scope: { kind: 'segment', name: 'ceph' } }],
    ],
    [
      '/v1/resume',
      { by, reason: 'done', scope: { kind: 'host', name: 'cmp01' } },
      204,
      ['resume', { by, reason: 'done', scope: { kind: 'host', name: 'cmp01' } }],
    ],
    [
      '/v1/maintenance',
      { by, reason: 'work', scope: { kind: 'cloud', name: null } },
      200,
      ['startMaintenance', { by, reason: 'work', until: null, scope: { kind: 'cloud', name: null } }],
    ],
    [
      '/v1/maintenance',
      { by, reason: 'work', forSeconds: 90, scope: { kind: 'cloud', name: null } },
      200,
      [
        'startMaintenance',
        { by, reason: 'work', until: '2026-01-02T03:05:35.000Z', scope: { kind: 'cloud', name: null } },
      ],
    ],
    [
      '/v1/pause',
      { by, reason: 'work', forSeconds: 90 },
      200,
      ['pause', { by, reason: 'work', until: '2026-01-02T03:05:35.000Z' }],
    ],
    [
      '/v1/maintenance',
      { by, reason: 'work', from: '2026-01-03 02:00', forSeconds: 90, scope: { kind: 'cloud', name: null } },
      200,
      [
        'planMaintenance',
        {
          ...{ by, reason: 'work', from: '2026-01-03 02:00', until: null, forMs: 90_000 },
          scope: { kind: 'cloud', name: null },
        },
      ],
    ],
    [
      '/v1/maintenance/withdraw',
      { by, reason: 'no parts', plan: 7 },
      204,
      ['withdrawMaintenance', { by, reason: 'no parts', plan: 7 }],
    ],
    [
      '/v1/maintenance/end',
      { by, reason: 'done', scope: { kind: 'host', name: 'cmp01' } },
      204,
      ['endMaintenance', { by, reason: 'done', scope: { kind: 'host', name: 'cmp01' } }],
    ],
    [
      '/v1/hosts/cmp01.example/return',
      { by },
      202,
      ['returnHost', { host: 'cmp01.example', by, reason: '', keepOut: false }],
    ],
    [
      '/v1/hosts/cmp01/return',
      { by, reason: 'bad memory', keepOut: true },
      202,
      ['returnHost', { host: 'cmp01', by, reason: 'bad memory', keepOut: true }],
    ],
    ['/v1/notices/test', { by, receiver: 'pager' }, 200, ['testReceiver', { by, receiver: 'pager', project: null }]],
    ['/v1/incidents/i-1/override', { by, reason: 'rack' }, 202, ['override', 'i-1', { by, reason: 'rack' }]],
    ['/v1/incidents/i-1/cancel', { by, reason: 'rack' }, 202, ['cancel', 'i-1', { by, reason: 'rack' }]],
  ])('POST %s %j', async (url, payload, status, expected) => {
    const { operations, asked } = fakeOperations()
    const answer = await routes(operations).inject({ method: 'POST', url, payload })
    expect([answer.statusCode, asked]).toEqual([status, [expected]])
  })

  it.each([
    ['nobody acts', '/v1/resume', { reason: 'x' }],
    ['a blank name', '/v1/resume', { by: '  ', reason: 'x' }],
    ['a name that nobody sees', '/v1/resume', { by: '\u200b', reason: 'x' }],
    ['a reason that nobody sees', '/v1/pause', { by, reason: '\u200b\u3164\u2800\u0001' }],
    ['no reason', '/v1/incidents/i-1/cancel', { by }],
    ['no proof', '/v1/recover', { host: 'cmp01', by }],
    ['a blank proof', '/v1/recover', { host: 'cmp01', by, proof: ' ' }],
    ['a field that means nothing', '/v1/recover', { host: 'cmp01', by, proof: 'x', force: true }],
    ['a pause until a time that is none', '/v1/pause', { by, reason: 'x', until: 'tomorrow' }],
    ['a pause that is over before it begins', '/v1/pause', { by, reason: 'x', until: '2026-01-02T03:04:04Z' }],
    ['a maintenance of nothing', '/v1/maintenance', { by, reason: 'x' }],
    ['a maintenance without a reason', '/v1/maintenance', { by, scope: { kind: 'cloud', name: null } }],
    ['a scope that does not exist', '/v1/pause', { by, reason: 'x', scope: { kind: 'rack', name: 'a' } }],
    ['a host without a name', '/v1/pause', { by, reason: 'x', scope: { kind: 'host', name: ' ' } }],
    ['a cloud with a name', '/v1/maintenance/end', { by, reason: 'x', scope: { kind: 'cloud', name: 'a' } }],
    [
      'a maintenance that is over in the moment it begins',
      '/v1/maintenance',
      { by, reason: 'x', scope: { kind: 'cloud', name: null }, until: '2026-01-02T03:04:05Z' },
    ],
    [
      'a pause with an end and a length',
      '/v1/pause',
      { by, reason: 'x', forSeconds: 60, until: '2026-01-03T03:00:00Z' },
    ],
    [
      'an end and a length at once',
      '/v1/maintenance',
      {
        ...{ by, reason: 'x', scope: { kind: 'cloud', name: null }, forSeconds: 60 },
        ...{ from: '2026-01-03 02:00', until: '2026-01-03T03:00:00Z' },
      },
    ],
    ['a withdrawal of no plan', '/v1/maintenance/withdraw', { by, reason: 'x' }],
    ['a second try for no reason', '/v1/incidents/i-1/again', { by }],
    ['a second try on a word that nobody sees', '/v1/incidents/i-1/again', { by, reason: 'x', proof: '\u200b' }],
    ['a list for a body', '/v1/pause', []],
    ['a return that nobody orders', '/v1/hosts/cmp01/return', { reason: 'x' }],
    ['a return with a word for a flag', '/v1/hosts/cmp01/return', { by, keepOut: 'yes' }],
    ['a host that is kept out for no reason', '/v1/hosts/cmp01/return', { by, keepOut: true }],
    [
      'a host that is kept out for a reason that nobody sees',
      '/v1/hosts/cmp01/return',
      { by, keepOut: true, reason: '\u200b' },
    ],
    ['a return for a reason that nobody sees', '/v1/hosts/cmp01/return', { by, reason: '\u3164' }],
    ['a reload for a reason that nobody sees', '/v1/reload', { by, reason: '\u2800' }],
    ['a hand-over for no reason', '/v1/hand-over', { by }],
    ['a plan of no host', '/v1/plans', { failure: 'process' }],
    ['a plan of a failure that does not exist', '/v1/plans', { host: 'cmp01', failure: 'disk' }],
    ['a plan of a crash of no instance', '/v1/plans', { host: 'cmp01', failure: 'instance' }],
    ['a plan of a crash of a blank name', '/v1/plans', { host: 'cmp01', failure: 'instance', instance: ' ' }],
    ['a plan of one instance of a dead host', '/v1/plans', { host: 'cmp01', instance: 'web' }],
    ['a plan of one instance of a nova-compute', '/v1/plans', { host: 'cmp01', failure: 'process', instance: 'web' }],
    ['no body', '/v1/resume', undefined],
  ])('%s is refused and nothing is done', async (_name, url, payload) => {
    const { operations, asked } = fakeOperations()
    const answer = await routes(operations).inject({
      method: 'POST',
      url,
      ...(payload !== undefined && { payload }),
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: { code: 'USAGE' } })
    expect(asked).toEqual([])
  })
})

it('an incident of a host with the longest possible name can be cancelled', async () => {
  const { operations, asked } = fakeOperations()
  const id = `20260102T030405Z-${'h'.repeat(255)}`
  const url = `/v1/incidents/${id}/cancel`
  await routes(operations).inject({ method: 'POST', url, payload: { by, reason: 'rack' } })
  expect(asked).toEqual([['cancel', id, { by, reason: 'rack' }]])
})

describe('reads', () => {
  it('status is what the daemon says', async () => {
    const { operations } = fakeOperations()
    expect((await routes(operations).inject('/v1/status')).json()).toEqual(aStatus)
  })

  it('incident filters are typed, and unknown ones refused: a mistyped filter must not list everything', async () => {
    const { operations, asked } = fakeOperations()
    const server = routes(operations)
    expect((await server.inject('/v1/incidents?open=true&host=cmp01&limit=5')).statusCode).toBe(200)
    expect((await server.inject('/v1/incidents?unsettled=true')).statusCode).toBe(200)
    expect((await server.inject('/v1/incidents?hots=cmp01')).statusCode).toBe(400)
    expect(asked).toEqual([
      ['incidents', { open: true, host: 'cmp01', limit: 5 }],
      ['incidents', { unsettled: true }],
    ])
  })
})

describe('errors have one shape', () => {
  it.each([
    ['NOT_FOUND', 404],
    ['HOST_ALIVE', 409],
    ['INCIDENT_OPEN', 409],
    ['NOTHING_TO_TRY', 409],
    ['PROOF_INVALID', 422],
    ['JOURNAL_UNAVAILABLE', 503],
    ['INVARIANT', 500],
  ] as const)('%s is %i', async (code, status) => {
    const { operations } = fakeOperations({
      recover: () => Promise.reject(new LifeboatError(code, 'why', { details: { a: 1 } })),
    })
    const payload = { host: 'h', by, proof: 'p' }
    const answer = await routes(operations).inject({ method: 'POST', url: '/v1/recover', payload })
    expect([answer.statusCode, answer.json()]).toEqual([status, { error: { code, message: 'why', details: { a: 1 } } }])
  })

  it('a bug says so without a stack, which is in the log', async () => {
    const bug = new TypeError('x is not a function')
    const { operations } = fakeOperations({
      status: () => {
        throw bug
      },
    })
    const logged: unknown[] = []
    const log = (...line: unknown[]): void => void logged.push(line)
    const answer = await routes(operations, { log }).inject('/v1/status')
    const message = 'GET /v1/status failed: x is not a function'
    const cause = expect.objectContaining({ cause: bug }) as unknown
    expect(logged).toEqual([['error', 'http.failed', expect.objectContaining({ message }), cause]])
    expect([answer.statusCode, answer.json()]).toEqual([
      500,
      { error: { code: 'INVARIANT', message: 'x is not a function', details: {} } },
    ])
  })
})

describe('while what was recorded is not durable', () => {
  const { operations } = fakeOperations({ cancel: () => Promise.reject(new LifeboatError('CONFLICT', 'over')) })
  const unconfirmed = new LifeboatError('JOURNAL_UNAVAILABLE', 'not confirmed', { certainty: 'unknown' })
  const recorded = () => Promise.reject(unconfirmed)
  const server = restServer({ operations, review: fakeReview(), clock, recorded }, onSocket)

  it.each([
    ['an act', 503, { method: 'POST', url: '/v1/resume', payload: { by, reason: 'x' } }],
    ['the refusal of an act', 503, { method: 'POST', url: '/v1/incidents/i-1/cancel', payload: { by, reason: 'x' } }],
    ['an invalid request', 400, { method: 'POST', url: '/v1/resume', payload: {} }],
    ['a read', 200, { method: 'GET', url: '/v1/status' }],
  ] as const)('%s is answered %i', async (_what, status, request) => {
    const answer = await server.inject(request)
    expect(answer.statusCode).toBe(status)
    if (status === 503)
      expect(answer.json()).toMatchObject({ error: { code: 'JOURNAL_UNAVAILABLE', certainty: 'unknown' } })
    else expect(answer.body).not.toContain('certainty')
  })
})

it('the brake is overridden for as many hosts as a fleet has', async () => {
  const { operations, asked } = fakeOperations()
  const incidents = Array.from({ length: 5_000 }, (_, n) => `20260102T030405Z-cmp${n}.rack${n % 40}.example.org`)
  const payload = { by, reason: 'the power is off', scope: 'cloud', incidents }
  const answer = await routes(operations).inject({ method: 'POST', url: '/v1/brake/override', payload })
  expect([answer.statusCode, asked]).toEqual([202, [['overrideGroup', payload]]])
})

describe('hostile requests', () => {
  const { operations, asked } = fakeOperations()
  const server = routes(operations)
  const headers = { 'content-type': 'application/json' }

  it.each([
    [
      'a body beyond the limit',
      { method: 'POST', url: '/v1/resume', headers, payload: JSON.stringify({ by, reason: 'x'.repeat(20_000) }) },
      413,
    ],
    ['bad JSON', { method: 'POST', url: '/v1/resume', headers, payload: '{"by":' }, 400],
    [
      '__proto__ in JSON',
      { method: 'POST', url: '/v1/resume', headers, payload: '{"by":"a","reason":"b","__proto__":{"x":1}}' },
      400,
    ],
    [
      'another media type',
      { method: 'POST', url: '/v1/resume', headers: { 'content-type': 'text/xml' }, payload: '<a/>' },
      415,
    ],
    [
      'text, which fastify would take by itself',
      { method: 'POST', url: '/v1/resume', headers: { 'content-type': 'text/plain' }, payload: 'a=b' },
      415,
    ],
    ['a time beyond the year 9999', { method: 'GET', url: '/v1/journal?since=9999-12-31T23:59:59-23:59' }, 400],
    ['a time before the year 0', { method: 'GET', url: '/v1/journal?until=0000-01-01T00:00:00%2B23:59' }, 400],
    ['an unknown route', { method: 'GET', url: '/v1/secrets' }, 404],
    ['an unknown method', { method: 'DELETE', url: '/v1/incidents/i-1' }, 404],
    ['a path with bad escapes', { method: 'GET', url: '/v1/incidents/%zz' }, 400],
    ['a name that is too long', { method: 'GET', url: `/v1/incidents/${'x'.repeat(301)}` }, 414],
  ] as const)('%s', async (_name, request, status) => {
    const answer = await server.inject(request)
    const shape = { error: { code: expect.any(String), message: expect.any(String), details: expect.anything() } }
    expect([answer.statusCode, answer.json()]).toEqual([status, shape])
    expect(answer.body.length).toBeLessThan(300)
    expect(asked).toEqual([])
  })
})

it('GET /v1/hosts/NAME asks for that host, and says when there is none', async () => {
  const { operations } = fakeOperations()
  const answer = await routes(operations).inject({ method: 'GET', url: '/v1/hosts/cmp01.example' })
  expect([answer.statusCode, answer.json().error.message]).toEqual([404, 'Nova shows no nova-compute on cmp01.example'])
})
