/**
 * Keeps watch over the journal of a running daemon. Owns what is done when it cannot be written (nothing is acted on: every
 * write to the cloud follows a durable row) and when it no longer verifies (the daemon pauses itself, as a person would).
 */
import { isAborted, sleep, type Clock } from '../domain/clock.ts'
import type { Entry, NewEntry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import { itself } from '../domain/order.ts'
import type { Observer } from '../domain/observer.ts'
import type { JournalView } from '../journal/reader.ts'

/**
 * Pause between two tries to write while the journal cannot be written. Longer: readiness and held recoveries come back that
 * much later than the space on the disk; much shorter would busy a disk that is in trouble.
 */
const tryAgainMs = 5_000

/**
 * The same journal, which, once it could not be written, is tried until it can: a quiet daemon would otherwise learn only
 * from its next incident that the disk is full, or that it is not any more. The first row says since when nothing was written.
 */
export function guardedJournal<J extends Journal>(
  journal: J,
  { clock, observer, signal }: { clock: Clock; observer: Observer; signal: AbortSignal },
): J {
  let failingSince: { at: number; message: string } | null = null

  const append = (entries: NewEntry[]): Entry[] => {
    try {
      if (failingSince === null) return journal.append(entries)
      const written = journal.append([gap(failingSince), ...entries])
      failingSince = null
      observer.log?.('info', 'journal.available', { message: 'The journal can be written again' })
      return written.slice(1)
    } catch (thrown) {
      const { code, message } = ensureError(thrown)
      if (code === 'JOURNAL_UNAVAILABLE' && failingSince === null && !isAborted(signal)) {
        failingSince = { at: clock.wall(), message }
        observer.log?.('error', 'journal.unavailable', {
          message: `${message}. Lifeboat does nothing until it can write again`,
        })
        void tryUntilWritten()
      }
      throw thrown
    }
  }

  async function tryUntilWritten(): Promise<void> {
    for (;;) {
      await sleep(clock, tryAgainMs, signal)
      if (failingSince === null || isAborted(signal)) return
      try {
        append([])
        return
      } catch {
        // Said when it began, and counted by the journal's own telemetry each time.
      }
    }
  }

  return { ...journal, append }
}

/** The row that says what is missing before it. */
function gap({ at, message }: { at: number; message: string }): NewEntry {
  const since = new Date(at).toISOString()
  const says = `From ${since} on Lifeboat could not write to the journal, and did nothing meanwhile: ${message}`
  return { kind: 'alarm.raised', data: { code: 'JOURNAL_UNAVAILABLE', message: says } }
}

/**
 * Walks the whole chain. When it does not verify: an alarm, and a pause of all recoveries that only a person ends, because
 * what an entry says of an instance may be what someone wanted us to believe. A break that a person has resumed over is
 * alarmed again, and pauses nothing.
 */
export async function checkJournal({
  journal,
  observer,
  pause,
}: {
  journal: Journal & Pick<JournalView, 'verifyInPieces'>
  observer: Observer
  /** Between two pieces: the daemon's own work goes on. */
  pause: () => Promise<void>
}): Promise<void> {
  const found = await walk(journal, pause)
  observer.journalVerified?.(typeof found === 'number')
  if (typeof found === 'number') {
    observer.log?.('info', 'journal.verified', { entries: found })
    return
  }
  const reason = `the journal does not verify: ${found}`
  const message = `T${reason.slice(1)}. Recoveries are paused; look at it (lifeboat journal verify), then lifeboat resume`
  const alarm: NewEntry = { kind: 'alarm.raised', data: { code: 'JOURNAL_CORRUPT', message } }
  const data = { by: itself, reason, until: null }
  const known = journal
    .read({ kinds: ['operator.paused'] })
    .some((entry) => entry.kind === 'operator.paused' && entry.data.reason === reason)
  journal.append(known ? [alarm] : [alarm, { kind: 'operator.paused', data }])
}

/** The number of entries, or what is wrong. Throws what is not about the journal's content. */
async function walk(
  journal: Pick<JournalView, 'verifyInPieces'>,
  pause: () => Promise<void>,
): Promise<number | string> {
  try {
    const { entries, broken } = await journal.verifyInPieces(pause)
    return broken === null ? entries : `entry ${broken.seq} does not fit the chain (${broken.problem})`
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code !== 'JOURNAL_CORRUPT') throw error
    return error.message
  }
}
