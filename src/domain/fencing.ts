/**
 * Fencing and its proof (law L1: no evacuation without proof of death). domain states the shape; only fencing/ can make a
 * FencingProof, and it can tell its own from a forgery at run time.
 */
import type { Certainty } from './errors.ts'
import type { HostName } from './service.ts'

declare const proofBrand: unique symbol

/** How a host is known to be dead, strongest first. `statement` is the stored name of an attestation: a named person's word. */
export type ProofStrength = 'power-off' | 'agent-verified' | 'command-verified' | 'statement'

/** What the journal keeps of a proof. */
export interface ProofRecord {
  host: HostName
  /** The configured method's name, or "operator". */
  method: string
  strength: ProofStrength
  /** ISO time at which the host was seen dead for the last time. */
  provenAt: string
  /** For an attestation: who gives it. */
  statedBy: string | null
  /** What was read, in the order it was read; for people. */
  evidence: string[]
  /**
   * What the method took away. `storage`: the host may live on, but can no longer write to the volumes, so a witness that
   * still finds it alive speaks not against the proof. Absent: its power.
   */
  proves?: ProofSubject
}

export type ProofSubject = 'power' | 'storage'

export interface FencingProof extends ProofRecord {
  readonly [proofBrand]: true
}

/** What a fencing device says of a host: on and off are what was read; unknown is everything else, with why. */
export interface PowerReading {
  power: 'on' | 'off' | 'unknown'
  detail: string
}

/** Fences hosts. Each method is tried in the order that the segment lists them. */
export interface Fencer {
  /**
   * Fences `host` and verifies it. `onAttempt` is told of each method before it is tried and after, for the journal. Each
   * method is cut off at its own limit. Throws FENCING_MISSING, FENCE_FAILED, FENCE_UNVERIFIED, and what ended it early.
   */
  fence(
    host: HostName,
    methods: string[],
    onAttempt: (attempt: FenceAttempt) => void,
    limits?: ChainLimits,
  ): Promise<FencingProof>
  /**
   * A proof from the journal after a restart. A method that can read the host's state reads it once more; throws
   * HOST_ALIVE when the host is on again, FENCE_UNVERIFIED when it cannot be read. An attestation stays valid.
   */
  restore(record: ProofRecord, signal?: AbortSignal): Promise<FencingProof>
  /**
   * Reads the host's device once by one method, without any effect. A device that cannot be read, or not within the limit, is
   * `unknown`. Throws FENCING_MISSING when the method is not configured for the host.
   */
  look(host: HostName, method: string, limits?: LookLimits): Promise<PowerReading>
  /**
   * How often the proof of this method expires by itself and must be renewed (ms), or null: a power that is off stays
   * off, an entry in a blocklist does not.
   */
  renewEveryMs(method: string): number | null
  /** A person attests that the host is dead. Throws PROOF_INVALID on an empty text or name. */
  attest(host: HostName, attestedBy: string, text: string): FencingProof
  /** Throws PROOF_INVALID unless this very object was made here for this host. */
  verify(proof: FencingProof, host: HostName): void
}

/** What may end a fencing chain before its methods are through. */
export interface ChainLimits {
  /** The whole chain, ms. */
  limitMs?: number | undefined
  /** Cuts off whatever runs. Its reason, where that is a LifeboatError, says why; without one the daemon is stopping. */
  signal?: AbortSignal | undefined
  /** Asked before each try and right before each act of a method. Throws when the host must not be touched any more. */
  mayGoOn?: (() => void) | undefined
}

/** What may end a reading before the device answers. */
export interface LookLimits {
  /** Default: that of the method, ms. */
  limitMs?: number | undefined
  signal?: AbortSignal | undefined
}

/** One try of one method. What is optional is missing in entries of earlier releases. */
export interface FenceAttempt {
  method: string
  phase: 'trying' | 'succeeded' | 'failed'
  message: string
  /** Place of the method in the chain, from 1, and how many methods the chain has for this host. */
  position?: number
  of?: number
  /** Which try of this method, from 1, and how many it has. */
  attempt?: number
  attempts?: number
  /** The try is cut off after this time. */
  limitMs?: number
  /** ISO, our wall clock. */
  startedAt?: string
  endedAt?: string
  /** Of a failed try: whether the host may have been fenced all the same. */
  certainty?: Certainty
}
