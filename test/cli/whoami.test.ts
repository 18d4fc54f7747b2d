/** `lifeboat whoami` on the machine of the daemon; over --url: remote.test.ts. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { listenForOperators } from '../../src/api/index.ts'
import { roles } from '../../src/domain/review.ts'
import { fakeOperations } from '../api/fake-operations.ts'
import { fakeReview } from '../api/fake-review.ts'
import { run, standingClock, type Ran } from './fake-commands.ts'

let directory = ''
let daemon: { close(): Promise<void> }
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lb-'))
  const { operations } = fakeOperations()
  const sources = { operations, review: fakeReview(), clock: standingClock }
  daemon = await listenForOperators(sources, join(directory, 'lifeboat.sock'))
})
afterEach(() => daemon.close())

const whoami = (words: string[] = [], env: Record<string, string> = {}): Promise<Ran> =>
  run(['whoami', ...words], {}, { config: `state_dir: ${directory}\n`, env })

it('is the account of the caller, who may do everything without a token', async () => {
  expect(JSON.parse((await whoami(['-f', 'json'])).out)).toEqual({
    ...{ Name: 'alice', Role: 'admin', May: [roles.operator, roles.admin] },
    ...{ Project: null, 'Keystone Roles': [], Daemon: null },
  })
})

it('is the person behind sudo, as the journal has it', async () => {
  expect((await whoami(['-f', 'value', '-c', 'Name'], { USER: 'root', SUDO_USER: 'ann' })).out).toBe('ann\n')
})

it('says in words where the rights come from', async () => {
  expect((await whoami()).out).toContain('none: who may open the socket may do everything')
})
