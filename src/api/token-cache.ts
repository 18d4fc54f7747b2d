/**
 * Answers about tokens, kept for a short while: a page asks every few seconds, Keystone need not. Owns how long an answer counts
 * and how many are asked for at once. Tokens are kept as hashes: what is in memory here logs nobody in.
 */
import { createHash } from 'node:crypto'
import PQueue from 'p-queue'
import type { Clock } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { TokenCheck, TokenHolder } from '../domain/token-holder.ts'

/** Longer: a revoked token reads on for as long. Shorter: every page asks Keystone. Acts are always asked for again. */
const keptMs = 30_000
/** Answers kept. Random tokens would fill memory. */
const mostKept = 1_000
/** Checks under way of tokens that nobody has shown before. More, and a flood of them would crowd out the reads of a recovery. */
const mostStrangers = 8
/**
 * Checks under way of tokens that Keystone knew when it was asked last: a reserve that a flood of made-up ones cannot hold while
 * Keystone is slow. Each token has one at a time, so these are so many people.
 */
const mostAcquaintances = 16
/** A check that waited longer is given up: whoever asked has most likely gone, and asks again. */
const waitsAtMostMs = 10_000
/** Longer is no token of Keystone's, and would not fit into a request's header. */
const longestToken = 4_096

export class TokenCache {
  readonly #check: Pick<TokenCheck, 'holder'>
  readonly #clock: Clock
  readonly #known = new Map<string, { holder: TokenHolder | null; untilMs: number }>()
  /** Checks under way, one of a token. */
  readonly #asking = new Map<string, Promise<TokenHolder | null>>()
  /** Checks that begin when the one under way of the same token is over, for all who act meanwhile. */
  readonly #next = new Map<string, Promise<TokenHolder | null>>()
  /** Tokens that were good when last asked about. */
  readonly #acquainted = new Set<string>()
  readonly #checks = {
    strangers: new PQueue({ concurrency: mostStrangers }),
    acquaintances: new PQueue({ concurrency: mostAcquaintances }),
  }
  readonly #mostWaiting: number

  /** @param mostWaiting checks that may wait for their turn; beyond that they are refused. Programs that start together need some. */
  constructor(check: Pick<TokenCheck, 'holder'>, clock: Clock, mostWaiting = 0) {
    this.#check = check
    this.#clock = clock
    this.#mostWaiting = mostWaiting
  }

  /**
   * Null: no token that the cloud knows. `fresh` asks the cloud whatever is known. Throws API_UNAVAILABLE when it cannot be asked.
   */
  async holder(token: string, { fresh }: { fresh: boolean }): Promise<TokenHolder | null> {
    if (token.length > longestToken || !/^[\x21-\x7e]+$/.test(token)) return null
    const key = createHash('sha256').update(token).digest('hex')
    const known = this.#known.get(key)
    if (!fresh && known !== undefined && this.#clock.now() < known.untilMs) return known.holder
    const asking = this.#asking.get(key)
    if (asking === undefined) return this.#ask(key, token)
    // Anyone who acts is asked about from now on, not with an answer that is under way since before.
    return fresh ? this.#askNext(key, token, asking) : asking
  }

  /** One question for all who came since the one under way began: it begins after each of them came. */
  #askNext(key: string, token: string, asking: Promise<unknown>): Promise<TokenHolder | null> {
    const waiting = this.#next.get(key)
    if (waiting !== undefined) return waiting
    const begin = (): Promise<TokenHolder | null> => {
      this.#next.delete(key)
      return this.#ask(key, token)
    }
    const next = asking.then(begin, begin)
    this.#next.set(key, next)
    return next
  }

  async #ask(key: string, token: string): Promise<TokenHolder | null> {
    const checks = this.#checks[this.#acquainted.has(key) ? 'acquaintances' : 'strangers']
    if (checks.pending >= checks.concurrency && checks.size >= this.#mostWaiting) throw tooMany()
    let askedAt = this.#clock.now()
    const cameAt = askedAt
    // What others wait for fails as this does: a refusal of our own credential must not count as one of their token.
    const asking = checks
      .add(() => {
        askedAt = this.#clock.now()
        if (askedAt - cameAt > waitsAtMostMs) throw tooMany()
        return this.#check.holder(token).catch((thrown: unknown) => {
          this.#known.delete(key)
          throw keystoneMissing(thrown)
        })
      })
      .finally(() => {
        if (this.#asking.get(key) === asking) this.#asking.delete(key)
      })
    this.#asking.set(key, asking)
    const holder = await asking
    this.#acquainted.delete(key)
    if (holder !== null) this.#acquainted.add(key)
    for (const oldest of [...this.#acquainted].slice(0, -mostKept)) this.#acquainted.delete(oldest)
    this.#known.delete(key)
    if (this.#known.size >= mostKept)
      for (const oldest of [...this.#known.keys()].slice(0, 1)) this.#known.delete(oldest)
    this.#known.set(key, { holder, untilMs: askedAt + Math.min(keptMs, holder?.leftMs ?? keptMs) })
    return holder
  }
}

function tooMany(): LifeboatError {
  return new LifeboatError('API_UNAVAILABLE', 'Too many logins are being checked at once; try again in a moment')
}

/** What people are told while Keystone cannot be asked: nobody is let in, and there is another way. */
export function keystoneMissing(thrown: unknown): LifeboatError {
  const { code, message } = ensureError(thrown)
  const says = `Keystone cannot be asked who you are (${code}: ${message}). The operators’ socket works without it`
  return new LifeboatError('API_UNAVAILABLE', says, { retry: 'backoff', cause: thrown })
}
