/**
 * The root of the compute API and its version document.
 *
 * Catalogues hold it in every form: with and without v2.1, with a project id behind, or the legacy v2 that has no
 * microversions. The host of the catalogue counts, never the links inside the document: behind a proxy those are wrong.
 */
import { z } from 'zod'
import { parseMicroversion } from './microversions.ts'
import type { MicroversionRange } from './microversions.ts'

const entry = z.object({ id: z.string(), version: z.string().default(''), min_version: z.string().default('') })
export const versionDocument = z.union([z.object({ version: entry }), z.object({ versions: z.array(entry) })])

/** Where calls go: the endpoint, brought to v2.1. */
export function computeBase(endpoint: string): string {
  if (/\/v2\.1(\/[^/]+)?$/.test(endpoint)) return endpoint
  const legacy = /^(.*)\/v2(?:\.0)?(?:\/[^/]+)?$/.exec(endpoint)
  return `${legacy?.[1] ?? endpoint}/v2.1`
}

/** Where to ask for the versions, best first: the v2.1 root (both spellings), then the list above it. */
export function versionAddresses(endpoint: string): string[] {
  const root = computeBase(endpoint).replace(/(\/v2\.1)\/[^/]+$/, '$1')
  return [`${root}/`, root, `${root.slice(0, -'/v2.1'.length)}/`]
}

/** The v2.1 entry's range, or null when the document has none. */
export function rangeIn(document: z.infer<typeof versionDocument>): MicroversionRange | null {
  const entries = 'version' in document ? [document.version] : document.versions
  const current = entries.find(({ id }) => id === 'v2.1')
  const min = parseMicroversion(current?.min_version ?? '')
  const max = parseMicroversion(current?.version ?? '')
  return min === null || max === null ? null : { min, max }
}
