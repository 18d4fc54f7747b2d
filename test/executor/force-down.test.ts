/** Forcing the host down when its answer is lost: what the journal says must be what is known (laws L2, L3). */
import { describe, expect, it } from 'vitest'
import type { Entry, EntryData } from '../../src/domain/entry.ts'
import type { StepRecord } from '../../src/domain/incident.ts'
import { applyToReturns, type ReturnRecord } from '../../src/domain/return-record.ts'
import { ourDisabledReason } from '../../src/domain/service.ts'
import { forceDown } from '../../src/executor/host-steps.ts'
import { failed } from './decisions/stage.ts'
import { ProofStage } from './decisions/proof-stage.ts'

/** A host that nobody has touched yet, proven dead. */
function untouched(): ProofStage {
  const stage = new ProofStage().proven()
  stage.service = { ...stage.service, status: 'enabled', forcedDown: false, disabledReason: null }
  return stage
}

const step = (stage: ProofStage): StepRecord | undefined => stage.incident.hostSteps.get('host.force-down.1')
const lost = failed('API_TIMEOUT', { certainty: 'unknown' })
const busy = failed('API_UNAVAILABLE', { details: { status: 503 } })

describe('an order whose answer is missing', () => {
  it('is sent again: setting the same flags twice changes nothing', async () => {
    const stage = untouched()
    stage.fails('updateService', lost)
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect(stage.count('updateService')).toBe(2)
    expect(step(stage)).toMatchObject({ status: 'confirmed' })
  })

  it('has its mark on record before it is sent', async () => {
    const stage = untouched()
    stage.onWrite = () => expect(stage.incident.ourFlags).not.toBeNull()
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect(stage.incident.ourFlags).toMatchObject({ before: { forcedDown: false, status: 'enabled' } })
  })

  it('is unknown when a person cancels meanwhile: Nova may have set the flags all the same', async () => {
    const stage = untouched()
    stage.fails('updateService', lost)
    stage.onWrite = () => stage.cancel()
    expect(await stage.ending(forceDown(stage.run, stage.gate))).toBe('CANCELLED')
    expect(step(stage)?.error).toMatchObject({ code: 'HELD_BACK', certainty: 'unknown', chain: [lost.message] })
    expect(stage.incident.ourFlags).not.toBeNull()
  })

  it('waits for its gate outside of its step: the host may be forced down anew meanwhile', async () => {
    const stage = untouched()
    stage.fails('updateService', lost)
    let shut = false
    stage.onWrite = () => void (shut = true)
    const gate = {
      isOpen: () => !shut,
      lastMoment: () => () => undefined,
      pass: async () => {
        if (!shut) return
        shut = false
        stage.onWrite = () => undefined
        await forceDown(stage.run, gate)
      },
    }
    await stage.clock.run(forceDown(stage.run, gate))
    const ends = stage.entries.filter(({ kind }) => kind === 'step.confirmed' || kind === 'step.failed')
    expect(ends.map((end) => `${end.step} ${end.kind}`)).toEqual([
      'host.force-down.1 step.failed',
      'host.force-down.2 step.confirmed',
    ])
  })

  it('leaves nothing on record when a person had cancelled before it', async () => {
    const stage = untouched()
    stage.cancel()
    expect(await stage.ending(forceDown(stage.run, stage.gate))).toBe('CANCELLED')
    expect([step(stage), stage.incident.ourFlags]).toEqual([undefined, null])
  })
})

describe('our own disable of a host that was only silent', () => {
  const text = 'lifeboat: incident of another host'

  it('gets the text of its own incident', async () => {
    const stage = untouched()
    stage.service = { ...stage.service, status: 'disabled', disabledReason: text }
    stage.run.permissions.setAsideReason = () => text
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect(stage.service).toMatchObject({ forcedDown: true, disabledReason: ourDisabledReason(stage.run.id) })
    expect(stage.incident.ourFlags?.before.disabledReason).toBe(text)
  })

  it('is none of ours where someone wrote another text over it', async () => {
    const stage = untouched()
    stage.service = { ...stage.service, status: 'disabled', disabledReason: 'bad DIMM' }
    stage.run.permissions.setAsideReason = () => text
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect(stage.service).toMatchObject({ forcedDown: true, disabledReason: 'bad DIMM' })
  })
})

