/** The brake's watch over a real journal and incident store, beside a monitor that sees what a test says. */
import type { CloudBrake } from '../../src/domain/brake.ts'
import type { EntryData } from '../../src/domain/entry.ts'
import type { BrakeLimits, Segment } from '../../src/domain/segment.ts'
import type { Verdict } from '../../src/domain/verdict.ts'
import { BrakeWatch } from '../../src/control/brake-watch.ts'
import { IncidentStore } from '../../src/control/incident-store.ts'
import { simulatedSegment } from '../../src/rehearsal/simulated-parts.ts'
import type { Monitor } from '../../src/monitor/monitor.ts'
import { newJournal, temporaryDirectory } from '../journal/fixtures.ts'
import { HandClock } from '../monitor/setup.ts'

/** The wall clock can be set apart from the monotonic one. */
export class SetClock extends HandClock {
  #setBy = 0
  override wall(): number {
    return super.wall() + this.#setBy
  }
  set(byMs: number): void {
    this.#setBy += byMs
  }
}

export function verdictOf(host: string, kind: Verdict['kind'], evidence: Partial<Verdict['evidence']> = {}): Verdict {
  return {
    host,
    segment: 's',
    kind,
    reason: 'OUR_INCIDENT',
    message: 'as told',
    at: '2026-01-01T00:00:00.000Z',
    evidence: {
      status: 'enabled',
      state: 'up',
      forcedDown: false,
      updatedAt: '2026-01-01T00:00:50.000000',
      silentMs: 0,
      intervalMs: 10_000,
      missedBeats: 0,
      probes: [],
      ...evidence,
    },
  }
}

/** Ten hosts h0 … h9 of segment s, of which two may be down, all healthy to begin with. */
export class Scene {
  readonly clock = new SetClock()
  readonly path = `${temporaryDirectory()}/journal.db`
  journal = newJournal(this.path, this.clock)
  store = new IncidentStore(this.journal)
  frozen = false
  polled = true
  racks: Record<string, string[]> = {}
  limits: BrakeLimits = { maxHosts: 2, maxShare: 1 }
  verdicts = Array.from({ length: 10 }, (_, n) => verdictOf(`h${n}`, 'healthy'))
  readonly rules: CloudBrake
  watch: BrakeWatch

  constructor(rules: Partial<CloudBrake> = {}) {
    this.rules = {
      maxHosts: 50,
      maxShare: 1,
      failureDomain: null,
      coolDownMs: 600_000,
      steadyMs: 300_000,
      siteLossShare: 1,
      ...rules,
    }
    this.watch = this.#watch()
  }

  /** As the monitor does: a new array whenever something was looked at. */
  see(kind: Verdict['kind'], ...hosts: string[]): this {
    this.verdicts = this.verdicts.map((verdict) =>
      hosts.includes(verdict.host) ? verdictOf(verdict.host, kind) : verdict,
    )
    return this
  }

  open(...hosts: string[]): this {
    const data = {
      verdict: null,
      segment: 's',
      failure: 'host' as const,
      mode: 'armed' as const,
      openedBy: 'daemon',
      workflowDigest: 'd',
    }
    this.journal.append(hosts.map((host) => ({ kind: 'incident.opened', incident: `i-${host}`, host, data })))
    return this
  }

  prove(host: string): this {
    const proof = {
      host,
      method: 'bmc',
      strength: 'power-off' as const,
      provenAt: '',
      statedBy: null,
      evidence: [],
    }
    this.journal.append([{ kind: 'proof.recorded', incident: `i-${host}`, host, data: { proof } }])
    return this
  }

  mark(host: string): this {
    const before = { forcedDown: false, status: 'enabled', disabledReason: null }
    const data = { serviceId: host, before, reason: '', updatedAt: null }
    this.journal.append([{ kind: 'service.marked', incident: `i-${host}`, host, data }])
    return this
  }

  close(host: string, outcome: EntryData['incident.closed']['outcome']): this {
    const data = { outcome, message: '', counts: {} }
    this.journal.append([{ kind: 'incident.closed', incident: `i-${host}`, host, data }])
    return this
  }

  override(host: string): this {
    const data = { by: 'ann', reason: 'sure' }
    this.journal.append([{ kind: 'operator.override', incident: `i-${host}`, host, data }])
    return this
  }

  holds(host: string): string | null {
    return this.watch.holds(this.store.get(`i-${host}`))
  }

  restart(): void {
    this.journal.close()
    this.journal = newJournal(this.path, this.clock)
    this.store = new IncidentStore(this.journal)
    this.watch = this.#watch()
  }

  entries(): [string, string][] {
    return this.journal
      .read({ kinds: ['brake.tripped', 'brake.released'] })
      .map(({ kind, data }) => [kind, (data as EntryData['brake.tripped']).scope])
  }

  #watch(): BrakeWatch {
    const segment = (): Segment => ({ ...simulatedSegment, name: 's', brake: this.limits })
    const monitor: Pick<Monitor, 'verdicts' | 'segments' | 'domains' | 'frozen' | 'lastPoll'> = {
      verdicts: () => this.verdicts,
      segments: () => (this.verdicts.length === 0 ? [] : [segment()]),
      domains: (host, key) => (key === 'rack' ? (this.racks[host] ?? []) : []),
      frozen: () => (this.frozen ? { reason: 'TEST', message: 'as told', since: 0 } : null),
      lastPoll: () => (this.polled ? { at: 0, ok: true, tookMs: 0, error: null } : null),
    }
    return new BrakeWatch({
      clock: this.clock,
      journal: this.journal,
      store: this.store,
      monitor,
      segmentOfIncident: segment,
      rules: () => this.rules,
      confirmAfterBeats: () => 2.5,
    })
  }
}
