/** Notices: what was sent to whom, and a test of a receiver. */
import { omitUndefined } from '../../domain/omit-undefined.ts'
import type { RestServer, RestSources } from '../rest.ts'
import { named } from '../schemas/named-answers.ts'
import * as requests from '../schemas/requests.ts'
import { who } from './acts.ts'

export function noticeRoutes(server: RestServer, { operations, review }: RestSources): void {
  server.get(
    '/v1/notices',
    {
      schema: {
        response: { 200: named('receiverNotices') },
        tags: ['journal'],
        summary: 'What was sent to whom, by receiver, each with how it stands',
        querystring: requests.noticeQuery,
      },
    },
    ({ query }) => review.notices(omitUndefined(query)),
  )
  server.post(
    '/v1/notices/test',
    {
      config: { recordsNothing: true },
      schema: {
        response: { 200: named('noticeTestResult') },
        tags: ['acts'],
        summary: 'Sends a test to a receiver',
        body: requests.testing,
      },
    },
    (request) => {
      const { by, ...test } = request.body
      return operations.testReceiver({ ...test, by: who(request, by).by })
    },
  )
}
