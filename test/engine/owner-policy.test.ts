import { describe, expect, it } from 'vitest'
import type { Aggregate } from '../../src/domain/instance.ts'
import { defaultOwnerPolicy, ownerPolicyOf } from '../../src/engine/owner-policy.ts'
import { instance } from './surveys.ts'

const flavor = (extraSpecs: Record<string, string>) => ({ ...instance().flavor, extraSpecs })
const aggregate = (metadata: Record<string, string>): Aggregate => ({
  name: 'a',
  availabilityZone: null,
  hosts: ['dead'],
  metadata,
})

describe('the owner policy of an instance', () => {
  it('is none when nobody says anything', () => {
    expect(ownerPolicyOf(instance(), [], defaultOwnerPolicy)).toEqual({
      value: 'none',
      from: '',
      priority: 0,
      notes: [],
    })
  })

  it('the nearest to the instance decides: metadata, tag, flavor, aggregate', () => {
    const all = {
      metadata: { lifeboat: 'leave' },
      tags: ['lifeboat:stopped'],
      flavor: flavor({ 'lifeboat:wish': 'recover' }),
    }
    const word = (changes: object) =>
      ownerPolicyOf(instance(changes), [aggregate({ lifeboat: 'stopped' })], defaultOwnerPolicy)
    expect(word(all)).toMatchObject({ value: 'leave', from: 'instance metadata lifeboat' })
    expect(word({ ...all, metadata: {} })).toMatchObject({ value: 'stopped', from: 'instance tag lifeboat:' })
    expect(word({ flavor: all.flavor })).toMatchObject({ value: 'recover', from: 'flavor extra spec' })
    expect(word({})).toMatchObject({ value: 'stopped', from: 'aggregate metadata lifeboat' })
  })

  it('our own key counts before that of Masakari', () => {
    const both = instance({ metadata: { lifeboat: 'stopped', HA_Enabled: 'false' } })
    expect(ownerPolicyOf(both, [], defaultOwnerPolicy).value).toBe('stopped')
  })

  it.each(['True', 'true', ' TRUE ', 't', '1', 'yes', 'y', 'on'])('HA_Enabled %s asks to be recovered', (value) => {
    expect(ownerPolicyOf(instance({ metadata: { HA_Enabled: value } }), [], defaultOwnerPolicy).value).toBe('recover')
  })

  it.each(['False', 'f', '0', 'no', 'n', 'off'])('HA_Enabled %s asks to be left', (value) => {
    expect(ownerPolicyOf(instance({ metadata: { HA_Enabled: value } }), [], defaultOwnerPolicy).value).toBe('leave')
  })

  it('takes no notice of HA_Enabled when the operator says so', () => {
    expect(
      ownerPolicyOf(instance({ metadata: { HA_Enabled: 'false' } }), [], { ...defaultOwnerPolicy, masakariKey: null })
        .value,
    ).toBe('none')
  })

  it('a key that is also that of Masakari is read in our words alone, and once', () => {
    const policy = (value: string) =>
      ownerPolicyOf(instance({ metadata: { HA_Enabled: value } }), [], { ...defaultOwnerPolicy, key: 'HA_Enabled' })
    expect(policy('leave').value).toBe('leave')
    expect(policy('true')).toMatchObject({ value: 'none', notes: [expect.stringContaining('leave, stopped, recover')] })
  })

  it('takes no notice of a key named null when there is no key of Masakari', () => {
    const odd = instance({ metadata: { null: 'false' } })
    expect(ownerPolicyOf(odd, [], { ...defaultOwnerPolicy, masakariKey: null })).toMatchObject({
      value: 'none',
      notes: [],
    })
  })

  it('a word that Masakari would not understand is said, with those it would', () => {
    const policy = ownerPolicyOf(instance({ metadata: { HA_Enabled: 'leave' } }), [], defaultOwnerPolicy)
    expect(policy).toMatchObject({ value: 'none', notes: [expect.stringContaining('none of true, false')] })
  })

  it.each(['Leave', ' leave ', 'LEAVE'])('the value "%s" asks to be left', (value) => {
    expect(ownerPolicyOf(instance({ metadata: { lifeboat: value } }), [], defaultOwnerPolicy).value).toBe('leave')
  })

  it.each(['not_lifeboat', 'lifeboats', 'LIFEBOAT', 'not_evacuable', '__proto__', 'constructor'])(
    'the key %s is no policy',
    (key) => {
      const other = instance({ metadata: Object.fromEntries([[key, 'recover']]), tags: [`${key}:recover`] })
      expect(ownerPolicyOf(other, [], defaultOwnerPolicy)).toMatchObject({ value: 'none', notes: [] })
    },
  )

  it.each(['', 'yes', 'evacuate', 'leave it'])('the value "%s" decides nothing, and is said', (value) => {
    const policy = ownerPolicyOf(instance({ metadata: { lifeboat: value } }), [], defaultOwnerPolicy)
    expect(policy.value).toBe('none')
    expect(policy.notes).toHaveLength(1)
  })

  it('a bad value does not hide a good one farther off', () => {
    const policy = ownerPolicyOf(
      instance({ metadata: { lifeboat: 'x' }, tags: ['lifeboat:leave'] }),
      [],
      defaultOwnerPolicy,
    )
    expect(policy).toMatchObject({ value: 'leave', notes: [expect.stringContaining('"x"')] })
  })

  it('two that contradict each other in one place decide nothing, and that is said', () => {
    const policy = ownerPolicyOf(instance({ tags: ['lifeboat:leave', 'lifeboat:recover'] }), [], defaultOwnerPolicy)
    expect(policy).toMatchObject({ value: 'none', notes: [expect.stringContaining('leave and recover')] })
  })
})

