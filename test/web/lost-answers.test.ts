/** What the pages take for done, for not done, and for neither. */
import { afterEach, expect, it, vi } from 'vitest'
import { post, postQuestion } from '../../src/web/api/client.ts'

afterEach(() => vi.unstubAllGlobals())

const error = { code: 'JOURNAL_UNAVAILABLE', message: 'The shared journal did not confirm this', details: {} }

it.each([
  ['a refusal is not done', { error }, false],
  ['an order that may still be confirmed may be done', { error: { ...error, certainty: 'unknown' } }, true],
])('%s', async (_what, body, unknown) => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(body), { status: 503 })))
  await expect(post('/v1/pause', {})).rejects.toMatchObject({ code: error.code, message: error.message, unknown })
})

it.each([
  ['an order may have been taken', post, 'the order may have been taken', true],
  ['a login orders nothing', postQuestion, 'Lifeboat does not answer', false],
] as const)('without an answer %s', async (_what, ask, message, unknown) => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')))
  await expect(ask('/v1/x', {})).rejects.toMatchObject({ message: expect.stringContaining(message), unknown })
})
