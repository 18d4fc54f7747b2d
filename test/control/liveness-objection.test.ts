import { describe, expect, it } from 'vitest'
import type { ProofRecord } from '../../src/domain/fencing.ts'
import type { Verdict, VerdictKind } from '../../src/domain/verdict.ts'
import { livenessObjection } from '../../src/control/liveness-objection.ts'

const proof: ProofRecord = {
  host: 'h1',
  method: 'bmc',
  strength: 'power-off',
  provenAt: '',
  statedBy: null,
  evidence: [],
}
const storage: ProofRecord = { ...proof, method: 'ceph', strength: 'command-verified', proves: 'storage' }
const against = (kind: VerdictKind, of: ProofRecord | null, witnessExplained = false): string | null =>
  livenessObjection({ host: 'h1', proof: of, witnessExplained }, { kind, message: `it is ${kind}` } as Verdict)

describe('what the monitor sees against an incident', () => {
  it('a forced-down host that beats always', () => {
    expect(against('contradiction', null)).toBe('it is contradiction')
    expect(against('contradiction', storage, true)).toBe('it is contradiction')
  })

  it('nothing else before there is a proof: the look before fencing decides', () => {
    expect(against('healthy', null)).toBeNull()
    expect(against('service-down', null)).toBeNull()
  })

  it('a host that is back after it was proven dead, whatever the proof and anyone who insists', () => {
    expect(against('healthy', proof, true)).toBe('it is healthy')
    expect(against('healthy', storage)).toBe('it is healthy')
  })

  it('a witness that still finds a powered-off host alive: perhaps the wrong machine was powered off', () => {
    expect(against('service-down', proof)).toMatch(
      /proven dead by bmc: was that the right machine\?.*lifeboat recover h1 --by/,
    )
    expect(against('service-down', { ...proof, proves: 'power' })).not.toBeNull()
  })

  it('not when a person explained it since, and not when only its storage was taken', () => {
    expect(against('service-down', proof, true)).toBeNull()
    expect(against('service-down', storage)).toBeNull()
  })

  it.each(['host-down', 'suspect', 'recovering', 'unknown'] as const)('never %s', (kind) => {
    expect(against(kind, proof)).toBeNull()
  })

  it('nothing of a host that was never seen', () => {
    expect(livenessObjection({ host: 'h1', proof, witnessExplained: false }, undefined)).toBeNull()
  })
})