describe('what others set meanwhile', () => {
  const theirs = { status: 'disabled', disabledReason: 'bad DIMM, ticket 4711 (bob)' } as const

  it('is read again before each try: a reason of a person is not overwritten, and the mark says what was found', async () => {
    const stage = untouched()
    stage.fails('updateService', busy)
    stage.onWrite = () => {
      stage.service = { ...stage.service, ...theirs }
    }
    await stage.clock.run(forceDown(stage.run, stage.gate))
    const changes = stage.calls.filter(({ call }) => call === 'updateService').map(({ args }) => args[1])
    expect(changes.map((change) => Object.keys(change as object))).toEqual([
      ['forcedDown', 'status', 'disabledReason'],
      ['forcedDown'],
    ])
    expect(stage.service).toMatchObject({ forcedDown: true, ...theirs })
    expect(stage.incident.ourFlags?.before).toEqual({ forcedDown: false, ...theirs })
    expect([...stage.incident.hostSteps.values()].map(({ status, error }) => [status, error?.code])).toEqual([
      ['failed', 'HELD_BACK'],
      ['confirmed', undefined],
    ])
  })

  it('is read after the gate, which may have held for days', async () => {
    const stage = untouched()
    stage.permission = { allowed: false, hold: 'PAUSED', message: 'lunch' }
    const running = forceDown(stage.run, stage.gate)
    await stage.clock.advance(60_000)
    expect(stage.count('listServices')).toBe(0)
    stage.service = { ...stage.service, ...theirs }
    stage.permission = { allowed: true }
    await stage.clock.run(running)
    expect(stage.service).toMatchObject({ forcedDown: true, ...theirs })
  })

  it('is told from our own write whose answer was lost: that is found, and not sent again', async () => {
    const stage = untouched()
    stage.fails('updateService', lost)
    stage.onWrite = () => {
      stage.service = {
        ...stage.service,
        forcedDown: true,
        status: 'disabled',
        disabledReason: 'lifeboat: incident inc-1',
      }
    }
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect(stage.count('updateService')).toBe(1)
    expect(step(stage)).toMatchObject({ status: 'confirmed' })
  })

  it('leaves what our lost write did unknown', async () => {
    const stage = untouched()
    stage.fails('updateService', lost)
    stage.onWrite = () => {
      stage.service = { ...stage.service, ...theirs }
    }
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect(step(stage)?.error).toMatchObject({ code: 'HELD_BACK', certainty: 'unknown', chain: [lost.message] })
  })
})

