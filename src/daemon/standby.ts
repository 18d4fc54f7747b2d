/** Standing by, becoming active, and being deposed, as a process. */
import process from 'node:process'
import { deadline, type Clock } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import type { Tenure } from '../journal/shared/tenure.ts'
import { actsElsewhere, notActive, type KnownDaemon, type TenureView } from '../domain/tenure.ts'
import type { Standing } from '../telemetry/telemetry.ts'
import type { Daemon } from './daemon.ts'
import { deposedExitCode } from './shared-journal.ts'

/** A person's act waits for the shared journal no longer than this. Longer than a cluster needs to vote a dead node out (6.5 s). */
const confirmLimitMs = 10_000

/** Watches until this daemon is active; false when the process is to stop before. Throws what keeps it from following. */
export async function standBy(tenure: Tenure, daemon: Daemon, stopped: Promise<void>): Promise<boolean> {
  const watching = new AbortController()
  const stopping = new AbortController()
  const stop = stopped.then(() => stopping.abort())
  const watched = daemon.standBy(watching.signal)
  try {
    await Promise.race([tenure.untilActive(stopping.signal), stop])
    return tenure.mayAppend
  } finally {
    watching.abort()
    await watched
  }
}

/** The tenure is another's: nothing may be recorded and nothing sent, so the process ends, and systemd starts one that stands by. */
export function deposed(observer: Observer, tenure: Tenure, stopping: boolean): void {
  if (stopping) return
  const message = `This daemon is not active any more: ${tenure.why}. It exits, and stands by when it starts again`
  observer.log?.('error', 'tenure.deposed', { message, why: tenure.why })
  process.exit(deposedExitCode)
}

/** Resolves once what a person ordered is durable. Throws JOURNAL_UNAVAILABLE when that cannot be said in time. */
export async function confirmed(tenure: Pick<Tenure, 'recorded'>, clock: Clock): Promise<void> {
  const limit = deadline(clock, confirmLimitMs)
  try {
    await tenure.recorded(limit.signal)
  } catch (thrown) {
    if (ensureError(thrown).code !== 'HELD_BACK') throw thrown
    const message = `The shared journal did not confirm this within ${confirmLimitMs / 1_000} s; it may still. Look before you order it again`
    throw new LifeboatError('JOURNAL_UNAVAILABLE', message, { certainty: 'unknown', retry: 'after', cause: thrown })
  } finally {
    limit.release()
  }
}

/** Throws NOT_ACTIVE, with the way to the daemon that is active. */
export function onlyActive(tenure: Pick<Tenure, 'held' | 'view'>): void {
  if (!tenure.held()) throw notActive(tenure.view())
}

/** What a proxy asks: 200 only where the daemon is active. */
export function activity(tenure: Pick<Tenure, 'held' | 'view'> | undefined): { ok: boolean; problems: string[] } {
  if (tenure === undefined || tenure.held()) return { ok: true, problems: [] }
  const view = tenure.view()
  return { ok: false, problems: [`${view.state}; ${actsElsewhere(view)?.name ?? 'no daemon'} is active`] }
}

/**
 * The same for metrics.
 *
 * @param copy what it put back into the shared journal, in entries; how many copies before it were put aside
 */
export function standing(
  { name, active, epoch, leaseLeftMs, daemons, namesake, behind, staged }: TenureView,
  copy: { putBack: number; aside: number | undefined },
): Standing {
  const own = daemons.find((it) => it.name === name)
  const named = daemons.filter((it) => it.present && it.name !== name)
  const others = namesake === null ? named : [...named, namesake]
  const differs = (it: KnownDaemon): boolean =>
    it.version !== own?.version || it.mode !== own.mode || it.configDigest !== own.configDigest
  return {
    active: leaseLeftMs !== null && leaseLeftMs > 0 ? 1 : 0,
    tenureEpoch: epoch,
    leaseLeft: (leaseLeftMs ?? 0) / 1_000,
    standbys: active?.name === name ? others.length : others.filter((it) => it.name !== active?.name).length + 1,
    daemonsDiffer: others.filter(differs).length,
    nameTaken: namesake === null ? 0 : 1,
    ...{ journalBehind: behind, journalStaged: staged, journalPutBack: copy.putBack, journalAside: copy.aside },
  }
}

/** Age of the daemon's last good reading of Nova, ms: of the last one that failed it says nothing. Null before the first. */
export function goodPollAgeMs(daemon: { monitor: Pick<Daemon['monitor'], 'lastRead'> }, clock: Clock): number | null {
  const last = daemon.monitor.lastRead()
  return last === null ? null : clock.now() - last.askedAt
}
