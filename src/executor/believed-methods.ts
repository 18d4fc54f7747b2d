/**
 * Which fencing methods may still prove a host dead after a destination was refused a disk of it. The old guest holds that lock, or a
 * guest that is dead has left it: some file systems keep it for a while (docs/nova.md §2.5). So the method that said "off" is asked
 * once more when no such lock can be left, and then never again in this incident: its board may be that of another machine. Pure.
 */
import type { DiskInUse, Incident } from '../domain/incident.ts'
import { span } from '../domain/text/span.ts'

/**
 * How long a lock may outlive its guest. NFS servers keep the locks of a client that fell silent for a lease of 90 s by default. Shorter: a
 * person is called although the machine is off. Longer: a recovery whose fence told the truth waits for as long.
 */
export const lockLifeMs = 120_000

export interface BelievedMethods {
  /** In the order in which they are tried: what was doubted once comes last. */
  methods: string[]
  /** Of those left out: why, and what comes next. Null: none is. */
  doubt: string | null
}

/** @param wallMs our wall clock, as the times of the journal */
export function believedMethods(
  { host, disksInUse }: Pick<Incident, 'host' | 'disksInUse'>,
  listed: readonly string[],
  wallMs: number,
): BelievedMethods {
  const judged = listed.map((method) => ({ method, ...judge(disksInUse.get(method), wallMs) }))
  const those = (is: Judgement['is']): string[] => judged.filter((each) => each.is === is).map(({ method }) => method)
  const [waiting] = judged.filter(({ is }) => is === 'waits')
  const lied = those('lied')
  const said = [
    lied.length > 0 &&
      `${lied.join(' and ')} said that ${host} is off, and later than ${span(lockLifeMs)} after that a destination was refused a disk of it, which its guest has open: ${lied.length === 1 ? 'it is' : 'they are'} not believed again in this incident, and may switch another machine`,
    waiting !== undefined &&
      `a destination was refused a disk of ${host} after ${waiting.method} had said that it is off: either its guest runs, or the lock of a dead one has not expired. ${waiting.method} is asked again at ${new Date(waiting.until).toISOString()}`,
  ].filter((each) => each !== false)
  return { methods: [...those('believed'), ...those('last')], doubt: said.length === 0 ? null : said.join('; ') }
}

interface Judgement {
  is: 'believed' | 'waits' | 'last' | 'lied'
  /** Wall time until which it waits, ms. */
  until: number
}

function judge(found: DiskInUse | undefined, wallMs: number): Judgement {
  if (found === undefined) return { is: 'believed', until: 0 }
  const provenMs = Date.parse(found.provenAt)
  const until = provenMs + lockLifeMs
  if (found.times > 1 || Date.parse(found.at) >= until) return { is: 'lied', until }
  // A wall clock that was set back makes the wait no longer than it is.
  return { is: wallMs >= provenMs && wallMs < until ? 'waits' : 'last', until }
}
