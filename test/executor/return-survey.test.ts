/** What is read for a returning host: which evacuations hold it, and what stays behind. */
import { describe, expect, test } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { Incident } from '../../src/domain/incident.ts'
import type { Instance, Migration } from '../../src/domain/instance.ts'
import { readEvacuations, readLeftovers, readTrait } from '../../src/executor/return-survey.ts'

function record(id: number, status: string, change: Partial<Migration> = {}): Migration {
  const times = { createdAt: '2026-01-01T00:00:00', updatedAt: null }
  return {
    id,
    uuid: `m-${id}`,
    instanceId: 'web',
    type: 'evacuation',
    status,
    sourceHost: 'h',
    destHost: 'd',
    ...times,
    ...change,
  }
}

/** Answers as Nova filters: by status, or everything. */
function cloud(records: Migration[]) {
  const asked: unknown[] = []
  const listMigrations = (filter: { status?: string; sourceHost?: string }): Promise<Migration[]> => {
    asked.push(filter)
    const found = records.filter(({ sourceHost }) => sourceHost === filter.sourceHost)
    return Promise.resolve(found.filter(({ status }) => filter.status === undefined || filter.status === status))
  }
  return { listMigrations, asked }
}

const read = (records: Migration[]) => readEvacuations(cloud(records), 'h', (id) => `name of ${id}`)
const ids = (left: readonly { migration: string }[]): string[] => left.map(({ migration }) => migration)

describe('evacuations from a returning host', () => {
  test('hold it while they are under way or done, by name', async () => {
    const { inFlight, done } = await read([
      record(1, 'accepted'),
      record(2, 'pre-migrating', { instanceId: 'db' }),
      record(3, 'done', { instanceId: 'x' }),
    ])
    expect(ids(inFlight)).toEqual(['m-1', 'm-2'])
    expect(done).toEqual([{ migration: 'm-3', instance: 'x', name: 'name of x', status: 'done' }])
  })

  test('that failed or are settled do not', async () => {
    const records = ['completed', 'failed', 'error', 'cancelled'].map((status, index) => record(index, status))
    expect(await read(records)).toEqual({ inFlight: [], done: [] })
  })

  test.each(['done', 'completed'])('that never ended do not when a later one of the instance is %s', async (status) => {
    expect(ids((await read([record(1, 'pre-migrating'), record(2, status)])).inFlight)).toEqual([])
    expect(ids((await read([record(2, 'pre-migrating'), record(1, status)])).inFlight)).toEqual(['m-2'])
    expect(ids((await read([record(1, 'pre-migrating'), record(2, status, { instanceId: 'db' })])).inFlight)).toEqual([
      'm-1',
    ])
  })

  test('that never ended do not count once a later one has moved the instance on from their destination', async () => {
    const later = (change: Partial<Migration>) => [record(1, 'pre-migrating'), record(2, 'done', change)]
    expect(ids((await read(later({ sourceHost: 'd', destHost: 'e' }))).inFlight)).toEqual([])
    expect(ids((await read(later({ sourceHost: 'elsewhere' }))).inFlight)).toEqual(['m-1'])
  })

  test('that never ended do when the later one failed', async () => {
    expect(ids((await read([record(1, 'pre-migrating'), record(2, 'failed')])).inFlight)).toEqual(['m-1'])
  })

  test('that end between two readings are done, not both', async () => {
    const moving = record(1, 'pre-migrating')
    const listMigrations = ({ status }: { status?: string }): Promise<Migration[]> => {
      if (status === 'done') moving.status = 'done'
      return Promise.resolve(status === undefined || status === moving.status ? [{ ...moving }] : [])
    }
    const { inFlight, done } = await readEvacuations({ listMigrations }, 'h', (id) => id)
    expect({ inFlight, done: ids(done) }).toEqual({ inFlight: [], done: ['m-1'] })
  })

  test('are asked for by their source and three times only when nothing holds, however long the history is', async () => {
    const asked = cloud([record(1, 'completed')])
    await readEvacuations(asked, 'h', (id) => id)
    const base = { sourceHost: 'h', type: 'evacuation' }
    expect(asked.asked).toEqual(['accepted', 'pre-migrating', 'done'].map((status) => ({ ...base, status })))
  })
})

