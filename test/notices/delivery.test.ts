import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Clock } from '../../src/domain/clock.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import type { Notice } from '../../src/domain/notice.ts'
import { chatMessage } from '../../src/notices/chat.ts'
import type { Ended } from '../../src/notices/delivery.ts'
import { mailText } from '../../src/notices/mail.ts'
import { largestBody, payload } from '../../src/notices/payload.ts'
import { reach } from '../../src/notices/reach.ts'
import { receiver, type ReceiverSettings } from '../../src/notices/receiver.ts'
import { testNotice } from '../../src/notices/test-notice.ts'
import { english, worded } from '../../src/notices/texts.ts'
import { HandClock } from '../monitor/setup.ts'
import { bodyOf, everything } from './rig.ts'

const secret = 'sixteen-characters'
const setting = { cloud: 'prod', link: 'https://pages.example', showHosts: false }

const forOperators: Notice = {
  ...{ id: 'n1', topic: 'incident-held', audience: 'operator', severity: 'critical', receivers: ['hook'] },
  ...{ mode: 'armed', cause: 7, at: '2026-01-01T00:00:00.000Z', code: 'FENCE_FAILED', message: 'cmp01 waits' },
  ...{ host: 'cmp01', segment: 'az1', incident: '20260101T000000Z-cmp01', project: null, reference: null },
}
const forTenants: Notice = {
  ...forOperators,
  ...{ id: 'n2', topic: 'instances-ended', audience: 'tenant', project: 'red', reference: 'r1', message: '' },
  instances: [
    { id: 'i1', name: 'web', state: 'running', host: 'cmp02' },
    { id: 'i2', name: 'db', state: 'left', code: 'LOCAL_DISK' },
  ],
  ...{ instanceCount: 3, notBack: 1 },
}

interface Asked {
  headers: IncomingMessage['headers']
  body: string
}

