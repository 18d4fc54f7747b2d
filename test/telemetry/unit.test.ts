/** The systemd unit, judged by systemd's own tools where they are installed; reported as skipped where they are not. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const directory = resolve(import.meta.dirname, '../../systemd')
const unit = readFileSync(join(directory, 'lifeboat.service'), 'utf8')
const installed = spawnSync('systemd-analyze', ['--version']).status === 0
const sysusers = spawnSync('systemd-sysusers', ['--version']).status === 0

describe('the unit', () => {
  test('V8 can compile: memory may be executable', () => {
    expect(unit).not.toMatch(/^MemoryDenyWriteExecute=(yes|true|1)/m)
  })
  test('a wrong configuration is not tried again', () => {
    expect(unit).toMatch(/^RestartPreventExitStatus=78$/m)
  })
  test('notifications of the child systemd-notify count', () => {
    expect(unit).toMatch(/^NotifyAccess=all$/m)
  })

  test.skipIf(!installed)('its exposure is 1.5 or less (needs systemd-analyze)', () => {
    const { stdout } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', '--threshold=15', join(directory, 'lifeboat.service')],
      { encoding: 'utf8' },
    )
    expect(Number(/Overall exposure level for lifeboat\.service: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThanOrEqual(1.5)
  })

  test.skipIf(!installed)('it verifies, with every drop-in example (needs systemd-analyze)', () => {
    const place = mkdtempSync(join(tmpdir(), 'lifeboat-unit-'))
    try {
      const program = join(place, 'lifeboat')
      writeFileSync(program, '#!/bin/sh\n')
      chmodSync(program, 0o755)
      const dropIns = readdirSync(join(directory, 'lifeboat.service.d')).map((name) =>
        readFileSync(join(directory, 'lifeboat.service.d', name), 'utf8'),
      )
      expect(dropIns.length).toBeGreaterThan(0)
      const service = join(place, 'lifeboat.service')
      writeFileSync(service, [unit.replaceAll('/usr/bin/lifeboat', program), ...dropIns].join('\n'))
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', service], { encoding: 'utf8' })
      expect(stderr.split('\n').filter((line) => line.includes('lifeboat'))).toEqual([])
      expect(status).toBe(0)
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
  })

  test.skipIf(!sysusers)('the system user can be made (needs systemd-sysusers)', () => {
    const { status, stderr } = spawnSync('systemd-sysusers', ['--dry-run', join(directory, 'lifeboat.sysusers')], {
      encoding: 'utf8',
    })
    expect(status).toBe(0)
    expect(stderr).not.toMatch(/fail|invalid|ignoring|unknown/i)
  })
})
