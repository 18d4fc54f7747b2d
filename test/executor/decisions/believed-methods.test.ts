/** Which fencing methods still prove anything once a disk of the host was found in use (law L1). */
import { describe, expect, it } from 'vitest'
import type { DiskInUse } from '../../../src/domain/incident.ts'
import { believedMethods } from '../../../src/executor/believed-methods.ts'

const provenAt = '2030-01-01T12:00:00.000Z'
const at = (seconds: number): string => new Date(Date.parse(provenAt) + seconds * 1_000).toISOString()

function believed(found: Record<string, Partial<DiskInUse>>, seconds: number): ReturnType<typeof believedMethods> {
  const disksInUse = new Map(
    Object.entries(found).map(([method, change]) => [method, { provenAt, at: at(5), times: 1, ...change }]),
  )
  return believedMethods({ host: 'dead', disksInUse }, ['bmc', 'pdu'], Date.parse(at(seconds)))
}

describe('fencing methods after a disk was in use', () => {
  it('are all believed while none was contradicted', () => {
    expect(believed({}, 5)).toEqual({ methods: ['bmc', 'pdu'], doubt: null })
  })

  it.each([
    [5, ['pdu']],
    [119.999, ['pdu']],
    [120, ['pdu', 'bmc']],
    // The clock was set back by an hour: that makes no wait of an hour.
    [-3_600, ['pdu', 'bmc']],
  ])('%d s after its proof, the one that was contradicted once leaves %j', (seconds, methods) => {
    expect(believed({ bmc: {} }, seconds).methods).toEqual(methods)
  })

  it.each([
    ['twice', { times: 2 }],
    ['when no lock of a dead guest can be left', { at: at(120) }],
  ])('never again include one that was contradicted %s', (_how, change) => {
    const { methods, doubt } = believed({ bmc: change }, 86_400)
    expect(methods).toEqual(['pdu'])
    expect(doubt).toContain('bmc said that dead is off')
  })

  it('say when the one that waits is asked again', () => {
    expect(believed({ bmc: { times: 2 }, pdu: {} }, 5)).toEqual({
      methods: [],
      doubt: expect.stringMatching(/^bmc said .* pdu is asked again at 2030-01-01T12:02:00.000Z$/) as string,
    })
  })
})
