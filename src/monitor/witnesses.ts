/**
 * What the probes of one host said together: who found it alive, who dead, and how many different kinds of witness that
 * is. Pure. Two probes of one kind are one witness: what fools the first (a firewall rule, a broken switch) fools both.
 */
import type { ProbeReading } from '../domain/verdict.ts'

export interface Witnesses {
  /** Names of the probes. */
  alive: string[]
  dead: string[]
  /** Different kinds among the dead. */
  deadKinds: number
}

/** Redfish and IPMI are two languages of one BMC: when it lies, it lies in both. */
function witnessOf(kind: ProbeReading['kind']): string {
  return kind === 'redfish' || kind === 'ipmi' ? 'power' : kind
}

/** How many kinds of witness these probes are. */
export function kindsOf(probes: readonly Pick<ProbeReading, 'kind'>[]): number {
  return new Set(probes.map(({ kind }) => witnessOf(kind))).size
}

export function witnessesIn(readings: readonly ProbeReading[]): Witnesses {
  const said = (answer: ProbeReading['answer']): ProbeReading[] => readings.filter((one) => one.answer === answer)
  const dead = said('dead')
  return {
    alive: said('alive').map((one) => one.probe),
    dead: dead.map((one) => one.probe),
    deadKinds: kindsOf(dead),
  }
}

/** The next count of readings in a row, while silent, in which enough kinds said dead and none alive. */
export function deadInARow(
  count: number,
  { alive, deadKinds }: Witnesses,
  rules: { silent: boolean; kindsNeeded: number },
): number {
  return rules.silent && alive.length === 0 && deadKinds >= Math.max(1, rules.kindsNeeded) ? count + 1 : 0
}
