/** The laws on hosts say of a journal or a log that breaks them what is broken. */
import { describe, expect, it } from 'vitest'
import type { Scenario } from '../../src/rehearsal/scenario.ts'
import { asked, journal, poll } from './broken.ts'
import { evacuatedThoughAlive, givenUpForTheCloud, provenByAnOldWord } from './laws-of-life.ts'
import { fencedWithoutALook } from './laws-of-looks.ts'
import { begunAgainstTheRules, fencedAgainstTheBrake, type Ruled } from './laws-of-rules.ts'
import { fencedAgainstAPerson, overwrittenDisables } from './laws-of-services.ts'
import { evacuationsWithoutProof, moreThanTheBrakeAllows, twoInFlight } from './laws-of-steps.ts'

const trying = (method = 'bmc'): object => ({ kind: 'fence.attempt', data: { method, phase: 'trying' } })
const proven = (proof: object = {}): object => ({ kind: 'proof.recorded', data: { proof } })
const evacuation = { kind: 'step.intended', instance: 'i-1', step: '0.evacuate.1', data: { kind: 'evacuate' } }
const voided = { kind: 'proof.voided', data: {} }
const stated = { kind: 'operator.statement', data: { by: 'ann' } }
const override = { kind: 'operator.override', data: { by: 'ann' } }

describe('an evacuation', () => {
  it('without a proof, or after the proof was revoked, breaks a law', () => {
    expect(evacuationsWithoutProof(journal(evacuation))).toHaveLength(1)
    expect(evacuationsWithoutProof(journal(proven(), voided, evacuation))).toHaveLength(1)
    expect(evacuationsWithoutProof(journal(proven(), evacuation))).toEqual([])
  })

  it('that begins while another one of its instance is open breaks a law', () => {
    const second = { ...evacuation, step: '0.evacuate.2' }
    expect(twoInFlight(journal(evacuation, second))).toHaveLength(1)
    expect(twoInFlight(journal(evacuation, { ...evacuation, kind: 'step.failed', data: {} }, second))).toEqual([])
  })

  const verdict = (kind: string, reason = ''): object => ({ kind: 'verdict.changed', data: { kind, reason } })

  it.each([
    ['healthy', ''],
    ['contradiction', ''],
    ['returning', 'BEATING_UNDER_OUR_FLAGS'],
    ['service-down', ''],
  ])('from a host that is %s %s breaks a law', (kind, reason) => {
    expect(evacuatedThoughAlive(journal(proven(), verdict(kind, reason), evacuation))).toHaveLength(1)
    expect(evacuatedThoughAlive(journal(verdict(kind, reason), verdict('recovering'), evacuation))).toEqual([])
  })

  it('breaks none when the look before the fencing found its host dead, which the next poll puts on record', () => {
    const found = (kind: string, second: number): object => {
      const at = new Date(second * 1_000).toISOString()
      return { kind: 'verdict.changed', data: { kind, reason: '', at } }
    }
    // Entries are a second apart: the evacuation is the third.
    const lookedAt = (second: number, kind = 'host-down'): string[] =>
      evacuatedThoughAlive(journal(found('service-down', 1), proven(), evacuation, found(kind, second)))
    expect(lookedAt(2)).toEqual([])
    expect(lookedAt(2, 'service-down')).toHaveLength(1)
    expect(lookedAt(4)).toHaveLength(1)
  })

  it('after a restart breaks none: the new process has seen nothing, and a person has said that the host is dead', () => {
    const restarted = { kind: 'daemon.started', data: {} }
    expect(evacuatedThoughAlive(journal(verdict('healthy'), restarted, stated, proven(), evacuation))).toEqual([])
    expect(evacuatedThoughAlive(journal(restarted, verdict('healthy'), stated, proven(), evacuation))).toHaveLength(1)
  })

  it('from a host that only a probe finds alive breaks none where its storage was taken, or a person has said that it is dead', () => {
    const seen = verdict('service-down')
    expect(evacuatedThoughAlive(journal(proven({ proves: 'storage' }), seen, evacuation))).toEqual([])
    expect(evacuatedThoughAlive(journal(proven(), seen, stated, evacuation))).toEqual([])
    expect(evacuatedThoughAlive(journal(proven(), stated, voided, seen, evacuation))).toHaveLength(1)
  })
})