/** A receiver on a port of its own; `answer` plays it. */
async function serving(
  answer: (request: Asked, response: ServerResponse) => void,
  test: (url: string, asked: Asked[], connections: () => number) => Promise<void>,
  tls?: { key: Buffer; cert: Buffer },
): Promise<void> {
  const asked: Asked[] = []
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      asked.push({ headers: request.headers, body })
      answer({ headers: request.headers, body }, response)
    })
  }
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  let connections = 0
  server.on('connection', () => (connections += 1))
  const { port } = server.address() as AddressInfo
  try {
    await test(`${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/in`, asked, () => connections)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const accepted = (_asked: Asked, response: ServerResponse): void => void response.writeHead(204).end()

type Webhook = Extract<ReceiverSettings, { kind: 'webhook' }>
const hook = (url: string, change: Partial<Webhook> = {}): Webhook => ({
  ...everything,
  ...{ kind: 'webhook', url, secret, caFile: null, client: null, verify: true, limitMs: 5_000 },
  ...{ texts: english, showHosts: false },
  ...change,
})

function send(
  settings: ReceiverSettings,
  notice: Notice = forOperators,
  attempt = 1,
  by: Clock = clock,
): Promise<Ended> {
  const deliver = receiver('hook', settings, { clock: by, cloud: 'prod', link: setting.link })
  return deliver({ notice, attempt, signal: new AbortController().signal })
}

describe('a webhook', () => {
  it('is signed over time and body, and carries the id that tells a repetition', () =>
    serving(accepted, async (url, asked) => {
      expect(await send(hook(url), forOperators, 3)).toEqual({ ok: true, result: 'HTTP 204' })
      const [{ headers, body } = { headers: {}, body: '' }] = asked
      const stamp = String(headers['lifeboat-timestamp'])
      const expected = createHmac('sha256', secret).update(`${stamp}.${body}`).digest('hex')
      expect(headers['lifeboat-signature']).toBe(`v1=${expected}`)
      expect(Math.abs(Number(stamp) - clock.wall() / 1000)).toBeLessThan(5)
      expect(headers).toMatchObject({ 'idempotency-key': 'n1', 'lifeboat-attempt': '3' })
      expect(headers['content-type']).toBe('application/json')
      expect(JSON.parse(body)).toEqual({
        ...{ version: 1, id: 'n1', topic: 'incident-held', audience: 'operator', severity: 'critical', mode: 'armed' },
        ...{ at: forOperators.at, cloud: 'prod', code: 'FENCE_FAILED', message: 'cmp01 waits', sequence: 7 },
        ...{ host: 'cmp01', segment: 'az1', incident: '20260101T000000Z-cmp01', scope: null, hosts: ['cmp01'] },
        ...{ dedupKey: null, action: null },
        link: 'https://pages.example/incidents/20260101T000000Z-cmp01',
        subject: 'cmp01: recovery on hold (FENCE_FAILED)',
        text: 'cmp01 waits\n\nhttps://pages.example/incidents/20260101T000000Z-cmp01',
      })
    }))

  it.each<[string, Notice, string]>([
    ['operators', forOperators, 'incident:i'],
    ['owners', forTenants, 'owner:r1'],
  ])('says to %s which trouble it is of, and what becomes of it', (_whom, notice, key) =>
    serving(accepted, async (url, asked) => {
      const alert = { key, action: 'resolve', labels: {}, since: notice.at, was: 'critical' } as const
      await send(hook(url), { ...notice, alert })
      const body = JSON.parse(asked[0]?.body ?? '') as unknown
      expect(body).toMatchObject({ dedupKey: `lifeboat:prod:${key}`, action: 'resolve' })
    }),
  )

  it('is not signed where nobody checks it', () =>
    serving(accepted, async (url, asked) => {
      await send(hook(url, { secret: null }))
      expect(asked[0]?.headers).not.toHaveProperty('lifeboat-signature')
    }))

  it('follows no redirect: it would carry the notice elsewhere', () =>
    serving(accepted, (elsewhere, stolen) =>
      serving(
        (_asked, response) => void response.writeHead(307, { location: elsewhere }).end(),
        async (url) => {
          expect(await send(hook(url))).toMatchObject({
            ...{ ok: false, final: false },
            problem: expect.stringMatching(/^HTTP 307: a redirect is not followed/) as string,
          })
          expect(stolen).toEqual([])
        },
      ),
    ))

  it.each([
    [400, true],
    [413, true],
    [422, true],
    [401, false],
    [404, false],
    [408, false],
    [429, false],
    [500, false],
    [503, false],
  ])('HTTP %i: final is %s', (status, final) =>
    serving(
      (_asked, response) => void response.writeHead(status).end(),
      async (url) => {
        const problem = status === 401 ? 'HTTP 401: it asks for a login' : `HTTP ${status}`
        expect(await send(hook(url))).toEqual({ ok: false, problem, final })
      },
    ),
  )

  it.each<[string, (response: ServerResponse) => void]>([
    ['is big', (response) => void response.end('x'.repeat(2_000_000))],
    ['breaks off', (response) => void response.write('half', () => response.destroy())],
    ['is not what its head says', (response) => void response.setHeader('content-encoding', 'gzip').end('plain')],
  ])('has it once its status says so, even when the body of the answer %s', (_what, play) =>
    serving(
      (_asked, response) => play(response),
      async (url) => expect(await send(hook(url))).toEqual({ ok: true, result: 'HTTP 200' }),
    ),
  )

  it('has it once its status says so, and a body that never ends is cut off', async () => {
    let cut: () => void = () => undefined
    const over = new Promise<void>((resolve) => (cut = resolve))
    await serving(
      (_asked, response) => {
        const more = (): void => {
          if (!response.destroyed) response.write('x'.repeat(10_000), more)
        }
        response.on('close', cut)
        more()
      },
      async (url) => {
        expect(await send(hook(url))).toEqual({ ok: true, result: 'HTTP 200' })
        await over
      },
    )
  })

  it('has it once its status says so, and a body that stands still is cut off at the time limit', async () => {
    let cut: () => void = () => undefined
    const over = new Promise<void>((resolve) => (cut = resolve))
    await serving(
      (_asked, response) => void response.on('close', cut).write('one moment'),
      async (url) => {
        const hand = new HandClock()
        expect(await send(hook(url), forOperators, 1, hand)).toEqual({ ok: true, result: 'HTTP 200' })
        hand.advance(5_000)
        await over
      },
    )
  })

  it('is reached over connections of the notices before', () =>
    serving(
      (_asked, response) => void response.end('ok'),
      async (url, _asked, connections) => {
        const deliver = receiver('hook', hook(url), { clock, cloud: 'prod', link: null })
        for (let attempt = 1; attempt <= 10; attempt++)
          await deliver({ notice: forOperators, attempt, signal: new AbortController().signal })
        // One may still be busy with the end of its answer.
        expect(connections()).toBeLessThanOrEqual(2)
      },
    ))

  it('that does not answer is left after its time limit, without a word of its address', () =>
    serving(
      () => undefined,
      async (url) =>
        expect(await send(hook(url, { limitMs: 60 }))).toEqual({
          ...{ ok: false, final: false },
          problem: 'no answer within 60 ms',
        }),
    ))

  it('that is not there is told by its error code alone', async () => {
    const ended = await send(hook('http://127.0.0.1:1/secret-path'))
    expect(ended).toEqual({ ok: false, final: false, problem: 'it could not be reached (ECONNREFUSED)' })
  })
})

describe('TLS', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-notices-tls-'))
  const file = (name: string): string => join(directory, name)
  beforeAll(() => {
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2', '-nodes']
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
    execFileSync('openssl', [...made, '-keyout', file('key.pem'), '-out', file('cert.pem'), ...subject], {
      stdio: 'ignore',
    })
  })
  afterAll(() => rmSync(directory, { recursive: true }))
  const tls = () => ({ key: readFileSync(file('key.pem')), cert: readFileSync(file('cert.pem')) })

  it('takes the certificate of a CA that is given, and no other', () =>
    serving(
      accepted,
      async (url, asked) => {
        expect((await send(hook(url, { caFile: file('cert.pem') }))).ok).toBe(true)
        expect(await send(hook(url))).toMatchObject({ ok: false, final: false })
        expect(asked).toHaveLength(1)
      },
      tls(),
    ))

  it('a CA file that is a pipe or a device is refused by name, and not waited for', async () => {
    const refused = {
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('receiver /dev/null cannot be read: it'),
    }
    const target = { url: 'https://127.0.0.1:1/', caFile: '/dev/null', client: null, verify: true, limitMs: 5_000 }
    expect(() => receiver('hook', hook(target.url, target), { clock, cloud: 'prod', link: setting.link })).toThrow(
      expect.objectContaining(refused),
    )
    await expect(reach(target, clock)).rejects.toMatchObject(refused)
  })

  it('is looked at by a check, and nothing is sent', () =>
    serving(
      accepted,
      async (url, asked) => {
        const target = { url, caFile: file('cert.pem'), client: null, verify: true, limitMs: 5_000 }
        expect(await reach(target, clock)).toMatch(/^127\.0\.0\.1:\d+$/)
        await expect(reach({ ...target, caFile: null }, clock)).rejects.toThrow(/self-signed certificate/)
        expect(asked).toEqual([])
      },
      tls(),
    ))
})