describe("Placement's mark", () => {
  const traits = (names: string[]) => ({ hostTraits: () => Promise.resolve(new Set(names)) })
  const never = (): void => expect.unreachable()

  test('is there or gone', async () => {
    expect(await readTrait(traits(['HW_CPU', 'COMPUTE_STATUS_DISABLED']), 'h', never)).toBe('set')
    expect(await readTrait(traits(['HW_CPU']), 'h', never)).toBe('gone')
  })

  test('that cannot be read is unknown, and why is told', async () => {
    const told: unknown[] = []
    const error = new LifeboatError('CATALOG_MISSING', 'no placement')
    expect(await readTrait({ hostTraits: () => Promise.reject(error) }, 'h', (why) => told.push(why))).toBeNull()
    expect(told).toEqual([error])
  })
})

describe('what stays behind', () => {
  const here = (name: string, vmState = 'stopped'): Instance => ({ id: name, name, vmState }) as Instance
  const incident = (outcomes: Record<string, string>, debts: Record<string, string> = {}): Incident => {
    const names = [...new Set([...Object.keys(outcomes), ...Object.keys(debts)])]
    const instances = names.map((name) => {
      const outcome = outcomes[name] === undefined ? null : { outcome: outcomes[name], code: 'WHY', message: 'because' }
      const owed = debts[name] === undefined ? [] : [{ code: 'DEBT', message: debts[name] }]
      return [name, { plan: { name }, outcome, leftovers: owed }] as const
    })
    return { instances: new Map(instances) } as unknown as Incident
  }
  const left = (incidents: Incident[], on: Instance[], resizes: Migration[] = [], known: Instance[] = []) =>
    readLeftovers(
      {
        listInstances: () => Promise.resolve(on),
        listMigrations: () => Promise.resolve(resizes),
        getInstance: (id) => {
          const found = known.find((at) => at.id === id)
          return found === undefined
            ? Promise.reject(new LifeboatError('INSTANCE_GONE', 'gone'))
            : Promise.resolve(found)
        },
      },
      'h',
      incidents,
    )

  test('is every instance that is still there and was not recovered', async () => {
    const incidents = [incident({ a: 'left', b: 'failed', c: 'stuck', d: 'recovered', gone: 'left' })]
    expect(
      await left(
        incidents,
        ['a', 'b', 'c', 'd', 'new'].map((name) => here(name)),
      ),
    ).toEqual([
      { code: 'INSTANCE_LEFT', message: 'a: stopped, still here, left (WHY): because', instance: 'a' },
      { code: 'INSTANCE_FAILED', message: 'b: stopped, still here, failed (WHY): because', instance: 'b' },
      { code: 'INSTANCE_STUCK', message: 'c: stopped, still here, stuck (WHY): because', instance: 'c' },
    ])
  })

  test('goes by the newest incident that has a line for the instance', async () => {
    const said = await left([incident({ a: 'left' }), incident({ a: 'failed' }), incident({})], [here('a')])
    expect(said.map(({ code }) => code)).toEqual(['INSTANCE_FAILED'])
  })

  test('is every debt, with the name of its instance', async () => {
    expect(await left([incident({}, { a: 'a finished migration stays' })], [])).toEqual([
      { code: 'DEBT', message: 'a: a finished migration stays', instance: 'a' },
    ])
  })

  test('is every finished resize whose instance is no longer resized', async () => {
    const resize = (id: number, instanceId: string, type: Migration['type']): Migration =>
      record(id, 'finished', { instanceId, type })
    const resizes = [
      resize(1, 'lost', 'resize'),
      resize(2, 'cold', 'migration'),
      resize(3, 'waits', 'resize'),
      resize(4, 'deleted', 'resize'),
      resize(5, 'lost', 'evacuation'),
    ]
    const known = [here('lost', 'active'), here('cold'), here('waits', 'resized')]
    const said = await left([], [], resizes, known)
    expect(said.map(({ code, instance }) => [code, instance])).toEqual([
      ['LEFTOVER_RESIZE', 'lost'],
      ['LEFTOVER_RESIZE', 'cold'],
    ])
    expect(said[0]?.message).toContain('lost: resize m-1 is still finished, though the instance is active')
  })

  test('that cannot be read is an error, not nothing', async () => {
    const failing = {
      listInstances: () => Promise.resolve([]),
      listMigrations: () => Promise.resolve([record(1, 'finished', { type: 'resize' })]),
      getInstance: () => Promise.reject(new LifeboatError('API_FAULT', '500')),
    }
    await expect(readLeftovers(failing, 'h', [])).rejects.toMatchObject({ code: 'API_FAULT' })
  })
})