describe("a proof by a person's word", () => {
  const byWord = proven({ strength: 'statement' })
  const beats = { kind: 'verdict.changed', data: { kind: 'healthy' } }

  it('that is older than the last beat of the host breaks a law', () => {
    expect(provenByAnOldWord(journal(stated, beats, byWord))).toHaveLength(1)
    expect(provenByAnOldWord(journal(beats, stated, byWord))).toEqual([])
    expect(provenByAnOldWord(journal(stated, beats, proven()))).toEqual([])
  })
})

describe('an instance', () => {
  const outcome = (code: string): object => ({
    kind: 'outcome.recorded',
    instance: 'i-1',
    data: { outcome: 'failed', code },
  })

  it.each(['AUTH_FAILED', 'AUTH_FORBIDDEN', 'API_UNAVAILABLE'])('that is given up for %s breaks a law', (code) => {
    expect(givenUpForTheCloud(journal(outcome(code)))).toHaveLength(1)
    expect(givenUpForTheCloud(journal(outcome('NO_VALID_HOST')))).toEqual([])
  })
})

describe('a method that fences', () => {
  it('by a poll of long before breaks a law, though it is no call of an API', () => {
    const storage = journal({ ...trying('storage'), ms: 45_000 })
    expect(fencedWithoutALook(storage, asked(poll(5_000)))).toHaveLength(1)
    expect(fencedWithoutALook(storage, asked(poll(5_000), { ...poll(40_000), status: 503 }))).toHaveLength(1)
    expect(fencedWithoutALook(storage, asked(poll(40_000)))).toEqual([])
  })

  it.each(['cloud', 'segment:rack-a'])('while the brake holds %s breaks a law', (scope) => {
    const opened = { kind: 'incident.opened', data: { segment: 'rack-a' } }
    const tripped = { kind: 'brake.tripped', data: { scope } }
    expect(fencedAgainstTheBrake(journal(opened, tripped, trying()))).toHaveLength(1)
    expect(fencedAgainstTheBrake(journal(opened, tripped, override, proven(), voided, trying()))).toHaveLength(1)
    for (const ends of [{ kind: 'brake.released', data: { scope } }, override, proven()])
      expect(fencedAgainstTheBrake(journal(opened, tripped, ends, trying()))).toEqual([])
    const other = { kind: 'brake.tripped', data: { scope: 'segment:rack-b' } }
    expect(fencedAgainstTheBrake(journal(opened, other, trying()))).toEqual([])
  })
})

describe('more hosts than the brake allows', () => {
  const scenario = { cloud: { hosts: 6 }, script: [] } as unknown as Scenario
  const hosts = [1, 2, 3].map((nth) => ({ ...proven(), host: `cmp0${nth}`, incident: `inc-${nth}` }))

  it('under recovery at once break a law, unless a person let one through', () => {
    expect(moreThanTheBrakeAllows(journal(...hosts), scenario)).toHaveLength(1)
    expect(moreThanTheBrakeAllows(journal(override, ...hosts), scenario)).toEqual([])
    const closed = { kind: 'incident.closed', data: {} }
    expect(moreThanTheBrakeAllows(journal(...hosts.slice(0, 2), closed, ...hosts.slice(2)), scenario)).toEqual([])
  })
})

