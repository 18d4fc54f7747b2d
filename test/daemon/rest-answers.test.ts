/** What a running daemon really answers, held against the schemas that the OpenAPI document is made of. */
import type { IncidentComparison } from '../../src/domain/incident-comparison.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { onSocket, restServer } from '../../src/api/rest-server.ts'
import * as answers from '../../src/api/schemas/answers.ts'
import { SmallWorld } from './small-world.ts'

/** A schema drops what it does not know: an answer that it leaves as it is holds nothing that is not described. */
function fits(what: string, schema: z.ZodType, answer: unknown): void {
  const parsed = schema.safeParse(answer)
  expect([what, parsed.error?.issues ?? []]).toEqual([what, []])
  expect([what, parsed.data]).toEqual([what, answer])
}

it(
  'every answer is what its schema says',
  SmallWorld.run({}, async (world) => {
    const { simulator, clock, daemon } = world
    simulator.addInstance({ name: 'web', host: 'cmp01', volumeBacked: true })
    simulator.addInstance({ name: 'batch', host: 'cmp01', state: 'stopped', volumeBacked: true })
    simulator.addInstance({ name: 'local', host: 'cmp01' })
    const server = restServer({ operations: daemon.operations, review: daemon.review, clock }, onSocket)
    const send = async (method: 'GET' | 'POST', url: string, payload?: object) => {
      const answer = await clock.run(server.inject({ method, url, ...(payload !== undefined && { payload }) }))
      expect([url, answer.statusCode < 300 ? '' : answer.body]).toEqual([url, ''])
      return answer.body === '' ? null : answer.json()
    }
    daemon.watchReadiness()
    await clock.advance(60_000)
    const run = await send('POST', '/v1/plans', { host: 'cmp01' })
    fits('plan', answers.planRun, run)
    await world.until(() => daemon.review.plan(run.id).state !== 'running')
    fits('plan, done', answers.planRun, await send('GET', `/v1/plans/${run.id}`))
    expect(daemon.review.plan(run.id)).toMatchObject({ state: 'done', progress: '3 instances decided' })
    const waited = await send('POST', '/v1/plans', { host: 'cmp01', waitSeconds: 10 })
    fits('plan, waited for', answers.planRun, waited)
    expect(waited).toMatchObject({ state: 'done', progress: '3 instances decided' })
    for (const asked of [{ failure: 'process' }, { failure: 'instance', instance: 'web' }])
      fits('plan', answers.planRun, await send('POST', '/v1/plans', { host: 'cmp01', ...asked, waitSeconds: 10 }))

    simulator.crash('cmp01')
    const { id, host } = await world.ended('cmp01')
    const by = 'ann'
    fits('note', answers.reviewNote, await send('POST', `/v1/incidents/${id}/notes`, { by, text: 'read it' }))
    fits('sign-off', answers.reviewNote, await send('POST', `/v1/incidents/${id}/sign-off`, { by, text: 'all well' }))
    fits('pause', answers.pauseState, await send('POST', '/v1/pause', { by, reason: 'work' }))
    const scope = { kind: 'host', name: 'cmp02' }
    fits('maintenance', answers.order, await send('POST', '/v1/maintenance', { by, reason: 'work', scope }))
    const plan = {
      by,
      reason: 'work',
      scope,
      from: new Date(clock.wall() + 86_400_000).toISOString().slice(0, 19) + 'Z',
    }
    fits('planned maintenance', answers.plannedOrder, await send('POST', '/v1/maintenance', plan))
    const instance = [...(world.incident(host)?.instances.keys() ?? [])][0]
    const reads: [string, z.ZodType][] = [
      ['/v1/me', answers.welcome],
      ['/v1/status', answers.daemonStatus],
      ['/v1/readiness', answers.readiness],
      [`/v1/hosts/${host}/readiness`, answers.hostReadiness],
      ['/v1/hosts', z.array(answers.hostStatus)],
      [`/v1/hosts/${host}`, answers.hostDetail],
      ['/v1/segments', z.array(answers.segmentStatus)],
      ['/v1/verdicts', z.array(answers.verdictLine)],
      ['/v1/incidents', z.array(answers.incidentSummary)],
      [`/v1/incidents/${id}`, answers.incidentDetail],
      [`/v1/incidents/${id}/review`, answers.incidentReview],
      [`/v1/incidents/${id}/instances/${instance}`, answers.instanceReview],
      [`/v1/instances/${instance}`, answers.instanceHistory],
      [`/v1/instances/${instance}/record`, answers.instanceRecord],
      [`/v1/search?q=${host}`, answers.searchResult],
      [`/v1/search?q=${instance}`, answers.searchResult],
      ['/v1/brake', answers.heldGroups],
      ['/v1/maintenance', answers.maintenanceView],
      ['/v1/notices', answers.receiverNotices],
      ['/v1/recoveries', z.array(answers.recoveryLine)],
      ['/v1/journal?limit=1000', answers.journalPage],
      ['/v1/journal/verify', answers.chainProof],
      ['/v1/openapi.json', answers.document],
    ]
    for (const [url, schema] of reads) fits(url, schema, await send('GET', url))

    const review = daemon.review.incident(id)
    expect(review.headline).toMatch(/^cmp01 went down: .* It was proven dead by .* Ended: \d of 3 instances recovered/)
    expect(review.lines.map(({ name, original }) => [name, original])).toContainEqual(['batch', 'stopped'])
    expect(review.signOff).toMatchObject({ by, text: 'all well' })
    expect(review.timeline.at(-1)?.text).toBe('ann signed it off: all well')
    expect(review.evidence.silence.map(({ verdict }) => verdict)).toEqual(
      expect.arrayContaining(['suspect', 'host-down']),
    )
    expect(review.advice.map(({ code }) => code)).toContain('HOST_AWAY')
    const listed = daemon.review.recoveries({})[0]
    expect(listed).toMatchObject({ workflow: 'host-failure', incident: { id, instances: 3, fencing: null } })
    expect(listed?.tookMs).toBeGreaterThan(0)
    const report = await clock.run(server.inject(`/v1/incidents/${id}/report`))
    expect([report.headers['content-type'], report.body]).toEqual([
      'text/markdown; charset=utf-8',
      expect.stringContaining('# Incident'),
    ])
    const page = await clock.run(server.inject(`/v1/incidents/${id}/report?format=post-mortem`))
    expect([page.headers['content-disposition'], page.body]).toEqual([
      `attachment; filename="post-mortem-${id}.md"`,
      expect.stringContaining('# Post-mortem: cmp01 failed'),
    ])
    const diff = await clock.run(server.inject(`/v1/incidents/${id}/diff/${id}`))
    expect(diff.json<IncidentComparison>().facts.every(({ first, second }) => first === second)).toBe(true)
    expect((await server.inject(`/v1/incidents/${id}/diff/none`)).statusCode).toBe(404)
    const lines = await clock.run(server.inject(`/v1/incidents/${id}/report?format=json`))
    expect(lines.body.trim().split('\n')).toHaveLength(world.journal.read({ incident: id }).length)
    expect((await server.inject('/v1/incidents/none/report')).statusCode).toBe(404)
    await server.close()
  }),
)
