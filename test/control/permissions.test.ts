/** Whether a host that was taking an instance is known to be dead, and kept off by Nova: only then is it left behind. */
import { describe, expect, it } from 'vitest'
import { createPermissions } from '../../src/control/permissions.ts'
import type { Incident } from '../../src/domain/incident.ts'
import type { IncidentPhase } from '../../src/domain/incident-phases.ts'
import type { ServiceRecord } from '../../src/domain/service.ts'

const clock = { now: () => 10_000 }

/** Of a host whose open incident is in that phase, with or without a proof and a mark of ours. */
function isFenced(phase: IncidentPhase, proof: object | null, ourFlags: object | null): boolean {
  const incident = { phase, proof, ourFlags } as Incident
  const store = { openOn: () => incident }
  return createPermissions({ store, clock } as unknown as Parameters<typeof createPermissions>[0]).isFenced('cmp02')
}

/** At 10 s by the monotonic clock; Nova was last asked at `askedAt`. */
function afterItsEnd(verdict: object, askedAt: number): ReturnType<typeof createPermissions> {
  const store = { openOn: () => undefined, flaggedBy: () => 'inc-1', isProven: () => true }
  const monitor = { verdict: () => verdict, lastRead: () => ({ askedAt, usuallyMs: 0 }), noteOurWrite: () => undefined }
  return createPermissions({ store, monitor, clock } as unknown as Parameters<typeof createPermissions>[0])
}

describe('a host whose incident is over', () => {
  it.each([
    ['AWAY_AFTER_INCIDENT', true],
    ['BEATING_UNDER_OUR_FLAGS', false],
  ])('is fenced while it stands under our flags as %s: %s', (reason, fenced) => {
    const verdict = { kind: 'returning', reason, evidence: { forcedDown: true } }
    expect(afterItsEnd(verdict, 0).isFenced('cmp02')).toBe(fenced)
  })

  it('is fenced until a reading that was asked after our force-down says that the flag is gone', () => {
    const verdict = { kind: 'recovering', reason: 'OUR_INCIDENT', evidence: { forcedDown: false } }
    const service = { host: 'cmp02', updatedAt: null, forcedDown: true } as ServiceRecord
    const before = afterItsEnd(verdict, 9_999)
    before.noteOurWrite(service)
    expect(before.isFenced('cmp02')).toBe(true)
    const after = afterItsEnd(verdict, 10_000)
    after.noteOurWrite(service)
    expect(after.isFenced('cmp02')).toBe(false)
  })
})

describe('a look at a host', () => {
  /** A moment after a poll in which its one probe said that. */
  const isAsked = async (read: object | null): Promise<boolean> => {
    let asked = false
    const probes = read === null ? [] : [{ probe: 'ping', ...read }]
    const verdict = { kind: 'host-down', evidence: { probes } }
    const monitor = {
      ...{ verdict: () => verdict, frozen: () => null, segment: () => ({ probes: ['ping'] }) },
      lastPoll: () => ({ ok: true, at: 9_999, tookMs: 1 }),
      lookAgain: () => ((asked = true), Promise.resolve({ verdict, frozen: null })),
    }
    const parts = { clock, monitor, noteSegments: () => undefined }
    await createPermissions(parts as unknown as Parameters<typeof createPermissions>[0]).lookAgain(
      'cmp02',
      new AbortController().signal,
    )
    return asked
  }

  it.each([
    [{ answer: 'dead' }, false],
    [{ answer: 'unknown' }, false],
    [{ answer: 'unknown', unasked: true }, true],
    [null, true],
  ])('asks again right after a poll in which its witness said %j: %s', async (read, asked) => {
    expect(await isAsked(read)).toBe(asked)
  })
})

describe('the recovery of a host that is seen to beat', () => {
  const held = (proof: object | null): unknown => {
    const parts = {
      clock: { now: () => 0 },
      monitor: {
        verdict: () => ({ kind: 'contradiction', message: 'it beats' }),
        frozen: () => null,
        lastRead: () => ({ askedAt: 0, usuallyMs: 0 }),
      },
      ...{ mode: () => 'armed', standstill: { last: () => null }, segmentOfIncident: () => ({ name: 'all' }) },
      reading: () => ({
        pollIntervalMs: 1_000,
        probeLimitMs: 500,
        defaultIntervalMs: 10_000,
        quietAfterFreezeMs: 60_000,
      }),
    }
    const incident = {
      ...{ id: 'inc-1', host: 'cmp02', mode: 'armed', openedIn: 'all', cancelled: null, crashed: null },
      ...{ ourFlags: {}, proof },
    } as unknown as Incident
    return createPermissions(parts as unknown as Parameters<typeof createPermissions>[0]).of(incident, 'finishes')
  }

  it.each<[string, object | null, string]>([
    ['is fenced again first, where that revoked its proof', null, 'until it is silent and has been fenced again. To'],
    ['goes on by its proof, where the beat is older than that', {}, 'until it is silent again. To'],
  ])('waits, and %s', (_what, proof, says) => {
    expect(held(proof)).toMatchObject({ hold: 'HOST_ALIVE', message: expect.stringContaining(says) })
  })
})

describe('a host was fenced before an order', () => {
  const wasFenced = (seq: number, fenced = true): boolean => {
    const store = {
      openOn: () => ({ id: 'inc-1', phase: 'recovering', proof: fenced ? {} : null, ourFlags: {} }) as Incident,
      wasForcedDownBefore: (id: string, before: number) => id === 'inc-1' && before > 7,
    }
    return createPermissions({ store, clock } as unknown as Parameters<typeof createPermissions>[0]).wasFencedBefore(
      'cmp02',
      seq,
    )
  }

  it('where it was forced down before the order’s entry, and is fenced now', () => {
    expect([wasFenced(8), wasFenced(7), wasFenced(8, false)]).toEqual([true, false, false])
  })
})

describe('a destination under an open incident', () => {
  it('counts as fenced once it is proven dead and carries our flags', () => {
    expect(isFenced('isolating', {}, {})).toBe(true)
    expect(isFenced('isolating', null, {})).toBe(false)
    // Not forced down yet: the scheduler could choose it again.
    expect(isFenced('isolating', {}, null)).toBe(false)
  })

  it.each(['surveying', 'recovering', 'sweeping'] as const)(
    'counts in phase %s also where someone else had set both flags, so that none of them is ours',
    (phase) => {
      expect(isFenced(phase, {}, null)).toBe(true)
      // Observed only, or voided by life.
      expect(isFenced(phase, null, null)).toBe(false)
    },
  )
})