describe('the rules in force', () => {
  const apart = {
    segments: [{ name: 'apart', match: { hosts: ['cmp01'] }, storage: 'local', fencing: ['storage'] }],
  }
  const reloaded = { kind: 'config.reloaded', data: {} }
  const planned = (imageId: string | null): object => ({
    kind: 'plan.made',
    instance: 'i-1',
    data: { original: { instance: { imageId } } },
  })
  const broken = (...rows: object[]): string[] => {
    const script = [{ act: { name: 'reload', given: { config: apart } } }]
    const ruled = { config: {}, cloud: { hosts: ['cmp01', 'cmp02'] }, script }
    return begunAgainstTheRules(journal(...rows), ruled as unknown as Ruled)
  }

  it('are broken by a method that the host’s segment does not list', () => {
    expect(broken(trying('storage'), reloaded)).toEqual([expect.stringContaining('storage fences cmp01')])
    expect(broken(reloaded, trying('bmc'))).toEqual([expect.stringContaining('bmc fences cmp01')])
    expect(broken(trying('bmc'), reloaded, trying('storage'))).toEqual([])
    expect(broken(reloaded, { ...trying('bmc'), host: 'cmp02' })).toEqual([])
  })

  it('are broken by the evacuation of a local disk', () => {
    expect(broken(planned('image'), reloaded, evacuation)).toHaveLength(1)
    expect(broken(planned('image'), evacuation, reloaded)).toEqual([])
    expect(broken(planned(null), reloaded, evacuation)).toEqual([])
  })

  it('that were refused hold from the next start on', () => {
    const refused = { kind: 'config.refused', data: {} }
    expect(broken(refused, trying('bmc'))).toEqual([])
    expect(broken(refused, { kind: 'daemon.started', data: {} }, trying('bmc'))).toHaveLength(1)
  })
})

describe('what people set on a nova-compute', () => {
  const id = '00000000-0000-4000-8000-000000000001'
  const write = (at: number, user: string, body: object): object => ({
    ...{ at, user, body, method: 'PUT' },
    path: `compute/v2.1/os-services/${id}`,
  })
  const theirs = { status: 'disabled', disabled_reason: 'bad memory' }
  const ours = { status: 'disabled', disabled_reason: 'lifeboat: incident 1' }

  it.each([
    ['overwritten', { ...ours, forced_down: true }],
    ['taken back', { status: 'enabled' }],
  ])('breaks a law when their disable is %s', (_how, body) => {
    const disabled = write(1_000, 'operator', theirs)
    expect(overwrittenDisables(asked(disabled, poll(2_000), write(3_000, 'lifeboat', body)))).toHaveLength(1)
    expect(overwrittenDisables(asked(disabled, write(30_000, 'lifeboat', body)))).toHaveLength(1)
  })

  it('breaks none before Nova has shown it, where it is left alone, or once they took it back', () => {
    const disabled = write(1_000, 'operator', theirs)
    expect(overwrittenDisables(asked(disabled, write(2_000, 'lifeboat', ours)))).toEqual([])
    expect(overwrittenDisables(asked(disabled, poll(2_000), write(3_000, 'lifeboat', { forced_down: true })))).toEqual(
      [],
    )
    const enabled = write(2_500, 'operator', { status: 'enabled' })
    expect(overwrittenDisables(asked(disabled, poll(2_000), enabled, write(3_000, 'lifeboat', ours)))).toEqual([])
    // What was ours may be taken back.
    const marked = write(1_000, 'lifeboat', ours)
    expect(overwrittenDisables(asked(marked, poll(2_000), write(3_000, 'lifeboat', { status: 'enabled' })))).toEqual([])
  })

  const fenced = (requests: object[], before: object[] = [], holdsForcedDown = true): string[] =>
    fencedAgainstAPerson(journal(...before, { ...trying(), ms: 30_000 }), asked(...requests), {
      recordOf: () => id,
      holdsForcedDown,
    })

  it.each([
    ['disabled', theirs],
    ['forced down', { forced_down: true }],
  ])('breaks a law when a host that is %s is fenced', (how, body) => {
    const set = write(1_000, 'operator', body)
    expect(fenced([set, poll(2_000)])).toEqual([expect.stringContaining(how)])
    expect(fenced([set])).toEqual([])
    expect(fenced([set, poll(2_000)], [stated])).toEqual([])
    expect(fenced([set, poll(2_000)], [proven()])).toEqual([])
    const undone = write(5_000, 'operator', { status: 'enabled', forced_down: false })
    expect(fenced([set, poll(2_000), undone])).toEqual([])
  })

  it('breaks none where the rules say that a host that is forced down is recovered', () => {
    const forced = [write(1_000, 'operator', { forced_down: true }), poll(2_000)]
    expect(fenced(forced, [], false)).toEqual([])
  })

  it('breaks none where we had forced it down before', () => {
    const forced = write(500, 'lifeboat', { forced_down: true })
    expect(fenced([forced, write(1_000, 'operator', { forced_down: true }), poll(2_000)])).toEqual([])
  })
})
