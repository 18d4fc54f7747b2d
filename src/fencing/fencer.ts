/**
 * The fencer: tries the methods of a segment one after another until one has proven the host dead. Owns the order and
 * the report of each attempt; the methods own how.
 */
import type { Clock } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { FenceAttempt, Fencer, FencingProof, ProofRecord } from '../domain/fencing.ts'
import type { Observer } from '../domain/observer.ts'
import type { HostName } from '../domain/service.ts'
import type { FencingMethod } from './method.ts'
import { makeProof, verifyProof } from './proof.ts'

/** The method's name in the proof of a person's statement. */
const operatorMethod = 'operator'

export function createFencer(options: {
  clock: Clock
  methods: ReadonlyMap<string, FencingMethod>
  observer: Observer
}): Fencer {
  const { clock, methods, observer } = options
  const iso = (): string => new Date(clock.wall()).toISOString()

  async function fence(
    host: HostName,
    names: string[],
    onAttempt: (attempt: FenceAttempt) => void,
    signal?: AbortSignal,
  ): Promise<FencingProof> {
    const chain = names.flatMap((name) => methods.get(name) ?? []).filter((method) => method.covers(host))
    if (chain.length === 0) {
      const asked = names.length > 0 ? `none of ${names.join(', ')} is configured for it` : 'its segment names none'
      throw new LifeboatError('FENCING_MISSING', `No fencing method for ${host}: ${asked}`, {
        details: { host, names },
      })
    }
    const failures: LifeboatError[] = []
    for (const method of chain) {
      stopIfAborted(host, failures, signal)
      onAttempt({ method: method.name, phase: 'trying', message: `Fencing ${host} by ${method.name}` })
      let evidence: string[]
      try {
        evidence = await method.off(host, signal)
      } catch (thrown) {
        const error = ensureError(thrown)
        failures.push(error)
        onAttempt({ method: method.name, phase: 'failed', message: error.message })
        observer.log?.('warn', 'fencing.failed', { host, method: method.name, code: error.code }, error)
        continue
      }
      onAttempt({ method: method.name, phase: 'succeeded', message: evidence.at(-1) ?? 'seen off' })
      const { name, strength } = method
      return makeProof({ host, method: name, strength, provenAt: iso(), statedBy: null, evidence })
    }
    stopIfAborted(host, failures, signal)
    throw allFailed(host, failures)
  }

  async function restore(record: ProofRecord, signal?: AbortSignal): Promise<FencingProof> {
    if (record.strength === 'statement') return makeProof(record)
    const method = methods.get(record.method)
    if (!method?.covers(record.host)) {
      const message = `The proof of ${record.host} was made by ${record.method}, which is no longer configured for it`
      throw new LifeboatError('FENCE_UNVERIFIED', message, { details: { host: record.host } })
    }
    const reading = await method.look(record.host, signal)
    const details = { host: record.host, method: method.name, reading: reading.detail }
    if (reading.power === 'on') {
      throw new LifeboatError('HOST_ALIVE', `${record.host} was fenced, and is on again: ${reading.detail}`, {
        details,
      })
    }
    if (reading.power === 'unknown') {
      const message = `${record.host} was fenced, and cannot be read now: ${reading.detail}`
      throw new LifeboatError('FENCE_UNVERIFIED', message, { retry: 'backoff', details })
    }
    const at = iso()
    return makeProof({ ...record, provenAt: at, evidence: [...record.evidence, `${at} off: ${reading.detail}`] })
  }

  function statement(host: HostName, statedBy: string, text: string): FencingProof {
    if (statedBy.trim() === '' || text.trim() === '') {
      throw new LifeboatError('PROOF_INVALID', `A statement that ${host} is dead needs a name and a text`)
    }
    const at = iso()
    const evidence = [`${at} ${statedBy}: ${text}`]
    return makeProof({ host, method: operatorMethod, strength: 'statement', provenAt: at, statedBy, evidence })
  }

  return { fence, restore, statement, verify: verifyProof }
}

function stopIfAborted(host: HostName, failures: LifeboatError[], signal?: AbortSignal): void {
  if (!signal?.aborted) return
  const certainty = failures.length > 0 ? 'unknown' : 'not-applied'
  throw new LifeboatError('SHUTDOWN', `Fencing of ${host} was stopped`, {
    certainty,
    retry: 'after',
    cause: failures.at(-1),
  })
}

/** Unverified wins over failed: the host may be off by now, and a person must know. */
function allFailed(host: HostName, failures: LifeboatError[]): LifeboatError {
  const worst = failures.find((error) => error.code === 'FENCE_UNVERIFIED') ?? failures.at(-1)
  const unverified = worst?.code === 'FENCE_UNVERIFIED'
  const tried = failures.map((error) => error.message)
  return new LifeboatError(
    unverified ? 'FENCE_UNVERIFIED' : 'FENCE_FAILED',
    unverified ? `${host} was fenced but not seen off` : `${host} could not be fenced`,
    { certainty: worst?.certainty ?? 'not-applied', retry: 'backoff', cause: worst, details: { host, tried } },
  )
}
