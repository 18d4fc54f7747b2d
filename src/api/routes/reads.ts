/** What anybody may read who may read at all. Answers from memory and the journal; nothing here waits for the cloud. */
import { Readable } from 'node:stream'
import type { EntryKind } from '../../domain/entry.ts'
import { ensureError } from '../../domain/errors.ts'
import type { RestServer, RestSources } from '../rest.ts'
import type { FastifyReply } from 'fastify'
import type { z } from 'zod'
import { listOf, named } from '../schemas/named-answers.ts'
import * as requests from '../schemas/requests.ts'
import { omitUndefined } from '../../domain/omit-undefined.ts'
import { inPieces, journalInPieces } from '../pieces.ts'

/** What a route that reads is asked, and answers. */
function read<A, I extends { params?: z.ZodType; querystring: z.ZodType }>(
  tag: string,
  summary: string,
  answer: A,
  asked: I,
): { schema: I & { response: { 200: A }; tags: string[]; summary: string } } {
  return { schema: { ...asked, response: { 200: answer }, tags: [tag], summary } }
}

export function readRoutes(server: RestServer, sources: RestSources): void {
  const { operations, review, clock } = sources
  server.get(
    '/v1/status',
    read('cloud', 'How the daemon and the cloud are', named('daemonStatus'), { querystring: requests.nothing }),
    () => operations.status(),
  )
  server.get(
    '/v1/hosts',
    read('cloud', 'Every host with its verdict', listOf('hostStatus'), { querystring: requests.nothing }),
    () => operations.hosts(),
  )
  server.get(
    '/v1/hosts/:host',
    read('cloud', 'One host', named('hostDetail'), { params: requests.hostPath, querystring: requests.nothing }),
    ({ params }) => operations.host(params.host),
  )
  server.get(
    '/v1/hosts/:host/readiness',
    read('plans', 'Whether one host could fail safely now', named('hostReadiness'), {
      params: requests.hostPath,
      querystring: requests.nothing,
    }),
    ({ params }) => review.hostReadiness(params.host),
  )
  server.get(
    '/v1/readiness',
    read('plans', 'Whether each host, and the cloud, could fail safely now', named('readiness'), {
      querystring: requests.nothing,
    }),
    async (_request, reply) => inPieces(await review.readiness(), reply, clock),
  )
  server.get(
    '/v1/segments',
    read('cloud', 'Segments with their rules', listOf('segmentStatus'), { querystring: requests.nothing }),
    () => review.segments(),
  )
  server.get(
    '/v1/verdicts',
    read('cloud', 'Changes of verdicts with their evidence, the newest first', listOf('verdictLine'), {
      querystring: requests.verdictQuery,
    }),
    ({ query }) => review.verdicts(omitUndefined(query)),
  )
  server.get(
    '/v1/brake',
    read('cloud', 'What the brake holds, one group for each failure', named('heldGroups'), {
      querystring: requests.nothing,
    }),
    () => review.counted(operations.heldGroups()),
  )
  incidentReads(server, sources)
  server.get(
    '/v1/journal',
    read('journal', 'Journal entries in pages', named('journalPage'), { querystring: requests.journalQuery }),
    // A kind that this release does not know has no entries: that is an answer, not a mistake.
    async ({ query: { kinds, ...query } }, reply) => {
      const asked = { ...omitUndefined(query), ...(kinds !== undefined && { kinds: kinds as EntryKind[] }) }
      return inPieces(await journalInPieces(review, asked, clock), reply, clock)
    },
  )
  server.get(
    '/v1/journal/verify',
    read('journal', 'Walks the whole hash chain', named('chainProof'), { querystring: requests.nothing }),
    () => review.verify(),
  )
  server.get(
    '/v1/plans/:id',
    read('plans', 'A plan that was asked for, with how far it is', named('planRun'), {
      params: requests.planPath,
      querystring: requests.nothing,
    }),
    ({ params }) => review.plan(params.id),
  )
}

