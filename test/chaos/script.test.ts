/** What a seed decides of a round of chaos, and how a round is judged; the rounds themselves need the lab. */
import { expect, it } from 'vitest'
import type { Incident } from '../../src/domain/incident.ts'
import type { OutcomeKind } from '../../src/domain/outcome.ts'
import { judge, type Judgement, type Shown } from './judge.ts'
import { wantedOf, type LivingGuest } from './owners.ts'
import { scriptOf, troubleKinds } from './script.ts'

const many = Array.from({ length: 300 }, (_, seed) => seed)

it('a round is decided by its seed alone', () => {
  expect(many.map((seed) => scriptOf(seed))).toEqual(many.map((seed) => scriptOf(seed)))
})

it('three hundred rounds hold every kind of trouble', () => {
  const kinds = many.flatMap((seed) => scriptOf(seed).troubles.map(({ kind }) => kind))
  expect(troubleKinds.filter((kind) => !kinds.includes(kind))).toEqual([])
})

it('no round takes more than two hosts away', () => {
  const taken = many.map((seed) =>
    scriptOf(seed).troubles.filter(({ kind }) => /^(second-host|destination)-dies$/.test(kind)),
  )
  expect(taken.filter(({ length }) => length > 1)).toEqual([])
})

const guest: LivingGuest = {
  name: 'web',
  host: 'cmp01',
  kind: 'running',
  id: 'i-1',
  wanted: wantedOf({ name: 'web', host: 'cmp01', kind: 'running' }),
  orders: [],
}
const well: Shown = { vm: 'active', task: null, host: 'cmp02', locked: false, orderFailed: false }

function incident(outcome: OutcomeKind, message: string): Incident {
  const line = { plan: { name: 'web' }, outcome: { outcome, code: 'CODE', message } }
  return { host: 'cmp01', mode: 'armed', closed: { outcome: 'done' }, instances: new Map([['i-1', line]]) } as never
}

interface Seen {
  shown?: Partial<Shown>
  runsOn?: string[]
  doubleAt?: number
  line?: OutcomeKind
  says?: string
  struck?: string[]
}

function judged(seen: Seen): Judgement {
  const { shown = {}, runsOn = ['cmp02'], doubleAt, line = 'recovered', says = 'why', struck = [] } = seen
  return judge({
    guests: [guest],
    servers: new Map([['i-1', { ...well, ...shown }]]),
    truth: { running: { 'i-1': runsOn }, doubles: doubleAt === undefined ? [] : [{ uuid: 'i-1', t: doubleAt }] },
    incidents: [incident(line, says)],
    died: new Set(['cmp01']),
    struck: new Set(struck),
    began: 1_000_000,
  })
}

it('a guest is right when it is as its owner left it, and truly runs where Nova says', () => {
  expect(judged({})).toEqual({ right: 1, told: [], wrong: [], doubles: [] })
})

it.each([
  ['shown active, and runs nowhere', { runsOn: [] }],
  ['runs on another host than Nova says', { runsOn: ['cmp03'] }],
  ['left locked', { shown: { locked: true } }],
  ['left with a task', { shown: { task: 'rebuilding' } }],
  ['in ERROR', { shown: { vm: 'error' }, runsOn: [] }],
])('a guest of which the journal says "recovered" is wrong when it is %s', (_what, seen) => {
  const { wrong, told } = judged(seen)
  expect([wrong.length, told.length]).toEqual([1, 0])
})

it('a guest that its host could not stop or start for its owner is no failure', () => {
  const off = { shown: { vm: 'stopped', orderFailed: true }, runsOn: [] }
  expect(judged(off)).toMatchObject({ right: 1, wrong: [] })
  expect(judged({ shown: { vm: 'stopped' }, runsOn: [] }).wrong).toHaveLength(1)
})

it('a guest whose start Nova accepted for the dead host and then forgot is no failure if its line says so', () => {
  const off = { shown: { vm: 'stopped' }, runsOn: [], says: 'its owner ordered it started: start it again' }
  expect(judged(off)).toMatchObject({ told: [expect.stringContaining('start it again')], wrong: [] })
  expect(judged({ ...off, says: 'why' }).wrong).toHaveLength(1)
  expect(judged({ ...off, runsOn: ['cmp01'] }).wrong).toHaveLength(1)
  expect(judged({ ...off, shown: { vm: 'stopped', locked: true } }).wrong).toHaveLength(1)
})

it('a guest that a late order started where it is not to run is no failure if an alarm says so', () => {
  const elsewhere = { shown: { vm: 'stopped' }, runsOn: ['cmp03'] }
  expect(judged({ ...elsewhere, struck: ['i-1'] }).told).toHaveLength(1)
  expect(judged({ ...elsewhere, struck: ['i-2'] }).wrong).toHaveLength(1)
})

it('a guest that is not as its owner left it is no failure where the journal says why', () => {
  expect(judged({ shown: { vm: 'error' }, runsOn: [], line: 'failed' })).toMatchObject({
    told: ['web: error, wanted active; told: failed CODE'],
    wrong: [],
  })
})

it('a guest that ran on two hosts in this round is told apart from all else, however it ended', () => {
  expect([judged({ doubleAt: 1_001 }).doubles.length, judged({ doubleAt: 999 }).doubles.length]).toEqual([1, 0])
})
