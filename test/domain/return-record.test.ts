/** What a restarted daemon knows of returns, folded from entries as the journal keeps them. */
import { describe, expect, test } from 'vitest'
import type { Entry, NewEntry } from '../../src/domain/entry.ts'
import type { ErrorCode } from '../../src/domain/errors.ts'
import type { ReturnStepKind } from '../../src/domain/host-return.ts'
import {
  applyToReturns,
  incidentOf,
  isFromBeforeSilence,
  nothingKnown,
  returnStepKey,
  type ReturnRecord,
} from '../../src/domain/return-record.ts'
import { setAsideReason, type SetAsideState } from '../../src/domain/set-aside.ts'

const host = 'cmp01'
const text = (incident: string): string => `lifeboat: incident ${incident}`
const asideText = setAsideReason('1', 'silent')

/** Entries of one host, a second apart. */
class Told {
  readonly records = new Map<string, ReturnRecord>()
  #seq = 0

  tell(entry: Omit<NewEntry, 'host'> & { host?: string | null }): this {
    const seq = ++this.#seq
    const at = new Date(Date.UTC(2026, 0, 1) + seq * 1_000).toISOString()
    const row = {
      actor: 'daemon',
      incident: null,
      instance: null,
      step: null,
      host,
      prevHash: '',
      hash: '',
      ...entry,
      seq,
      at,
    }
    applyToReturns(this.records, row as Entry)
    return this
  }

  opened(incident: string): this {
    const data = {
      verdict: null,
      segment: 's',
      failure: 'host',
      mode: 'armed',
      openedBy: 'daemon',
      workflowDigest: 'd',
    }
    return this.tell({ kind: 'incident.opened', incident, data } as NewEntry)
  }

  marked(
    incident: string,
    before: Partial<{ forcedDown: boolean; status: string; disabledReason: string | null }> = {},
    serviceId = 's-1',
  ): this {
    const found = { forcedDown: false, status: 'enabled', disabledReason: null, ...before }
    const data = { serviceId, before: found, reason: text(incident), updatedAt: null }
    return this.tell({ kind: 'service.marked', incident, data })
  }

  setAside(to: SetAsideState, certainty: 'unknown' | 'applied' = 'unknown'): this {
    const data = { to, serviceId: 's-1', reason: asideText, because: 'silent', certainty } as const
    return this.tell({ kind: 'service.set-aside', incident: '1', data })
  }

  /** A write with all its rows up to `end`. */
  wrote(kind: ReturnStepKind, ...rows: ('step.issued' | 'step.confirmed' | 'step.failed')[]): this {
    return this.ended(kind, 'API_REFUSED', ...rows)
  }

  ended(kind: ReturnStepKind, code: ErrorCode, ...rows: ('step.issued' | 'step.confirmed' | 'step.failed')[]): this {
    const step = returnStepKey(this.record, kind)
    const data = { kind, attempt: 1, before: null, request: null }
    this.tell({ kind: 'step.intended', incident: incidentOf(this.record), step, data } as NewEntry)
    for (const row of rows)
      this.tell({
        kind: row,
        incident: incidentOf(this.record),
        step,
        data: { error: { code, message: 'no' } },
      } as unknown as NewEntry)
    return this
  }

  get record(): ReturnRecord {
    return this.records.get(host) ?? nothingKnown(host)
  }
}

describe('a forced_down of someone else', () => {
  const again = { forcedDown: true, status: 'disabled', disabledReason: text('1') }
  const became = (told: Told, to: string): Told =>
    told.tell({
      kind: 'return.changed',
      data: { from: 'settling', to, code: 'C', message: 'm' },
    } as unknown as NewEntry)

  test('is not ours once Nova took our order to clear it, whatever it shows then and if the host fails again', () => {
    const told = new Told().opened('1').marked('1').wrote('clear-forced-down', 'step.issued', 'step.failed')
    expect(told.record.ourFlags).toMatchObject({ forcedDown: false, disabled: true })
    expect(told.opened('2').marked('2', again).record.ourFlags?.forcedDown).toBe(false)
  })

  test('is not ours once the host was read without it', () => {
    const told = became(new Told().opened('1').marked('1'), 'proving')
    expect(told.opened('2').record.ourFlags?.forcedDown).toBe(false)
    expect(told.marked('2').record.ourFlags?.forcedDown).toBe(true)
  })

  test('may be ours while Nova has not answered our order to set it', () => {
    const told = new Told().opened('1').marked('1')
    told.tell({ kind: 'step.intended', incident: '1', step: 'host.force-down.2', data: {} } as unknown as NewEntry)
    expect(became(told, 'proving').record.ourFlags?.forcedDown).toBe(true)
  })
})

