/** What happens in one round of trouble: decided by its seed alone, before anything is started. */
import { Random } from './random.ts'

export const hosts = ['cmp01', 'cmp02', 'cmp03', 'cmp04'] as const

/** How a guest stands before its host dies. */
export type GuestKind = 'running' | 'stopped' | 'paused' | 'locked' | 'resized' | 'resized-stopped'

export interface Guest {
  name: string
  host: string
  kind: GuestKind
}

/** Moments of a recovery, as the journal shows them; `death` is the crash itself. */
export const moments = ['death', 'incident', 'proof', 'forced-down', 'evacuating', 'landed'] as const
export type Moment = (typeof moments)[number]

/** Trouble by its name, with the moments at which it can strike and how long it lasts (ms). */
const troubles = {
  'owner-stops': { at: moments, forMs: [0, 0] },
  'owner-starts': { at: moments, forMs: [0, 0] },
  'owner-deletes': { at: moments, forMs: [0, 0] },
  'owner-locks': { at: moments, forMs: [0, 0] },
  'owner-reboots': { at: moments, forMs: [0, 0] },
  'owner-confirms-resize': { at: moments, forMs: [0, 0] },
  'admin-evacuates': { at: ['incident', 'proof', 'forced-down', 'evacuating'], forMs: [0, 0] },
  'destination-dies': { at: ['forced-down', 'evacuating', 'landed'], forMs: [0, 0] },
  'destination-is-slow': { at: ['death', 'incident', 'proof'], forMs: [8_000, 20_000] },
  'destination-cannot-spawn': { at: ['death', 'incident', 'proof'], forMs: [8_000, 20_000] },
  'destination-cannot-stop': { at: ['death', 'incident', 'proof'], forMs: [8_000, 20_000] },
  'second-host-dies': { at: ['death', 'incident', 'proof'], forMs: [0, 0] },
  'host-returns': { at: moments.slice(1), forMs: [0, 0] },
  'bmc-is-away': { at: ['death', 'incident'], forMs: [5_000, 20_000] },
  'rabbitmq-dies': { at: moments.slice(1), forMs: [3_000, 12_000] },
  'conductor-dies': { at: moments, forMs: [3_000, 12_000] },
  'scheduler-dies': { at: moments, forMs: [3_000, 12_000] },
  'api-dies': { at: moments, forMs: [3_000, 12_000] },
  'placement-dies': { at: moments, forMs: [3_000, 12_000] },
  'keystone-dies': { at: moments, forMs: [3_000, 12_000] },
  'daemon-is-killed': { at: moments, forMs: [500, 5_000] },
  'daemon-restarts': { at: moments, forMs: [0, 2_000] },
  'daemon-stands-still': { at: moments, forMs: [3_000, 15_000] },
  'daemon-stands-still-while-its-host-returns': { at: moments.slice(1), forMs: [8_000, 15_000] },
} as const satisfies Record<string, { at: readonly Moment[]; forMs: readonly [number, number] }>

export type TroubleKind = keyof typeof troubles
export const troubleKinds = Object.keys(troubles) as TroubleKind[]

export interface Trouble {
  kind: TroubleKind
  at: Moment
  afterMs: number
  forMs: number
  /** Of the guests on the host that dies, or the host it strikes, by the kind of trouble. */
  target: string
}

export interface Script {
  seed: number
  dead: string
  /** The second half of a pair: it dies only where a trouble says so. */
  second: string
  death: 'crash' | 'partition' | 'isolate'
  guests: Guest[]
  troubles: Trouble[]
}

/** Trouble that must not meet itself in a round: what takes a host away (two are what four hosts bear), and what the daemon's process is in. */
const alone: readonly (readonly TroubleKind[])[] = [
  ['destination-dies', 'second-host-dies'],
  ['daemon-is-killed', 'daemon-restarts', 'daemon-stands-still', 'daemon-stands-still-while-its-host-returns'],
]

export function scriptOf(seed: number, only?: TroubleKind): Script {
  const random = new Random(seed)
  // Neighbouring seeds begin alike: the first numbers are not used.
  for (let skip = 0; skip < 8; skip += 1) random.next()
  const dead = random.of(hosts)
  const second = random.of(hosts.filter((host) => host !== dead))
  const third = random.of(hosts.filter((host) => host !== dead && host !== second))
  const kinds: GuestKind[] = [
    'running',
    'running',
    'stopped',
    'running',
    'locked',
    'paused',
    'resized',
    'resized-stopped',
  ]
  const guests = kinds
    .slice(0, random.count(4, kinds.length))
    .map((kind, index): Guest => ({ name: `${kind}-${index}`, host: dead, kind }))
  guests.push(
    { name: 'beside-running', host: second, kind: 'running' },
    { name: 'beside-stopped', host: second, kind: 'stopped' },
  )
  const death = random.of(['crash', 'crash', 'crash', 'crash', 'partition', 'isolate'] as const)
  const chosen: Trouble[] = []
  const count = random.count(1, 3)
  while (chosen.length < count) {
    const kind = chosen.length === 0 && only !== undefined ? only : random.of(troubleKinds)
    if (chosen.some((other) => clash(kind, other.kind))) continue
    chosen.push(troubleOf(random, kind, { dead, second, third, guests }))
  }
  return { seed, dead, second, death, guests, troubles: chosen }
}

function clash(one: TroubleKind, other: TroubleKind): boolean {
  const sameThing = one === other && !one.startsWith('owner-')
  return sameThing || alone.some((group) => group.includes(one) && group.includes(other))
}

function troubleOf(
  random: Random,
  kind: TroubleKind,
  { dead, second, third, guests }: { dead: string; second: string; third: string; guests: Guest[] },
): Trouble {
  const { at, forMs } = troubles[kind]
  const own = guests.filter(({ host }) => host === dead)
  const resized = own.filter(({ kind: state }) => state.startsWith('resized'))
  const anyOf = kind === 'owner-confirms-resize' && resized.length > 0 ? resized : own
  const target =
    kind === 'second-host-dies' || kind === 'destination-dies'
      ? second
      : kind.startsWith('destination-')
        ? random.of([second, third])
        : kind.startsWith('owner-') || kind === 'admin-evacuates'
          ? random.of(anyOf).name
          : dead
  return { kind, at: random.of(at), afterMs: random.ms(0, 3_000), forMs: random.ms(forMs[0], forMs[1]), target }
}

/** The script in one line, for people. */
export function told({ seed, dead, death, guests, troubles: all }: Script): string {
  const parts = all.map(
    ({ kind, at, afterMs, forMs, target }) =>
      `${kind} ${target} at ${at}+${afterMs / 1_000}s${forMs > 0 ? ` for ${forMs / 1_000}s` : ''}`,
  )
  return `seed ${seed}: ${death} ${dead}, ${guests.length} guests; ${parts.join('; ')}`
}
