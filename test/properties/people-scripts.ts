/** What people do in generated scripts: owners to their instances, administrators to Nova and to Lifeboat. Nova may refuse any of it. */
import fc from 'fast-check'

/** An act of a script as scenario.yaml has it. */
export type Act = Record<string, any>

const may = { may_be_refused: true }
const by = { by: 'ann', reason: 'as agreed' }

/** `instance` is a number here: which of the script's instances is decided when it is known how many there are. */
const owners = fc
  .record({
    instance: fc.nat({ max: 8 }),
    action: fc.constantFrom(
      'os-stop',
      'os-stop',
      'os-start',
      'lock',
      'unlock',
      'reboot',
      'delete',
      'confirmResize',
      'pause',
    ),
  })
  .map(({ instance, action }): Act => ({
    user: { instance, action, ...(action === 'reboot' && { body: { type: 'HARD' } }), ...may },
  }))

const boots = (host: fc.Arbitrary<string>): fc.Arbitrary<Act> =>
  fc.tuple(fc.nat({ max: 99 }), host).map(([nth, name]) => ({ boot: { name: `new-${nth}`, host: name, ...may } }))

/** Writes of others on a nova-compute's record: some mean "leave it alone", some undo what Lifeboat has set. */
const serviceWrites = (host: fc.Arbitrary<string>): fc.Arbitrary<Act> =>
  fc
    .tuple(
      host,
      fc.constantFrom<Act>(
        { status: 'disabled', disabled_reason: 'its memory is faulty' },
        { status: 'enabled' },
        { forced_down: true },
        { forced_down: false },
        { status: 'disabled', disabled_reason: 'taken out by hand', forced_down: true },
      ),
    )
    .map(([name, change]) => ({ service: { host: name, ...change, ...may } }))

const handEvacuation = fc
  .nat({ max: 8 })
  .map((instance): Act => ({ user: { instance, action: 'evacuate', body: {}, as: 'admin', ...may } }))

const pauses = (host: fc.Arbitrary<string>): fc.Arbitrary<Act> =>
  fc
    .tuple(
      fc.constantFrom('pause', 'pause', 'resume', 'maintenance', 'maintenance', 'end'),
      fc.oneof(
        fc.constant({}),
        fc.constant({ segment: 'default:nova' }),
        host.map((name) => ({ host: name })),
      ),
    )
    .map(([what, scope]) =>
      what === 'end' ? { maintenance: { ...by, ...scope, end: true } } : { [what]: { ...by, ...scope } },
    )

const reloads = (host: fc.Arbitrary<string>): fc.Arbitrary<Act> =>
  fc
    .oneof(
      fc.constantFrom<Act>({ mode: 'observe' }, { mode: 'observe' }, { mode: 'armed' }),
      fc.constantFrom<Act>(
        ...[['bmc'], ['storage', 'bmc'], ['bmc', 'storage']].map((fencing) => ({ defaults: { fencing } })),
      ),
      fc
        .tuple(host, fc.constantFrom('shared', 'local'))
        .map(([name, storage]): Act => ({ segments: [ownSegment(name, storage)] })),
    )
    .map((config) => ({ reload: { ...by, config } }))

function ownSegment(host: string, storage: string): Act {
  const brake = { max_hosts: 2, max_share: 0.5 }
  return {
    name: 'apart',
    match: { hosts: [host] },
    storage,
    fencing: ['storage'],
    probes: ['network', 'power'],
    brake,
  }
}

const decisions = (host: fc.Arbitrary<string>): fc.Arbitrary<Act> =>
  fc.oneof(
    host.map((name): Act => ({ cancel: { host: name, by: 'ann', reason: 'I know better' } })),
    host.map((name): Act => ({ override: { host: name, by: 'ann', reason: 'only this one' } })),
    host.map((name): Act => ({ recover: { host: name, by: 'ann', proof: 'I pulled its power cord' } })),
    host.map((name): Act => ({ return_host: { host: name, ...by } })),
  )

export function people(host: fc.Arbitrary<string>): fc.Arbitrary<Act> {
  return fc.oneof(
    { weight: 5, arbitrary: owners },
    { weight: 1, arbitrary: boots(host) },
    { weight: 2, arbitrary: serviceWrites(host) },
    { weight: 1, arbitrary: handEvacuation },
    { weight: 3, arbitrary: pauses(host) },
    { weight: 2, arbitrary: reloads(host) },
    { weight: 3, arbitrary: decisions(host) },
  )
}

/** The instances and where they are; an act's instance is a number of theirs. */
interface Home {
  name: string
  host: string
}

/**
 * The acts without those by which a person would make a guest run twice with their own hands: to state the death of a host, or to
 * evacuate from it, while its guests live, and to evacuate what was evacuated by hand before.
 */
export function truthful(acts: Act[], homes: Home[]): Act[] {
  const dead = new Set<string>()
  const moved = new Set<string>()
  return acts.flatMap((act) => {
    for (const host of act['crash'] ?? []) dead.add(host)
    for (const host of act['start'] ?? []) dead.delete(host)
    if (act['recover'] !== undefined && !dead.has(act['recover'].host)) return []
    const { user } = act
    if (user === undefined) return [act]
    const home = homes[user.instance % homes.length]!
    const evacuates = user.action === 'evacuate'
    if (evacuates && (!dead.has(home.host) || moved.has(home.name))) return []
    if (evacuates) moved.add(home.name)
    return [{ ...act, user: { ...user, instance: home.name } }]
  })
}

/** What ends everything that people have begun: nobody waits for anyone any more. */
export function endOfOrders(acts: Act[], fencing: readonly string[]): Act[] {
  const scopes = [{}, { segment: 'default:nova' }, ...named(acts, ['pause', 'maintenance']).map((host) => ({ host }))]
  return [
    ...scopes.flatMap((scope) => [{ resume: { ...by, ...scope } }, { maintenance: { ...by, ...scope, end: true } }]),
    { reload: { ...by, config: { mode: 'armed', defaults: { fencing } } } },
    // Each by itself: Nova refuses to clear a forced_down while evacuations from the host wait for its start (docs/nova.md fact 9), and with it the rest.
    ...named(acts, ['service']).flatMap((host) => [
      { service: { host, status: 'enabled', ...may } },
      { service: { host, forced_down: false, ...may } },
    ]),
  ]
}

function named(acts: Act[], kinds: string[]): string[] {
  return [...new Set(acts.flatMap((act) => kinds.flatMap((kind): string[] => act[kind]?.host ?? [])))]
}
