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
    expect(revoked(verdict('healthy', null), [incident({ proof: null })])).toBe(0)
    expect(revoked(verdict('host-down', '2026-01-01T00:05:00.000000'))).toBe(0)
    expect(revokedProofs([verdict('healthy', null)], { open: () => [] })).toEqual([])
  })
})
