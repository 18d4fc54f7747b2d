/** The stage with a fencer, a monitor and Nova's row of the dead host: what the proof of death rests on, as the test says. */
import type { ChainLimits, FencingProof, ProofRecord, ProofSubject } from '../../../src/domain/fencing.ts'
import type { NewEntry } from '../../../src/domain/entry.ts'
import type { ServiceChange, ServiceRecord } from '../../../src/domain/service.ts'
import type { Verdict, VerdictKind } from '../../../src/domain/verdict.ts'
import { Holding } from '../../../src/executor/holding.ts'
import { ProofKeeper } from '../../../src/executor/proof-keeper.ts'
import { SecondFencing } from '../../../src/executor/second-fencing.ts'
import { Stage } from './stage.ts'

/** The last stamp of the row that anybody of ours knows. */
export const stamp = '2030-01-01T11:59:00'

export class ProofStage extends Stage {
  readonly holding = new Holding(this.run)
  readonly keeper = new ProofKeeper(this.run, this.holding)
  readonly secondFencing = new SecondFencing(this.run, this.holding, this.keeper)
  /** Nova's row of the dead host. */
  service: ServiceRecord = {
    id: 's-1',
    binary: 'nova-compute',
    host: 'dead',
    zone: 'nova',
    status: 'disabled',
    state: 'down',
    updatedAt: stamp,
    forcedDown: true,
    disabledReason: 'lifeboat: incident inc-1',
  }
  /** When a recorded proof was to be made true again. */
  readonly restores: number[] = []
  /** What making it true again does; what it throws keeps it from being true. */
  onRestore: () => Promise<void> | void = () => undefined
  /** Each fencing: by which methods, within what time. */
  readonly fencings: { methods: string[]; limitMs: number | undefined; at: number }[] = []
  onFence: (limits: ChainLimits) => Promise<void> | void = () => undefined
  /** What the monitor sees of the dead host. */
  verdict: Verdict = verdictOf('recovering')
  frozen: string | null = null
  onLook: () => void = () => undefined
  /** Stamps of our own writes that the monitor was told of. */
  readonly noted: (string | null)[] = []

  constructor() {
    super()
    Object.assign(this.run.permissions, {
      verdict: () => this.verdict,
      lookAgain: async () => {
        this.onLook()
        return { verdict: this.verdict, frozen: this.frozen }
      },
      segment: () => ({ fencing: ['bmc', 'pdu'], fencingLimitMs: null }),
      workflow: () => ({ hostDeadlineMs: { fence: 120_000 } }),
      noteOurWrite: ({ updatedAt }: ServiceRecord) => this.noted.push(updatedAt),
    })
    Object.assign(this.run.fencer, {
      renewEveryMs: (method: string) => (method === 'operator' ? null : this.expiryMs),
      restore: async (record: ProofRecord) => {
        this.restores.push(this.clock.now())
        await this.onRestore()
        return made(record)
      },
      fence: async (_host: string, methods: string[], _tell: unknown, limits: ChainLimits) => {
        this.fencings.push({ methods, limitMs: limits.limitMs, at: this.clock.now() })
        await this.onFence(limits)
        return made(proofOf())
      },
      attest: (_host: string, by: string, said: string) =>
        made(proofOf({ method: 'operator', strength: 'statement', statedBy: by, evidence: [said] })),
    })
    Object.assign(this.run.cloud, {
      listServices: async () => {
        this.asked('listServices')
        return {
          services: [{ ...this.service, binary: 'nova-conductor' }, this.service],
          serverTimeMs: null,
          tookMs: 1,
          showsLostCells: true,
        }
      },
      updateService: async (id: string, change: ServiceChange) => {
        await this.onWrite('updateService')
        this.asked('updateService', id, change)
        this.service = { ...this.service, ...change, updatedAt: new Date(this.clock.wall()).toISOString() }
        return this.service
      },
    })
  }

  /** Writes an entry of the host into the journal. */
  tell(entry: Pick<NewEntry, 'kind' | 'data'> & { step?: string }): this {
    this.run.journal.append([{ incident: 'inc-1', host: 'dead', ...entry } as NewEntry])
    return this
  }

  /** The journal holds a proof of death, as a run before this one left it. */
  proven(change: Partial<ProofRecord> = {}): this {
    this.incident.phase = 'recovering'
    this.run.proof = made(proofOf(change))
    return this.tell({ kind: 'proof.recorded', data: { proof: proofOf(change) } })
  }

  /** A person says that the host is dead. */
  states(by = 'ann'): void {
    this.tell({ kind: 'operator.statement', data: { by, statement: 'I pulled the plug' } })
  }

  /** The host showed life: its proof is worth nothing any more. */
  voided(): void {
    this.tell({ kind: 'proof.voided', data: { code: 'HOST_ALIVE', message: 'it beat', updatedAt: null } })
  }

  /** Data of the entries of one kind. */
  data(kind: NewEntry['kind']): unknown[] {
    return this.entries.filter((entry) => entry.kind === kind).map(({ data }) => data)
  }
}

export function proofOf(change: Partial<ProofRecord> & { proves?: ProofSubject } = {}): ProofRecord {
  return {
    host: 'dead',
    method: 'bmc',
    strength: 'power-off',
    provenAt: '2030-01-01T12:00:00.000Z',
    statedBy: null,
    evidence: ['it reads Off'],
    ...change,
  }
}

export function verdictOf(kind: VerdictKind, evidence: Partial<Verdict['evidence']> = {}): Verdict {
  return {
    host: 'dead',
    segment: 's',
    kind,
    reason: 'OUR_INCIDENT',
    message: `it is ${kind}`,
    at: '',
    evidence: {
      status: 'disabled',
      state: 'down',
      forcedDown: true,
      updatedAt: stamp,
      silentMs: 0,
      intervalMs: 10_000,
      missedBeats: 3,
      probes: [],
      ...evidence,
    },
  }
}

function made(record: ProofRecord): FencingProof {
  return { ...record } as FencingProof
}