describe('a mark', () => {
  test('is what we set: both flags of a host that was enabled and up', () => {
    expect(new Told().opened('1').marked('1').record.ourFlags).toEqual({
      incidents: ['1'],
      serviceId: 's-1',
      forcedDown: true,
      disabled: true,
      reasons: [text('1')],
    })
  })

  test('is not what others had set before', () => {
    const { record } = new Told().marked('1', { status: 'disabled', disabledReason: 'theirs' })
    expect(record.ourFlags).toMatchObject({ forcedDown: true, disabled: false })
    expect(new Told().marked('1', { forcedDown: true }).record.ourFlags).toMatchObject({
      forcedDown: false,
      disabled: true,
    })
  })

  test('looks through our own earlier mark: a host that fails again before its return is over', () => {
    const { record } = new Told()
      .marked('1')
      .opened('2')
      .marked('2', { status: 'disabled', disabledReason: text('1') })
    expect(record.ourFlags).toEqual({
      incidents: ['1', '2'],
      serviceId: 's-1',
      forcedDown: true,
      disabled: true,
      reasons: [text('1'), text('2')],
    })
    const still = new Told()
      .marked('1')
      .marked('2', { forcedDown: true, status: 'disabled', disabledReason: text('1') })
    expect(still.record.ourFlags).toMatchObject({ forcedDown: true, disabled: true })
  })

  test('takes over the disable by which the host was set aside while it was silent', () => {
    const aside = new Told().setAside('setting').opened('2')
    expect(aside.record.setAside).toMatchObject({ incident: '1', state: 'setting' })
    // Nova showed it, or shows it only after the mark: it is ours in either case.
    for (const before of [{ status: 'disabled', disabledReason: asideText }, {}]) {
      const { ourFlags, setAside } = new Told().setAside('setting').opened('2').marked('2', before).record
      expect(ourFlags).toMatchObject({ incidents: ['2'], disabled: true, reasons: [asideText, text('2')] })
      expect(setAside).toBeNull()
    }
  })

  test('takes nothing over from a disable that is over, or of a service that was made again, or where others disabled it', () => {
    const ours = { status: 'disabled', disabledReason: asideText }
    expect(new Told().setAside('setting').setAside('over').marked('2', ours).record.ourFlags?.disabled).toBe(false)
    expect(new Told().setAside('setting').marked('2', ours, 's-2').record.ourFlags?.disabled).toBe(false)
    const theirs = { status: 'disabled', disabledReason: 'theirs' }
    expect(new Told().setAside('set').marked('2', theirs).record.ourFlags?.disabled).toBe(false)
  })

  test('does not take a reason of others for ours because we had marked it once', () => {
    const { record } = new Told().marked('1').marked('2', { status: 'disabled', disabledReason: 'theirs' })
    expect(record.ourFlags).toMatchObject({ forcedDown: true, disabled: false })
    const theirs = new Told().marked('1', { status: 'disabled', disabledReason: 'theirs' })
    expect(theirs.marked('2', { status: 'disabled', disabledReason: text('1') }).record.ourFlags?.disabled).toBe(false)
  })

  test('of a service that was made again begins again', () => {
    const { record } = new Told()
      .marked('1')
      .marked('2', { forcedDown: true, status: 'disabled', disabledReason: text('1') }, 's-2')
    expect(record.ourFlags).toEqual({
      incidents: ['2'],
      serviceId: 's-2',
      forcedDown: false,
      disabled: false,
      reasons: [text('2')],
    })
  })

  test('ends when the service is restored, and the next one knows nothing of it', () => {
    const told = new Told().opened('1').marked('1')
    told.tell({ kind: 'return.changed', data: { from: 'away', to: 'back', code: 'BACK', message: 'it is back' } })
    told.tell({ kind: 'service.restored', data: { serviceId: 's-1', change: {}, updatedAt: null } })
    expect(told.record).toMatchObject({
      ourFlags: null,
      state: 'back',
      said: { code: 'BACK' },
      failures: ['2026-01-01T00:00:01.000Z'],
    })
    expect(told.marked('2', { status: 'disabled', disabledReason: text('1') }).record).toMatchObject({
      ourFlags: { incidents: ['2'], disabled: false },
      state: 'away',
      said: null,
    })
  })
})

