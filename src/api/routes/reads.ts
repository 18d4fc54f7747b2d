/** What anybody may read who may read at all. Answers from memory and the journal; nothing here asks the cloud. */
import { Readable } from 'node:stream'
import type { EntryKind } from '../../domain/entry.ts'
import type { RestServer, RestSources } from '../rest.ts'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import * as answers from '../schemas/answers.ts'
import * as requests from '../schemas/requests.ts'
import { given } from '../given.ts'

const tags = (tag: string): { tags: string[] } => ({ tags: [tag] })

export function readRoutes(server: RestServer, { operations, review }: RestSources): void {
  server.get(
    '/v1/status',
    {
      schema: {
        response: { 200: answers.daemonStatus },
        ...tags('cloud'),
        summary: 'How the daemon and the cloud are',
        querystring: requests.nothing,
      },
    },
    () => operations.status(),
  )
  server.get(
    '/v1/hosts',
    {
      schema: {
        response: { 200: z.array(answers.hostStatus) },
        ...tags('cloud'),
        summary: 'Every host with its verdict',
        querystring: requests.nothing,
      },
    },
    () => operations.hosts(),
  )
  server.get(
    '/v1/hosts/:host',
    {
      schema: {
        response: { 200: answers.hostDetail },
        ...tags('cloud'),
        summary: 'One host',
        params: requests.hostPath,
        querystring: requests.nothing,
      },
    },
    ({ params }) => operations.host(params.host),
  )
  server.get(
    '/v1/segments',
    {
      schema: {
        response: { 200: z.array(answers.segmentStatus) },
        ...tags('cloud'),
        summary: 'Segments with their rules',
        querystring: requests.nothing,
      },
    },
    () => review.segments(),
  )
  server.get(
    '/v1/verdicts',
    {
      schema: {
        response: { 200: z.array(answers.verdictLine) },
        ...tags('cloud'),
        summary: 'Changes of verdicts with their evidence, the newest first',
        querystring: requests.verdictQuery,
      },
    },
    ({ query }) => review.verdicts(given(query)),
  )
  incidentReads(server, { operations, review })
  server.get(
    '/v1/journal',
    {
      schema: {
        response: { 200: answers.journalPage },
        ...tags('journal'),
        summary: 'Journal entries in pages',
        querystring: requests.journalQuery,
      },
    },
    // A kind that this release does not know has no entries: that is an answer, not a mistake.
    ({ query: { kinds, ...query } }) =>
      review.journal({ ...given(query), ...(kinds !== undefined && { kinds: kinds as EntryKind[] }) }),
  )
  server.get(
    '/v1/journal/verify',
    {
      schema: {
        response: { 200: answers.chainProof },
        ...tags('journal'),
        summary: 'Walks the whole hash chain',
        querystring: requests.nothing,
      },
    },
    () => review.verify(),
  )
  server.get(
    '/v1/plans/:id',
    {
      schema: {
        response: { 200: answers.planRun },
        ...tags('plans'),
        summary: 'A plan that was asked for, with how far it is',
        params: requests.planPath,
        querystring: requests.nothing,
      },
    },
    ({ params }) => review.plan(params.id),
  )
}

function incidentReads(server: RestServer, { operations, review }: Pick<RestSources, 'operations' | 'review'>): void {
  server.get(
    '/v1/incidents',
    {
      schema: {
        response: { 200: z.array(answers.incidentSummary) },
        ...tags('incidents'),
        summary: 'Incidents, the newest first',
        querystring: requests.incidentQuery,
      },
    },
    ({ query }) => operations.incidents(given(query)),
  )
  server.get(
    '/v1/incidents/:id',
    {
      schema: {
        response: { 200: answers.incidentDetail },
        ...tags('incidents'),
        summary: 'One incident with its instances and steps',
        params: requests.incidentPath,
        querystring: requests.nothing,
      },
    },
    ({ params }) => operations.incident(params.id),
  )
  server.get(
    '/v1/incidents/:id/review',
    {
      schema: {
        response: { 200: answers.incidentReview },
        ...tags('incidents'),
        summary: 'One incident as its page shows it',
        params: requests.incidentPath,
        querystring: requests.nothing,
      },
    },
    async ({ params }) => {
      await review.load(params.id)
      return review.incident(params.id)
    },
  )
  server.get(
    '/v1/incidents/:id/instances/:instance',
    {
      schema: {
        response: { 200: answers.instanceReview },
        ...tags('incidents'),
        summary: 'One instance of an incident with every step',
        params: requests.instanceOfIncidentPath,
        querystring: requests.nothing,
      },
    },
    ({ params }) => review.instance(params.id, params.instance),
  )
  server.get(
    '/v1/incidents/:id/report',
    {
      schema: {
        response: { 200: answers.reportText },
        ...tags('incidents'),
        summary: 'The report of an incident',
        params: requests.incidentPath,
        querystring: requests.reportQuery,
      },
    },
    ({ params, query }, reply) => {
      const [type, end] = query.format === 'json' ? ['application/jsonl', 'jsonl'] : ['text/markdown', 'md']
      const file = `incident-${params.id.replace(/[^\w.-]/g, '_')}.${end}`
      const pieces = Readable.from(begun(review.report(params.id, query.format)))
      // Described as text; sent piece by piece.
      const answer = reply as unknown as FastifyReply
      return answer
        .type(`${type}; charset=utf-8`)
        .header('content-disposition', `attachment; filename="${file}"`)
        .send(pieces) as unknown as Promise<string>
    },
  )
  server.get(
    '/v1/recoveries',
    {
      schema: {
        response: { 200: z.array(answers.recoveryLine) },
        ...tags('incidents'),
        summary: 'Runs of workflows, the newest first',
        querystring: requests.recoveryQuery,
      },
    },
    ({ query }) => review.recoveries(given(query)),
  )
  server.get(
    '/v1/instances/:id',
    {
      schema: {
        response: { 200: answers.instanceHistory },
        ...tags('incidents'),
        summary: 'In which incidents an instance was, the newest first',
        params: requests.instancePath,
        querystring: requests.nothing,
      },
    },
    ({ params }) => review.instanceHistory(params.id),
  )
}

/** The same pieces, the first of them made now: what is not there is refused before the answer has begun. */
function begun(pieces: Iterable<string>): Iterable<string> {
  const rest = pieces[Symbol.iterator]()
  const first = rest.next()
  return (function* () {
    for (let piece = first; piece.done !== true; piece = rest.next()) yield piece.value
  })()
}
