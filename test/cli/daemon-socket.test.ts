import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listenForOperators } from '../../src/api/index.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { Operations } from '../../src/domain/operations.ts'
import { fakeOperations } from '../api/fake-operations.ts'
import { run, wallNow, type Ran } from './fake-commands.ts'

let directory = ''
let server: { close(): Promise<void> } | null = null
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lb-'))
})
afterEach(async () => {
  await server?.close()
  server = null
})

async function withDaemon(replace: Partial<Operations> = {}): Promise<unknown[][]> {
  const { operations, asked } = fakeOperations(replace)
  server = await listenForOperators(operations, join(directory, 'lifeboat.sock'), () => wallNow)
  return asked
}
const lifeboat = (argv: string[], env: Record<string, string> = {}): Promise<Ran> =>
  run(argv, {}, { config: `state_dir: ${directory}\n`, env })

describe('beside a running daemon', () => {
  it('status, for people and for machines', async () => {
    await withDaemon()
    const { exit, out } = await lifeboat(['status'])
    expect(exit).toBe(0)
    expect(out).toMatch(/\| Hosts +\| 3 healthy, 1 host-down/)
    expect(JSON.parse((await lifeboat(['status', '-f', 'json', '-c', 'Mode', '-c', 'Incidents'])).out)).toEqual({
      Mode: 'armed',
      Incidents: { open: 1, held: 0 },
    })
  })

  it('recover carries the word of the person behind sudo', async () => {
    const asked = await withDaemon()
    const { out } = await lifeboat(['recover', 'cmp01', '--proof', 'I pulled its cords'], {
      USER: 'root',
      SUDO_USER: 'bob',
    })
    expect(asked).toEqual([['recover', { host: 'cmp01', by: 'bob', proof: 'I pulled its cords' }]])
    expect(out).toContain('lifeboat incident show i-1')
  })

  it('pause --for ends by itself at that time', async () => {
    const asked = await withDaemon()
    await lifeboat(['pause', '--for', '2h', '--reason', 'switch upgrade'])
    expect(asked).toEqual([['pause', { by: 'alice', reason: 'switch upgrade', until: '2026-01-02T05:04:05.000Z' }]])
  })

  it('override, cancel and resume', async () => {
    const asked = await withDaemon()
    await lifeboat(['incident', 'override', 'i/1', '--reason', 'one rack'])
    await lifeboat(['incident', 'cancel', 'i-2', '--reason', 'host is back'])
    await lifeboat(['resume', '--reason', 'done'])
    expect(asked).toEqual([
      ['override', 'i/1', { by: 'alice', reason: 'one rack' }],
      ['cancel', 'i-2', { by: 'alice', reason: 'host is back' }],
      ['resume', { by: 'alice', reason: 'done' }],
    ])
  })

  it("the daemon's refusal is told as the daemon words it", async () => {
    await withDaemon({ recover: () => Promise.reject(new LifeboatError('HOST_ALIVE', 'cmp01 is beating')) })
    expect(await lifeboat(['recover', 'cmp01', '--proof', 'x'])).toEqual({
      exit: 1,
      out: '',
      err: 'lifeboat: cmp01 is beating [HOST_ALIVE]\n',
    })
  })
})

describe('without a daemon', () => {
  it.each([
    [['status']],
    [['host', 'list']],
    [['resume', '--reason', 'x']],
    [['incident', 'cancel', 'i', '--reason', 'x']],
  ])('%j ends with 69 and says how to start it', async (argv) => {
    const { exit, out, err } = await lifeboat(argv)
    expect([exit, out]).toEqual([69, ''])
    expect(err).toContain(`lifeboat: no daemon answers on ${join(directory, 'lifeboat.sock')}\n`)
  })

  it('incidents can be read all the same', async () => {
    expect((await lifeboat(['incident', 'list'])).exit).toBe(0)
  })
})
