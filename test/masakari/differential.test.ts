/**
 * Lifeboat against Masakari, request by request: the same status, fault, fields, rows and headers, but for the differences that are named
 * in differential/intended.ts and explained in docs/masakari-api.md. The record is Masakari's own (test/nova/masakari-answers.test.ts).
 */
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { simulatedSegment } from '../../src/rehearsal/simulated-parts.ts'
import { SmallWorld } from '../daemon/small-world.ts'
import { files, textOf } from '../documents/files.ts'
import { Cloud, project } from './cloud.ts'
import { headHere, intended, unrecorded } from './differential/intended.ts'
import { played, type Answered, type Sent } from './differential/play.ts'

const record = JSON.parse(readFileSync(new URL('differential/answers.json', import.meta.url), 'utf8')) as Record<
  string,
  Answered
>

let answers: Record<string, Answered> = {}

beforeAll(async () => {
  answers = await ofLifeboat()
})

async function ofLifeboat(): Promise<Record<string, Answered>> {
  let found: Record<string, Answered> = {}
  const parts = { segmentOf: () => ({ ...simulatedSegment, name: 'default:nova' }) }
  const tokens = { admin: 'ann', member: 'ted', stranger: 'unknown', nobody: null }
  await SmallWorld.run({ hosts: 4, parts }, async (world) => {
    await world.clock.advance(30_000)
    const cloud = await Cloud.over(world)
    const send = async ({ method, path, as = 'admin', version, content, type }: Sent) => {
      const headers = {
        ...(version !== undefined && { 'openstack-api-version': version }),
        ...(type !== undefined && { 'content-type': type }),
      }
      const payload = content === undefined ? {} : { payload: content }
      const answer = await cloud.ask(path, { method, headers, as: tokens[as], ...payload })
      const header = (name: string): string | undefined => answer.headers[name]?.toString()
      return { status: answer.statusCode, body: answer.body === '' ? null : answer.json<unknown>(), header }
    }
    found = await played(send, project)
  })()
  return found
}

/** The record is of Masakari 19; notifications have two more fields since 20. */
function since20(answer: Answered): Answered {
  if (answer.fields?.includes('source_host_uuid') !== true) return answer
  return { ...answer, fields: [...answer.fields, 'failover_segment_uuid', 'message'].toSorted() }
}

function here(answer: Answered): Answered {
  return { ...since20(answer), head: headHere(answer) }
}

describe('each answer', () => {
  it('is that of Masakari, but for those that differ on purpose', () => {
    const names = Object.keys(record).filter((name) => !(name in intended))
    expect(names.length).toBeGreaterThan(250)
    const of = (all: Record<string, Answered>): Record<string, Answered | undefined> =>
      Object.fromEntries(names.map((name) => [name, all[name] && here(all[name])]))
    expect(Object.fromEntries(names.map((name) => [name, answers[name]]))).toEqual(of(record))
  })

  it.each(Object.entries(intended))('to "%s" differs: $as', (name, { is }) => {
    expect(answers[name]).toMatchObject(is)
    expect(since20(record[name] as Answered)).not.toMatchObject(is)
  })
})

describe('the document', () => {
  it('explains every difference, and no other', () => {
    const [, told = ''] = textOf('docs/masakari-api.md').split('## What differs, and why\n')
    const explained = [...told.matchAll(/^\* \*\*(.+?)\.?\*\*/gm)].map(([, difference]) => difference)
    const shown = [...Object.values(intended).map(({ as }) => as), ...Object.keys(unrecorded)]
    expect(explained.toSorted()).toEqual([...new Set(shown)].toSorted())
    expect(told.match(/^\* /gm)).toHaveLength(explained.length)
  })

  it('can be held against a test where no recorded request shows the difference', () => {
    expect(Object.values(unrecorded).filter((test) => !files.includes(test))).toEqual([])
  })
})
