/** `lifeboat plan --all`: show whether each host could fail safely now, as far as the daemon knows. */
import { gapCodes, type HostReadiness } from '../../domain/readiness.ts'
import { span } from '../../domain/text/span.ts'
import { fencingTone, hostTone } from '../../domain/text/tone.ts'
import { verdictWord } from '../../domain/verdict.ts'
import type { Column } from '../output/formats.ts'
import { toned } from '../output/words.ts'
import type { Session } from '../session.ts'
import { clockTime } from '../wording.ts'

export const readinessColumns: Column<HostReadiness>[] = [
  { title: 'Host', type: 'string', means: "Nova's name of it", whole: true, value: (it) => it.host },
  { title: 'Segment', type: 'string', means: 'The segment whose rules apply to it', value: (it) => it.segment },
  {
    title: 'Verdict',
    type: 'string',
    means: 'What Lifeboat concludes about it',
    whole: true,
    value: (it) => it.verdict,
    text: (it) => toned(hostTone(it), verdictWord({ ...it, kind: it.verdict })),
  },
  {
    title: 'Instances',
    type: 'integer?',
    means: 'How many are on it; null: not read yet',
    value: (it) => it.plan?.instances ?? null,
  },
  {
    title: 'Back',
    type: 'integer?',
    means: 'How many of them would be recovered',
    value: (it) => it.plan?.back ?? null,
  },
  {
    title: 'Left',
    type: 'list of objects',
    means: 'The others by reason: `decision`, `reason`, `message`, `instances`, `names` (the first of them)',
    whenNamed: true,
    value: (it) => it.plan?.left ?? [],
    text: (it) => (it.plan?.left ?? []).map(({ reason, instances }) => `${instances} ${reason}`).join('\n'),
  },
  {
    title: 'Read',
    type: 'time?',
    means: 'When Lifeboat read its instances from Nova',
    whenNamed: true,
    value: (it) => it.plan?.at ?? null,
    text: (it) => (it.plan === null ? '' : clockTime(it.plan.at)),
  },
  {
    title: 'Fencing',
    type: 'string',
    means: 'Whether a fencing method could prove it dead: `answers`, `silent`, `unread` (not read yet), `none`',
    value: (it) => it.fencing.state,
    text: (it) => toned(fencingTone[it.fencing.state], it.fencing.state),
  },
  {
    title: 'Methods',
    type: 'list of objects',
    means:
      'The last reading of each fencing method: `method`, `power` (`unknown`: no answer; null: not read, or not configured for it), `detail`, `at`',
    whenNamed: true,
    value: (it) => it.fencing.methods,
    text: (it) =>
      it.fencing.methods
        .map(({ method, detail, at }) => `${method}: ${detail}${at === null ? '' : `, ${clockTime(at)}`}`)
        .join('\n'),
  },
  {
    title: 'Probes',
    type: 'list of objects',
    means: 'Each probe: `probe`, and `last`, its last reading; a host that beats is not probed',
    whenNamed: true,
    value: (it) => it.probes,
    text: (it) => it.probes.map(({ probe, last }) => `${probe} ${last?.answer ?? 'not asked'}`).join(', '),
  },
  {
    title: 'Time',
    type: 'integer?',
    means:
      'Milliseconds from the verdict until the last instance would be back, judging by earlier recoveries; null: unknown',
    value: (it) => it.estimateMs,
    text: (it) => (it.estimateMs === null ? 'unknown' : span(it.estimateMs)),
  },
  {
    title: 'Holds',
    type: 'list of objects',
    means: 'Why its recovery would wait: `code` (`MAINTENANCE`, `PAUSED`, `FROZEN`, `BRAKE`), `message`',
    value: (it) => it.holds,
    text: (it) => it.holds.map(({ code }) => code).join('\n'),
  },
  {
    title: 'Missing',
    type: 'list of objects',
    means: 'What it lacks to fail safely: `code`, `message`',
    value: (it) => it.missing,
    text: (it) => it.missing.map(({ code }) => code).join('\n'),
  },
]

/** For people what holds for the cloud stands above the table, and what its codes mean below. */
export async function planAll(session: Session): Promise<void> {
  const { sentences, hosts } = await session.daemon().readiness()
  const shape = session.shape()
  const onScreen = shape.format === 'table'
  if (onScreen) for (const sentence of sentences) session.say(sentence)
  const inOrder = hosts.toSorted((a, b) => a.host.localeCompare(b.host, 'en', { numeric: true }))
  session.list(inOrder, readinessColumns)
  if (!onScreen) return
  const seen = new Set(hosts.flatMap(({ missing }) => missing.map(({ code }) => code)))
  for (const code of seen) session.say(`${code}: ${gapCodes[code]}`)
}
