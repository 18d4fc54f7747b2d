/** Receivers that ask for a client certificate: webhooks, chat rooms and Alertmanagers are sent over the same TLS. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Wire } from '../../src/domain/wire.ts'
import { poster, type Target } from '../../src/notices/post.ts'
import { reach } from '../../src/notices/reach.ts'
import { receiver, type ReceiverSettings } from '../../src/notices/receiver.ts'
import { english } from '../../src/notices/texts.ts'
import { testNotice } from '../../src/notices/test-notice.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { realAlertmanager, withoutAlertmanager } from './real-alertmanager.ts'
import { everything } from './rig.ts'

const directory = mkdtempSync(join(tmpdir(), 'lifeboat-client-certificate-'))
const file = (name: string): string => join(directory, name)

/** NAME.pem and NAME.key; `by`: who signs it, default itself. */
function certificate(name: string, by?: string): void {
  const signer = by === undefined ? [] : ['-CA', file(`${by}.pem`), '-CAkey', file(`${by}.key`)]
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2', '-nodes']
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', ...subject, ...signer]
  execFileSync('openssl', [...made, '-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)], { stdio: 'ignore' })
}

let server: Server
let url: string
/** The names in the certificates that callers showed. */
const shown: string[] = []

beforeAll(async () => {
  certificate('ca')
  certificate('receiver', 'ca')
  certificate('lifeboat', 'ca')
  certificate('stranger')
  const [key, cert, ca] = ['receiver.key', 'receiver.pem', 'ca.pem'].map((name) => readFileSync(file(name)))
  server = createServer({ key, cert, ca, requestCert: true, rejectUnauthorized: true }, (request, response) => {
    shown.push((request.socket as TLSSocket).getPeerCertificate().subject.CN as string)
    request.resume()
    response.writeHead(200).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/in`
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  rmSync(directory, { recursive: true })
})

const of = (name: string) => ({ certFile: file(`${name}.pem`), keyFile: file(`${name}.key`) })
const target = (client: Target['client'], at = url): Target => ({
  ...{ url: at, caFile: file('ca.pem'), verify: true, limitMs: 5_000, client },
})

const test: Parameters<typeof testNotice>[0] = {
  ...{ receiver: 'r', mode: 'armed', audience: 'operator', project: null, by: 'ann', wallMs: 0, nonce: 'n' },
}
const notice = testNotice(test)
const common = { ...everything, texts: english, showHosts: false }
const kinds: [string, (client: Target['client']) => ReceiverSettings][] = [
  ['a webhook', (client) => ({ ...common, ...target(client), kind: 'webhook', secret: null })],
  ['a chat room', (client) => ({ ...common, ...target(client), kind: 'chat' })],
  [
    'an Alertmanager',
    (client) => ({ ...common, ...target(client), kind: 'alertmanager', login: null, resolveTimeoutMs: 600_000 }),
  ],
]

describe.each(kinds)('%s that asks for a certificate', (_kind, settings) => {
  const send = (client: Target['client']) => {
    const made = settings(client)
    const deliver = receiver('r', made, { clock, cloud: 'prod', link: null })
    return deliver({ notice, attempt: 1, signal: new AbortController().signal })
  }

  it('is shown the one that is configured', async () => {
    shown.length = 0
    expect(await send(of('lifeboat'))).toMatchObject({ ok: true })
    expect(shown).toEqual(['lifeboat'])
  })
  it.each([
    ['none', null],
    ['one of another CA', 'stranger'],
  ])('takes nothing with %s, and it is tried again later', async (_what, name) => {
    shown.length = 0
    expect(await send(name === null ? null : of(name))).toMatchObject({ ok: false, final: false })
    expect(shown).toEqual([])
  })
})

describe.skipIf(withoutAlertmanager)("Debian's Alertmanager that asks for a certificate", () => {
  it('takes alerts from Lifeboat with its own, and from nobody else', async () => {
    const visitor = of('lifeboat')
    const manager = await realAlertmanager({ tls: { ...of('receiver'), caFile: file('ca.pem'), visitor } })
    const deliver = (client: Target['client'], nonce: string) => {
      const made: ReceiverSettings = {
        ...{ ...common, ...target(client, manager.url), kind: 'alertmanager', login: null, resolveTimeoutMs: 600_000 },
      }
      const told = testNotice({ ...test, nonce })
      const send = receiver('am', made, { clock, cloud: 'prod', link: null })
      return send({ notice: told, attempt: 1, signal: new AbortController().signal })
    }
    try {
      expect(await deliver(null, 'none')).toMatchObject({ ok: false, final: false })
      expect(await deliver(of('stranger'), 'stranger')).toMatchObject({ ok: false, final: false })
      expect(await manager.standing()).toEqual([])
      expect(await deliver(visitor, 'own')).toMatchObject({ ok: true })
      expect(await manager.standing()).toHaveLength(1)
    } finally {
      await manager.stop()
    }
  })
})

describe('a certificate that cannot be used is refused before anything is sent, and the file named', () => {
  const refused = (client: Target['client'], message: string): void =>
    expect(() => poster(target(client), { clock })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) as string }),
    )

  it('no such certificate', () =>
    refused(
      { ...of('lifeboat'), certFile: file('nowhere.pem') },
      `The client certificate for a notice receiver ${file('nowhere.pem')} cannot be read: ENOENT`,
    ))
  it('no such key', () =>
    refused(
      { ...of('lifeboat'), keyFile: file('nowhere.key') },
      `The key of the client certificate for a notice receiver ${file('nowhere.key')} cannot be read: ENOENT`,
    ))
  it('the key of another certificate', () =>
    refused(
      { ...of('lifeboat'), keyFile: file('stranger.key') },
      `The key ${file('stranger.key')} does not fit the client certificate ${file('lifeboat.pem')}`,
    ))
  it('files the wrong way round', () =>
    refused(
      { certFile: file('lifeboat.key'), keyFile: file('lifeboat.pem') },
      'lifeboat.key holds no certificate in PEM',
    ))
  it('a key behind a passphrase', () => {
    const locked = ['ec', '-in', file('lifeboat.key'), '-aes256', '-passout', 'pass:x', '-out', file('locked.key')]
    execFileSync('openssl', locked, { stdio: 'ignore' })
    refused(
      { ...of('lifeboat'), keyFile: file('locked.key') },
      'locked.key holds no private key in PEM without a passphrase',
    )
  })
  it('something else', () => {
    writeFileSync(file('text.pem'), 'nothing')
    refused({ ...of('lifeboat'), certFile: file('text.pem') }, 'text.pem holds no certificate in PEM')
  })
})

describe('a check', () => {
  it('shows the certificate, and sends nothing', async () => {
    shown.length = 0
    expect(await reach(target(of('lifeboat')), clock)).toMatch(/^127\.0\.0\.1:\d+$/)
    expect(shown).toEqual([])
  })
  it.each([
    ['asks for a certificate', null, 'it asks for a client certificate (cert_file, key_file)'],
    ['ends the connection without a word', 'stranger', 'it ended the connection after the handshake: check the client'],
  ])('says so of a receiver that %s', async (_how, name, words) => {
    await expect(reach(target(name === null ? null : of(name)), clock)).rejects.toThrow(`cannot be reached: ${words}`)
  })
})

describe('why a notice did not arrive is said in words, with the code', () => {
  it.each([
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'it asks for a client certificate (cert_file, key_file)'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'it refuses the client certificate'],
    ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'it refuses the client certificate'],
  ])('%s', async (code, words) => {
    const wire: Wire = () => Promise.reject(Object.assign(new Error('never shown'), { code }))
    const post = poster(target(null), { clock, wire })
    expect(await post('{}', {}, new AbortController().signal)).toEqual({
      ...{ ok: false, final: false, problem: `${words} (${code})` },
    })
  })
})
