/** A daemon's listener on TLS and a Keystone on TLS, both certified by an authority of the test's own: another machine, as the command line sees it. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listenForPeople } from '../../src/api/index.ts'
import type { Operations } from '../../src/domain/operations.ts'
import type { Review } from '../../src/domain/review.ts'
import { createCloud } from '../../src/openstack/cloud-client.ts'
import { loadCloudConfig } from '../../src/openstack/clouds-file.ts'
import { startSimulator, type Simulator } from '../../src/simulator/index.ts'
import { systemClock } from '../../src/system/system-clock.ts'
import { fakeOperations } from '../api/fake-operations.ts'
import { fakeReview } from '../api/fake-review.ts'
import { listening, usual } from '../api/people.ts'

export interface Elsewhere {
  url: string
  /** The authority's certificate, as a file. */
  cacert: string
  /** What a person has in their environment, but for the file of CAs. */
  env: (user: string) => Record<string, string>
  /** What Operations and Review were asked for. */
  asked: unknown[][]
  simulator: Simulator
  close(): Promise<void>
}

export interface ElsewhereOptions {
  /** Listens there, and is certified for it. */
  host?: string
  operations?: Partial<Operations>
  review?: Partial<Review>
}

/** Ann is an admin, Olaf an operator, Rita a reader. */
export async function elsewhere({ host = '127.0.0.1', ...replace }: ElsewhereOptions = {}): Promise<Elsewhere> {
  const directory = mkdtempSync(join(tmpdir(), 'lb-elsewhere-'))
  const files = certified(directory, host)
  const simulator = await startSimulator({ clock: systemClock, hosts: 2 })
  for (const [name, role] of [
    ['ann', 'admin'],
    ['olaf', 'ha-operator'],
    ['rita', 'reader'],
  ] as const)
    simulator.addUser(name, [role])
  const keystone = await overTls(simulator.url, host, files)
  const envOf = (user: string): Record<string, string> => {
    const { auth_url: _plain, ...rest } = simulator.cloud(user)
    const variables = Object.entries(rest).map(([key, value]) => [`OS_${key.toUpperCase()}`, value])
    return { ...Object.fromEntries(variables), OS_AUTH_URL: `${keystone.url}/identity/v3` }
  }
  const { operations, asked } = fakeOperations(replace.operations)
  const cloud = createCloud({
    config: loadCloudConfig({ env: { ...envOf('lifeboat'), OS_CACERT: files.cacert }, workDir: directory }),
    clock: systemClock,
    observer: {},
  })
  const listener = await listenForPeople(
    { operations, review: fakeReview(asked, replace.review), clock: systemClock, people: cloud.people, observer: {} },
    { ...listening, host, tls: files, rules: () => usual },
  )
  return {
    url: listener.address,
    cacert: files.cacert,
    env: envOf,
    asked,
    simulator,
    close: async () => {
      await listener.close()
      cloud.close()
      keystone.close()
      await simulator.close()
      rmSync(directory, { recursive: true })
    },
  }
}

/** An authority, and a certificate that it signed for an address. */
function certified(directory: string, host: string): { certificate: string; key: string; cacert: string } {
  const at = (name: string): string => join(directory, name)
  const openssl = (...words: string[]): void => void execFileSync('openssl', words, { stdio: 'pipe' })
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    '-days',
    '2',
    ...ec,
    '-subj',
    '/CN=An authority',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.crt'),
  )
  openssl('req', ...ec, '-subj', '/CN=elsewhere', '-keyout', at('key'), '-out', at('request'))
  writeFileSync(at('names'), `subjectAltName=IP:${host}\n`)
  const signed = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', at('names')]
  openssl('x509', '-req', '-in', at('request'), ...signed, '-out', at('crt'))
  return { certificate: at('crt'), key: at('key'), cacert: at('ca.crt') }
}

/** Passes on what comes over TLS. */
async function overTls(
  target: string,
  host: string,
  { certificate, key }: { certificate: string; key: string },
): Promise<{ url: string; close(): void }> {
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (asked, answer) => {
    const { method = 'GET', headers, url = '/' } = asked
    const passedOn = plainRequest(`${target}${url}`, { method, headers, agent: false }, (said) => {
      answer.writeHead(said.statusCode ?? 502, said.headers)
      said.pipe(answer)
    })
    asked.pipe(passedOn)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve)
  })
  const url = `https://${host}:${(server.address() as AddressInfo).port}`
  return {
    url,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
