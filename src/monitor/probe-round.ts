/**
 * Asks the probes of the suspect hosts, side by side and bounded in number and time. Owns no conclusions. A probe that
 * throws or is late is `unknown`: it may never hold up a poll, and never counts as dead.
 */
import { setMaxListeners } from 'node:events'
import { deadline, type Clock } from '../domain/clock.ts'
import type { HostName } from '../domain/service.ts'
import type { Probe, ProbeReading } from '../domain/verdict.ts'
import { span } from '../domain/text/span.ts'

export interface ProbeOrder {
  host: HostName
  probes: Probe[]
}

/** Waves of probes in one round; what is not reached by then is unknown. More would make polls slow. */
const wavesAtMost = 2

/**
 * What a probe has beyond its own limit to say how that ended. Without it the round cuts it off in the very moment in which a
 * time-out becomes its answer, and no silent host would ever read as dead.
 */
export const answerMarginMs = 250

export async function probeRound(
  orders: readonly ProbeOrder[],
  options: { clock: Clock; limitMs: number; atOnce: number; signal?: AbortSignal | undefined },
): Promise<Map<HostName, ProbeReading[]>> {
  const { clock, limitMs } = options
  const readings = new Map<HostName, ProbeReading[]>(orders.map((order) => [order.host, []]))
  const waiting = orders.flatMap((order) => order.probes.map((probe) => ({ host: order.host, probe })))
  const round = deadline(clock, (limitMs + answerMarginMs) * wavesAtMost, options.signal)
  // Every probe of the round listens to its end; Node takes more than ten for a leak and says so.
  setMaxListeners(0, round.signal)
  let next = 0
  const work = async (): Promise<void> => {
    for (let job = waiting[next++]; job; job = waiting[next++]) {
      const reading = round.signal.aborted
        ? unasked(job.probe, clock, 'not asked in time: too many suspect hosts')
        : await ask(job.probe, job.host, clock, limitMs, round.signal)
      readings.get(job.host)?.push(reading)
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.atOnce, waiting.length) }, work))
  round.release()
  return readings
}

async function ask(
  probe: Probe,
  host: HostName,
  clock: Clock,
  limitMs: number,
  parent: AbortSignal,
): Promise<ProbeReading> {
  const limit = deadline(clock, limitMs + answerMarginMs, parent)
  try {
    const late = new Promise<ProbeReading>((resolve) => {
      const give = (): void =>
        resolve(
          parent.aborted
            ? unasked(probe, clock, 'cut off: too many suspect hosts')
            : unknown(probe, clock, `no answer within ${span(limitMs)}`),
        )
      if (limit.signal.aborted) give()
      else limit.signal.addEventListener('abort', give, { once: true })
    })
    return await Promise.race([probe.read(host, limit.signal), late])
  } catch (thrown) {
    return unknown(probe, clock, thrown instanceof Error ? thrown.message : String(thrown))
  } finally {
    limit.release()
  }
}

function unasked(probe: Probe, clock: Clock, detail: string): ProbeReading {
  return { ...unknown(probe, clock, detail), unasked: true }
}

function unknown(probe: Probe, clock: Clock, detail: string): ProbeReading {
  return { probe: probe.name, kind: probe.kind, answer: 'unknown', detail, at: new Date(clock.wall()).toISOString() }
}
