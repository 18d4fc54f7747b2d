import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { listenForOperators } from '../../src/api/index.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { fakeOperations } from '../api/fake-operations.ts'
import { fakeReview } from '../api/fake-review.ts'
import { type Ran, run, standingClock } from './fake-commands.ts'

const made = {
  from: 'lab',
  segments: 1,
  hosts: 2,
  yaml: 'segments: []\n',
  maintenance: [
    { scope: { kind: 'host' as const, name: 'cmp01' }, reason: 'on_maintenance in Masakari' },
    { scope: { kind: 'segment' as const, name: "rack 'b'" }, reason: 'segment disabled in Masakari' },
  ],
  notes: ['Something to know'],
}
const directory = mkdtempSync(join(tmpdir(), 'lb-'))
const lifeboat = (...argv: string[]): Promise<Ran> =>
  run(
    ['import-masakari', ...argv],
    { importMasakari: () => Promise.resolve(made) },
    { config: `state_dir: ${directory}\n` },
  )

let server: { close(): Promise<void> } | null = null
afterEach(async () => {
  await server?.close()
  server = null
})

async function withDaemon(startMaintenance?: () => Promise<never>): Promise<unknown[][]> {
  const { operations, asked } = fakeOperations(startMaintenance === undefined ? {} : { startMaintenance })
  const socket = join(directory, 'lifeboat.sock')
  server = await listenForOperators({ operations, review: fakeReview(), clock: standingClock }, socket)
  return asked
}

describe('what it prints', () => {
  it('the fragment alone on standard output, the report beside it, with the commands to give', async () => {
    const { exit, out, err } = await lifeboat()
    expect([exit, out]).toEqual([0, 'segments: []\n'])
    expect(err).toContain('Masakari of lab: 1 segments, 2 hosts')
    expect(err).toContain('- Something to know\n')
    expect(err).toContain("  lifeboat host maintenance cmp01 --reason 'on_maintenance in Masakari'\n")
    // As a shell takes it.
    expect(err).toContain("  lifeboat maintenance start --segment 'rack '\\''b'\\''' --reason 'segment disabled")
  })

  it('all of it for programs', async () => {
    const { out } = await lifeboat('-f', 'json')
    expect(JSON.parse(out)).toMatchObject({ YAML: 'segments: []\n', Notes: ['Something to know'] })
  })

  it('--output writes a file, and never over one', async () => {
    const file = join(directory, 'masakari.yaml')
    expect((await lifeboat('--output', file)).out).toContain(`the fragment is in ${file}`)
    expect(readFileSync(file, 'utf8')).toBe('segments: []\n')
    writeFileSync(file, 'mine')
    const again = await lifeboat('--output', file)
    expect([again.exit, again.err]).toEqual([1, `lifeboat: ${file} exists already; it is not overwritten\n`])
    expect(readFileSync(file, 'utf8')).toBe('mine')
    const nowhere = join(directory, 'no', 'such')
    expect((await lifeboat('--output', nowhere)).exit).toBe(1)
    expect(existsSync(nowhere)).toBe(false)
  })
})

describe('--apply-maintenance', () => {
  it('orders each of the daemon, with the reason and the name of anyone who imports', async () => {
    const asked = await withDaemon()
    expect((await lifeboat('--apply-maintenance')).exit).toBe(0)
    await lifeboat('--apply-maintenance', '--reason', 'moving over')
    const [host, segment] = made.maintenance
    const order = { by: 'alice', until: null }
    expect(asked).toEqual([
      ['startMaintenance', { ...order, ...host }],
      ['startMaintenance', { ...order, ...segment }],
      ['startMaintenance', { ...order, scope: host?.scope, reason: 'moving over' }],
      ['startMaintenance', { ...order, scope: segment?.scope, reason: 'moving over' }],
    ])
  })

  it('is only done when asked for', async () => {
    const asked = await withDaemon()
    await lifeboat()
    expect(asked).toEqual([])
  })

  it('one that is refused is told and keeps no other out', async () => {
    await withDaemon(() => Promise.reject(new LifeboatError('NOT_FOUND', 'There is no such host')))
    const { exit, err } = await lifeboat('--apply-maintenance')
    expect([exit, err]).toEqual([1, expect.stringContaining('There is no such host')])
    expect(err.match(/There is no such host/g)).toHaveLength(2)
  })

  it('without a daemon it is 69', async () => expect((await lifeboat('--apply-maintenance')).exit).toBe(69))
})
