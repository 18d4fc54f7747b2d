/** When life overtakes a proof of death: each sign, and what is no sign. */
import { describe, expect, test } from 'vitest'
import { revokedProofs } from '../../src/control/proof-watch.ts'
import type { Incident } from '../../src/domain/incident.ts'
import type { ProbeReading, Verdict, VerdictKind } from '../../src/domain/verdict.ts'

const provenAt = '2026-01-01T00:02:00.500Z'

/** What is read of the rows of one step. */
interface Row {
  kind: 'fence' | 'force-down'
  status: 'confirmed' | 'failed'
  before?: { updatedAt: string }
  result?: { updatedAt?: string; forcedDown?: boolean; status?: string; disabledReason?: string | null }
}

/** Fenced and forced down; the stamp of our own PUT has fractions, as Nova's answers have. */
function incident(change: Partial<Incident> = {}, steps: Row[] = [forcedDown]): Incident {
  const proof = { host: 'cmp01', method: 'bmc', strength: 'power-off', provenAt, statedBy: null, evidence: [] }
  const hostSteps = new Map(steps.map((step, index) => [String(index), step]))
  return { id: 'i-1', host: 'cmp01', verdict: before, proof, hostSteps, ...change } as unknown as Incident
}

const forcedDown: Row = {
  kind: 'force-down',
  status: 'confirmed',
  result: {
    updatedAt: '2026-01-01T00:02:01.700000',
    forcedDown: true,
    status: 'disabled',
    disabledReason: 'lifeboat: incident i-1',
  },
}

/** As it stood when it was found dead. */
const before = { evidence: { updatedAt: '2026-01-01T00:00:50.000000', forcedDown: false, status: 'enabled' } }

function verdict(kind: VerdictKind, updatedAt: string | null, probes: ProbeReading[] = [], row: object = {}): Verdict {
  const left = { forcedDown: true, status: 'disabled', disabledReason: 'lifeboat: incident i-1' }
  const evidence = { updatedAt, probes, ...left, ...row }
  return { host: 'cmp01', kind, reason: 'R', message: 'm', evidence } as unknown as Verdict
}

function alive(at: string): ProbeReading[] {
  return [{ probe: 'ping', kind: 'ping', answer: 'alive', detail: '', at }]
}

const revoked = (seen: Verdict, open: Incident[] = [incident()]): number =>
  revokedProofs([seen], { open: () => open }).length

