/** One id for each step: in its rows, in what Nova is sent, and the same after the daemon died in the middle. */
import { describe, expect, test } from 'vitest'
import type { Entry } from '../../src/domain/entry.ts'
import { stepRequestId } from '../../src/executor/step-request-id.ts'
import { dead, withRig, type Rig } from './rig.ts'

const form = /^req-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$/

const rowsOf = (rig: Rig): Entry[] => rig.entries(['step.intended', 'step.issued', 'step.confirmed', 'step.failed'])
const idOf = (entry: Entry): string | undefined =>
  'globalRequestId' in entry.data ? entry.data.globalRequestId : undefined

describe('the request id of a step', () => {
  const place = { incident: 'i', host: 'h', instance: 'a', step: '0.go.evacuate.1' }

  test('has the only form that oslo.middleware takes, and is the same every time', () => {
    expect(stepRequestId(place)).toMatch(form)
    expect(stepRequestId({ ...place })).toBe(stepRequestId(place))
  })

  test('is another one for another attempt, instance, host or incident', () => {
    const others = [
      { ...place, step: '0.go.evacuate.2' },
      { ...place, instance: 'b' },
      { ...place, host: 'g' },
      { ...place, incident: 'j' },
    ]
    expect(new Set([place, ...others].map(stepRequestId)).size).toBe(5)
  })
})

test(
  'every write that reaches Nova carries the id of its step, and every row of that step has it',
  withRig({}, async (rig) => {
    rig.simulator.addInstance({ host: dead, state: 'resized-stopped', otherHost: 'cmp02' })
    rig.simulator.addInstance({ host: dead, state: 'active' })
    rig.hostDies()
    await rig.run()

    const writes = rig.simulator
      .requests()
      .filter(({ method, path }) => method !== 'GET' && path.startsWith('compute/'))
    expect(writes.map(({ action }) => action)).toEqual(
      expect.arrayContaining([null, 'lock', 'confirmResize', 'evacuate', 'unlock']),
    )
    for (const { action, globalRequestId, requestId, path } of writes) {
      const rows = rowsOf(rig).filter((row) => idOf(row) === globalRequestId)
      expect(
        rows.map(({ kind }) => kind),
        `rows of ${action ?? 'the PUT'}`,
      ).toEqual(
        action === null ? ['step.intended', 'step.confirmed'] : ['step.intended', 'step.issued', 'step.confirmed'],
      )
      expect(new Set(rows.map(({ step }) => step)).size).toBe(1)
      if (action === null) continue
      expect(path).toContain(rows[0]?.instance)
      expect(rows[1]?.data).toMatchObject({ requestId })
    }
    expect(new Set(writes.map(({ globalRequestId }) => globalRequestId)).size).toBe(writes.length)
  }),
)

test(
  'reads carry ids of their own, a new one for each',
  withRig({}, async (rig) => {
    rig.simulator.addInstance({ host: dead, state: 'active' })
    rig.hostDies()
    await rig.run()
    const reads = rig.simulator.requests().filter(({ method, path }) => method === 'GET' && path.startsWith('compute/'))
    for (const { globalRequestId, path } of reads) expect(globalRequestId, path).toMatch(form)
    expect(new Set(reads.map(({ globalRequestId }) => globalRequestId)).size).toBe(reads.length)
  }),
)

test(
  'an answer that never came is found by the id: it was on record before the write, and outlives the daemon',
  withRig({}, async (rig) => {
    const { uuid } = rig.simulator.addInstance({ host: dead, state: 'active' })
    const died = new AbortController()
    rig.simulator.apiFault({ kind: 'hang-after', path: /action$/, body: /evacuate/, times: 1 })
    rig.wrapJournal = (journal) => ({
      ...journal,
      append: (entries) => {
        if (died.signal.aborted) throw new Error('it died')
        const written = journal.append(entries)
        if (entries.some((entry) => entry.kind === 'step.intended' && entry.data.kind === 'evacuate'))
          void rig.until(() => rig.sent('evacuate') === 1, 'sent').then(() => died.abort())
        return written
      },
    })
    rig.hostDies()
    await rig.run(died.signal).catch(() => undefined)
    const [before] = rowsOf(rig).filter((row) => row.instance === uuid)
    expect(before?.kind).toBe('step.intended')
    expect(rowsOf(rig).filter((row) => row.instance === uuid)).toHaveLength(1)

    rig.wrapJournal = (journal) => journal
    rig.restart()
    await rig.run()
    const sent = rig.simulator.requests().filter(({ action }) => action === 'evacuate')
    expect(sent.map(({ globalRequestId }) => globalRequestId)).toEqual([idOf(before as Entry)])
    const rows = rowsOf(rig).filter((row) => row.step === before?.step && row.instance === uuid)
    expect(rows.map((row) => [row.kind, idOf(row)])).toEqual(
      ['step.intended', 'step.issued', 'step.confirmed'].map((kind) => [kind, idOf(before as Entry)]),
    )
  }),
)
