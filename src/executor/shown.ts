/** What Nova shows of an instance as its outcome is written. Reads only; what cannot be read is said with its time. */
import { ensureError, errorRecord } from '../domain/errors.ts'
import type { Instance, InstanceId } from '../domain/instance.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { Run } from './context.ts'
import type { HostWatch } from './host-watch.ts'

/**
 * How old a reading may be that an outcome quotes. Longer tells people what Nova has contradicted since; shorter reads each of hundreds
 * of instances that a cancel leaves by itself.
 */
const toldGoodForMs = 2_000

export interface Shown {
  /** Null where it could not be read now: the outcome then has no state that may be long over. */
  instance: Instance | null
  /** For the end of a message, e.g. "Nova shows it active on cmp02". */
  words: string
}

/** Reads it once where what is known is older than a moment. Never throws: an outcome is written whatever Nova does. */
export async function shownNow(run: Run, watch: HostWatch, id: InstanceId): Promise<Shown> {
  const isRecent = (): boolean => run.clock.now() - watch.knownAt(id) <= toldGoodForMs
  try {
    if (!isRecent()) await listed(watch)
    if (!isRecent()) await watch.read(id)
  } catch (thrown) {
    const { code, message } = errorRecord(thrown)
    if (code === 'INSTANCE_GONE') return { instance: null, words: 'Nova knows no such instance any more' }
    return unread(watch, id, message)
  }
  const instance = watch.instance(id) ?? null
  return { instance, words: instance === null ? 'Nova does not show it' : `Nova shows it ${stateOf(instance)}` }
}

/** Where only the list of migrations is refused, the instance itself may still be read. */
async function listed(watch: HostWatch): Promise<void> {
  try {
    await watch.list(toldGoodForMs)
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.retry !== 'never') throw error
  }
}

function unread(watch: HostWatch, id: InstanceId, why: string): Shown {
  const instance = watch.instance(id) ?? null
  const last = instance === null ? '' : `, and last showed it ${stateOf(instance)} at ${watch.seenAt(id)}`
  return { instance: null, words: `Nova cannot be asked how it is (${why})${last}` }
}

function stateOf({ vmState, host }: Instance): string {
  return `${vmState} on ${host ?? 'no host'}`
}

/** The same as fields of the line. */
export function afterOf({ host, vmState, taskState, powerState, locked }: Instance): NonNullable<Outcome['after']> {
  return { host, vmState, taskState, powerState, locked }
}