describe('a proof is voided', () => {
  test.each(['contradiction', 'healthy'] as const)('by the verdict %s, with the sign on record', (kind) => {
    expect(revokedProofs([verdict(kind, '2026-01-01T00:03:00.000000')], { open: () => [incident()] })).toEqual([
      {
        kind: 'proof.voided',
        incident: 'i-1',
        host: 'cmp01',
        data: { code: 'R', message: 'm', updatedAt: '2026-01-01T00:03:00.000000' },
      },
    ])
  })

  test.each(['contradiction', 'healthy'] as const)('not by a beat from before the power was cut (%s)', (kind) => {
    expect(revoked(verdict(kind, '2026-01-01T00:01:59.000000'))).toBe(0)
    expect(revoked(verdict(kind, '2026-01-01T00:02:00.000000'))).toBe(1)
  })

  test('by a probe that found the host alive after its power was cut', () => {
    expect(revoked(verdict('service-down', null, alive('2026-01-01T00:02:00.501Z')))).toBe(1)
    expect(revoked(verdict('service-down', null, alive(provenAt)))).toBe(0)
    expect(revoked(verdict('service-down', null))).toBe(0)
  })

  test('by a stamp that moved while nobody watched, but for our own that the database rounded up', () => {
    expect(revoked(verdict('recovering', '2026-01-01T00:02:03.000000'))).toBe(1)
    expect(revoked(verdict('recovering', '2026-01-01T00:02:02.000000'))).toBe(0)
    expect(revoked(verdict('recovering', null))).toBe(0)
  })

  test.each([{ disabledReason: 'RMA 4711' }, { status: 'enabled' }])('not by what a person wrote: %j', (row) => {
    expect(revoked(verdict('recovering', '2026-01-01T00:05:00.000000', [], row))).toBe(0)
  })

  test('but not again by what was seen before the host was fenced again', () => {
    const again: Row = {
      kind: 'fence',
      status: 'confirmed',
      before: { updatedAt: '2026-01-01T00:05:00.000000' },
    }
    const open = [incident({}, [forcedDown, again])]
    expect(revoked(verdict('recovering', '2026-01-01T00:05:00.000000'), open)).toBe(0)
    expect(revoked(verdict('recovering', '2026-01-01T00:05:01.000000'), open)).toBe(1)
    const failed = [incident({}, [forcedDown, { ...again, status: 'failed' }])]
    expect(revoked(verdict('recovering', '2026-01-01T00:05:00.000000'), failed)).toBe(1)
  })

  test('nor by a beat from before the fencing, where others had forced the host down', () => {
    const forced = { forcedDown: true, status: 'disabled', disabledReason: 'lifeboat: incident i-1' }
    const verdictBefore = { evidence: { ...before.evidence, ...forced } } as unknown as Incident['verdict']
    const fenced: Row = { kind: 'fence', status: 'confirmed', before: { updatedAt: '2026-01-01T00:01:50.000000' } }
    const open = [incident({ verdict: verdictBefore }, [fenced])]
    expect(revoked(verdict('recovering', '2026-01-01T00:01:50.000000'), open)).toBe(0)
    expect(revoked(verdict('recovering', '2026-01-01T00:02:10.000000'), open)).toBe(1)
  })

  test('and not by a stamp while our own forced_down is not confirmed: that PUT may have moved it', () => {
    expect(revoked(verdict('recovering', '2026-01-01T00:05:00.000000'), [incident({}, [])])).toBe(0)
    expect(
      revoked(verdict('recovering', '2026-01-01T00:05:00.000000'), [incident({}, [{ ...forcedDown, result: {} }])]),
    ).toBe(0)
  })

  test('only of the host that lives, and only when there is one', () => {
    const other = { ...verdict('healthy', null), host: 'cmp02' }
    expect(revoked(other)).toBe(0)
    expect(revoked(verdict('healthy', null), [incident({ proof: null, word: null })])).toBe(0)
    expect(revoked(verdict('host-down', '2026-01-01T00:05:00.000000'))).toBe(0)
    expect(revokedProofs([verdict('healthy', null)], { open: () => [] })).toEqual([])
  })
})

