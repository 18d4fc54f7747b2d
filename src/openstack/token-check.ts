/**
 * Asks Keystone who a person's token belongs to, with our own service token, and logs people in. Keeps nothing: how long an
 * answer may be trusted is decided where it is used. A token of theirs is a secret like our own and shows in no error.
 */
import { z } from 'zod'
import { cloudTimeMs } from '../domain/cloud-time.ts'
import { deadline, type Clock } from '../domain/clock.ts'
import type { Login, TokenCheck, TokenHolder, TokenScope } from '../domain/token-holder.ts'
import { malformed, readAnswer } from './answers.ts'
import { calls } from './call-table.ts'
import { publicKeystone } from './catalogue.ts'
import type { CloudConfig } from './cloud-config.ts'
import type { Guard, HttpAnswer } from './http-exchange.ts'
import type { Keystone } from './keystone.ts'
import { refusal } from './refusals.ts'
import { scrubber } from './secrecy.ts'
import type { Transport } from './transport.ts'

/** A person waits for the answer. Shorter: a busy Keystone locks people out; longer: every page hangs with it. */
const answerLimitMs = 10_000

const inDomain = z.object({ id: z.string(), name: z.string(), domain: z.object({ name: z.string() }) })
const holderAnswer = z.object({
  token: z.object({
    issued_at: z.string(),
    expires_at: z.string(),
    user: inDomain,
    project: inDomain.optional(),
    system: z.object({ all: z.boolean().optional() }).optional(),
    roles: z.array(z.object({ name: z.string() })).default([]),
  }),
})
const keystoneSays404 = z.object({ error: z.object({ code: z.literal(404) }) })

export interface TokenCheckParts {
  config: Pick<CloudConfig, 'authUrl' | 'endpoints'>
  transport: Transport
  keystone: Keystone
  clock: Clock
}

export function tokenCheck(parts: TokenCheckParts): TokenCheck {
  const { keystone, clock, config } = parts
  return {
    holder: (token) => within(clock, (guard) => holderOf(parts, token, guard)),
    login: (login) => within(clock, (guard) => logIn(parts, login, guard)),
    rescope: async (token, scope) => {
      const identity = { methods: ['token'], token: { id: token } }
      const issued = await within(clock, (guard) => issue(parts, { identity, scope, secret: token }, guard))
      return issued?.token ?? null
    },
    ownProject: async () => (await keystone.token()).project,
    publicUrl: async () => publicKeystone(await keystone.token(), config),
  }
}

async function holderOf(parts: TokenCheckParts, subject: string, guard: Guard): Promise<TokenHolder | null> {
  const { keystone } = parts
  const call = calls.checkToken
  const own = await keystone.token()
  let answer = await show(parts, own.value, subject, guard)
  if (answer.status === 401) {
    keystone.refused(own)
    answer = await show(parts, (await keystone.token()).value, subject, guard)
  }
  // Only Keystone's own 404 says that it knows no such token; a proxy's says nothing.
  if (answer.status === 404 && keystoneSays404.safeParse(jsonOf(answer.text)).success) return null
  if (answer.status !== 200) throw refusal({ call, answer, microversion: null, scrub: hiding(keystone, subject) })
  return holderIn(call, answer, parts.clock)
}

function show({ config, transport }: TokenCheckParts, own: string, subject: string, guard: Guard): Promise<HttpAnswer> {
  return transport.send({
    call: calls.checkToken,
    url: `${config.authUrl}/auth/tokens?nocatalog`,
    headers: { 'X-Auth-Token': own, 'X-Subject-Token': subject },
    guard,
  })
}

async function logIn(parts: TokenCheckParts, login: Login, guard: Guard): ReturnType<TokenCheck['login']> {
  const { user: name, password, userDomain, project } = login
  const scope = project ?? { id: (await parts.keystone.token()).project.id }
  const user = { name, domain: { name: userDomain }, password }
  return issue(parts, { identity: { methods: ['password'], password: { user } }, scope, secret: password }, guard)
}

interface Wanted {
  identity: object
  scope: TokenScope
  /** What of it may show in no text. */
  secret: string
}

/** Null: Keystone refuses this identity, or it has no role in that scope. */
async function issue(
  { config, transport, keystone, clock }: TokenCheckParts,
  { identity, scope, secret }: Wanted,
  guard: Guard,
): ReturnType<TokenCheck['login']> {
  const call = calls.login
  const answer = await transport.send({
    call,
    url: `${config.authUrl}/auth/tokens?nocatalog`,
    headers: {},
    body: { auth: { identity, scope: scopeBody(scope) } },
    guard,
  })
  if (answer.status === 401) return null
  if (answer.status !== 201) throw refusal({ call, answer, microversion: null, scrub: hiding(keystone, secret) })
  if (answer.subjectToken === null) throw malformed(call, answer, 'x-subject-token: missing')
  return { token: answer.subjectToken, holder: holderIn(call, answer, clock) }
}

function scopeBody(scope: TokenScope): object {
  if (scope === 'system') return { system: { all: true } }
  return { project: 'id' in scope ? { id: scope.id } : { name: scope.name, domain: { name: scope.domain } } }
}

function holderIn(call: typeof calls.checkToken | typeof calls.login, answer: HttpAnswer, clock: Clock): TokenHolder {
  const { token } = readAnswer(call, answer, holderAnswer)
  const { user, project, system, roles } = token
  const leftMs = cloudTimeMs(token.expires_at) - (answer.serverTimeMs ?? clock.wall())
  if (Number.isNaN(leftMs)) throw malformed(call, answer, 'token.expires_at: no time')
  return {
    user: { id: user.id, name: user.name, domain: user.domain.name },
    scope:
      project !== undefined
        ? { kind: 'project', id: project.id, name: project.name, domain: project.domain.name }
        : system?.all === true
          ? { kind: 'system' }
          : { kind: 'other' },
    roles: roles.map((role) => role.name),
    leftMs,
  }
}

async function within<T>(clock: Clock, work: (guard: Guard) => Promise<T>): Promise<T> {
  const guard = deadline(clock, answerLimitMs)
  try {
    return await work(guard)
  } finally {
    guard.release()
  }
}

function hiding(keystone: Keystone, secret: string): (text: string) => string {
  const hide = scrubber([secret])
  return (text) => hide(keystone.scrub(text))
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
