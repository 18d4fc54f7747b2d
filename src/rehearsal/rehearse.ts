/** Plays a scenario from its first step to its last and gives its transcript. */
import type { Entry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { VirtualClock } from '../simulator/index.ts'
import { acts } from './acts.ts'
import { holds } from './condition.ts'
import type { Scenario, Step } from './scenario.ts'
import { Stage, type Audience, type Ground } from './stage.ts'
import { Transcript } from './transcript.ts'

/** Longest a script waits for something, in the scenario's own time; beyond it the script or the daemon is wrong. */
const waitLimitMs = 6 * 3_600_000

export interface RehearsalOptions {
  /** Told each line as it is written, with the entry behind it. */
  show?: (line: string, entry: Entry | null) => void
  /** Waits in real time while the scenario's own time passes, for people who watch. Default: not at all. */
  pace?: (virtualMs: number) => Promise<void>
  /** Looks at the stage when the script is over, before it is taken down. */
  inspect?: (stage: Stage) => void
  /** Default: the base configuration and the shipped workflow. */
  ground?: Ground | undefined
}

/** Throws STEP_TIMEOUT when something the script waits for does not come. */
export async function rehearse(scenario: Scenario, options: RehearsalOptions = {}): Promise<Transcript> {
  const { show = () => undefined } = options
  let transcript: Transcript | null = null
  const now = (): number => stage.clock.now()
  const audience: Audience = {
    entry: (entry) => show(transcript?.entry(entry, now()) ?? '', entry),
    said: (line) => show(transcript?.said(line, now()) ?? '', null),
  }
  const stage = await Stage.open(scenario, audience, options.ground)
  try {
    transcript = new Transcript(stage.clock.wall(), stage.names(), scenario.quiet)
    if (scenario.started) await stage.daemonDoes('start')
    for (const step of scenario.script) {
      await reach(stage, step, options)
      if (step.note !== undefined) show(transcript.said(step.note, now()), null)
      stage.forgetEntries()
      if (step.act !== null) await play(stage, step.act, (line) => show(transcript?.said(line, now()) ?? '', null))
    }
    if (stage.daemon !== null) await stage.clock.run(stage.daemonDoes('stop'))
    transcript.end(stage)
    options.inspect?.(stage)
    return transcript
  } finally {
    await stage.close()
  }
}

async function play(
  stage: Stage,
  { name, given }: NonNullable<Step['act']>,
  say: (line: string) => void,
): Promise<void> {
  const act = acts[name]
  if (name !== 'daemon') say(`${name} ${JSON.stringify(given)}`)
  const playing = act.play(stage, given as never)
  if (playing !== undefined) await stage.clock.run(playing)
}

/** Lets time pass until the step's moment. */
async function reach(stage: Stage, { at, after, when, within }: Step, options: RehearsalOptions): Promise<void> {
  const { clock } = stage
  if (when !== undefined) {
    if (await pass(clock, within ?? waitLimitMs, () => holds(stage, when), options)) return
    if (within !== undefined) return
    throw new LifeboatError('STEP_TIMEOUT', `the script waits for what does not come: ${JSON.stringify(when)}`)
  }
  const waitMs = at === undefined ? (after ?? 0) : at - clock.now()
  if (waitMs < 0)
    throw new LifeboatError('USAGE', `the script goes back in time: it is ${clock.now()} ms when ${at} ms is asked for`)
  if (waitMs > 0) await pass(clock, waitMs, () => false, options)
}

/** How much of the scenario's time passes between two waits for people who watch. */
const sliceMs = 500

/** Whether the condition held before the time was over. */
async function pass(
  clock: VirtualClock,
  ms: number,
  condition: () => boolean,
  { pace }: RehearsalOptions,
): Promise<boolean> {
  if (pace === undefined) return clock.pass(ms, condition)
  const end = clock.now() + ms
  while (clock.now() < end) {
    const before = clock.now()
    if (await clock.pass(Math.min(sliceMs, end - before), condition)) return true
    await pace(clock.now() - before)
  }
  return false
}