describe('what a tenant reads', () => {
  const read = payload(forTenants, english, setting)

  it('has its own instances and a reference, and neither host nor incident', () => {
    expect(JSON.parse(read)).toMatchObject({
      ...{ project: 'red', reference: 'r1', instanceCount: 3, notBack: 1 },
      instances: [
        { id: 'i1', name: 'web', state: 'running' },
        { id: 'i2', name: 'db', state: 'left', code: 'LOCAL_DISK' },
      ],
    })
    expect(read).not.toContain('cmp0')
    expect(read).not.toContain('incident')
  })

  it('names hosts only where that is configured', () => {
    const shown = payload(forTenants, { ...english, line: '{name} on {host}' }, { ...setting, showHosts: true })
    expect(JSON.parse(shown)).toMatchObject({ host: 'cmp01', instances: [{ host: 'cmp02' }, {}] })
    expect(shown).toContain('web on cmp02')
    expect(payload(forTenants, { ...english, line: '{name} on {host}' }, setting)).not.toContain('cmp0')
  })

  it('cannot get at the words of operators by a template', () => {
    const words = { subject: '{host}', text: '{message}{incident}{host}{link}' }
    const texts = { ...english, topics: { ...english.topics, 'instances-ended': words } }
    expect(worded({ ...forTenants, message: 'cmp01 died' }, texts, setting)).toEqual({ subject: '', text: '' })
  })

  it('counts those that are not named, and says when nothing was done', () => {
    const { subject, text } = worded({ ...forTenants, mode: 'observe' }, english, setting)
    expect(subject).toBe('[observing] Your instances: 2 of 3 are back')
    expect(text).toContain('- db (i2): not moved; it stays down until its host is repaired\n… and 1 more')
    expect(text).toContain(english.observing)
  })

  it('is never bigger than receivers take, however long the names are', () => {
    const many = Array.from({ length: 1_000 }, (_, n) => ({
      ...{ id: `i${n}`, name: '\u{1F6DF}'.repeat(100), state: 'running' as const },
    }))
    const body = payload({ ...forTenants, instances: many, instanceCount: 1_000 }, english, setting)
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(largestBody)
    const { instances } = JSON.parse(body) as { instances: unknown[] }
    expect(instances.length).toBeGreaterThan(100)
    expect(body).toContain(`and ${1_000 - instances.length} more`)
  })
})

