/**
 * Everything that can happen in a scenario, each with the word that scripts use. The cloud's own troubles, what users and
 * other operators do to it, what people order the daemon to do, and what happens to the daemon itself.
 */
import { z } from 'zod'
import { apiFaultKinds, liveMigrationTurns, type ApiFaultKind } from '../simulator/index.ts'
import { section, text } from '../config/pieces.ts'
import { duration } from '../formats/duration-schema.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import { act } from './act.ts'
import { instance } from './setting.ts'
import { operatorActs } from './operator-acts.ts'

const hosts = z.array(text()).min(1)
const parts = z
  .array(z.enum(['conductor', 'scheduler', 'rabbitmq', 'placement', 'neutron', 'keystone', 'nova-api']))
  .min(1)

const faultKinds = Object.keys(apiFaultKinds) as ApiFaultKind[]

const apiFault = section({
  kind: z.enum(faultKinds),
  method: text().optional(),
  path: text().optional().describe('A regular expression over service and path'),
  instance: text().optional().describe('Only calls about this instance'),
  body: text().optional().describe('A regular expression over the body'),
  times: z.number().int().min(1).optional(),
  skip: z.number().int().min(0).optional(),
  every_nth: z.number().int().min(1).optional(),
  delay: duration('1ms', '1h').optional(),
  status: z.number().int().min(100).max(599).optional(),
  message: text().optional().describe("The service's words in a refusal"),
})

