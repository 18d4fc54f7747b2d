import { describe, expect, it } from 'vitest'
import type { Entry, EntryData, EntryKind, NewEntry } from '../../src/domain/entry.ts'
import { foldIncidents } from '../../src/domain/incident.ts'
import { operatorDraft } from '../../src/notices/operators.ts'
import { receiversOf, type Draft, type ReceiverRule } from '../../src/notices/rules.ts'
import { begun, closed, everything, opened, owners, phase, recovered, verdict } from './rig.ts'

const asRead = (entry: NewEntry, seq = 1): Entry =>
  ({
    incident: null,
    host: null,
    instance: null,
    step: null,
    actor: 'daemon',
    ...entry,
    seq,
    at: 't',
  }) as unknown as Entry

/** What operators are told of the last entry, the others being what happened before. */
function told(...entries: NewEntry[]): Draft | null {
  const read = entries.map(asRead)
  const last = read.at(-1) as Entry
  const incident = foldIncidents(read).get(last.incident ?? '')
  const known = { troubleTold: false, offTold: false, heldIn: null, ofRunBefore: false }
  return operatorDraft(last, { mode: 'armed', incident, ...known })
}

function of<K extends EntryKind>(kind: K, data: Partial<EntryData[K]>): NewEntry {
  return { kind, incident: 'i', host: 'cmp01', data } as unknown as NewEntry
}

describe('operators are told of', () => {
  it.each([
    ['host-down', 'host-down', 'warning'],
    ['service-down', 'host-trouble', 'warning'],
    ['declared-down', 'host-trouble', 'warning'],
    ['forced-down-before', 'host-trouble', 'warning'],
    ['contradiction', 'contradiction', 'critical'],
  ] as const)('the verdict %s as %s (%s)', (kind, topic, severity) => {
    expect(told(verdict(kind))).toMatchObject({
      topic,
      severity,
      host: 'cmp01',
      segment: 'az1',
      code: verdict(kind).data.reason,
    })
  })

  it.each(['suspect', 'maintenance', 'recovering', 'returning', 'unknown'] as const)('nothing of %s', (kind) => {
    expect(told(verdict(kind))).toBeNull()
  })

  it('a host that is well again, only when it was in trouble', () => {
    expect(told(verdict('healthy', { from: 'service-down' }))).toMatchObject({ topic: 'host-well', severity: 'info' })
    expect(told(verdict('healthy', { from: 'suspect' }))).toBeNull()
  })

  it.each([
    ['BRAKE', 'critical'],
    ['FENCE_FAILED', 'critical'],
    ['FENCING_MISSING', 'critical'],
    ['HOST_ALIVE', 'critical'],
    ['NOVA_REFUSED', 'critical'],
    ['FROZEN', 'warning'],
    ['PAUSED', 'warning'],
    ['CLOUD_UNAVAILABLE', 'warning'],
  ] as const)('an incident that is held for %s, %s', (code, severity) => {
    const draft = told(opened('i'), of('incident.held', { code, message: 'because' }))
    expect(draft).toMatchObject({
      topic: 'incident-held',
      severity,
      code,
      segment: 'az1',
      message: 'cmp01: recovery on hold: because',
    })
  })

  it('a fencing method that failed at its last try, and what comes next', () => {
    const attempt = { method: 'bmc', message: 'no answer', phase: 'failed', position: 1, of: 2, attempts: 2 } as const
    expect(told(of('fence.attempt', { ...attempt, attempt: 1 }))).toBeNull()
    expect(told(of('fence.attempt', { ...attempt, attempt: 2 }))).toMatchObject({
      ...{ topic: 'fencing-failed', severity: 'warning', code: 'bmc' },
      message: 'Fencing of cmp01 by bmc failed (no answer); method 2 of 2 is tried next',
    })
    expect(told(of('fence.attempt', { ...attempt, position: 2, attempt: 2 }))).toMatchObject({
      ...{ severity: 'warning', message: expect.stringContaining('no other method is left') as string },
    })
    expect(told(of('fence.attempt', { ...attempt, phase: 'trying' }))).toBeNull()
  })

  it('the end of an incident, as bad as its worst instance, each that did not come back with its reason', () => {
    expect(told(opened('i'), ...recovered('i', 'a', 'p'), closed('i'))).toMatchObject({
      ...{ severity: 'info', message: 'cmp01: every instance has its outcome (1 recovered)', counts: { recovered: 1 } },
    })
    const left = recovered('i', 'b', 'p', { outcome: 'left', code: 'LOCAL_DISK', message: 'its disk is local' })
    expect(told(opened('i'), ...left, closed('i'))).toMatchObject({
      ...{
        severity: 'warning',
        message: expect.stringContaining('left: b (id-b), LOCAL_DISK: its disk is local') as string,
      },
    })
    const stuck = recovered('i', 'c', 'p', { outcome: 'stuck', code: 'STEP_TIMEOUT', message: 'm' })
    expect(told(opened('i'), ...left, ...stuck, closed('i'))).toMatchObject({ severity: 'critical' })
    expect(told(opened('i'), closed('i', 'cancelled'))).toMatchObject({ severity: 'warning', code: 'cancelled' })
  })

  it('no more than thirty of them, and how many more', () => {
    const many = Array.from({ length: 35 }, (_, n) => recovered('i', `n${n}`, 'p', { outcome: 'failed' })).flat()
    const { message = '' } = told(opened('i'), ...many, closed('i')) ?? {}
    expect(message.split('\n')).toHaveLength(32)
    expect(message).toMatch(/and 5 more$/)
  })

  it('the brake: of one segment to anyone who is told of that segment', () => {
    const tripped = { down: 3, allowed: 2, fleet: 9, hosts: [], message: 'three of nine' }
    expect(told(of('brake.tripped', { ...tripped, scope: 'segment:az2' }))).toMatchObject({ segment: 'az2' })
    expect(told(of('brake.tripped', { ...tripped, scope: 'cloud' }))).toMatchObject({ segment: null, code: 'cloud' })
    expect(told(of('brake.released', { ...tripped, scope: 'cloud' }))).toMatchObject({ topic: 'brake-released' })
  })

  it.each([
    ['waiting-confirmation', 'return-waits'],
    ['kept-out', 'return-refused'],
    ['back', 'host-returned'],
    ['settling', undefined],
    ['proving', undefined],
  ] as const)('a return that is %s: %s', (to, topic) => {
    expect(told(of('return.changed', { to, code: 'C', message: 'm' }))?.topic).toBe(topic)
  })

  it.each([
    ['NEEDS_ANOTHER_START', 'return-waits'],
    ['FORCED_DOWN_BY_OTHERS', 'return-waits'],
    ['EVACUATION_IN_FLIGHT', undefined],
  ])('a return that settles, with %s: %s', (code, topic) => {
    expect(told(of('return.changed', { to: 'settling', code, message: 'm' }))?.topic).toBe(topic)
  })

  it('an alarm, but not twice of a contradiction', () => {
    expect(told(of('alarm.raised', { code: 'PAUSE_FORGOTTEN', message: 'm' }))).toMatchObject({ topic: 'alarm' })
    expect(
      told(of('alarm.raised', { code: 'X', message: 'm', evidence: verdict('contradiction').data.evidence })),
    ).toBeNull()
  })

  it('a proof that life has overtaken', () => {
    expect(told(of('proof.voided', { code: 'ALIVE', message: 'it beats' }))).toMatchObject({ severity: 'critical' })
  })

  it("that a person's word counts no more as a warning, and not at all where that ends the incident: its end is told", () => {
    const word = (code: string): NewEntry => of('proof.voided', { code, message: 'it lives', unproven: true })
    expect(told(word('SILENT_BUT_PROBE_ALIVE'))).toMatchObject({ severity: 'warning' })
    expect(told(opened('i'), word('BEATING'))).toBeNull()
    const proven = of('proof.recorded', { proof: { method: 'bmc', strength: 'power-off' } as never })
    const overtaken = of('proof.voided', { code: 'POWER_ON', message: 'on' })
    expect(told(opened('i'), proven, overtaken, word('BEATING'))).toMatchObject({ severity: 'warning' })
  })

  it('nothing of instances whose host has gone away again: they were told of, and cannot be started there now', () => {
    const away = of('instances.watched', {
      to: 'watching',
      instances: 0,
      off: 2,
      started: 0,
      message: 'm',
      backAt: null,
    })
    expect(told(opened('i'), away)).toBeNull()
  })

  it('a dead host as critical when the daemon observes: no recovery follows by itself', () => {
    const known = {
      mode: 'observe',
      incident: undefined,
      troubleTold: false,
      offTold: false,
      heldIn: null,
      ofRunBefore: false,
    } as const
    expect(operatorDraft(asRead(verdict('host-down')), known)).toMatchObject({ severity: 'critical' })
  })

  it('a recovery that only would be, when the daemon observes', () => {
    expect(told(...begun('i', { mode: 'observe' }))?.message).toContain(
      'would be recovered (nothing is sent: observing)',
    )
  })

  it('a recovery that begins, and not of an incident that is opened and held at once', () => {
    const held = of('incident.held', { code: 'BRAKE', message: 'm' })
    expect(told(opened('i'))).toBeNull()
    expect(told(opened('i'), held)).toMatchObject({ topic: 'incident-held' })
    const begin = [opened('i'), held, of('incident.continued', { because: 'b' }), phase('i', 'confirming', 'fencing')]
    expect(told(...begin)).toMatchObject({
      ...{ topic: 'incident-opened', segment: 'az1', code: 'SILENT_AND_PROBES_DEAD' },
      message: 'cmp01 is being recovered: it is host-down',
    })
    expect(told(...begin.slice(0, 1), phase('i', 'confirming', 'closed'))).toBeNull()
  })
})

