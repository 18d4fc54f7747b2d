/** Whether a host that shall be recovered is known to live: then nobody's word counts against its beat. Pure. */
import { isBeating, type Verdict } from '../domain/verdict.ts'
import type { Monitor } from '../monitor/monitor.ts'

export interface Refusal {
  code: 'HOST_ALIVE' | 'MONITOR_FROZEN'
  message: string
}

/** Why the verdict on each host may be older than what has happened to it since; null where it is of the last poll. */
export function whyOld(monitor: Pick<Monitor, 'frozen' | 'lastPoll'>): string | null {
  const reason = monitor.frozen()?.message ?? null
  if (reason !== null) return reason
  const last = monitor.lastPoll()
  return last?.ok === true ? null : (last?.error ?? 'Nova has not been read yet')
}

/** Null where the host does not beat. @param old why its verdict may be old, or null */
export function refusalOfLiving(host: string, verdict: Verdict, old: string | null): Refusal | null {
  if (!isBeating(verdict)) return null
  const unheard = old ?? (verdict.reason === 'WAITING_AFTER_FREEZE' ? verdict.message : null)
  if (unheard === null)
    return { code: 'HOST_ALIVE', message: `${host} is beating (${verdict.message}); a living host is never evacuated` }
  const message = `${host} was beating when Lifeboat last heard of it, and whether it does now cannot be told: ${unheard}. Nothing can be recovered meanwhile. Say this again once Nova is read and verdicts are not frozen`
  return { code: 'MONITOR_FROZEN', message }
}