function incidentReads(server: RestServer, { operations, review, clock, observer }: RestSources): void {
  server.get(
    '/v1/incidents',
    read('incidents', 'Incidents, the newest first', listOf('incidentSummary'), {
      querystring: requests.incidentQuery,
    }),
    ({ query }) => review.listed(operations.incidents(omitUndefined(query))),
  )
  server.get(
    '/v1/incidents/:id',
    read('incidents', 'One incident with its instances and steps', named('incidentDetail'), {
      params: requests.incidentPath,
      querystring: requests.nothing,
    }),
    async ({ params }, reply) => {
      await review.load(params.id)
      return inPieces(operations.incident(params.id), reply, clock)
    },
  )
  server.get(
    '/v1/incidents/:id/review',
    read('incidents', 'One incident as its page shows it', named('incidentReview'), {
      params: requests.incidentPath,
      querystring: requests.reviewQuery,
    }),
    async ({ params, query }, reply) => {
      await review.load(params.id)
      return inPieces(review.incident(params.id), reply, clock, query.lists)
    },
  )
  server.get(
    '/v1/incidents/:id/diff/:other',
    read('incidents', 'Two incidents side by side: durations, counts, decisions', named('incidentComparison'), {
      params: requests.twoIncidentsPath,
      querystring: requests.nothing,
    }),
    async ({ params }) => {
      await review.load(params.id)
      await review.load(params.other)
      return review.compare(params.id, params.other)
    },
  )
  server.get(
    '/v1/incidents/:id/instances/:instance',
    read('incidents', 'One instance of an incident with every step', named('instanceReview'), {
      params: requests.instanceOfIncidentPath,
      querystring: requests.nothing,
    }),
    ({ params }) => review.instance(params.id, params.instance),
  )
  server.get(
    '/v1/incidents/:id/report',
    read('incidents', 'The report of an incident', named('reportText'), {
      params: requests.incidentPath,
      querystring: requests.reportQuery,
    }),
    async ({ id, params, query }, reply) => {
      const [type, end] = query.format === 'json' ? ['application/jsonl', 'jsonl'] : ['text/markdown', 'md']
      const what = query.format === 'post-mortem' ? 'post-mortem' : 'incident'
      const file = `${what}-${params.id.replace(/[^\w.-]/g, '_')}.${end}`
      // Its reader only sees that it breaks off.
      const onBreak = (thrown: unknown): void => {
        const message = `The report of ${params.id} broke off`
        observer?.log?.('error', 'http.failed', { message, httpRequestId: id }, ensureError(thrown))
      }
      const pieces = Readable.from(await begun(review.report(params.id, query.format), onBreak))
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
    read('incidents', 'Runs of workflows, the newest first', listOf('recoveryLine'), {
      querystring: requests.recoveryQuery,
    }),
    ({ query }) => review.recoveries(omitUndefined(query)),
  )
  server.get(
    '/v1/instances/:id',
    read('incidents', 'In which incidents an instance was, the newest first', named('instanceHistory'), {
      params: requests.instancePath,
      querystring: requests.nothing,
    }),
    ({ params }) => review.instanceHistory(params.id),
  )
  server.get(
    '/v1/instances/:id/record',
    read('incidents', 'Where an instance was, how long it was down, and where it is', named('instanceRecord'), {
      params: requests.instancePath,
      querystring: requests.nothing,
    }),
    ({ params }) => review.instanceRecord(params.id),
  )
  server.get(
    '/v1/search',
    read('incidents', 'Hosts, incidents and instances by a part of their name or id', named('searchResult'), {
      querystring: requests.searchQuery,
    }),
    ({ query }) => review.search(query.q, query.limit),
  )
}

/** The same pieces, the first of them made now: what is not there is refused before the answer has begun. */
async function begun(
  pieces: AsyncIterable<string>,
  onBreak: (thrown: unknown) => void,
): Promise<AsyncIterable<string>> {
  const rest = pieces[Symbol.asyncIterator]()
  const first = await rest.next()
  const next = (): ReturnType<typeof rest.next> =>
    rest.next().catch((thrown: unknown) => {
      onBreak(thrown)
      throw thrown
    })
  return (async function* () {
    try {
      for (let piece = first; piece.done !== true; piece = await next()) yield piece.value
    } finally {
      // Also when its reader went away.
      await rest.return?.()
    }
  })()
}