describe('a receiver hears', () => {
  const draft = told(verdict('host-down')) as Draft
  const hears = (rule: Partial<ReceiverRule>, about: Partial<Draft> = {}): boolean =>
    receiversOf({ ...draft, ...about }, new Map([['it', { ...everything, ...rule }]])).length === 1

  it('of its segments, and of what concerns the whole cloud', () => {
    expect(hears({ segments: ['az1'] })).toBe(true)
    expect(hears({ segments: ['az2'] })).toBe(false)
    expect(hears({ segments: ['az2'] }, { segment: null })).toBe(true)
  })

  it('of its topics and severities', () => {
    expect(hears({ topics: ['alarm'] })).toBe(false)
    expect(hears({ topics: ['host-down'], least: 'warning' })).toBe(true)
    expect(hears({ least: 'warning' }, { severity: 'info' })).toBe(false)
  })

  it('as an owner of its projects only, and never what operators are told', () => {
    const about = { audience: 'tenant', topic: 'instances-affected', project: 'red' } as const
    expect(hears(owners)).toBe(false)
    expect(hears({ ...owners, projects: ['red'] }, about)).toBe(true)
    expect(hears({ ...owners, projects: ['blue'] }, about)).toBe(false)
    expect(hears({}, about)).toBe(false)
  })
})

it('of an observed incident nobody is told that something ended: its instances are untouched', () => {
  const end = closed('i', 'observed')
  const data = { ...end.data, message: 'observed only', counts: { none: 15 } }
  expect(told(opened('i', { mode: 'observe' }), { ...end, data })?.message).toBe('cmp01: observed only (15 untouched)')
})
