/** A person tries again what an incident that is over did not bring back: a new incident of the same host, with their name on it. */
import type { IncidentId, NewEntry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Incident } from '../domain/incident.ts'
import type { TryAgain, TryAgainAnswer, TryAgainOrder } from '../domain/operations.ts'
import { isPerson } from '../domain/person.ts'
import { rowSeen } from '../domain/verdict.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { BrakeWatch } from '../control/brake-watch.ts'
import type { IncidentStore } from '../control/incident-store.ts'
import { known } from '../orders/order-acts.ts'
import type { IncidentRecords } from '../review/incident-records.ts'
import { isOpenSentence } from './try-again.ts'
import type { WatchLoop } from '../control/watch-loop.ts'

export interface TryAgainParts {
  records: Pick<IncidentRecords, 'get'>
  store: Pick<IncidentStore, 'get' | 'openOn'>
  brake: Pick<BrakeWatch, 'holds'>
  monitor: Pick<Monitor, 'verdict'>
  watch: Pick<WatchLoop, 'open'>
  /** What could be tried again as of now. */
  again: (incident: Incident) => TryAgain | null
}

/**
 * Opens the incident and answers once that is on record. Without a proof the host is fenced again. Throws INCIDENT_OPEN, NOTHING_TO_TRY,
 * HOST_ALIVE, OBSERVING, NOT_FOUND, and PROOF_INVALID for a proof that is missing or no person's.
 */
export function orderTryAgain(id: IncidentId, order: TryAgainOrder, parts: TryAgainParts): TryAgainAnswer {
  const { incident } = parts.records.get(id)
  const { host, instances } = incident
  const open = parts.store.openOn(host)
  if (open !== undefined)
    throw new LifeboatError('INCIDENT_OPEN', isOpenSentence(open.id, host), { details: { incident: open.id } })
  const again = parts.again(incident)
  if (again === null)
    throw new LifeboatError('NOTHING_TO_TRY', `Incident ${id} left no instance that may be tried again`)
  const { refused, later } = again
  if (refused !== null)
    throw new LifeboatError(refused.code, refused.message, later === null ? {} : { details: { incident: later } })
  const { by, proof, via } = order
  if (again.needsStatement && proof === null) {
    const message = `No machine can prove ${host} dead again: say how you know that it is`
    throw new LifeboatError('PROOF_INVALID', message)
  }
  if (proof !== null && !isPerson(by))
    throw new LifeboatError('PROOF_INVALID', `"${by}" is not a person who can be asked how they knew; give your name`)
  const actor = `operator:${by}`
  const reason = order.reason === '' ? (proof ?? '') : order.reason
  const verdict = parts.monitor.verdict(host) ?? null
  const rows = (opened: IncidentId): NewEntry[] => {
    const about = { actor, incident: opened, host }
    return [
      { kind: 'operator.again', ...about, data: { by, reason, of: id, ...known(via) } },
      ...(proof === null
        ? []
        : [
            {
              kind: 'operator.statement' as const,
              ...about,
              data: { by, statement: proof, ...rowSeen(verdict), ...known(via) },
            },
          ]),
    ]
  }
  const opened = parts.watch.open(host, verdict, by, rows)
  const named = (instance: string) => ({ id: instance, name: instances.get(instance)?.plan.name ?? instance })
  return {
    incident: opened,
    held: parts.brake.holds(parts.store.get(opened)),
    instances: again.instances.map(named),
    unsure: again.unsure.map(named),
  }
}
