/** A step driver that does as the test says and counts what was asked of it. */
import type { CallOptions } from '../../../src/domain/cloud.ts'
import type { LifeboatError } from '../../../src/domain/errors.ts'
import type { RecipeStep, RetryPolicy } from '../../../src/domain/plan.ts'
import type { Evacuated } from '../../../src/domain/step-payloads.ts'
import type { Act } from '../../../src/executor/context.ts'
import type { Overdue, Prepared, StepDriver } from '../../../src/executor/step-driver.ts'
import { stepKey } from '../../../src/executor/attempt.ts'
import { runStep } from '../../../src/executor/step-runner.ts'
import { asked, landed, was, type Stage } from './stage.ts'

export type Answer = LifeboatError | 'well'

/** Answers in turn; the last one stays. Counts what was asked of it. */
export class Actor implements StepDriver<'evacuate'> {
  sends: Answer[] = ['well']
  follows: Answer[] = ['well']
  /** What is said when its time is over. */
  late: Overdue | undefined
  prepares: (Prepared<'evacuate'> | LifeboatError)[] = [{ before: was, request: asked }]
  settles: ({ applied: boolean; begun?: boolean } | LifeboatError)[] = [{ applied: false }]
  quiet: number[] = []
  sent = 0
  sentAs: CallOptions[] = []
  followedFrom: string[] = []
  onSend: () => void = () => undefined
  onBefore: () => void = () => undefined
  following: Promise<Evacuated> | null = null
  followedBy: AbortSignal | null = null

  readonly before = async (): Promise<Prepared<'evacuate'>> => {
    this.onBefore()
    const next = take(this.prepares)
    if (next instanceof Error) throw next
    return next
  }

  readonly send: StepDriver['send'] = async (_scene, as) => {
    this.sentAs.push(as)
    this.onSend()
    this.sent++
    const next = take(this.sends)
    if (next instanceof Error) throw next
    return { requestId: `req-${this.sent}` }
  }

  readonly follow: StepDriver<'evacuate'>['follow'] = async ({ signal }, { status, requestId }) => {
    this.followedBy = signal
    this.followedFrom.push(`${status} ${requestId}`)
    if (this.following !== null) return this.following
    const next = take(this.follows)
    if (next instanceof Error) throw next
    return landed
  }

  readonly overdue = (): Overdue => this.late ?? { goesOn: false, where: null, details: {} }

  readonly reconcile: StepDriver['reconcile'] = async (_scene, _record, quietMs) => {
    this.quiet.push(quietMs)
    const next = take(this.settles)
    if (next instanceof Error) throw next
    return { applied: next.applied, requestId: next.applied || next.begun === true ? 'found' : null }
  }
}

export function take<T>(answers: T[]): T {
  return answers.length > 1 ? answers.shift()! : answers[0]!
}

export const retry = (changes: Partial<RetryPolicy> = {}): Partial<RecipeStep> => ({
  retry: { on: ['INSTANCE_BUSY', 'API_UNAVAILABLE'], attempts: 4, firstMs: 1_000, capMs: 3_000, ...changes },
})

export function run(stage: Stage, actor: Actor, step: Partial<RecipeStep> = {}, act: Act = 'begins') {
  return runStep(actor, stage.scene(step, act), stage.gate, stage.slots)
}

export const ending = (stage: Stage, actor: Actor, step: Partial<RecipeStep> = {}) =>
  stage.ending(run(stage, actor, step))

/** What came of an evacuation that an earlier run had confirmed. */
export const landedBefore: Evacuated = { ...landed, migration: 'm-0' }

/** The step as an earlier run left it. */
export async function leftBehind(stage: Stage, ...kinds: ('intended' | 'issued' | 'confirmed')[]): Promise<void> {
  const base = { incident: 'inc-1', host: 'dead', instance: 'i-1', step: stepKey(stage.scene(), 1) }
  const data = {
    intended: { kind: 'step.intended', ...base, data: { kind: 'evacuate', attempt: 1, before: was, request: asked } },
    issued: { kind: 'step.issued', ...base, data: { requestId: 'req-old' } },
    confirmed: { kind: 'step.confirmed', ...base, data: { result: landedBefore } },
  } as const
  stage.run.journal.append(kinds.map((kind) => data[kind]))
}