const cloudActs = {
  crash: act(hosts, ({ simulator }, names) => simulator.crash(...names)),
  isolate: act(hosts, ({ simulator }, names) => simulator.isolate(...names)),
  partition: act(hosts, ({ simulator }, names) => simulator.partition(...names)),
  start: act(hosts, ({ simulator }, names) => simulator.start(...names)),
  /** A guest's process dies on a host that lives. */
  crash_guest: act(
    section({
      instance: text(),
      host: text().optional().describe('It dies there alone, where it runs on two hosts'),
      may_be_off: z.literal(true).optional().describe('Nothing happens where it runs nowhere'),
      unheard: z.literal(true).optional().describe('nova-compute misses it: only its next power sync finds it off'),
      again: section({ times: z.number().int().positive(), after: duration('0s', '1d') })
        .optional()
        .describe('It dies so many more times, each so long after it was started'),
    }),
    (stage, { instance: name, host, mayBeOff, unheard, again }) => {
      if (mayBeOff === true && stage.simulator.truth().running[stage.idOf(name)] === undefined) return
      stage.simulator.crashGuest(stage.idOf(name), {
        ...omitUndefined({ host, unheard }),
        ...(again !== undefined && { again: { times: again.times, afterMs: again.after } }),
      })
    },
  ),
  /** The hypervisor pauses a guest, as QEMU does when it cannot write to its disk. */
  pause_guest: act(text(), (stage, name) => stage.simulator.pauseGuest(stage.idOf(name))),
  /** The guest runs on the destination of its live migration, or Nova ends that migration. */
  live_migration: act(section({ instance: text(), is: z.enum(liveMigrationTurns) }), (stage, { instance: name, is }) =>
    stage.simulator.turnLiveMigration(stage.idOf(name), is),
  ),
  kill: act(parts, ({ simulator }, names) => simulator.kill(...names)),
  /** A person empties the queue of a nova-compute in the message bus. */
  purge_queue: act(text(), ({ simulator }, host) => simulator.purgeQueue(host)),
  leave_claims: act(z.number().int().positive(), ({ simulator }, count) => simulator.leaveClaims(count)),
  lose_orders: act(z.number().int().nonnegative(), ({ simulator }, count) => simulator.loseOrders(count)),
  stand_still_over_order: act(duration('1ms', '1h'), ({ simulator }, forMs) => simulator.standStillOverOrder(forMs)),
  die_over_orders: act(z.number().int().nonnegative(), ({ simulator }, count) => simulator.dieOverOrders(count)),
  revive: act(parts, ({ simulator }, names) => simulator.revive(...names)),
  bmc: act(
    section({
      host: text(),
      power: z.enum(['On', 'Off']).optional(),
      reachable: z.boolean().optional(),
      stuck: z.boolean().optional(),
    }),
    ({ simulator }, { host, ...change }) => void simulator.bmc(host, omitUndefined(change)),
  ),
  fault: act(
    section({
      host: text(),
      spawn_fails: z.boolean().optional(),
      stop_fails: z.boolean().optional(),
      claim_fails: z.boolean().optional(),
      save_times_out: z.boolean().optional(),
      saves_no_end: z.boolean().optional(),
      confirm_fails: z.boolean().optional(),
      slow_spawn: duration('0s', '1d').optional(),
      dies_while_spawning: z.boolean().optional(),
      dies_once_moved: z.boolean().optional(),
      capacity: z.union([z.number().int().min(0), z.null()]).optional(),
      local_disk: z.boolean().optional(),
      loses_move: z.boolean().optional(),
      misses_orders: z.boolean().optional(),
      drops_orders: z.boolean().optional(),
      leaves_orders: z.boolean().optional(),
      disk_locks: z.boolean().optional(),
      slow_move: duration('0s', '1h').optional(),
    }),
    ({ simulator }, { host, slowSpawn, slowMove, ...change }) =>
      void simulator.fault(host, {
        ...omitUndefined(change),
        ...(slowSpawn !== undefined && { slowSpawnMs: slowSpawn }),
        ...(slowMove !== undefined && { slowMoveMs: slowMove }),
      }),
  ),
  cell: act(section({ hosts, down: z.boolean() }), ({ simulator }, order) => {
    simulator.cellDown(order.hosts, order.down)
  }),
  api_fault: act(apiFault, (stage, { path, instance: name, body, delay, ...fault }) => {
    const about = name === undefined ? path : `servers/${stage.idOf(name)}${path ?? ''}`
    stage.simulator.apiFault({
      ...omitUndefined(fault),
      kind: fault.kind,
      ...(about !== undefined && { path: new RegExp(about) }),
      ...(body !== undefined && { body: new RegExp(body) }),
      ...(delay !== undefined && { delayMs: delay }),
    })
  }),
  clear_api_faults: act(z.literal(true), ({ simulator }) => simulator.clearApiFaults()),
  /** What a witness says from now on, whatever is true; null: the truth again. */
  probe: act(
    section({ host: text(), name: text(), says: z.union([z.enum(['alive', 'dead', 'unknown']), z.null()]) }),
    (stage, { host, name, says }) => stage.witnesses.say(host, name, says),
  ),
  /** How the operator's own fencing program behaves on a host; null: it works. */
  program: act(
    section({ host: text(), does: z.union([z.enum(['fails', 'hangs', 'lies']), z.null()]) }),
    (stage, { host, does }) => stage.witnesses.program(host, does),
  ),
  /** How a receiver of notices behaves: the host of its URL, or sendmail; null: it takes everything. */
  receiver: act(
    section({
      name: text(),
      does: z.union([z.enum(['fails', 'hangs', 'refuses', 'takes-and-breaks']), z.null()]),
    }),
    (stage, { name, does }) => stage.receivers.trouble(name, does),
  ),
  /** The clock of the API's node, against those of all others. */
  api_clock: act(z.string().regex(/^-?\d/), ({ simulator }, by) => {
    simulator.world.apiSkewMs = signedDuration(by)
  }),
  /** One more instance, on a host that may be dead already: its order was under way. */
  instance: act(instance, (stage, wanted) => stage.add(wanted)),
  /** nova-compute's power sync on a host. */
  power_sync: act(text(), ({ simulator }, host) => simulator.syncPower(host)),
}

const mayBeRefused = z
  .literal(true)
  .optional()
  .describe('The script goes on where Nova refuses or does not answer; otherwise it is wrong')

