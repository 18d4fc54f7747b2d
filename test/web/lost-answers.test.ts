/** What the pages take for done, for not done, and for neither. */
import { afterEach, expect, it, vi } from 'vitest'
import { post } from '../../src/web/api/client.ts'

afterEach(() => vi.unstubAllGlobals())

const error = { code: 'JOURNAL_UNAVAILABLE', message: 'The shared journal did not confirm this', details: {} }

it.each([
  ['a refusal is not done', { error }, false],
  ['an order that may still be confirmed may be done', { error: { ...error, certainty: 'unknown' } }, true],
])('%s', async (_what, body, unknown) => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(body), { status: 503 })))
  await expect(post('/v1/pause', {})).rejects.toMatchObject({ code: error.code, message: error.message, unknown })
})
