/** Whether an evacuation that failed may have started its guest on the destination all the same. Pure. */
import type { InstanceActionEvent } from '../../domain/instance.ts'

/**
 * Faults that come after the spawn without an event of their own: another write changed the task meanwhile, an earlier order has put
 * the guest there, or nova-compute could not save what it had done, because its conductor, RabbitMQ or the database was away
 * (docs/nova.md §2.5). A text only ever makes us more careful: what it names is not sent elsewhere.
 */
const failsBesideAGuest = new RegExp(
  [
    'conflict updating instance|unexpected task ?state|already exists',
    'messaging ?timeout|timed out waiting for a reply|message ?delivery|remote ?error|rpc',
    '\\bdb[a-z]*error|deadlock|operational ?error|cell ?timeout',
  ].join('|'),
  'i',
)

/**
 * @param events of the order's action; null where nobody can tell
 * @param reason why it failed, in Nova's words
 */
export function mayHaveStarted(events: readonly InstanceActionEvent[] | null, reason: string): boolean {
  return (
    events === null || events.some(({ event }) => event === 'compute_stop_instance') || failsBesideAGuest.test(reason)
  )
}
