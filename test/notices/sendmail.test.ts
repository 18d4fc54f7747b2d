/** Mails through the machine's sendmail, played by scripts. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Clock } from '../../src/domain/clock.ts'
import type { Notice } from '../../src/domain/notice.ts'
import type { Ended } from '../../src/notices/delivery.ts'
import { receiver, type ReceiverSettings } from '../../src/notices/receiver.ts'
import { english } from '../../src/notices/texts.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { owners } from './rig.ts'

const notice: Notice = {
  ...{ id: 'n2', topic: 'instances-ended', audience: 'tenant', severity: 'critical', receivers: ['mail'] },
  ...{ mode: 'armed', cause: 7, at: '2026-01-01T00:00:00.000Z', code: 'FENCE_FAILED', message: '' },
  ...{ host: 'cmp01', segment: 'az1', incident: '20260101T000000Z-cmp01', project: 'red', reference: 'r1' },
  ...{ instances: [{ id: 'i1', name: 'web', state: 'running', host: 'cmp02' }], instanceCount: 1, notBack: 0 },
}

function send(settings: ReceiverSettings, project = 'red', by: Clock = clock): Promise<Ended> {
  const deliver = receiver('mail', settings, { clock: by, cloud: 'prod', link: null })
  return deliver({ notice: { ...notice, project }, attempt: 1, signal: new AbortController().signal })
}

describe('sendmail', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-sendmail-'))
  afterAll(() => rmSync(directory, { recursive: true }))
  const program = (name: string, body: string): string => {
    const path = join(directory, name)
    writeFileSync(path, `#!/bin/sh\n${body}\n`)
    chmodSync(path, 0o755)
    return path
  }
  const mail = (path: string, limitMs = 60_000): ReceiverSettings => ({
    ...owners,
    ...{ kind: 'email', sendmail: [path, '-oi'], from: 'Lifeboat <l@example.org>', to: [], limitMs },
    ...{ toByProject: { red: ['a@x.org', 'b@x.org'] }, texts: english, showHosts: false },
  })

  it('gets the message on its input, and the addresses of the project as arguments', async () => {
    const path = program('takes', `echo "$@" > ${directory}/args; cat > ${directory}/message`)
    expect(await send(mail(path))).toEqual({ ok: true, result: 'sendmail took it' })
    expect(readFileSync(join(directory, 'args'), 'utf8')).toBe('-oi -i -f l@example.org a@x.org b@x.org\n')
    expect(readFileSync(join(directory, 'message'), 'utf8')).toContain('To: a@x.org, b@x.org')
  })

  it('that says its queue is full is tried again; that refuses the address is not', async () => {
    expect(await send(mail(program('full', 'echo no space >&2; exit 75')))).toEqual({
      ...{ ok: false, final: false, problem: 'sendmail ended with 75: no space' },
    })
    expect(await send(mail(program('unknown', 'exit 67')))).toMatchObject({ final: true })
  })

  it('that hangs is killed with what it started', async () => {
    const path = program('hangs', `sleep 300 & echo $! > ${directory}/pid; wait`)
    const file = join(directory, 'pid')
    const pidOf = (): string => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '')
    // Its time is over once it has begun to hang.
    const hung: Clock = {
      ...clock,
      after: (_delayMs, fire) => {
        const timer = setInterval(() => pidOf() !== '' && (clearInterval(timer), fire()), 10)
        return () => clearInterval(timer)
      },
    }
    expect(await send(mail(path, 300), 'red', hung)).toMatchObject({
      ...{ ok: false, final: false, problem: expect.stringContaining('killed after 300 ms') as string },
    })
    const pid = pidOf()
    const runs = (): boolean =>
      existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    await expect.poll(runs).toBe(false)
  })

  it('that is not there can be put right: it is tried again', async () => {
    expect(await send(mail('/nowhere/sendmail'))).toMatchObject({ ok: false, final: false })
  })

  it('is not run for a project without an address', async () => {
    expect(await send(mail('/nowhere/sendmail'), 'blue')).toMatchObject({ final: true })
  })
})
