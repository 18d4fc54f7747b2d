/** Bad bodies are refused in the words of Masakari 19 with jsonschema 4.19, as Debian 13 has them: people search for these. */
import { describe, expect, it } from 'vitest'
import { notificationRequest } from '../../src/masakari/api/notification-request.ts'
import { newHostOf, newSegmentOf, segmentChangeOf } from '../../src/masakari/api/segment-request.ts'

function saidOf(read: () => unknown): string {
  try {
    read()
  } catch (thrown) {
    return (thrown as Error).message
  }
  throw new Error('it was taken')
}

const segment = { name: 's', recovery_method: 'auto', service_type: 'compute' }
const host = { name: 'cmp01', type: 'COMPUTE', control_attributes: 'SSH' }
const notification = { type: 'VM', hostname: 'cmp01', generated_time: '2026-01-01', payload: {} }
const report = (change: object): object => ({ notification: { ...notification, ...change } })
const aboutName =
  "An invalid 'name' value was provided. The name must be: printable characters. Can not start or end with whitespace."

describe('of a segment', () => {
  it.each<[unknown, string]>([
    [null, "None is not of type 'object'"],
    [[], "[] is not of type 'object'"],
    [{}, "'segment' is a required property"],
    [{ segment: [1] }, "Invalid input for field/attribute segment. Value: [1]. [1] is not of type 'object'"],
    [{ segment, more: 1 }, "Additional properties are not allowed ('more' was unexpected)"],
    [
      { segment: { name: 's', recovery_method: 'auto' } },
      "Invalid input for field/attribute segment. Value: {'name': 's', 'recovery_method': 'auto'}. 'service_type' is a required property",
    ],
    [
      { segment: { b: 1, name: 's', a: true } },
      "Invalid input for field/attribute segment. Value: {'b': 1, 'name': 's', 'a': True}. Additional properties are not allowed ('a', 'b' were unexpected)",
    ],
    [{ segment: { ...segment, name: '' } }, "Invalid input for field/attribute name. Value: . '' is too short"],
    [{ segment: { ...segment, name: ' s' } }, aboutName],
    [
      { segment: { ...segment, name: 7 } },
      "Invalid input for field/attribute name. Value: 7. 7 is not of type 'string'",
    ],
    [
      { segment: { ...segment, recovery_method: "it's" } },
      `Invalid input for field/attribute recovery_method. Value: it's. "it's" is not one of ['auto', 'reserved_host', 'auto_priority', 'rh_priority']`,
    ],
    [
      { segment: { ...segment, description: 1.5 } },
      "Invalid input for field/attribute description. Value: 1.5. 1.5 is not of type 'string', 'null'",
    ],
    [
      { segment: { ...segment, enabled: 1 } },
      "Invalid input for field/attribute enabled. Value: 1. 1 is not of type 'boolean', 'string'",
    ],
  ])('%j', (body, says) => expect(saidOf(() => newSegmentOf(body, '1.2'))).toBe(says))

  it('a change of nothing, and a field that only later versions have', () => {
    expect(saidOf(() => segmentChangeOf({ segment: {} }, '1.2'))).toBe(
      'Invalid input for field/attribute segment. Value: {}. {} is not valid under any of the given schemas',
    )
    expect(saidOf(() => segmentChangeOf({ segment: { enabled: false } }, '1.1'))).toBe(
      "Invalid input for field/attribute segment. Value: {'enabled': False}. Additional properties are not allowed ('enabled' was unexpected)",
    )
  })
})

it('of a host, the pattern that it does not match', () => {
  expect(saidOf(() => newHostOf({ host: { ...host, type: 'a-b' } }))).toBe(
    "Invalid input for field/attribute type. Value: a-b. 'a-b' does not match '^[a-zA-Z0-9]*$'",
  )
})

describe('of a notification', () => {
  it.each<[object, string]>([
    [{ hostname: 'a b' }, "hostname. Value: a b. 'a b' does not match '^[a-zA-Z0-9-._]*$'"],
    [{ hostname: '' }, "hostname. Value: . '' is too short"],
    [{ type: 'vm' }, "type. Value: vm. 'vm' is not one of ['COMPUTE_HOST', 'PROCESS', 'VM']"],
    [{ generated_time: 'now' }, "generated_time. Value: now. 'now' is not a 'date-time'"],
    [{ payload: { event: 7 } }, "event. Value: 7. 7 is not of type 'string'"],
    [
      { payload: { 'a/b': 'x' } },
      "payload. Value: {'a/b': 'x'}. 'a/b' does not match any of the regexes: '^[a-zA-Z0-9-_:. ]{1,255}$'",
    ],
    [
      { type: 'COMPUTE_HOST', payload: { event: 'stopped' } },
      "event. Value: stopped. 'stopped' is not one of ['STARTED', 'STOPPED']",
    ],
    [
      { payload: { instance_uuid: 'x', event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED' } },
      "instance_uuid. Value: x. 'x' is not a 'uuid'",
    ],
  ])('%j', (change, says) => {
    expect(saidOf(() => notificationRequest(report(change)))).toBe(`Invalid input for field/attribute ${says}`)
  })

  it('a payload is judged by itself', () => {
    expect(saidOf(() => notificationRequest(report({ type: 'COMPUTE_HOST' })))).toBe("'event' is a required property")
  })
})

it('a hostile body is quoted in part, and the rule can still be read', () => {
  const long = 'x'.repeat(100_000)
  const says = saidOf(() => newSegmentOf({ segment: { ...segment, name: long } }, '1.0'))
  expect(says.length).toBeLessThan(400)
  expect(says).toMatch(/x… is too long$/)
  let deep: unknown = 1
  for (let level = 0; level < 2_000; level++) deep = { deep }
  expect(saidOf(() => newSegmentOf({ segment: deep }, '1.0')).length).toBeLessThan(400)
})
