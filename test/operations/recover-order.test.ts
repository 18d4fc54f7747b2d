/** Whose word counts, and when an order is refused because it would never be carried out. */
import { expect, it } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { Incident } from '../../src/domain/incident.ts'
import { createOperations, type OperationsParts } from '../../src/operations/operations.ts'

const row = { updatedAt: '2026-01-01T00:00:50.000000', forcedDown: false, status: 'enabled' }

function operations(
  incident: Partial<Incident> | null,
  held: string | null = null,
  mode: 'observe' | 'armed' = 'observe',
  { verdict, frozen, lastPoll }: { verdict: object; frozen: object | null; lastPoll: object | null } = seen({}),
): { written: NewEntry[]; it: ReturnType<typeof createOperations> } {
  const written: NewEntry[] = []
  const open = { id: 'i-1', host: 'cmp01', cancelled: null, closed: null, ...incident } as Incident
  const parts = {
    journal: { append: (entries: NewEntry[]) => void written.push(...entries) },
    about: () => ({ mode }),
    store: { openOn: () => (incident === null ? undefined : open), inMemory: () => open, get: () => open },
    brake: { holds: () => held },
    monitor: { verdict: () => verdict, frozen: () => frozen, lastPoll: () => lastPoll },
  }
  return { written, it: createOperations(parts as unknown as OperationsParts) }
}

function seen(changes: { verdict?: object; frozen?: object; lastPoll?: object }) {
  return {
    verdict: { kind: 'host-down', message: 'dead', evidence: { ...row, silentMs: 60_000 } },
    frozen: null,
    lastPoll: { ok: true, error: null },
    ...changes,
  }
}

const order = { host: 'cmp01', by: 'ann', proof: 'I pulled its cords' }

/** Refusals are thrown at once; the API turns both ways into an answer. */
const asked = async (what: () => Promise<unknown>): Promise<unknown> => what()

it('a statement keeps the person, the account, and the row of the host that was known', async () => {
  const { written, it: asking } = operations({})
  expect(await asking.recover({ ...order, unixUser: 'root' })).toEqual({ incident: 'i-1', held: null })
  expect(written).toEqual([
    {
      kind: 'operator.statement',
      actor: 'operator:ann',
      host: 'cmp01',
      incident: 'i-1',
      data: { by: 'ann', statement: order.proof, row, unixUser: 'root' },
    },
  ])
})

const healthy = { kind: 'healthy', message: 'Healthy' }

it('a host that beats takes no statement, and is said to live', async () => {
  const { written, it: asking } = operations(null, null, 'armed', seen({ verdict: healthy }))
  await expect(asked(() => asking.recover(order))).rejects.toMatchObject({ code: 'HOST_ALIVE' })
  expect(written).toEqual([])
})

it.each([
  ['verdicts are frozen', { frozen: { message: 'Nova did not answer' } }],
  ['the last poll failed', { lastPoll: { ok: false, error: 'GET /os-services: timed out' } }],
  ['a freeze is just over', { verdict: { ...healthy, reason: 'WAITING_AFTER_FREEZE' } }],
])('a host that beat before nobody looked is not said to live while %s', async (_what, changes) => {
  const { written, it: asking } = operations(null, null, 'armed', seen({ verdict: healthy, ...changes }))
  await expect(asked(() => asking.recover(order))).rejects.toMatchObject({
    code: 'MONITOR_FROZEN',
    message: expect.stringMatching(/^cmp01 was beating when Lifeboat last heard of it/),
  })
  expect(written).toEqual([])
})

it('a daemon that only observes takes no statement for a host without an incident: it would be spent on nothing', async () => {
  const { written, it: asking } = operations(null)
  await expect(asked(() => asking.recover(order))).rejects.toMatchObject({ code: 'OBSERVING' })
  expect(written).toEqual([])
})

it.each([
  ['observe', 'OBSERVING'],
  ['armed', 'CONFLICT'],
] as const)(
  'an incident that is only observed takes no statement: it would end with it (%s: %s)',
  async (mode, code) => {
    const { written, it: asking } = operations({ mode: 'observe' }, null, mode)
    await expect(asked(() => asking.recover(order))).rejects.toMatchObject({ code })
    expect(written).toEqual([])
  },
)

it.each(['root', 'Lifeboat', '', '42'])('%j is no person, and is told what to type', async (by) => {
  const { written, it: asking } = operations({})
  await expect(asked(() => asking.recover({ ...order, by }))).rejects.toMatchObject({
    code: 'PROOF_INVALID',
    message: expect.stringContaining('lifeboat recover cmp01 --by NAME --proof'),
  })
  expect(written).toEqual([])
})

it('an incident that is being cancelled takes neither an attestation, an override nor a second cancel', async () => {
  const { written, it: asking } = operations({ cancelled: { by: 'bob', reason: 'false alarm' } })
  const refused = { code: 'CONFLICT', message: expect.stringContaining('is being cancelled (by bob: false alarm)') }
  await expect(asked(() => asking.recover(order))).rejects.toMatchObject(refused)
  await expect(asked(() => asking.override('i-1', { by: 'ann', reason: 'go' }))).rejects.toMatchObject(refused)
  await expect(asked(() => asking.cancel('i-1', { by: 'ann', reason: 'end' }))).rejects.toMatchObject(refused)
  expect(written).toEqual([])
})

it('whoever attests what is proven by another one’s word is told whose, until a hold asks for a word again', async () => {
  const word = { by: 'bob', statement: 'both cords are out' }
  const proven = { proof: { strength: 'statement', statedBy: 'bob' } as Incident['proof'], provenOn: word }
  const late = operations({ ...proven, held: null })
  const message = expect.stringMatching(/^bob already attested that cmp01 is dead: "both cords are out"/)
  await expect(asked(() => late.it.recover(order))).rejects.toMatchObject({ code: 'CONFLICT', message })
  expect(late.written).toEqual([])
  const held = operations({ ...proven, held: { code: 'HOST_ALIVE', message: 'it beat', since: '' } })
  await held.it.recover(order)
  expect(held.written).toMatchObject([{ kind: 'operator.statement' }])
})

it('an attestation that the brake holds up says so: the word is kept, and nothing is done on it yet', async () => {
  const { written, it: asking } = operations({}, '3 of 8 hosts of the cloud are down (limit 2)')
  expect(await asking.recover(order)).toEqual({
    incident: 'i-1',
    held: '3 of 8 hosts of the cloud are down (limit 2)',
  })
  expect(written).toMatchObject([{ kind: 'operator.statement' }])
})