describe("a person's word from before there is a proof", () => {
  const row = { updatedAt: '2026-01-01T00:00:50.000000', forcedDown: false, status: 'enabled' as const }
  const word = { at: '2026-01-01T00:02:00.500Z', row }
  const attestation = { by: 'ann', statement: 'it burns' }
  const vouched = (change: Partial<Incident> = {}): Incident =>
    incident({ proof: null, word, attestation, verdict: before, ...change } as unknown as Partial<Incident>, [])
  /** The row as it was when the incident was opened, but for the stamp. */
  const untouched = { forcedDown: false, status: 'enabled', disabledReason: undefined }
  const stamped = (kind: VerdictKind, at: string, probes: ProbeReading[] = [], row: object = {}): Verdict =>
    verdict(kind, at, probes, { ...untouched, ...row })

  test.each(['contradiction', 'healthy', 'host-down', 'suspect', 'unknown', 'maintenance'] as const)(
    'counts no more once the host has beaten, though the verdict is %s',
    (kind) => {
      const seen = stamped(kind, '2026-01-01T00:03:00.000000')
      const [entry] = revokedProofs([seen], { open: () => [vouched()] })
      expect(entry).toMatchObject({ kind: 'proof.voided', data: { unproven: true } })
    },
  )

  test('outlasts a beat from before it was given', () => {
    const known = vouched({ word: { ...word, row: { ...row, updatedAt: '2026-01-01T00:02:00.000000' } } })
    expect(revoked(stamped('host-down', '2026-01-01T00:02:00.000000'), [known])).toBe(0)
  })

  const rewritten = '2026-01-01T00:03:00.000000'
  /** In the run that heard the word, which had seen the host beat since its first reading. */
  const heard = { first: '2026-01-01T00:00:30.000000', lives: 2 }
  const ofThatRun = vouched({ word: { ...word, row: { ...row, watched: heard } } })

  test.each([
    ['the run that heard it', heard],
    ['a later one that found the row as it was', { first: row.updatedAt, lives: 0 }],
  ])('outlasts a flag that is set, or set back, while %s watches: no beat came with it', (_which, watched) => {
    expect(revoked(stamped('declared-down', rewritten, [], { forcedDown: true, watched }), [ofThatRun])).toBe(0)
    expect(revoked(stamped('host-down', rewritten, [], { watched }), [ofThatRun])).toBe(0)
  })

  test('outlasts a take-over by a run that had seen it written before it was given', () => {
    const watched = { first: '2026-01-01T00:00:40.000000', lives: 0 }
    expect(revoked(stamped('host-down', row.updatedAt, [], { watched }), [ofThatRun])).toBe(0)
  })

  test('outlasts a cloud clock that was set back after the last beat, and a node of its database that is behind', () => {
    const behind = { ...row, updatedAt: '2025-12-31T23:00:00.000000', watched: heard }
    const known = vouched({ word: { ...word, row: behind } })
    expect(revoked(stamped('host-down', row.updatedAt, [], { watched: heard }), [known])).toBe(0)
  })

  test.each([
    ['disabled', { status: 'disabled' }],
    ['forced down', { forcedDown: true }],
  ])('counts no more once its host was %s while nobody watched: it may have lived before that', (_how, flag) => {
    const watched = { first: rewritten, lives: 0 }
    expect(revoked(stamped('maintenance', rewritten, [], { ...flag, watched }), [ofThatRun])).toBe(1)
    expect(revoked(stamped('maintenance', '2026-01-01T00:09:00.000000', [], { ...flag, watched }), [ofThatRun])).toBe(1)
  })

  test('counts no more once that run saw it live, or may have missed it, though nothing could be put on record then', () => {
    const watched = { ...heard, lives: 3 }
    expect(revoked(stamped('host-down', rewritten, [], { watched }), [ofThatRun])).toBe(1)
    expect(revoked(stamped('maintenance', rewritten, [], { status: 'disabled', watched }), [ofThatRun])).toBe(1)
  })

  test('counts no more where a later run finds an earlier stamp: the clock was set back, and the row was written', () => {
    const earlier = '2025-12-31T23:30:00.000000'
    const watched = { first: earlier, lives: 0 }
    expect(revoked(stamped('host-down', earlier, [], { watched }), [ofThatRun])).toBe(1)
  })

  const noRow = { updatedAt: null, forcedDown: false, status: 'unknown' as const, watched: { first: null, lives: 0 } }

  test('that was given while Nova showed no row outlasts a flag that a run sees set which found the row as it was known', () => {
    const blind = vouched({ word: { at: word.at, row: noRow } })
    const watched = { since: '2026-01-01T00:05:00.000Z', first: '2026-01-01T00:00:50.000000', lives: 0 }
    expect(revoked(stamped('maintenance', rewritten, [], { status: 'disabled', watched }), [blind])).toBe(0)
  })

  test('that was given while Nova showed no row outlasts our own write, whose answer has fractions', () => {
    const left = { ...forcedDown, result: { ...forcedDown.result, updatedAt: '2026-01-01T00:02:01.700000' } }
    const blind = incident({ proof: null, word: { at: word.at, row: noRow }, attestation, verdict: before } as never, [
      left,
    ])
    const watched = { since: '2026-01-01T00:05:00.000Z', first: '2026-01-01T00:02:01.000000', lives: 0 }
    expect(revoked(verdict('recovering', '2026-01-01T00:02:01.000000', [], { watched }), [blind])).toBe(0)
  })

  test.each([
    ['', { row: noRow }],
    [', in an entry of an older release,', {}],
  ])('that was given while Nova showed no row%s is compared with the row that its incident began with', (_of, seen) => {
    const blind = vouched({ word: { at: word.at, ...seen } })
    expect(revoked(verdict('unknown', null), [blind])).toBe(0)
    expect(revoked(stamped('host-down', '2026-01-01T00:00:50.000000'), [blind])).toBe(0)
    expect(revoked(stamped('host-down', '2026-01-01T00:03:00.000000'), [blind])).toBe(1)
  })

  test('that was given while Nova showed no row counts no more once the row shows a flag that its incident did not know', () => {
    const blind = vouched({ word: { at: word.at, row: noRow } })
    const watched = { since: '2026-01-01T00:05:00.000Z', first: rewritten, lives: 0 }
    expect(revoked(stamped('maintenance', rewritten, [], { status: 'disabled', watched }), [blind])).toBe(1)
    const unknown = { ...blind, verdict: { ...before, evidence: { ...before.evidence, ...noRow } } }
    expect(revoked(stamped('host-down', rewritten, [], { watched }), [unknown as Incident])).toBe(1)
  })

  test('counts no more in a run that began with the same row as the one that heard it: the host may have lived between them', () => {
    const since = (at: string, lives: number) => ({ since: at, first: '2026-01-01T00:00:30.000000', lives })
    const heardEarlier = vouched({ word: { ...word, row: { ...row, watched: since('2026-01-01T00:01:00.000Z', 1) } } })
    const later = { ...untouched, status: 'disabled', watched: since('2026-01-01T00:02:30.000Z', 1) }
    expect(revoked(stamped('maintenance', rewritten, [], later), [heardEarlier])).toBe(1)
    const same = { ...later, watched: since('2026-01-01T00:01:00.000Z', 1) }
    expect(revoked(stamped('maintenance', rewritten, [], same), [heardEarlier])).toBe(0)
  })

  test('is compared with the row that was known when it was given, whatever Lifeboat had written before', () => {
    const ours = { status: 'disabled', disabledReason: 'lifeboat: incident i-1' }
    const known = vouched({ word: { ...word, row: { ...row, ...ours } } })
    expect(revoked(stamped('host-down', '2026-01-01T00:03:00.000000', [], ours), [known])).toBe(1)
    expect(revoked(stamped('host-down', row.updatedAt, [], ours), [known])).toBe(0)
  })

  test.each(['service-down', 'maintenance', 'declared-down', 'suspect'] as const)(
    'counts no more once a probe has found the host alive, though the verdict is %s, but where it explained that witness',
    (kind) => {
      const seen = stamped(kind, '2026-01-01T00:00:50.000000', alive('2026-01-01T00:02:10.000Z'))
      expect(revoked(seen, [vouched()])).toBe(1)
      expect(revoked(seen, [vouched({ witnessExplained: true })])).toBe(0)
      expect(revoked(seen, [vouched({ verdict: { ...before, kind: 'service-down' } as unknown as Verdict })])).toBe(0)
    },
  )

  test.each([
    [
      'an older release and a wall clock of ours that is an hour behind',
      { at: '2025-12-31T23:02:00.500Z', seenAt: '2026-01-01T00:03:00.000000' },
      0,
    ],
    [
      'an older release and a wall clock of ours that is an hour ahead',
      { at: '2026-01-01T01:02:00.500Z', seenAt: '2026-01-01T00:00:50.000000' },
      1,
    ],
    ['one before that, by its own time', { at: '2026-01-01T00:03:01.000Z' }, 0],
    ['one before that, by its own time', { at: '2026-01-01T00:02:59.000Z' }, 1],
  ])('is compared with a later stamp under %s (%j)', (_clock, given, expected) => {
    expect(revoked(stamped('host-down', '2026-01-01T00:03:00.000000'), [vouched({ word: given })])).toBe(expected)
  })

  test('that only lets a host past the brake is ended by what Nova shows alone: it does not say that the host is dead', () => {
    const override = vouched({ attestation: null, override: { by: 'ann', reason: 'it burns' } })
    const found = stamped('service-down', '2026-01-01T00:00:50.000000', alive('2026-01-01T00:02:10.000Z'))
    expect(revoked(found, [override])).toBe(0)
    expect(revoked(stamped('healthy', '2026-01-01T00:03:00.000000'), [override])).toBe(1)
    const [entry] = revokedProofs([stamped('host-down', '2026-01-01T00:03:00.000000')], { open: () => [override] })
    expect(entry).toMatchObject({ data: { message: expect.stringContaining('after ann had let it past the brake') } })
  })

  test('is not looked for where nobody gave one', () => {
    expect(revoked(stamped('healthy', '2026-01-01T00:03:00.000000'), [vouched({ word: null })])).toBe(0)
  })
})

