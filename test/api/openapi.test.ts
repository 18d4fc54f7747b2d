import { Validator } from '@seriousme/openapi-schema-validator'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { access } from '../../src/api/access.ts'
import { openApi } from '../../src/api/index.ts'

const document = await openApi()
const paths = document['paths'] as Record<string, Record<string, any>>

it('is valid OpenAPI 3.1', async () => {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
})

it('names every route of the access table, and says which role it needs', () => {
  const said = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description }]) => [
      `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
      description,
    ]),
  )
  const needed = ([route, role]: [string, string]) => [
    route,
    role === 'nobody' ? 'Without a login.' : `Needs the role ${role}.`,
  ]
  expect(said.sort()).toEqual(Object.entries(access).map(needed).sort())
})

it('describes the answer of every route, and refusals', () => {
  for (const methods of Object.values(paths))
    for (const { responses, summary } of Object.values(methods)) {
      expect([summary, Object.keys(responses)]).toEqual([summary, expect.arrayContaining(['4XX', '5XX'])])
      expect(Object.keys(responses).filter((status) => status.startsWith('2'))).toHaveLength(1)
    }
})

it('gives every route a name of its own, a summary and a known tag', () => {
  const routes = Object.values(paths).flatMap((methods) => Object.values(methods))
  const names = routes.map(({ operationId }) => operationId as string)
  expect(names.filter((name) => !/^(get|post|delete)[A-Z][A-Za-z]+$/.test(name))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
  const tags = (document['tags'] as { name: string }[]).map(({ name }) => name)
  for (const { summary, tags: own } of routes) {
    expect(summary).toMatch(/^[A-Z].{5,}/)
    expect(tags).toEqual(expect.arrayContaining(own as string[]))
  }
})

it('is what docs/api.md says: every route with its least role, and no other', () => {
  const rows = readFileSync('docs/api.md', 'utf8').matchAll(/^\| `((?:GET|POST|DELETE) [^`]+)` \| (\w+) \|/gm)
  expect(Object.fromEntries([...rows].map(([, route, role]) => [route, role]))).toEqual(access)
})