describe('the link of a notice', () => {
  const linkOf = (about: Partial<Notice>): unknown =>
    (JSON.parse(payload({ ...forOperators, ...about }, english, setting)) as { link: unknown }).link

  it('leads to the incident, before there is one to its host, and for the whole cloud to the overview', () => {
    expect(linkOf({})).toBe('https://pages.example/incidents/20260101T000000Z-cmp01')
    expect(linkOf({ topic: 'host-down', incident: null })).toBe('https://pages.example/hosts/cmp01')
    expect(linkOf({ topic: 'brake-tripped', incident: null, host: null })).toBe('https://pages.example/')
  })

  it('stands in the text that wakes people up', () => {
    const { text } = worded({ ...forOperators, topic: 'host-down', incident: null }, english, setting)
    expect(text).toBe('cmp01 waits\n\nhttps://pages.example/hosts/cmp01')
  })
})

describe('a chat room', () => {
  it('gets the shape that Slack and Mattermost take', () => {
    expect(chatMessage(forOperators, english, setting)).toMatchObject({
      text: '[prod] cmp01: recovery on hold (FENCE_FAILED)',
      attachments: [{ color: '#b3261e', title_link: expect.stringContaining('/incidents/') as string }],
    })
  })

  it('of a cloud without a name is told no name', () => {
    const unnamed = { ...setting, cloud: null }
    expect(chatMessage(forOperators, english, unnamed).text).toBe('cmp01: recovery on hold (FENCE_FAILED)')
  })

  it('is not called by the name of an instance, nor led elsewhere', () => {
    const name = '<!channel> @here [x](http://evil) ![y] (http://evil) [z][q] [q]: http://evil <http://evil|ok>'
    const evil = { id: 'i', name, state: 'left' as const }
    const text = JSON.stringify(chatMessage({ ...forTenants, instances: [evil] }, english, setting))
    expect(text).not.toMatch(/<!channel>|@here|<http/)
    // Mattermost takes Markdown: [words](address), ![picture](address), [words][name], [name]: address.
    expect(text).not.toMatch(/\]\s*[([:]/)
  })

  it('gets no longer a text than it takes, and no half an entity', () => {
    const many = Array.from({ length: 200 }, (_, n) => ({
      ...{ id: `i${n}`, name: '&'.repeat(90 + (n % 10)), state: 'left' as const },
    }))
    const { attachments } = chatMessage({ ...forTenants, instances: many }, english, setting)
    const [{ text } = { text: '' }] = attachments as { text: string }[]
    expect(text.length).toBeLessThanOrEqual(12_010)
    expect(text).toMatch(/(?<!&\w*) …$/)
  })
})

describe('a mail', () => {
  const letter = { receiver: 'mail', from: 'Lifeboat <l@example.org>', to: ['a@x.org', 'b@x.org'], wallMs: 0 }

  it('has headers that mail programs understand, and the same Message-ID for every try', async () => {
    const text = await mailText({ ...letter, notice: forOperators }, english, setting)
    const [head = ''] = text.split('\n\n')
    expect(head).toContain('Message-ID: <n1.mail@example.org>')
    expect(head).toContain('Date: Thu, 01 Jan 1970 00:00:00 +0000')
    expect(head).toContain('Auto-Submitted: auto-generated')
    expect(head).toContain('X-Lifeboat-Severity: critical')
    expect(head).toContain('Subject: [prod] cmp01: recovery on hold (FENCE_FAILED)')
    expect(bodyOf(text)).toContain('cmp01 waits')
  })

  it.each([
    [
      'one without a name has a name to filter by',
      forOperators,
      null,
      'Subject: [lifeboat] cmp01: recovery on hold (FENCE_FAILED)',
    ],
    ['its name is not told to owners', forTenants, 'prod', 'Subject: Your instances: 2 of 3 are back'],
  ])('of a cloud: %s', async (_what, notice, cloud, header) => {
    const text = await mailText({ ...letter, notice }, english, { ...setting, cloud })
    expect(text.split('\n')).toContain(header)
  })

  it.each([
    ['done', { recovered: 15, failed: 1, left: 2 }, 'cmp01: recovery over (1 failed, 2 left, 15 recovered)'],
    ['cancelled', { recovered: 2, none: 5 }, 'cmp01: recovery over (cancelled: 5 untouched, 2 recovered)'],
    ['returned', {}, 'cmp01: recovery over (returned)'],
    // As an older release left it in the journal.
    ['done', undefined, 'cmp01: recovery over (done)'],
  ])('of an incident that ended %s says how its instances ended, the bad first: %o', (code, counts, subject) => {
    const ended: Notice = { ...forOperators, topic: 'incident-closed', code, ...(counts !== undefined && { counts }) }
    expect(worded(ended, english, setting).subject).toBe(subject)
  })

  it.each([
    ['BACK', 'cmp01 is back in service'],
    ['LEFT_DISABLED', 'cmp01 is up, and stays disabled'],
  ])('of a return that ended %s says whether the host serves again', (code, subject) => {
    expect(worded({ ...forOperators, topic: 'host-returned', code }, english, setting).subject).toBe(subject)
  })

  it.each([
    ['l@example.org', 'From: l@example.org'],
    ['Lifeboat <l@example.org>', 'From: Lifeboat <l@example.org>'],
    ['Lifeboat, prod (EU) <l@example.org>', 'From: "Lifeboat, prod (EU)" <l@example.org>'],
    ['Rettung Ä <l@example.org>', `From: =?UTF-8?B?${Buffer.from('Rettung Ä').toString('base64')}?= <l@example.org>`],
  ])('from %s has one sender, whatever its name is made of', async (from, header) => {
    const text = await mailText({ ...letter, from, notice: forOperators }, english, setting)
    expect(text.split('\n')).toContain(header)
    expect(text).toContain('Message-ID: <n1.mail@example.org>')
  })

  it('cannot be given headers of someone else’s', async () => {
    const notice = { ...forOperators, host: 'x\r\nBcc: evil@example.org\n\nbody' }
    const [head = ''] = (await mailText({ ...letter, notice }, english, setting)).split('\n\n')
    expect(head.split('\n').filter((line) => /^bcc/i.test(line))).toEqual([])
  })

  it('says other letters in encoded words that a parser puts together again', async () => {
    const notice = { ...forOperators, code: 'Gäste und ✓ '.repeat(10) }
    const [head = ''] = (await mailText({ ...letter, notice }, english, setting)).split('\n\n')
    const words = [...head.matchAll(/=\?UTF-8\?B\?([^?]*)\?=/g)]
    expect(words.every(([word]) => word.length <= 75)).toBe(true)
    const subject = words.map(([, part = '']) => Buffer.from(part, 'base64').toString()).join('')
    expect(subject).toContain(notice.code.trim())
  })
})

describe('a test', () => {
  it('says that it is one, to tenants too', () => {
    const about = { receiver: 'hook', mode: 'observe', by: 'ann', wallMs: 0, nonce: 'x' } as const
    for (const audience of ['operator', 'tenant'] as const) {
      const { text } = worded(testNotice({ ...about, audience, project: 'red' }), english, setting)
      expect(text).toContain('This is a test of receiver hook, sent by ann')
    }
  })
})
