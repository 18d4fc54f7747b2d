/** The chain on a clock that tests move by hand: limits, tries, and what is said of each. */
import { describe, expect, it } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { FenceAttempt, FencingProof } from '../../src/domain/fencing.ts'
import { attemptPauseMs, type MethodLimits } from '../../src/fencing/chain.ts'
import { createFencer } from '../../src/fencing/fencer.ts'
import type { FencingMethod } from '../../src/fencing/method.ts'
import { HandClock } from '../monitor/setup.ts'

/** A method that does `off`; by default it acts, never ends, and takes no notice of its signal. */
function method(name: string, off: FencingMethod['off'] = actsAndHangs): FencingMethod {
  const look = (): ReturnType<FencingMethod['look']> => Promise.resolve({ power: 'off', detail: 'off' })
  return { name, strength: 'command-verified', covers: () => true, off, look }
}
const actsAndHangs: FencingMethod['off'] = (_host, _signal, mayAct) => {
  mayAct?.()
  return new Promise(() => undefined)
}
const works = (name: string): FencingMethod => method(name, () => Promise.resolve(['seen off']))
const fails = (name: string, certainty: 'unknown' | 'not-applied' = 'not-applied'): FencingMethod =>
  method(name, () => Promise.reject(new LifeboatError('FENCE_FAILED', `${name} broke`, { certainty })))

interface Told {
  clock: HandClock
  attempts: FenceAttempt[]
  proof: () => FencingProof
  error: () => LifeboatError
}

/** Runs the chain, moving the clock in steps until it ended; time stands still while anything but the clock is awaited. */
async function run(
  methods: FencingMethod[],
  options: {
    limits?: Record<string, MethodLimits>
    limitMs?: number
    stopAtMs?: number
    stopReason?: Error
    /** What forbids going on, by the time since the chain began. */
    forbids?: (ms: number) => Error | null
  } = {},
): Promise<Told> {
  const clock = new HandClock()
  const attempts: FenceAttempt[] = []
  const stop = new AbortController()
  const fencer = createFencer({
    clock,
    observer: {},
    methods: new Map(methods.map((it) => [it.name, it])),
    limits: new Map(Object.entries(options.limits ?? {})),
  })
  const end: { proof?: FencingProof; error?: unknown } = {}
  const ended = (): boolean => 'proof' in end || 'error' in end
  const began = clock.now()
  const names = methods.map(({ name }) => name)
  const work = fencer
    .fence('h1', names, (attempt) => attempts.push({ ...attempt, message: attempt.message }), {
      signal: stop.signal,
      limitMs: options.limitMs,
      mayGoOn: () => {
        const forbidden = options.forbids?.(clock.now() - began) ?? null
        if (forbidden !== null) throw forbidden
      },
    })
    .then(
      (made) => (end.proof = made),
      (thrown: unknown) => (end.error = thrown),
    )
  for (let turn = 0; turn < 5_000 && !ended(); turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (ended()) break
    if (options.stopAtMs !== undefined && clock.now() - began >= options.stopAtMs) stop.abort(options.stopReason)
    else clock.advance(100)
  }
  await work
  return {
    clock,
    attempts,
    proof: () => end.proof ?? expect.unreachable('no proof'),
    error: () =>
      end.error instanceof LifeboatError ? end.error : expect.unreachable(`no error: ${String(end.error)}`),
  }
}

const short = { limitMs: 2_000, attempts: 1 }

