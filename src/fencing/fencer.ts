/**
 * The fencer: proves a host dead by the methods of its segment, restores proofs out of the journal, and takes a person's
 * word. Which method comes when is the chain's (chain.ts), how is the method's own.
 */
import { deadline, type Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type {
  ChainLimits,
  FenceAttempt,
  Fencer,
  FencingProof,
  LookLimits,
  PowerReading,
  ProofRecord,
} from '../domain/fencing.ts'
import type { Observer } from '../domain/observer.ts'
import type { HostName } from '../domain/service.ts'
import { defaultLimits, runChain, type MethodLimits } from './chain.ts'
import type { FencingMethod } from './method.ts'
import { makeProof, verifyProof } from './proof.ts'
import { span } from '../domain/text/span.ts'

/** The method's name in the proof of a person's attestation. */
const operatorMethod = 'operator'

/** Begins the lines of evidence that a renewal of the proof replaces. */
const renewalMark = 'again: '

export function createFencer(options: {
  clock: Clock
  methods: ReadonlyMap<string, FencingMethod>
  observer: Observer
  /** By method; a method without any has the default ones. */
  limits?: ReadonlyMap<string, MethodLimits>
}): Fencer {
  const { clock, methods, observer } = options
  const limitsOf = (name: string): MethodLimits => options.limits?.get(name) ?? defaultLimits
  const iso = (): string => new Date(clock.wall()).toISOString()

  async function fence(
    host: HostName,
    names: string[],
    onAttempt: (attempt: FenceAttempt) => void,
    limits: ChainLimits = {},
  ): Promise<FencingProof> {
    const chain = names.flatMap((name) => methods.get(name) ?? []).filter((method) => method.covers(host))
    if (chain.length === 0) {
      const asked = names.length > 0 ? `none of ${names.join(', ')} is configured for it` : 'its segment names none'
      throw new LifeboatError('FENCING_MISSING', `No fencing method for ${host}: ${asked}`, {
        details: { host, names },
      })
    }
    const options = { clock, observer, limitsOf, onAttempt, ...limits }
    const { method, evidence } = await runChain(host, chain, options)
    return makeProof({ host, ...madeBy(method), provenAt: iso(), statedBy: null, evidence })
  }

  async function restore(record: ProofRecord, signal?: AbortSignal): Promise<FencingProof> {
    if (record.strength === 'statement') return makeProof(record)
    const method = methods.get(record.method)
    if (!method?.covers(record.host)) {
      const message = `The proof of ${record.host} was made by ${record.method}, which is no longer configured for it`
      throw new LifeboatError('FENCE_UNVERIFIED', message, { details: { host: record.host } })
    }
    // What expires by itself is renewed first: the reading alone would prove it until it expires, and not a second more.
    const renewed = method.renew === undefined ? [] : await method.renew(record.host, signal)
    const reading = await readDevice(method, record.host, { signal })
    const details = { host: record.host, method: method.name, reading: reading.detail }
    if (reading.power === 'on') {
      const now = record.proves === 'storage' ? 'reaches its storage again' : 'is on again'
      throw new LifeboatError('HOST_ALIVE', `${record.host} was fenced, and ${now}: ${reading.detail}`, { details })
    }
    if (reading.power === 'unknown') {
      const message = `${record.host} was fenced, and cannot be read now: ${reading.detail}`
      throw new LifeboatError('FENCE_UNVERIFIED', message, { retry: 'backoff', details })
    }
    const at = iso()
    // One line for all renewals: a proof that is renewed for weeks must not grow.
    const first = record.evidence.filter((line) => !line.startsWith(renewalMark))
    const read = [...renewed, `${at} off: ${reading.detail}`].map((line) => `${renewalMark}${line}`)
    return makeProof({ ...record, ...madeBy(method), provenAt: at, evidence: [...first, ...read] })
  }

  async function look(host: HostName, name: string, limits?: LookLimits): Promise<PowerReading> {
    const method = methods.get(name)
    if (method?.covers(host) !== true)
      throw new LifeboatError('FENCING_MISSING', `fencing method ${name} is not configured for ${host}`)
    return readDevice(method, host, limits)
  }

  /** A reading has the method's limit too: a proof that cannot be read in time is not read. */
  async function readDevice(
    method: FencingMethod,
    host: HostName,
    { limitMs = limitsOf(method.name).limitMs, signal }: LookLimits = {},
  ): Promise<PowerReading> {
    const limit = deadline(clock, limitMs, signal)
    const late = new Promise<PowerReading>((resolve) => {
      const tell = (): void => resolve({ power: 'unknown', detail: `no reading within ${span(limitMs)}` })
      if (limit.signal.aborted) tell()
      else limit.signal.addEventListener('abort', tell, { once: true })
    })
    try {
      return await Promise.race([method.look(host, limit.signal), late])
    } finally {
      limit.release()
    }
  }

  function attest(host: HostName, statedBy: string, text: string): FencingProof {
    if (statedBy.trim() === '' || text.trim() === '') {
      throw new LifeboatError('PROOF_INVALID', `An attestation that ${host} is dead needs a name and a text`)
    }
    const at = iso()
    const evidence = [`${at} ${statedBy}: ${text}`]
    return makeProof({ host, method: operatorMethod, strength: 'statement', provenAt: at, statedBy, evidence })
  }

  return {
    fence,
    restore,
    look,
    attest,
    renewEveryMs: (name) => methods.get(name)?.renewEveryMs ?? null,
    verify: verifyProof,
  }
}

/** What a proof says of the method that made it. */
function madeBy({ name, strength, proves }: FencingMethod): Pick<ProofRecord, 'method' | 'strength' | 'proves'> {
  return { method: name, strength, ...(proves !== undefined && { proves }) }
}
