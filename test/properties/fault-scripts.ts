/** Generates scenarios: a small cloud with instances of every kind, and a script of faults, acts and kills at random moments. */
import fc from 'fast-check'
import { stringify } from 'yaml'
import { parseScenario, type Scenario } from '../../src/rehearsal/scenario.ts'
import { apiFaultKinds } from '../../src/simulator/index.ts'
import { endOfOrders, people, truthful, type Act } from './people-scripts.ts'

const hosts = ['cmp01', 'cmp02', 'cmp03', 'cmp04', 'cmp05', 'cmp06']
const host = fc.constantFrom(...hosts)
/** Most trouble strikes the same few hosts: trouble that meets is what finds bugs. */
const victim = fc.constantFrom('cmp01', 'cmp01', 'cmp02', 'cmp03')

const state = fc.constantFrom(
  'active',
  'active',
  'stopped',
  'resized-running',
  'resized-stopped',
  'paused',
  'suspended',
  'rescued',
  'error',
  'shelved',
  'building',
  'deleting',
  'powering-off',
)

const instance = fc.record({
  host: victim,
  state,
  other_host: fc.constantFrom('cmp04', 'cmp05', 'cmp01'),
  locked: fc.constantFrom(false, false, true),
  encrypted: fc.constantFrom(false, false, false, true),
  volume_backed: fc.boolean(),
})

const apiFault = fc.record({
  kind: fc.constantFrom(...Object.keys(apiFaultKinds)),
  path: fc.constantFrom(
    'compute',
    'servers/detail',
    'action',
    'os-migrations',
    'os-services',
    'redfish',
    'identity',
    'volume',
  ),
  times: fc.integer({ min: 1, max: 6 }),
  skip: fc.integer({ min: 0, max: 5 }),
  delay: fc.constantFrom('300ms', '8s', '90s'),
  status: fc.constantFrom(500, 502, 503, 504, 409, 429),
})

const cloudTrouble = fc.oneof(
  { weight: 6, arbitrary: victim.map((name) => ({ crash: [name] })) },
  { weight: 2, arbitrary: victim.map((name) => ({ partition: [name] })) },
  { weight: 2, arbitrary: victim.map((name) => ({ isolate: [name] })) },
  { weight: 2, arbitrary: victim.map((name) => ({ start: [name] })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('conductor', 'rabbitmq', 'scheduler', 'placement').map((part) => ({ kill: [part] })),
  },
  {
    weight: 2,
    arbitrary: fc.record({ host: victim, reachable: fc.boolean(), stuck: fc.boolean() }).map((bmc) => ({ bmc })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        host,
        spawn_fails: fc.boolean(),
        stop_fails: fc.constantFrom(false, false, true),
        claim_fails: fc.boolean(),
        dies_while_spawning: fc.constantFrom(false, false, false, true),
        dies_once_moved: fc.constantFrom(false, false, false, true),
      })
      .map((fault) => ({ fault })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('lose_orders', 'die_over_orders'), fc.integer({ min: 1, max: 3 }))
      .map(([act, count]) => ({ [act]: count })),
  },
  { weight: 4, arbitrary: apiFault.map((fault) => ({ api_fault: fault })) },
  /** The operator's own fencing program. It never lies: a proof that is none is the operator's word against the truth. */
  {
    weight: 2,
    arbitrary: fc
      .record({ host: victim, does: fc.constantFrom('fails', 'hangs', 'hangs', null) })
      .map((program) => ({ program })),
  },
)

const daemonLife = fc.constantFrom(
  { daemon: 'kill+start' },
  { daemon: 'restart' },
  { stall: '45s' },
  { wall_clock: '-1h' },
)

const act = fc.oneof(
  { weight: 8, arbitrary: cloudTrouble },
  { weight: 6, arbitrary: people(victim) },
  { weight: 3, arbitrary: daemonLife },
)

const moment = fc.constantFrom('0s', '200ms', '1s', '3s', '7s', '20s', '61s', '130s')

/** A scenario that begins with a healthy minute, then trouble, and ends when everything has settled in peace. */
export const faultScript: fc.Arbitrary<Scenario> = fc
  .record({
    instances: fc.array(instance, { minLength: 3, maxLength: 9 }),
    first: victim,
    acts: fc.array(fc.tuple(moment, act), { minLength: 1, maxLength: 12, size: 'max' }),
    fencing: fc.constantFrom(['bmc'], ['storage', 'bmc'], ['storage', 'bmc'], ['bmc', 'storage']),
    declared: fc.constantFrom('recover', 'recover', 'hold'),
    boards: fc.array(fc.constantFrom('0s', '0s', '1s', '4s'), { minLength: 3, maxLength: 3 }),
  })
  .map(({ instances, first, acts, fencing, declared, boards }) => {
    const named = instances.map((wish, index) => ({ name: `i${index}`, ...wish }))
    const timed = acts.map(([after, what]): Act => ({ after, ...what }))
    const trouble = truthful([{ at: '1m', crash: [first] }, ...timed], named).flatMap((one) =>
      one['daemon'] === 'kill+start'
        ? [
            { ...one, daemon: 'kill' },
            { after: '3s', daemon: 'start' },
          ]
        : [one],
    )
    const slow = boards.flatMap((delay, nth): Act[] =>
      delay === '0s'
        ? []
        : [{ at: '30s', api_fault: { kind: 'slow', path: `redfish/v1/Systems/${hosts[nth]}`, delay } }],
    )
    const peace = [
      { after: '2m', clear_api_faults: true },
      { after: '0s', revive: ['conductor', 'rabbitmq', 'scheduler', 'placement'] },
      ...hosts.map((name) => ({
        after: '0s',
        fault: {
          ...{ host: name, spawn_fails: false, stop_fails: false, claim_fails: false },
          ...{ dies_while_spawning: false, dies_once_moved: false },
        },
      })),
      ...hosts.map((name) => ({ after: '0s', program: { host: name, does: null } })),
      ...endOfOrders(trouble, fencing).map((one) => ({ after: '0s', ...one })),
      { after: '0s', lose_orders: 0 },
      { after: '0s', die_over_orders: 0 },
      { after: '6m', note: 'A host that is silent now is dead' },
      // A cloud lives: someone's boot shows which orders were lost on their way to the conductor.
      { after: '10m', boot: { name: 'last', host: 'cmp05' } },
      { when: { settled: true } },
      { after: '30s', note: 'Over' },
    ]
    const script = [...slow, ...trouble, ...peace]
    const config = {
      monitor: { poll_interval: '5s', quiet_after_freeze: '150s' },
      defaults: { fencing, on_declared_down: declared },
      fencing: { storage: { timeout: '30s' } },
    }
    const text = stringify({ title: 'generated', cloud: { hosts }, config, instances: named, script })
    return Object.assign(parseScenario(text, 'generated.yaml', 'generated'), { [fc.toStringMethod]: () => text })
  })