describe('a method that hangs', () => {
  it('is cut off at its limit, said to be unknown, and the next one is tried', async () => {
    const { attempts, proof } = await run([method('bmc'), works('ceph')], { limits: { bmc: short } })
    expect(proof()).toMatchObject({ method: 'ceph', strength: 'command-verified' })
    expect(attempts.map(({ method: name, phase, certainty }) => [name, phase, certainty])).toEqual([
      ['bmc', 'trying', undefined],
      ['bmc', 'failed', 'unknown'],
      ['ceph', 'trying', undefined],
      ['ceph', 'succeeded', undefined],
    ])
    const [first, second] = attempts
    expect(second?.message).toBe('bmc did not end within 2 s and was cut off: nobody knows whether it fenced h1')
    expect(first).toMatchObject({ position: 1, of: 2, attempt: 1, attempts: 1, limitMs: 2_000 })
    expect(Date.parse(second?.endedAt ?? '') - Date.parse(second?.startedAt ?? '')).toBe(2_000)
  })

  it('that is the only one leaves the host unverified, its effect unknown', async () => {
    const told = await run([method('bmc')], { limits: { bmc: short } })
    expect(told.error()).toMatchObject({ code: 'FENCE_UNVERIFIED', certainty: 'unknown', retry: 'backoff' })
    expect(told.error().message).toContain('nobody knows whether it fenced h1')
  })

  it('what it throws because it was cut off is not what is said', async () => {
    const obeys = method('bmc', (_host, signal) => {
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new LifeboatError('FENCE_FAILED', 'aborted')))
      })
    })
    const told = await run([obeys], { limits: { bmc: short } })
    expect(told.attempts[1]).toMatchObject({ phase: 'failed', certainty: 'unknown' })
    expect(told.attempts[1]?.message).toContain('was cut off')
  })
})

describe('tries', () => {
  it('a method is tried as often as it may be, with a pause, and then the next', async () => {
    const { attempts, proof } = await run([fails('bmc'), works('ceph')], { limits: { bmc: { ...short, attempts: 3 } } })
    expect(proof().method).toBe('ceph')
    const tries = attempts.filter(({ method: name, phase }) => name === 'bmc' && phase === 'trying')
    expect(tries.map(({ attempt, attempts: of }) => [attempt, of])).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ])
    const [first, second] = tries.map(({ startedAt }) => Date.parse(startedAt ?? ''))
    expect((second ?? 0) - (first ?? 0)).toBe(attemptPauseMs)
  })

  it('one that works at the second try needs no third', async () => {
    let calls = 0
    const flaky = method('bmc', () =>
      ++calls === 2 ? Promise.resolve(['off']) : Promise.reject(new LifeboatError('FENCE_FAILED', 'hiccup')),
    )
    expect((await run([flaky], { limits: { bmc: { ...short, attempts: 3 } } })).proof().method).toBe('bmc')
    expect(calls).toBe(2)
  })

  it('what every one said is in the error; one that may have acted makes it unknown', async () => {
    const told = await run([fails('bmc', 'unknown'), fails('ceph')])
    expect(told.error()).toMatchObject({ code: 'FENCE_FAILED', certainty: 'unknown' })
    expect(told.error().message).toBe('h1 could not be fenced; bmc broke; ceph broke')
    expect((await run([fails('bmc'), fails('ceph')])).error().certainty).toBe('not-applied')
  })
})

describe('the whole chain', () => {
  it('has a limit: the method that runs is cut off by it, and no other is begun', async () => {
    const told = await run([method('bmc'), works('ceph')], { limits: { bmc: short }, limitMs: 1_500 })
    expect(told.attempts.map(({ method: name, phase }) => `${name} ${phase}`)).toEqual(['bmc trying', 'bmc failed'])
    expect(told.attempts[0]?.limitMs).toBe(1_500)
    expect(told.error()).toMatchObject({ code: 'FENCE_UNVERIFIED', certainty: 'unknown' })
    expect(told.error().message).toContain('1.5 s for the whole chain are over')
  })

  it('that is just long enough reaches its last method', async () => {
    const told = await run([method('bmc'), works('ceph')], { limits: { bmc: short }, limitMs: 2_001 })
    expect(told.proof().method).toBe('ceph')
  })

  it('stopped in the middle of a method ends as a stop, its effect unknown', async () => {
    const told = await run([method('bmc'), works('ceph')], { stopAtMs: 1_000 })
    expect(told.error()).toMatchObject({ code: 'SHUTDOWN', certainty: 'unknown' })
    expect(told.attempts.at(-1)).toMatchObject({ method: 'bmc', phase: 'failed', certainty: 'unknown' })
  })
})

