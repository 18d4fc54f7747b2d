import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { CheckLine } from '../../src/preflight/check-lines.ts'
import { parseConfig } from '../../src/config/index.ts'
import { noticeLines } from '../../src/preflight/check-notices.ts'
import { sendTest } from '../../src/adapters/notice-receivers.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'

const config = (receivers: string) => parseConfig(`notices: { receivers: { ${receivers} } }`, 'lifeboat.yaml', {})

async function lines(receivers: string): Promise<CheckLine[]> {
  const found: CheckLine[] = []
  for await (const line of noticeLines(config(receivers), clock)) found.push(line)
  return found
}

/** A port that takes connections and counts what is written to it. */
async function listening(test: (port: number, bytes: () => number) => Promise<void>): Promise<void> {
  let bytes = 0
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => (bytes += chunk.length))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await test((server.address() as AddressInfo).port, () => bytes)
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
}

describe('check', () => {
  it('says when nobody is told of anything', async () => {
    expect(await lines('')).toMatchObject([{ result: 'warn', what: 'notices' }])
  })

  it('connects to a receiver and sends nothing', () =>
    listening(async (port, bytes) => {
      const url = `http://127.0.0.1:${port}/`
      expect(await lines(`hook: { kind: webhook, url: "${url}", secret: sixteen-characters }`)).toMatchObject([
        { result: 'ok', message: `webhook at 127.0.0.1:${port}, for operators` },
      ])
      expect(await lines(`hook: { kind: webhook, url: "${url}", sign: false }`)).toMatchObject([
        { result: 'warn', message: expect.stringContaining('not signed') as string },
      ])
      expect(await lines(`am: { kind: alertmanager, url: "${url}" }`)).toMatchObject([
        { result: 'ok', message: `alertmanager at 127.0.0.1:${port}, for operators` },
      ])
      expect(bytes()).toBe(0)
    }))

  it.each([
    ['c: { kind: chat, url: "http://127.0.0.1:1/" }', '127.0.0.1:1 cannot be reached'],
    ['c: { kind: chat, url: "http://127.0.0.1/", ca_file: nowhere.pem }', 'cannot be reached'],
    ['a: { kind: alertmanager, url: "http://127.0.0.1:1/" }', '127.0.0.1:1 cannot be reached'],
    ['m: { kind: email, from: a@x.org, to: [b@x.org], sendmail: [/nowhere/sendmail] }', '/nowhere/sendmail'],
  ])('fails where nothing could be delivered: %s', async (receiver, message) => {
    expect(await lines(receiver)).toMatchObject([
      { result: 'fail', message: expect.stringContaining(message) as string },
    ])
  })

  it('looks whether sendmail may be run', async () => {
    expect(await lines('m: { kind: email, from: a@x.org, to: [b@x.org], sendmail: [/bin/true] }')).toMatchObject([
      { result: 'ok', message: 'mail by /bin/true to b@x.org, for operators' },
    ])
  })
})

describe('a test by hand', () => {
  const mail =
    'm: { kind: email, audience: tenant, from: a@x.org, to_by_project: { red: [b@x.org] }, sendmail: [/bin/true] }'
  const order = { receiver: 'm', by: 'ann', project: null }

  it('goes to the first project that is configured, or to the one that is asked for', async () => {
    expect(await sendTest(config(mail), order, clock)).toEqual({ ok: true, detail: 'sendmail took it' })
    expect(await sendTest(config(mail), { ...order, project: 'red' }, clock)).toMatchObject({ ok: true })
  })

  it.each(['observe', 'armed'] as const)('names the mode of the configuration: %s', async (mode) => {
    let body = ''
    const server = createHttpServer((request, response) => {
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => response.end())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
      const hook = config(`m: { kind: webhook, url: "${url}", sign: false }`)
      expect(await sendTest({ ...hook, mode }, order, clock)).toMatchObject({ ok: true })
      expect(JSON.parse(body)).toMatchObject({ topic: 'test', mode })
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  })

  it('is refused for a receiver or a project that is not configured', async () => {
    await expect(sendTest(config(mail), { ...order, receiver: 'x' }, clock)).rejects.toThrow('configured: m')
    await expect(sendTest(config(mail), { ...order, project: 'blue' }, clock)).rejects.toThrow('only of: red')
  })
})
