/**
 * To a daemon on another machine, over TLS, with a token of the cloud. Owns what can be wrong on that way, and what to do about it. It never
 * sends a token to a machine whose certificate is not trusted, and shows none.
 */
import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { Clock } from '../domain/clock.ts'
import { ensureError, problemsOf, type LifeboatError } from '../domain/errors.ts'
import type { PersonLogin } from '../domain/token-holder.ts'
import { readNamedFile } from '../system/regular-file.ts'
import { exchanged, takenPerhaps, type Answer, type Broken, type Question, type Transport } from './exchange.ts'
import { CliFailure, exitOf } from './exit-codes.ts'

export interface UrlParts {
  clock: Clock
  /** Asked once, at the first question. */
  logIn: () => Promise<PersonLogin>
  /** Of this command line. */
  version: string
}

/** What to set, in the order in which most people will find themselves. */
export const credentialHints = [
  'a password: OS_AUTH_URL, OS_USERNAME, OS_PASSWORD, OS_USER_DOMAIN_NAME, OS_PROJECT_NAME, OS_PROJECT_DOMAIN_NAME',
  'an application credential: OS_AUTH_URL, OS_APPLICATION_CREDENTIAL_ID, OS_APPLICATION_CREDENTIAL_SECRET',
  'a token that you have: OS_TOKEN=$(openstack token issue -f value -c id)',
]

/** The address of a daemon, as --url or $LIFEBOAT_URL gave it. Throws CliFailure for one that no token may be sent to. */
export function daemonUrl(given: string, from: string): URL {
  const wrong = (why: string): CliFailure =>
    new CliFailure('usage', `${from}: ${why}`, ['it must be as https://ha.example:9394: where the pages are'])
  const url = URL.parse(given)
  if (url === null || !/^https?:$/.test(url.protocol)) throw wrong('this is not an https address')
  if (url.username !== '' || url.password !== '') throw wrong('the address must not contain a user or a password')
  if (url.protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(url.hostname))
    throw wrong('without TLS, a token is sent only to this machine')
  url.search = ''
  url.hash = ''
  url.pathname = url.pathname.replace(/\/+$/, '')
  return url
}

export function urlTransport(url: URL, { clock, logIn, version }: UrlParts): Transport {
  const place = url.href.replace(/\/$/, '')
  let login: Promise<PersonLogin> | null = null
  const known = (): Promise<PersonLogin> => (login ??= loggedIn(logIn))
  const once = async (question: Question): Promise<Answer> => {
    const person = await known()
    const { cacert } = person
    const ca = cacert === null ? undefined : readNamedFile('The file of CAs (--cacert or OS_CACERT)', cacert)
    const target = new URL(`${place}${question.path}`)
    const shown = await person.token().catch((thrown: unknown) => {
      throw notLoggedIn(thrown)
    })
    return exchanged(
      (options, onAnswer) =>
        url.protocol === 'http:'
          ? plainRequest(target, options, onAnswer)
          : // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
            secureRequest(target, { ...options, rejectUnauthorized: true, ...(ca && { ca }) }, onAnswer),
      clock,
      question,
      {
        headers: { 'x-auth-token': shown, accept: 'application/json', 'user-agent': `lifeboat/${version}` },
        broken: (broken) => unreachable(place, broken, question),
      },
    )
  }
  const transport: Transport = {
    place,
    named: false,
    exchange: async (question) => {
      const answer = await once(question)
      // Nothing was done: with a fresh token it may go again, once. People watch for longer than a token lives.
      return answer.status === 401 && (await known()).refused() ? once(question) : answer
    },
    explained: async (refusal) => {
      const hints = await hintsFor(refusal)
      return hints.length === 0 ? null : failureOf(refusal, hints)
    },
  }
  const hintsFor = async ({ code, details }: LifeboatError): Promise<string[]> => {
    if (code === 'AUTH_FAILED') return [`${place} wants a token of its own cloud`, ...credentialHints]
    if (code === 'AUTH_FORBIDDEN')
      return [
        'what you may do depends on the project of your token (OS_PROJECT_NAME), and on web.roles and web.projects of the daemon',
      ]
    if (code === 'NOT_ACTIVE' && typeof details['address'] === 'string' && details['address'] !== '')
      return [`order it there: --url ${details['address']}`]
    return code === 'NOT_FOUND' ? otherRelease(transport, version) : []
  }
  return transport
}

