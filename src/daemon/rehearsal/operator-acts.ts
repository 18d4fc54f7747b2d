/** What people order the daemon to do in a scenario: the acts of the command line, refusals included. */
import type { Operations } from '../../domain/operations.ts'
import { duration, section, text } from '../config/pieces.ts'
import { act } from './act.ts'
import type { Stage } from './stage.ts'

const by = text().default('ann')

/** Acts by name. Each is refused or taken by the daemon itself; a refusal is part of what the scenario shows. */
export const operatorActs = {
  recover: act(section({ host: text(), by, proof: text() }), (stage, order) =>
    ordered(stage, order.by, `recover ${order.host}`, (daemon) => daemon.recover(order)),
  ),
  pause: act(section({ by, reason: text(), for: duration('1s', '30d').optional() }), (stage, order) =>
    ordered(stage, order.by, 'pause', (daemon) =>
      daemon.pause({ by: order.by, reason: order.reason, until: until(stage, order.for) }),
    ),
  ),
  resume: act(section({ by, reason: text() }), (stage, order) =>
    ordered(stage, order.by, 'resume', (daemon) => daemon.resume(order)),
  ),
  override: act(section({ host: text(), by, reason: text() }), (stage, { host, ...order }) =>
    ordered(stage, order.by, `override ${host}`, (daemon) => daemon.override(stage.newestIncident(host), order)),
  ),
  cancel: act(section({ host: text(), by, reason: text() }), (stage, { host, ...order }) =>
    ordered(stage, order.by, `cancel ${host}`, (daemon) => daemon.cancel(stage.newestIncident(host), order)),
  ),
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