describe('a chain that must not go on', () => {
  const back = new LifeboatError('FENCE_STOPPED', 'the host is back')
  const afterASecond = (ms: number): Error | null => (ms > 1_000 ? back : null)

  it('tries no further method, and no further time, and what may have been done stays unknown', async () => {
    const twice = { limitMs: 2_000, attempts: 2 }
    const told = await run([method('bmc'), works('ceph')], { limits: { bmc: twice }, forbids: afterASecond })
    expect(told.attempts.map(({ method: name, phase }) => `${name} ${phase}`)).toEqual(['bmc trying', 'bmc failed'])
    expect(told.error()).toMatchObject({ code: 'FENCE_STOPPED', certainty: 'unknown' })
    expect(told.error().message).toBe('Fencing of h1 was stopped: the host is back; nobody knows whether it was fenced')
  })

  it('after methods that did nothing has done nothing', async () => {
    const slowly = method('bmc', async (_host, signal) => {
      await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      throw new LifeboatError('FENCE_FAILED', 'no answer')
    })
    const told = await run([slowly, works('ceph')], { stopAtMs: 500, stopReason: back })
    expect(told.error()).toMatchObject({ code: 'FENCE_STOPPED', certainty: 'not-applied' })
    expect(told.attempts.at(-1)).toMatchObject({ phase: 'failed', certainty: 'not-applied' })
  })

  it('asks right before the act: a method that was reading when the host came back does not act', async () => {
    let acted = false
    const reads = method('bmc', async (_host, signal, mayAct) => {
      await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      mayAct?.()
      acted = true
      return ['off']
    })
    // Cut off by its own limit first, and reading on all the same.
    await run([reads], { limits: { bmc: short } })
    await run([reads], { stopAtMs: 500, stopReason: back })
    const late = method('bmc', async (_host, _signal, mayAct) => {
      await Promise.resolve()
      mayAct?.()
      acted = true
      return ['off']
    })
    let asked = 0
    const told = await run([late], { forbids: () => (++asked > 1 ? back : null) })
    expect(told.error()).toMatchObject({ code: 'FENCE_STOPPED', certainty: 'not-applied' })
    expect(acted).toBe(false)
  })

  it('cuts off what runs, and says why', async () => {
    const told = await run([method('bmc'), works('ceph')], { stopAtMs: 500, stopReason: back })
    expect(told.error()).toMatchObject({ code: 'FENCE_STOPPED', certainty: 'unknown' })
    expect(told.attempts.at(-1)).toMatchObject({ method: 'bmc', phase: 'failed', certainty: 'unknown' })
    expect(told.attempts.at(-1)?.message).toContain('was stopped: the host is back; nobody knows')
  })
})

describe('proofs that lapse', () => {
  const record = { host: 'h1', method: 'ceph', strength: 'command-verified', provenAt: '', statedBy: null } as const
  const renewing = (renew: FencingMethod['renew']): FencingMethod => ({
    ...works('ceph'),
    proves: 'storage',
    renewEveryMs: 600_000,
    ...(renew && { renew }),
  })
  const fencerOf = (it: FencingMethod) =>
    createFencer({ clock: new HandClock(), observer: {}, methods: new Map([[it.name, it]]) })

  it('are made again before they are read, and their evidence does not grow', async () => {
    const order: string[] = []
    const it = renewing(() => {
      order.push('renewed')
      return Promise.resolve(['taken'])
    })
    const look = it.look
    it.look = (host) => {
      order.push('read')
      return look(host)
    }
    const fencer = fencerOf(it)
    expect(fencer.renewEveryMs('ceph')).toBe(600_000)
    expect(fencer.renewEveryMs('nothing')).toBeNull()
    const once = await fencer.restore({ ...record, evidence: ['first'] })
    const twice = await fencer.restore({ ...once, evidence: [...once.evidence] })
    expect(order).toEqual(['renewed', 'read', 'renewed', 'read'])
    expect(twice).toMatchObject({ proves: 'storage' })
    expect(twice.evidence).toHaveLength(3)
    expect(twice.evidence[0]).toBe('first')
  })

  it('that cannot be made again prove nothing, whatever is read', async () => {
    const broken = renewing(() => Promise.reject(new LifeboatError('FENCE_FAILED', 'no quorum')))
    await expect(fencerOf(broken).restore({ ...record, evidence: [] })).rejects.toMatchObject({ code: 'FENCE_FAILED' })
  })
})