/** What is not there may be a route that the daemon's release does not have. */
async function otherRelease(transport: Transport, version: string): Promise<string[]> {
  const running = await releaseOf(transport).catch(() => version)
  return running === version
    ? []
    : [
        `the daemon runs release ${running}, and this command line is ${version}: the daemon may not have what you asked for`,
      ]
}

async function releaseOf(transport: Transport): Promise<string> {
  const { text } = await transport.exchange({
    method: 'GET',
    path: '/v1/status',
    body: undefined,
    limitMs: statusLimitMs,
  })
  return String((JSON.parse(text) as { version: unknown }).version)
}

/** Beside what was asked for. Longer: a person waits for a hint. */
const statusLimitMs = 5_000

function failureOf(refusal: LifeboatError, hints: string[]): CliFailure {
  const { code, message } = refusal
  return new CliFailure(exitOf(code), `${message} [${code}]`, [...problemsOf(refusal), ...hints], { cause: refusal })
}

/** Reads what says who asks. Throws CliFailure with the variables to set. */
async function loggedIn(logIn: () => Promise<PersonLogin>): Promise<PersonLogin> {
  try {
    return await logIn()
  } catch (thrown) {
    throw notLoggedIn(thrown)
  }
}

/** Why there is no token: nothing is set, Keystone refused, or it did not answer. */
function notLoggedIn(thrown: unknown): CliFailure {
  const error = ensureError(thrown)
  const because = error.cause instanceof Error ? [`because: ${error.cause.message}`] : []
  const failed = (message: string, hints: string[]): CliFailure =>
    new CliFailure(exitOf(error.code), `${message} [${error.code}]`, [...because, ...hints], { cause: thrown })
  if (error.code === 'CONFIG_INVALID')
    return failed(error.message, ['with --url your own login is used:', ...credentialHints])
  if (error.code === 'AUTH_FAILED' || error.code === 'AUTH_FORBIDDEN' || error.code === 'NOT_FOUND')
    return failed(`you could not be logged in: ${error.message}`, credentialHints)
  return failed(`Keystone (OS_AUTH_URL) gave no token: ${error.message}`, [trustHint])
}

const trustHint =
  'if its certificate is not trusted, name the file of the CA that signed it: --cacert FILE or OS_CACERT'

/** What node says of a certificate that no CA known here has signed. */
const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
  'CERT_SIGNATURE_FAILURE',
])

/** What node says of an address that no packet gets to. */
const noRoute = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EADDRNOTAVAIL'])

function unreachable(place: string, { error, stood }: Broken, question: Question): CliFailure {
  const code = error.code ?? ''
  const down = (message: string, hints: string[]): CliFailure =>
    new CliFailure('daemonDown', message, hints, { cause: error })
  if (untrusted.has(code))
    return down(`the certificate of ${place} is not trusted, so nothing was sent: ${error.message}`, [trustHint])
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return down(`the certificate of ${place} is not valid now, so nothing was sent: ${error.message}`, [
      'renew it on its machine (web.tls), or set the clock of this one',
    ])
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return down(`the certificate of ${place} is for another name, so nothing was sent: ${error.message}`, [
      'use a name that the certificate has',
    ])
  if (code === 'EPROTO' || code.startsWith('ERR_SSL'))
    return down(`${place} does not speak TLS: ${error.message}`, ['is it the port of web.listen, with web.tls set?'])
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return down(`the name in ${place} has no address: ${error.message}`, [
      'check the name, and the DNS of this machine',
    ])
  if (code === 'ECONNREFUSED')
    return down(`no daemon answers on ${place}`, ['it listens where web.listen says; as installed, only on 127.0.0.1'])
  if (noRoute.has(code) || !stood)
    return down(`there is no way to ${place}: ${error.message}`, ['a route is missing, or a firewall is in between'])
  return down(`the connection to ${place} failed: ${error.message}`, takenPerhaps(question))
}
