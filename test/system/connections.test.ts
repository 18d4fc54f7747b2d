/** TLS connections of the daemon's own making. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { Server } from 'node:https'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ResettableAgent } from '../../src/system/connections.ts'

const directory = mkdtempSync(join(tmpdir(), 'lifeboat-tls-'))
let server: Server
let port = 0

beforeAll(async () => {
  const [key, cert] = [join(directory, 'key'), join(directory, 'cert')]
  const subject = ['-nodes', '-days', '1', '-subj', '/CN=two.example']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  })
  server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, answer) =>
    answer.end('ok'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  rmSync(directory, { recursive: true, force: true })
})

/** What comes of a request to a name that has these addresses, in this order. */
function asked(addresses: string[], givenUp?: AbortSignal): Promise<string> {
  const agent = new ResettableAgent({ rejectUnauthorized: false })
  const found = addresses.map((address) => ({ address, family: 4 }))
  const lookup = (_name: string, _options: object, tell: (error: null, found: object[]) => void): void =>
    tell(null, found)
  return new Promise((resolve) => {
    const options = { host: 'two.example', port, agent, lookup, givenUp } as unknown as https.RequestOptions
    https
      .get(options, (answer) => {
        answer.resume()
        resolve(`status ${answer.statusCode}`)
      })
      .on('error', (error: NodeJS.ErrnoException) => resolve(`error ${error.code}`))
  })
}

it.each([
  ['the only one', ['127.0.0.1'], 'status 200'],
  ['the second, when the first one refuses', ['127.0.0.2', '127.0.0.1'], 'status 200'],
  ['the second, when the first one is silent', ['192.0.2.1', '127.0.0.1'], 'status 200'],
  ['none, when each refuses', ['127.0.0.2', '127.0.0.3'], 'error ECONNREFUSED'],
])('of the addresses of a name %s is connected to', async (_which, addresses, end) => {
  expect(await asked(addresses)).toBe(end)
})

it('a connection that is given up before it stands is not made', async () => {
  expect(await asked(['127.0.0.1'], AbortSignal.abort())).toBe('error ETIMEDOUT')
})
