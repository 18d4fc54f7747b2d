/**
 * Tokens: one per project, kept, renewed early, taken again when the cloud refuses one.
 *
 * However many callers need a token at once, one login is under way per project. A login is never cancelled by a caller
 * (others wait for it too), and its failure is always not-applied: whatever call needed the token was not sent.
 */
import { deadline } from '../domain/clock.ts'
import type { Clock } from '../domain/clock.ts'
import { LifeboatError, ensureError } from '../domain/errors.ts'
import { malformed, readAnswer } from './answers.ts'
import { calls } from './call-table.ts'
import { secretsOf } from './cloud-config.ts'
import type { CloudConfig } from './cloud-config.ts'
import { refusal } from './refusals.ts'
import { scrubber } from './secrecy.ts'
import { lifeOf, loginBody, tokenAnswer } from './token.ts'
import type { Token } from './token.ts'
import type { Transport } from './transport.ts'

/** Refused credentials are not tried again for so long: a poll every few seconds would lock the account out. */
const refusedPauseMs = 30_000
/** Whether we may act for a project changes rarely; too long and a new role assignment goes unnoticed. */
const refusedProjectPauseMs = 5 * 60_000
/** After an early renewal that was not answered the old token goes on being used; asking on every call would slow a recovery down. */
const renewalPauseMs = 20_000

/** An early renewal holds up its calls for so long at most. Longer: a Keystone that hangs lets the poll's own time run out, and verdicts freeze. */
const renewalWaitMs = 2_000

/** A call holds a token for a minute at most, so an older one cannot come back in its answer. */
const tokensHidden = 100

interface Slot {
  token: Token | null
  underWay: Promise<Token> | null
  refused: { error: LifeboatError; untilMs: number } | null
  renewNotBeforeMs: number
}

/** The slot of the credential's own project. A project id is never empty. */
const own = ''

export class Keystone {
  readonly #config: CloudConfig
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #loginMs: number
  readonly #slots = new Map<string, Slot>()
  /** The values of the latest tokens, refused ones included, to be kept out of texts. */
  readonly #issued: string[] = []

  constructor(config: CloudConfig, transport: Transport, clock: Clock, loginMs: number) {
    this.#config = config
    this.#transport = transport
    this.#clock = clock
    this.#loginMs = loginMs
  }

  /**
   * A usable token, of our own project or of another one (password credentials only).
   *
   * @throws LifeboatError AUTH_FAILED, AUTH_FORBIDDEN, or what kept Keystone from answering; always not-applied
   */
  async token(projectId?: string): Promise<Token> {
    if (projectId !== undefined && projectId !== '') {
      const mine = await this.#take(own)
      if (mine.project.id === projectId) return mine
      if (this.#config.credential.kind !== 'password') {
        throw new LifeboatError(
          'AUTH_FORBIDDEN',
          'only a password can take a token for another project; application credentials and tokens are bound to theirs',
          { details: { projectId } },
        )
      }
      return this.#take(projectId)
    }
    return this.#take(own)
  }

  /** The cloud refused this token: the next call logs in. A later token of the same project stays. */
  refused(token: Token): void {
    for (const slot of this.#slots.values()) {
      if (slot.token === token) slot.token = null
    }
  }

  /** Blanks out our credential and tokens in a text that a service sent. */
  scrub(text: string): string {
    return scrubber([...secretsOf(this.#config.credential), ...this.#issued])(text)
  }

  #take(key: string): Promise<Token> {
    let slot = this.#slots.get(key)
    if (slot === undefined) {
      slot = { token: null, underWay: null, refused: null, renewNotBeforeMs: -Infinity }
      this.#slots.set(key, slot)
    }
    const now = this.#clock.now()
    const { token } = slot
    if (token !== null && now < token.renewAtMs) return Promise.resolve(token)
    const usable = token !== null && now < token.endsAtMs ? token : null
    if (usable !== null && now < slot.renewNotBeforeMs) return Promise.resolve(usable)
    if (slot.refused !== null && now < slot.refused.untilMs) return Promise.reject(slot.refused.error)
    slot.underWay ??= this.#login(key, slot)
    return usable === null ? slot.underWay : this.#renewed(slot, slot.underWay, usable)
  }

  /** The new token, or the old one when Keystone does not give it soon: nobody waits for what nobody needs yet. */
  #renewed(slot: Slot, underWay: Promise<Token>, usable: Token): Promise<Token> {
    return new Promise((resolve) => {
      const keep = (): void => {
        slot.renewNotBeforeMs = this.#clock.now() + renewalPauseMs
        resolve(usable)
      }
      const stopWaiting = this.#clock.after(renewalWaitMs, keep)
      void underWay.then(resolve, keep).finally(stopWaiting)
    })
  }

  async #login(key: string, slot: Slot): Promise<Token> {
    const guard = deadline(this.#clock, this.#loginMs)
    try {
      const token = await this.#ask(key, guard)
      slot.token = token
      slot.refused = null
      return token
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code === 'AUTH_FAILED' || error.code === 'AUTH_FORBIDDEN' || error.code === 'NOT_FOUND') {
        const pauseMs = key === own ? refusedPauseMs : refusedProjectPauseMs
        slot.refused = { error, untilMs: this.#clock.now() + pauseMs }
        slot.token = null
      }
      throw error
    } finally {
      guard.release()
      slot.underWay = null
    }
  }

  async #ask(key: string, guard: ReturnType<typeof deadline>): Promise<Token> {
    const { credential, authUrl } = this.#config
    const askedAtMs = this.#clock.now()
    const answer = await this.#transport.send({
      call: calls.login,
      url: `${authUrl}/auth/tokens`,
      headers: {},
      body: loginBody(credential, key === own ? undefined : key),
      guard,
    })
    if (answer.status === 401) {
      throw new LifeboatError(
        'AUTH_FAILED',
        key === own ? 'Keystone refused the credentials' : 'Keystone refused a token for that project',
        {
          retry: 'backoff',
          details: { requestId: answer.requestId, ...(key === own ? {} : { projectId: key }) },
        },
      )
    }
    if (answer.status < 200 || answer.status > 299) {
      throw refusal({ call: calls.login, answer, microversion: null, scrub: (text) => this.scrub(text) })
    }
    const { token: body } = readAnswer(calls.login, answer, tokenAnswer)
    const life = lifeOf(body, askedAtMs)
    if (answer.subjectToken === null) throw malformed(calls.login, answer, 'x-subject-token: missing')
    if (life === null) throw malformed(calls.login, answer, 'token.expires_at: not after token.issued_at')
    if (body.project === undefined) {
      throw new LifeboatError(
        'AUTH_FORBIDDEN',
        'the token is not scoped to a project; Nova refuses its administrative calls with such a token',
      )
    }
    this.#issued.unshift(answer.subjectToken)
    this.#issued.splice(tokensHidden)
    return {
      value: answer.subjectToken,
      project: { id: body.project.id, name: body.project.name },
      user: { id: body.user.id, name: body.user.name },
      roles: body.roles.map((role) => role.name),
      catalogue: body.catalog,
      passwordExpiresAt: body.user.password_expires_at ?? null,
      expiresAt: body.expires_at,
      applicationCredential: body.application_credential?.id ?? null,
      ...life,
    }
  }
}
