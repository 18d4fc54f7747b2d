import { expect, test } from 'vitest'
import { captured, entry } from './fixtures.ts'

test('whether the configuration that was read last is in force, and since when, is a metric', async () => {
  const { observer, clock, sample } = captured()
  observer.configuration({ ok: true })
  const at = await sample('lifeboat_config_last_reload_success_timestamp_seconds')
  clock.advance(60_000)
  observer.configuration({ ok: false })
  expect(await sample('lifeboat_config_last_reload_successful')).toBe(0)
  expect(await sample('lifeboat_config_last_reload_success_timestamp_seconds')).toBe(at)
  observer.configuration({ ok: true })
  expect(await sample('lifeboat_config_last_reload_successful')).toBe(1)
  expect(await sample('lifeboat_config_last_reload_success_timestamp_seconds')).toBe((at ?? 0) + 60)
})

test('arming by a reload moves lifeboat_armed, and a refused configuration is an error with its problems', async () => {
  const { observer, lines, sample } = captured()
  observer.entry(entry({ kind: 'daemon.started', data: { version: '1', mode: 'observe', pid: 1 } }))
  const by = { by: 'ann', reason: 'x' }
  observer.entry(entry({ kind: 'mode.changed', actor: 'operator:ann', data: { from: 'observe', to: 'armed', ...by } }))
  expect(await sample('lifeboat_armed')).toBe(1)
  const refused = { ...by, code: 'CONFIG_INVALID', message: 'not valid', problems: ['c.yaml:1:1: mode'] }
  observer.entry(entry({ kind: 'config.refused', actor: 'operator:ann', data: refused }))
  expect(lines.at(-2)).toMatchObject({ level: 'warn', event: 'mode.changed', actor: 'operator:ann' })
  expect(lines.at(-1)).toMatchObject({ level: 'error', event: 'config.refused', problems: ['c.yaml:1:1: mode'] })
})
