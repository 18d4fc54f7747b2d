/** `log.format: oslo`: what OpenStack's log pipelines read from our lines. */
import { describe, expect, test } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { handClock } from './fixtures.ts'

/** As fluentd is set up by kolla-ansible: its first-line form, and the fields that it takes out of a line. */
const firstLine = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}.\d{3} \d+ \S+ \S+ \[.*\]/
const kolla =
  /^(?<Timestamp>\S+ \S+) (?<Pid>\d+) (?<log_level>\S+) (?<python_module>\S+) ((?:\[)(?:None|req-)(?<global_request_id>\S+)? (?:None|req-)(?<request_id>\S+) (?<user_id>\S+) (?<tenant_id>\S+) (?<domain_id>\S+) (?<system_scope>\S+) (?<user_domain>\S+) (?<project_domain>\S+)(?:\]))?(?<Payload>.*)?$/

const global = '0a1b2c3d-0000-8000-8000-0123456789ab'
const novas = '99999999-0000-4000-8000-0123456789ab'

function logged(
  level: 'debug' | 'info' | 'warn' | 'error',
  event: string,
  message: string,
  fields: Record<string, unknown> = {},
  error?: unknown,
): string {
  let text = ''
  const stream = { write: (part: string) => void (text += part) }
  createLogger({ level: 'debug', format: 'oslo', clock: handClock(), pid: 4711, stream }).log(
    level,
    event,
    message,
    fields,
    error,
  )
  expect(text.endsWith('\n')).toBe(true)
  expect(text.slice(0, -1)).not.toMatch(/\n/)
  expect(text).toMatch(firstLine)
  return text.slice(0, -1)
}

const parsed = (line: string): Record<string, string | undefined> => ({ ...kolla.exec(line)?.groups })

describe('a line in the shape of oslo.log', () => {
  test('has time, pid, level, name, both request ids, the instance and the message where a parser looks for them', () => {
    const fields = {
      seq: 7,
      host: 'cmp01',
      instance: 'i-1',
      globalRequestId: `req-${global}`,
      requestId: `req-${novas}`,
    }
    const line = logged('info', 'step.issued', 'Step issued', fields)
    expect(parsed(line)).toMatchObject({
      Pid: '4711',
      log_level: 'INFO',
      python_module: 'lifeboat.step.issued',
      global_request_id: global,
      request_id: novas,
      user_id: '-',
      project_domain: '-',
      Payload: ' [instance: i-1] Step issued (seq=7, host=cmp01)',
    })
    expect(line).toMatch(/^2026-01-0\d \d\d:00:00\.000 /)
  })

  test('of a step whose answer is not there yet is found by our id in both places', () => {
    const line = logged('info', 'step.intended', 'Step evacuate intended', { globalRequestId: `req-${global}` })
    expect(parsed(line)).toMatchObject({ global_request_id: global, request_id: global })
  })

  test("of a service's answer alone leaves the global id out, as oslo.log does", () => {
    const line = logged('debug', 'api.request', 'GET answered 200', { requestId: `req-${novas}` })
    expect(line).toContain(`[None req-${novas} - - - - - -]`)
    expect(parsed(line)['request_id']).toBe(novas)
  })

  test('without any request has the bracket of oslo.log for no context', () => {
    expect(logged('info', 'daemon.started', 'Started')).toMatch(/ INFO lifeboat\.daemon\.started \[-\] Started$/)
  })

  test.each([
    ['debug', 'DEBUG'],
    ['info', 'INFO'],
    ['warn', 'WARNING'],
    ['error', 'ERROR'],
  ] as const)('calls the level %s %s', (level, word) => {
    expect(parsed(logged(level, 'x', 'y'))['log_level']).toBe(word)
  })

  test.each([
    ['a\nb', 'a\\nb'],
    ['a\r\nb\tc', 'a\\r\\nb\\tc'],
    ['\u001b[31mred', '\\u001b[31mred'],
    ['\u009b2J', '\\u009b2J'],
    ['a\u2028b', 'a\\u2028b'],
    ['\u0000', '\\u0000'],
  ])('%j in a message is escaped, so that nobody writes lines of their own', (message, shown) => {
    expect(logged('info', 'x', message)).toMatch(new RegExp(`\\[-\\] ${shown.replace(/[\\[\]]/g, '\\$&')}$`))
  })

  test('control characters in fields and instance names are escaped too', () => {
    const line = logged('info', 'x', 'm', { instance: 'a\nb', name: 'c\nd', deep: { e: 'f\ng' } })
    expect(line).toContain('[instance: a\\nb] m (name="c\\nd", deep={"e":"f\\ng"})')
  })

  test('an error follows the message, and secrets are gone from all of it', () => {
    const error = new LifeboatError('AUTH_FAILED', 'password=hunter2', { cause: new Error('token=hunter2') })
    const line = logged('error', 'poll.failed', 'sent password=hunter2', { api_key: 'hunter2', host: 'c1' }, error)
    expect(line).not.toContain('hunter2')
    expect(line).toContain('host=c1')
    expect(line).toContain('"code":"AUTH_FAILED"')
  })
})