describe('an order that never left', () => {
  const theirs = { status: 'disabled', disabledReason: 'bad DIMM, ticket 4711 (bob)' } as const
  const heldBack = failed('HELD_BACK')

  it('set nothing: a host that someone forces down and disables after it stays theirs at its return', async () => {
    const stage = untouched()
    stage.fails('updateService', heldBack)
    stage.onWrite = () => {
      stage.service = { ...stage.service, ...theirs, forcedDown: true }
    }
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect(stage.count('updateService')).toBe(1)
    expect(stage.incident.ourFlags?.before).toEqual({ forcedDown: true, ...theirs })
  })

  it('is sent again where someone only forced the host down: it is disabled too, and their flag stays theirs', async () => {
    const stage = untouched()
    stage.fails('updateService', heldBack)
    stage.onWrite = () => {
      stage.service = { ...stage.service, forcedDown: true }
    }
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect(stage.service).toMatchObject({ status: 'disabled', disabledReason: ourDisabledReason(stage.run.id) })
    expect(stage.incident.ourFlags?.before).toMatchObject({ forcedDown: true, status: 'enabled' })
  })

  it('after one that was answered with 503 is unknown, and what shows up of that one late stays ours', async () => {
    const stage = untouched()
    stage.fails('updateService', busy, heldBack)
    let tries = 0
    stage.onWrite = () => {
      if (++tries !== 2) return
      const ours = { status: 'disabled', disabledReason: ourDisabledReason(stage.run.id) } as const
      stage.service = { ...stage.service, ...ours, forcedDown: true }
    }
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect(step(stage)?.error).toMatchObject({ code: 'HELD_BACK', certainty: 'unknown' })
    expect(stage.incident.ourFlags?.before).toMatchObject({ forcedDown: false, status: 'enabled' })
  })

  it('after one that never reached Nova set nothing either', async () => {
    const stage = untouched()
    stage.fails('updateService', failed('API_UNAVAILABLE'), heldBack)
    let tries = 0
    stage.onWrite = () => {
      if (++tries === 2) stage.service = { ...stage.service, ...theirs, forcedDown: true }
    }
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect(step(stage)?.error).toMatchObject({ code: 'HELD_BACK', certainty: 'not-applied' })
    expect(stage.incident.ourFlags?.before).toEqual({ forcedDown: true, ...theirs })
  })

  it('is not said to be doubtful again and again while one 503 follows another', async () => {
    const stage = untouched()
    stage.fails('updateService', busy, busy, busy, busy, busy, busy, busy)
    const running = forceDown(stage.run, stage.gate).catch((thrown: unknown) => thrown)
    await stage.clock.advance(60_000)
    expect(await running).toMatchObject({ code: 'API_UNAVAILABLE', message: busy.message, certainty: 'not-applied' })
  })

  it('may be out where a 503 stood between two refusals', async () => {
    const stage = untouched()
    stage.fails('updateService', failed('API_THROTTLED', { retry: 'after' }), busy, failed('AUTH_FORBIDDEN'))
    await stage.clock.run(forceDown(stage.run, stage.gate))
    expect([...stage.incident.hostSteps.values()].map(({ error }) => error?.code)).not.toContain('AUTH_FORBIDDEN')
  })

  it('after one that was answered with 503 leaves that one open: a proxy may have handed it on', async () => {
    const stage = untouched()
    stage.fails('updateService', busy, busy, heldBack)
    await stage.clock.run(forceDown(stage.run, stage.gate))
    const errors = [...stage.incident.hostSteps.values()].map(({ error }) => error?.code)
    expect(errors).not.toContain('HELD_BACK')
    expect(stage.service).toMatchObject({ forcedDown: true, status: 'disabled' })
  })
})

describe('a host that others forced down while our order was refused', () => {
  const before = { forcedDown: false, status: 'enabled', disabledReason: null } as const
  const marks = (...found: EntryData['service.marked']['before'][]): ReturnRecord | undefined => {
    const records = new Map<string, ReturnRecord>()
    for (const it of found) {
      const data = { serviceId: 's-1', before: it, reason: 'lifeboat: incident inc-1', updatedAt: null }
      const row = { kind: 'service.marked', incident: 'inc-1', host: 'dead', instance: null, step: null, data }
      applyToReturns(records, row as unknown as Entry)
    }
    return records.get('dead')
  }

  it('is theirs to take back, and so is what they disabled', () => {
    expect(marks(before)?.ourFlags).toMatchObject({ forcedDown: true, disabled: true })
    const theirs = { forcedDown: true, status: 'disabled', disabledReason: 'bob' } as const
    expect(marks(before, theirs)?.ourFlags).toMatchObject({ forcedDown: false, disabled: false, incidents: ['inc-1'] })
  })

  it('that they only disabled is ours to take the forced_down back from', () => {
    const theirs = { forcedDown: false, status: 'disabled', disabledReason: 'bob' } as const
    expect(marks(before, theirs)?.ourFlags).toMatchObject({ forcedDown: true, disabled: false })
  })
})