describe('a proof that is a word alone', () => {
  const heard = { since: '2026-01-01T00:00:00.000Z', first: '2026-01-01T00:00:30.000000', lives: 2 }
  const row = { updatedAt: '2026-01-01T00:00:50.000000', forcedDown: false, status: 'enabled' as const, watched: heard }
  const proof = { strength: 'statement', provenAt }
  const resting = (change: object = {}): Incident =>
    incident({ proof, word: { at: provenAt, row }, attestation: { by: 'ann', statement: 's' }, ...change } as never)
  const reworded = (watched: object): Verdict =>
    verdict('recovering', '2026-01-01T00:05:00.000000', [], { disabledReason: 'RMA 4711', watched })

  test('is voided by a life that a flag hides: in a hole of the readings, or before this run began', () => {
    expect(revoked(reworded({ ...heard, lives: 3 }), [resting()])).toBe(1)
    expect(revoked(reworded({ since: 'later', first: '2026-01-01T00:05:00.000000', lives: 0 }), [resting()])).toBe(1)
    const freed = verdict('suspect', '2026-01-01T00:05:00.000000', [], {
      ...{ forcedDown: false, status: 'enabled', disabledReason: null },
      watched: { ...heard, lives: 3 },
    })
    expect(revoked(freed, [resting()])).toBe(1)
  })

  test.each([
    ['that heard it', heard],
    ['that began with the row as it was then', { since: 'later', first: row.updatedAt, lives: 0 }],
    ['that began with what we left', { since: 'later', first: '2026-01-01T00:02:02.000000', lives: 0 }],
  ])('outlasts a flag that is set while a run watches %s', (_which, watched) => {
    expect(revoked(reworded(watched), [resting()])).toBe(0)
  })

  test('outlasts a take-over, where the row is as we left it, and is judged by the gate until we have written it', () => {
    const other = { since: 'later', first: '2026-01-01T00:00:10.000000', lives: 9 }
    expect(revoked(verdict('recovering', '2026-01-01T00:02:01.000000', [], { watched: other }), [resting()])).toBe(0)
    expect(revoked(reworded(other), [resting({ hostSteps: new Map() })])).toBe(0)
  })

  test('outlasts a reading of before our own write: the row is the one that the person spoke of', () => {
    const other = { since: 'later', first: '2026-01-01T00:00:10.000000', lives: 9 }
    const earlier = { forcedDown: false, status: 'enabled', disabledReason: null, watched: other }
    expect(revoked(verdict('host-down', row.updatedAt, [], earlier), [resting()])).toBe(0)
  })

  test('outlasts what an unread host showed long ago, and what is out while another force-down is not confirmed', () => {
    const other = { since: 'later', first: '2026-01-01T00:00:10.000000', lives: 9 }
    const old = { ...verdict('unknown', '2026-01-01T00:01:30.000000', [], { watched: other }), reason: 'NOT_LISTED' }
    expect(revoked(old as Verdict, [resting()])).toBe(0)
    const out = [forcedDown, { kind: 'force-down', status: 'issued' }]
    const hostSteps = new Map(out.map((step, index) => [String(index), step]))
    expect(revoked(reworded(other), [resting({ hostSteps })])).toBe(0)
  })

  test('is not needed where a board reads the power again', () => {
    const board = { strength: 'power-off', provenAt }
    expect(revoked(reworded({ ...heard, lives: 3 }), [resting({ proof: board })])).toBe(0)
  })
})