describe('a return', () => {
  const leftovers = [{ code: 'INSTANCE_LEFT', message: 'web', instance: 'web' }]

  test('is where its last change left it, with what stays behind', () => {
    const told = new Told().marked('1')
    told.tell({
      kind: 'return.changed',
      data: { from: 'away', to: 'settling', code: 'READING', message: 'm', leftovers },
    })
    expect(told.record).toMatchObject({
      state: 'settling',
      said: { code: 'READING', message: 'm', at: '2026-01-01T00:00:02.000Z' },
      leftovers,
    })
    told.tell({ kind: 'return.changed', data: { from: 'settling', to: 'clearing', code: 'CLEARING', message: 'n' } })
    expect(told.record).toMatchObject({ state: 'clearing', leftovers: [] })
  })

  test('begins again with each failure, which is counted; a person is asked again', () => {
    const told = new Told().opened('1').marked('1').wrote('clear-forced-down', 'step.issued', 'step.confirmed')
    told.tell({
      kind: 'return.changed',
      data: { from: 'clearing', to: 'proving', code: 'PROVING', message: 'm', leftovers },
    })
    told.tell({ kind: 'operator.return', data: { by: 'ann', reason: 'r', keepOut: false } })
    expect(told.record).toMatchObject({
      state: 'proving',
      order: { by: 'ann', keepOut: false, at: '2026-01-01T00:00:07.000Z' },
    })
    told.opened('2')
    expect(told.record).toMatchObject({ state: 'away', said: null, leftovers: [], order: null, confirmed: {} })
    expect(told.record.failures).toEqual(['2026-01-01T00:00:01.000Z', '2026-01-01T00:00:08.000Z'])
    expect(told.record.ourFlags?.incidents).toEqual(['1'])
  })

  test('stays forbidden over failures when a person keeps the host out, until it is back', () => {
    const told = new Told()
      .marked('1')
      .tell({ kind: 'operator.return', data: { by: 'ann', reason: 'r', keepOut: true } })
    expect(told.opened('2').marked('2').record.order).toMatchObject({ keepOut: true })
    told.tell({ kind: 'service.restored', data: { serviceId: 's-1', change: {}, updatedAt: null } })
    expect(told.record.order).toBeNull()
  })

  test.each([
    ['came too late for this return', 'ENABLED_BEFORE_ORDER'],
    ['did not keep it out of service', 'ENABLED_ALTHOUGH_KEPT_OUT'],
  ])('stays forbidden for the next failure where the order %s', (_how, code) => {
    const told = new Told()
      .marked('1')
      .tell({ kind: 'operator.return', data: { by: 'ann', reason: 'r', keepOut: true } })
      .tell({
        kind: 'return.changed',
        data: { from: 'enabling', to: 'back', code, message: 'm' },
      })
      .tell({ kind: 'service.restored', data: { serviceId: 's-1', change: {}, updatedAt: null } })
    expect(told.record).toMatchObject({ ourFlags: null, order: { keepOut: true } })
    expect(told.opened('2').marked('2').record.order).toMatchObject({ keepOut: true })
  })

  test.each([
    ['stays forbidden for the next failure where the order came while its enable was under way', true],
    ['is forbidden no more once what the order was about is over', false],
  ])('%s', (_rule, late) => {
    const keepOut = { kind: 'operator.return' as const, data: { by: 'ann', reason: 'r', keepOut: true } }
    const told = new Told().setAside('setting').setAside('set')
    if (!late) told.tell(keepOut)
    told.setAside('taking-back')
    if (late) told.tell(keepOut)
    expect(told.setAside('over', 'applied').record.order?.keepOut ?? false).toBe(late)
    // Of a silence it was not said either, if it is older.
    const again = told.setAside('setting').setAside('taking-back').setAside('over', 'applied').record
    expect(again.order !== null).toBe(late)
  })

  test('is forbidden by an order that came since it was set aside, whatever the wall clock says', () => {
    const keepOut = { kind: 'operator.return' as const, data: { by: 'ann', reason: 'r', keepOut: true } }
    expect(isFromBeforeSilence(new Told().setAside('setting').tell(keepOut).record)).toBe(false)
    expect(isFromBeforeSilence(new Told().tell(keepOut).setAside('setting').record)).toBe(true)
  })

  test('waits for a person once a guest may run there that Nova has elsewhere, whatever becomes of the host', () => {
    const struck = (instance: string): Omit<NewEntry, 'host'> => ({
      kind: 'debt.settled',
      instance,
      data: { code: 'STALE_ORDER', migration: 'm', end: 'struck', message: '', keepsOut: true },
    })
    const mayReturn = { kind: 'operator.return' as const, data: { by: 'ann', reason: 'r', keepOut: false } }
    expect(new Told().tell(struck('i-1')).record.strays).toEqual([])
    const told = new Told().marked('1').tell(mayReturn).tell(struck('i-1')).tell(struck('i-2')).tell(struck('i-1'))
    // What a person said before was said without knowing of it.
    expect(told.record).toMatchObject({ strays: ['i-1', 'i-2'], order: null })
    // A proof may be revoked, and one of its storage leaves them running.
    expect(told.opened('2').marked('2').record.strays).toEqual(['i-1', 'i-2'])
    expect(told.tell(mayReturn).record).toMatchObject({ strays: [], order: { by: 'ann' } })
    told.tell(struck('i-3')).tell({ kind: 'service.restored', data: { serviceId: 's-1', change: {}, updatedAt: null } })
    expect(told.record.strays).toEqual([])
  })

  test('keeps the newest hundred failures', () => {
    const told = new Told()
    for (let n = 1; n <= 101; n++) told.opened(String(n))
    expect(told.record.failures).toHaveLength(100)
    expect(told.record.failures[0]).toBe('2026-01-01T00:00:02.000Z')
  })
})

