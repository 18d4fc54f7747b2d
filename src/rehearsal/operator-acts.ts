/** What people order the daemon to do in a scenario: the acts of the command line, refusals included. */
import { z } from 'zod'
import { LifeboatError } from '../domain/errors.ts'
import type { Operations } from '../domain/operations.ts'
import { reportClasses, type ReportClass } from '../domain/report-words.ts'
import { scopeText, wholeCloud, type Scope } from '../domain/order.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import { section, text } from '../config/pieces.ts'
import { duration } from '../formats/duration-schema.ts'
import { act } from './act.ts'
import { failoverSegment } from './failover-acts.ts'
import type { Stage } from './stage.ts'

/** As an instance monitor reports a guest whose process died. */
const guestDied = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED' }

const by = text().default('ann')
const length = duration('1s', '30d').optional()
const scope = { host: text().optional(), segment: text().optional() }

interface Named {
  host?: string | undefined
  segment?: string | undefined
}

function scopeOf({ host, segment }: Named): Scope | undefined {
  if (host !== undefined) return { kind: 'host', name: host }
  return segment === undefined ? undefined : { kind: 'segment', name: segment }
}

function suffix(named: Named): string {
  const found = scopeOf(named)
  return found === undefined ? '' : ` of ${scopeText(found)}`
}

/** Acts by name. Each is refused or taken by the daemon itself; a refusal is part of what the scenario shows. */
export const operatorActs = {
  recover: act(section({ host: text(), by, proof: text() }), (stage, order) =>
    ordered(stage, order.by, `recover ${order.host}`, (daemon) => daemon.recover(order)),
  ),
  pause: act(section({ by, reason: text(), for: length, ...scope }), (stage, order) =>
    ordered(stage, order.by, `pause${suffix(order)}`, (daemon) =>
      daemon.pause({ by: order.by, reason: order.reason, until: until(stage, order.for), scope: scopeOf(order) }),
    ),
  ),
  resume: act(section({ by, reason: text(), ...scope }), (stage, order) =>
    ordered(stage, order.by, `resume${suffix(order)}`, (daemon) =>
      daemon.resume({ by: order.by, reason: order.reason, scope: scopeOf(order) }),
    ),
  ),
  /** Without host and segment: of the whole cloud. */
  maintenance: act(
    section({
      by,
      reason: text(),
      begins: text().optional().describe('When it begins, as a person writes it; default: now'),
      for: length,
      end: z.boolean().default(false),
      ...scope,
    }),
    (stage, { by: who, reason, end, begins, ...order }) =>
      ordered(stage, who, `${end ? 'end of ' : ''}maintenance${suffix(order)}`, (daemon) => {
        const about = { by: who, reason, scope: scopeOf(order) ?? wholeCloud }
        if (begins !== undefined)
          return daemon.planMaintenance({ ...about, from: begins, until: null, ...omitUndefined({ forMs: order.for }) })
        return end
          ? daemon.endMaintenance(about)
          : daemon.startMaintenance({ ...about, until: until(stage, order.for) })
      }),
  ),
  /** The plan that begins first, or that has begun. */
  withdraw_maintenance: act(section({ by, reason: text(), ...scope }), (stage, { by: who, reason, ...order }) =>
    ordered(stage, who, `withdrawal of maintenance${suffix(order)}`, (daemon) =>
      daemon.withdrawMaintenance({ by: who, reason, plan: planOf(daemon) }),
    ),
  ),
  override: act(section({ host: text(), by, reason: text() }), (stage, { host, ...order }) =>
    ordered(stage, order.by, `override ${host}`, (daemon) => daemon.override(stage.newestIncident(host), order)),
  ),
  /** The configuration on disk is changed (laid over, or replaced by a slip), and the daemon is told to read it. */
  reload: act(
    section({
      by,
      reason: text().default('as agreed'),
      config: z.record(z.string(), z.unknown()).optional(),
      slip: text().optional(),
    }),
    (stage, { config, slip, ...order }) => {
      stage.writeConfiguration(config, slip)
      return ordered(stage, order.by, 'reload', (daemon) => daemon.reload(order))
    },
  ),
  return_host: act(
    section({ host: text(), by, reason: text().default(''), keep_out: z.boolean().default(false) }),
    (stage, order) =>
      ordered(stage, order.by, order.keepOut ? `keep ${order.host} out` : `let ${order.host} back`, (daemon) =>
        daemon.returnHost(order),
      ),
  ),
  /** Those of the host's newest incident that are off since it came back by itself. */
  start_instances: act(
    section({ host: text(), by, reason: text().default('power is back') }),
    (stage, { host, ...order }) =>
      ordered(stage, order.by, `start the instances of ${host}`, (daemon) =>
        daemon.startInstances(stage.newestIncident(host), order),
      ),
  ),
  /** What the host's newest incident with instances did not bring back. */
  try_again: act(
    section({ host: text(), by, reason: text().default('the cause is gone'), proof: text().optional() }),
    (stage, { host, proof = null, ...order }) =>
      ordered(stage, order.by, `try again on ${host}`, (daemon) =>
        daemon.tryAgain(
          stage.newestIncident(host, ({ instances }) => instances.size > 0),
          { ...order, proof },
        ),
      ),
  ),
  /** A monitor of Masakari reports that something failed; of a guest, unless the script says otherwise, that its process died. */
  report: act(
    section({
      host: text(),
      by: text().default('monitor'),
      about: z.enum(Object.keys(reportClasses) as [ReportClass, ...ReportClass[]]),
      instance: text().optional().describe('Of a VM: which'),
      payload: z.record(z.string(), z.string()).optional(),
    }).transform(({ payload, ...order }) => ({
      ...order,
      payload: payload ?? (order.about === 'VM' ? guestDied : { event: 'STOPPED' }),
    })),
    (stage, { by: who, instance, ...order }) =>
      stage.told(`${who}: report ${order.about} ${instance ?? order.host}`, () => {
        const generatedAt = new Date(stage.clock.wall()).toISOString()
        const named = instance === undefined ? {} : { instance_uuid: stage.idOf(instance) }
        const payload = { ...order.payload, ...named }
        stage.reports().receive({ ...order, payload, generatedAt, by: who, via: null })
        return Promise.resolve()
      }),
  ),
  failover_segment: failoverSegment,
  cancel: act(section({ host: text(), by, reason: text() }), (stage, { host, ...order }) =>
    ordered(stage, order.by, `cancel ${host}`, (daemon) => daemon.cancel(stage.newestIncident(host), order)),
  ),
}

/** Throws NOT_FOUND when there is none. */
function planOf(daemon: Operations): number {
  const { planned, inForce } = daemon.maintenance()
  const plan = planned[0]?.plan ?? inForce.find((order) => order.plan !== undefined)?.plan
  if (plan === undefined) throw new LifeboatError('NOT_FOUND', 'No maintenance is planned')
  return plan
}

/** When a time that begins now ends, as people's orders say it. */
export function until(stage: Stage, ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(stage.clock.wall() + ms).toISOString()
}

/** Gives the order, and tells what came of it. */
export async function ordered(
  stage: Stage,
  who: string,
  what: string,
  order: (daemon: Operations) => unknown,
): Promise<void> {
  await stage.told(`${who}: ${what}`, async () => {
    await order(stage.operations())
  })
}