describe('the priority of an instance', () => {
  const priority = (changes: object, aggregates: Aggregate[] = []) =>
    ownerPolicyOf(instance(changes), aggregates, defaultOwnerPolicy)

  it("the operator's word stands before the owner's", () => {
    const owner = { metadata: { lifeboat_priority: '50' } }
    expect(priority(owner).priority).toBe(50)
    expect(priority(owner, [aggregate({ lifeboat_priority: '-20' })]).priority).toBe(-20)
    expect(
      priority({ ...owner, flavor: flavor({ 'lifeboat:priority': '7' }) }, [aggregate({ lifeboat_priority: '9' })])
        .priority,
    ).toBe(7)
  })

  it('is bounded, for the owner more narrowly than for the operator', () => {
    expect(priority({ metadata: { lifeboat_priority: '5000' } })).toMatchObject({
      priority: 100,
      notes: [expect.any(String)],
    })
    expect(priority({ tags: ['lifeboat_priority:-5000'] }).priority).toBe(-100)
    expect(priority({}, [aggregate({ lifeboat_priority: '5000' })]).priority).toBe(1000)
  })

  it('of several aggregates the highest counts, in whatever order Nova lists them', () => {
    const low = aggregate({ lifeboat_priority: '3' })
    const high = aggregate({ lifeboat_priority: '8' })
    expect(priority({}, [low, high]).priority).toBe(8)
    expect(priority({}, [high, low]).priority).toBe(8)
  })

  it.each([
    [' 7 ', 7],
    ['+7', 7],
    ['-7', -7],
    ['100', 100],
    ['-100', -100],
  ])('"%s" is %d, and nothing need be said', (value, expected) => {
    expect(priority({ metadata: { lifeboat_priority: value } })).toMatchObject({ priority: expected, notes: [] })
  })

  it.each(['high', '1.5', '7x', 'x7', '1234567890', '', '1e3', '0x10'])(
    '"%s" is no priority, and that is said',
    (value) => {
      expect(priority({ metadata: { lifeboat_priority: value } })).toMatchObject({
        priority: 0,
        notes: [expect.any(String)],
      })
    },
  )
})