describe('a write of a return', () => {
  test('is open until it has an end, and known by whether it was accepted', () => {
    const told = new Told().marked('1').wrote('clear-forced-down')
    expect(told.record.open).toEqual({ key: 'return.clear-forced-down.1', kind: 'clear-forced-down', issued: false })
    expect(new Told().marked('1').wrote('clear-forced-down', 'step.issued').record.open?.issued).toBe(true)
  })

  test('confirmed is remembered by its kind, and forgets the failure before it', () => {
    const { record } = new Told()
      .marked('1')
      .wrote('enable', 'step.failed')
      .wrote('enable', 'step.issued', 'step.confirmed')
    expect(record).toMatchObject({
      open: null,
      failed: null,
      confirmed: { enable: '2026-01-01T00:00:06.000Z' },
      attempts: 2,
    })
    expect(record.confirmed['clear-forced-down']).toBeUndefined()
  })

  test('failed is remembered with when and why, and its key is never used again', () => {
    const { record } = new Told().marked('1').wrote('enable', 'step.failed')
    expect(record).toMatchObject({
      open: null,
      failed: { kind: 'enable', at: '2026-01-01T00:00:03.000Z', message: 'no' },
    })
    expect(returnStepKey(record, 'enable')).toBe('return.enable.2')
  })

  test('refused again is counted, beside those that were held back or lost, until one is confirmed or the host fails again', () => {
    const told = new Told().marked('1').wrote('enable', 'step.failed').ended('enable', 'HELD_BACK', 'step.failed')
    expect(told.record.failed).toMatchObject({ heldBack: true, times: 1 })
    told.ended('enable', 'API_UNAVAILABLE', 'step.failed').wrote('enable', 'step.failed')
    expect(told.record.failed?.times).toBe(2)
    expect(told.record.failed).not.toHaveProperty('heldBack')
    expect(told.wrote('clear-forced-down', 'step.failed').record.failed?.times).toBe(1)
    expect(told.opened('2').record.failed).toBeNull()
  })

  test('refused is tried at once when a person lets the host back, and not when they keep it out', () => {
    const ordered = (keepOut: boolean) =>
      new Told()
        .marked('1')
        .wrote('enable', 'step.failed')
        .tell({ kind: 'operator.return', data: { by: 'ann', reason: 'r', keepOut } }).record.failed
    expect([ordered(false), ordered(true)?.times]).toEqual([null, 1])
  })

  test('held back is told apart from one that was refused: nothing was tried', () => {
    const { record } = new Told().marked('1').ended('enable', 'HELD_BACK', 'step.failed')
    expect(record).toMatchObject({ open: null, failed: { kind: 'enable', heldBack: true }, attempts: 1 })
  })

  test("is not a recovery's step, and rows of other steps do not end it", () => {
    const told = new Told().marked('1').wrote('enable')
    const { record } = told
    const recovery = { kind: 'force-down', attempt: 1, before: null, request: null }
    told.tell({ kind: 'step.intended', step: 'host.fence.1', data: { ...recovery, kind: 'fence' } })
    told.tell({ kind: 'step.intended', step: 'return.force-down.1', data: recovery } as NewEntry)
    told.tell({ kind: 'step.intended', data: { ...recovery, kind: 'enable' } })
    for (const kind of ['step.issued', 'step.confirmed', 'step.failed'] as const)
      told.tell({ kind, step: 'host.fence.1', data: { error: { message: 'x' } } } as unknown as NewEntry)
    expect(told.record).toEqual(record)
  })
})