const peopleActs = {
  /** A tenant, or an administrator, orders something of Nova. */
  user: act(
    section({
      instance: text(),
      action: text().describe('As Nova names it, e.g. os-stop, lock, resize; or delete'),
      body: z.unknown().optional(),
      as: z.enum(['tenant', 'admin']).default('tenant'),
      may_be_refused: mayBeRefused,
    }),
    (stage, order) => stage.people.server(order),
  ),
  /** Someone boots a server on a host. */
  boot: act(section({ name: text(), host: text(), may_be_refused: mayBeRefused }), (stage, order) => stage.boot(order)),
  /** An owner sets metadata (null removes it) or tags. */
  words: act(
    section({
      instance: text(),
      metadata: z.record(z.string(), z.union([text(), z.null()])).default({}),
      tag: text().optional(),
      untag: text().optional(),
      may_be_refused: mayBeRefused,
    }),
    (stage, order) => stage.people.words(order),
  ),
  /** Someone changes a nova-compute's record, as `openstack compute service set` and `delete` do. */
  service: act(
    section({
      host: text(),
      forced_down: z.boolean().optional(),
      status: z.enum(['enabled', 'disabled']).optional(),
      disabled_reason: text().optional(),
      deleted: z.literal(true).optional().describe('As `openstack compute service delete` does'),
      may_be_refused: mayBeRefused,
    }),
    (stage, order) => stage.people.service(order),
  ),
}

const daemonActs = {
  daemon: act(
    z.union([
      z.enum(['start', 'stop', 'kill', 'restart']).transform((act) => ({ act, config: undefined })),
      section({
        act: z.enum(['start', 'stop', 'kill', 'restart']),
        config: z.record(z.string(), z.unknown()).optional().describe('Laid over the scenario, from this start on'),
      }),
    ]),
    (stage, { act: what, config }) => stage.daemonDoes(what, config),
  ),
  /** The daemon's process stands still: now, or in the next commit of such an entry. */
  stall: act(
    z.union([
      duration('1ms', '1d').transform((ms) => ({ for: ms, commit: undefined, step: undefined, meanwhile: undefined })),
      section({
        for: duration('1ms', '1d'),
        commit: text().describe('Kind of the entry'),
        step: text().optional().describe('What its step begins with'),
        meanwhile: section({
          start: hosts.optional(),
          power_on: hosts.optional().describe('Powered on meanwhile; their nova-compute does not beat yet'),
          partition: hosts.optional(),
          user: section({ instance: text(), action: text(), body: z.unknown().optional() }).optional(),
        }).optional(),
      }),
    ]),
    (stage, { for: ms, commit, step = '', meanwhile }) => {
      if (commit === undefined) return stage.stall(ms)
      stage.stallIn({
        name: step === '' ? commit : `${commit} ${step}`,
        isIt: (entry) => entry.kind === commit && (entry.step ?? '').startsWith(step),
        ms,
        meanwhile: () => {
          if (meanwhile?.start !== undefined) stage.simulator.start(...meanwhile.start)
          for (const host of meanwhile?.powerOn ?? []) stage.simulator.bmc(host, { power: 'On' })
          if (meanwhile?.partition !== undefined) stage.simulator.partition(...meanwhile.partition)
          if (meanwhile?.user !== undefined) {
            const { instance: name, action, body } = meanwhile.user
            stage.simulator.tenantOrders(stage.idOf(name), action, body)
          }
        },
      })
    },
  ),
  /** The wall clock of every machine jumps: "2h" or "-2h". */
  wall_clock: act(z.string().regex(/^-?\d/), (stage, by) => {
    stage.clock.stepWall(signedDuration(by))
  }),
  second_daemon: act(z.literal(true), (stage) => stage.secondDaemon()),
  disk_full: act(z.boolean(), (stage, full) => stage.disk(full)),
}

export const acts = { ...cloudActs, ...peopleActs, ...operatorActs, ...daemonActs }

export type ActName = keyof typeof acts

function signedDuration(text: string): number {
  const back = text.startsWith('-')
  const ms = duration('0s').parse(back ? text.slice(1) : text)
  return back ? -ms : ms
}
