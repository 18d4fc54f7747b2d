/** A brake over a fleet of ten hosts of segment s and ten of segment t, told what is down by name. */
import type { BrakeLimits } from '../../src/domain/segment.ts'
import type { BrakeFacts, BrakeHost, BrakeRules } from '../../src/monitor/brake.ts'
import { holding, readBrake, roomFor, type BrakeReading, type Trips } from '../../src/monitor/brake-trips.ts'

export const limits = (maxHosts: number, maxShare: number): BrakeLimits => ({ maxHosts, maxShare })

export const hosts = (segment: string, ...names: string[]): BrakeHost[] =>
  names.map((host) => ({ host, segment, domains: [] }))

export function rules(change: Partial<BrakeRules> = {}): BrakeRules {
  return {
    maxHosts: 50,
    maxShare: 1,
    failureDomain: null,
    coolDownMs: 0,
    steadyMs: 0,
    siteLossShare: 1,
    segments: new Map([
      ['s', limits(3, 0.2)],
      ['t', limits(3, 0.2)],
    ]),
    ...change,
  }
}

const ten = (segment: string): BrakeHost[] =>
  hosts(segment, ...Array.from({ length: 10 }, (_, n) => `${segment}${n + 1}`))

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export class Brake {
  readonly facts: Mutable<BrakeFacts>
  readonly #rules: BrakeRules
  trips: Trips = new Map()
  now = 0

  constructor(change: Partial<BrakeRules> = {}, fleet: BrakeHost[] = [...ten('s'), ...ten('t')]) {
    this.#rules = rules(change)
    this.facts = { blind: false, fleet, down: [], recovered: [] }
  }

  rack(name: string, ...members: string[]): this {
    this.facts.fleet = this.facts.fleet.map((host) =>
      members.includes(host.host) ? { ...host, domains: [...host.domains, name] } : host,
    )
    return this
  }

  /** Dead, and nothing was done to it yet. */
  down(...names: string[]): this {
    this.facts.down = [...this.facts.down, ...names.map((name) => ({ ...this.#host(name), waits: true }))]
    return this
  }

  /** Under recovery. */
  proven(...names: string[]): this {
    this.facts.down = [...this.facts.down, ...names.map((name) => ({ ...this.#host(name), waits: false }))]
    return this
  }

  recovered(name: string, beganAt: number, alive = false): this {
    const others = this.facts.recovered.filter(({ host }) => host !== name)
    this.facts.recovered = [...others, { ...this.#host(name), beganAt, alive }]
    return this
  }

  back(name: string): this {
    this.facts.down = this.facts.down.filter(({ host }) => host !== name)
    return this
  }

  look(): BrakeReading {
    const reading = readBrake(this.trips, this.facts, this.#rules, this.now)
    this.trips = reading.trips
    return reading
  }

  /** The scopes that hold a host. */
  held(name: string): string[] {
    const host = this.facts.down.find((one) => one.host === name) ?? this.#host(name)
    return holding(host, this.look()).map(({ scope }) => scope)
  }

  /** Of hosts that are only silent, those that it would let through if all were dead. */
  roomFor(...names: string[]): string[] {
    const silent = names.map((name) => this.#host(name))
    return roomFor(silent, this.facts, this.#rules, this.trips, this.now)
  }

  message(scope: string): string | undefined {
    return this.look().scopes.get(scope)?.message
  }

  #host(name: string): BrakeHost {
    const host = this.facts.fleet.find((one) => one.host === name)
    if (host === undefined) throw new Error(`no ${name} in this fleet`)
    return host
  }
}