describe('our order to force the host down', () => {
  const row = (told: Told, kind: 'step.intended' | 'step.confirmed' | 'step.failed'): string | null =>
    told.tell({
      kind,
      step: 'host.force-down.1',
      data: { error: { code: 'API_TIMEOUT', certainty: 'unknown' } },
    } as unknown as NewEntry).record.orderedAt
  const refused = (told: Told, code = 'AUTH_FORBIDDEN', details?: object): ReturnRecord =>
    told.tell({
      kind: 'step.failed',
      step: 'host.force-down.1',
      data: { error: { code, certainty: 'not-applied', ...(details && { details }) } },
    } as unknown as NewEntry).record

  test('is unanswered from its row on, and again when it was given up: it may still be taken', () => {
    const told = new Told()
    expect(row(told, 'step.intended')).toBe('2026-01-01T00:00:01.000Z')
    expect(told.marked('1').record.orderedAt).toBe('2026-01-01T00:00:01.000Z')
    expect(row(told, 'step.failed')).toBe('2026-01-01T00:00:03.000Z')
  })

  test('is answered once Nova refuses it; an earlier one, or one before a proxy that answers 503, may still be taken', () => {
    const told = new Told()
    row(told, 'step.intended')
    expect(refused(told)).toMatchObject({ orderedAt: null, forceDown: 'refused' })
    row(told, 'step.intended')
    const unanswered = row(told, 'step.failed')
    row(told, 'step.intended')
    expect(refused(told).orderedAt).toBe(unanswered)
    row(told, 'step.intended')
    expect(refused(told, 'API_UNAVAILABLE').orderedAt).not.toBeNull()
    row(told, 'step.confirmed')
    row(told, 'step.intended')
    expect(refused(told)).toMatchObject({ orderedAt: null, forceDown: 'taken' })
  })

  test('may still be taken after a 503, and not after a connection that was never made', () => {
    const told = new Told()
    row(told, 'step.intended')
    expect(refused(told, 'API_UNAVAILABLE', { status: 503 }).orderedAt).not.toBeNull()
    const other = new Told()
    row(other, 'step.intended')
    expect(refused(other, 'API_UNAVAILABLE', {}).orderedAt).toBeNull()
  })

  test('is answered once it is confirmed, and forgotten with the mark', () => {
    const told = new Told()
    row(told, 'step.intended')
    expect(row(told, 'step.confirmed')).toBeNull()
    row(told, 'step.failed')
    told.tell({ kind: 'service.restored', data: { serviceId: 's-1', change: {}, updatedAt: null } })
    expect(told.record.orderedAt).toBeNull()
  })
})

test('a host that no entry speaks of is away, with nothing of ours on it', () => {
  expect(nothingKnown(host)).toEqual({
    host,
    ourFlags: null,
    orderedAt: null,
    orderedBefore: null,
    forceDown: null,
    setAside: null,
    covered: [],
    state: 'away',
    said: null,
    leftovers: [],
    failures: [],
    processFailures: [],
    strays: [],
    order: null,
    confirmed: {},
    open: null,
    failed: null,
    attempts: 0,
  })
  expect(incidentOf(nothingKnown(host))).toBeUndefined()
})

test('entries of a return belong to the newest incident that set something', () => {
  expect(incidentOf(new Told().marked('1').marked('2').marked('3').record)).toBe('3')
})

test('a row that comes after the end of its write changes nothing', () => {
  const told = new Told().marked('1').wrote('enable', 'step.issued', 'step.confirmed')
  const { record } = told
  for (const kind of ['step.issued', 'step.confirmed', 'step.failed'] as const)
    told.tell({ kind, step: 'return.enable.1', data: { error: { message: 'x' } } } as unknown as NewEntry)
  expect(told.record).toEqual(record)
})

test('entries without a host, and of other kinds, change nothing', () => {
  const told = new Told().marked('1')
  const before = told.record
  told.tell({ kind: 'incident.closed', data: { outcome: 'done', message: '', counts: {} } })
  told.tell({ kind: 'operator.return', host: null, data: { by: 'ann', reason: '', keepOut: true } })
  expect(told.record).toEqual(before)
  expect([...told.records.keys()]).toEqual([host])
  expect(
    new Told().tell({ kind: 'incident.closed', data: { outcome: 'done', message: '', counts: {} } }).records.size,
  ).toBe(0)
})
