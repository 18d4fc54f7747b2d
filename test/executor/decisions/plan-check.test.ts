/** When an owner's words are read again, and what they change. */
import { expect, it } from 'vitest'
import type { NewEntry } from '../../../src/domain/entry.ts'
import type { InstanceRecovery } from '../../../src/domain/incident.ts'
import type { Instance } from '../../../src/domain/instance.ts'
import type { Segment } from '../../../src/domain/segment.ts'
import type { Survey } from '../../../src/domain/survey.ts'
import type { Attempt } from '../../../src/executor/context.ts'
import { PlanCheck, PlanReplaced } from '../../../src/executor/plan-check.ts'
import { instance, survey } from '../../engine/surveys.ts'

const minute = 60_000
const before = instance({ id: 'a', metadata: { team: 'red' }, tags: ['x', 'y'] })
const asked = { ...before, metadata: { team: 'red', lifeboat: 'leave' } }

interface Steps {
  kind?: string
  status: string
  certainty?: string
  /** Its answer was lost, and Nova shows no trace of it. */
  unserved?: boolean
}

/** One instance, planned at time 0. The planner leaves it where it finds the wish. */
function scene(steps: Steps[] = []) {
  const clock = { now: () => time, wall: () => time, after: () => () => undefined }
  let time = 0
  let shown = before
  let readAt = 0
  let listings = 0
  const written: NewEntry[] = []
  const plan = { instanceId: 'a', decision: 'recover', original: { instance: before } }
  const rows = steps.map(({ kind = 'evacuate', status, certainty, unserved }, index) => [
    `0.r.${kind}.${index}`,
    { kind, before: {}, status, error: certainty === undefined ? null : { certainty, details: { unserved } } },
  ])
  const recovery = { plan, outcome: null, round: 0, steps: new Map(rows as []) } as unknown as InstanceRecovery
  const segment = { name: 's', storage: 'shared', policy: {} } as unknown as Segment
  const workflow = {
    plan: ({ instances }: Survey) => ({
      instances: instances.map((one) => {
        const leaves = one.metadata['lifeboat'] === 'leave'
        return { ...plan, decision: leaves ? 'leave' : 'recover', reason: leaves ? 'WISH_LEAVE' : 'RUNNING' }
      }),
    }),
  }
  let inForce = { ...workflow, wishes: 'lifeboat' }
  const permissions = {
    incident: () => ({ workflowDigest: 'd', instances: new Map([['a', recovery]]) }),
    segment: () => segment,
    workflow: () => inForce,
  }
  const journal = {
    append: (entries: NewEntry[]) => {
      written.push(...entries)
      // As the fold does.
      for (const { kind, data } of entries) if (kind === 'plan.made') recovery.plan = data
    },
  }
  const check = new PlanCheck(
    { permissions, journal, clock, id: 'i', host: 'dead' } as unknown as ConstructorParameters<typeof PlanCheck>[0],
    () => Promise.resolve(survey([shown])),
  )
  check.made(segment)
  const see = (): void => {
    readAt = time
  }
  const watch = {
    instance: () => shown,
    shownAt: () => readAt,
    list: () => {
      listings += 1
      see()
      return Promise.resolve()
    },
  }
  const attempt = (kind: string): Attempt =>
    ({ plan, recovery, watch, act: 'begins', step: { do: kind } }) as unknown as Attempt
  return {
    check,
    written,
    attempt,
    recovery,
    /** The workflow is parsed again, by these settings. */
    reload: (wishes: string) => (inForce = { ...workflow, wishes }),
    listings: () => listings,
    /** Nova shows that from then on; `read`: and it was read then. */
    at: (ms: number, now: Instance, read = true) => {
      time = ms
      shown = now
      if (read) see()
    },
  }
}

it.each([
  ['the plan is young', minute, asked, [], true],
  ['nothing was asked for', minute + 1, before, [], true],
  ['only their order differs', minute + 1, { ...before, tags: ['y', 'x'] }, [], true],
  ['something was asked for', minute + 1, asked, [], false],
  ['an evacuation was taken', minute + 1, asked, [{ status: 'failed', certainty: 'applied' }], true],
  ['an evacuation may have been taken', minute + 1, asked, [{ status: 'intended' }], true],
  ['all were refused', minute + 1, asked, [{ status: 'failed', certainty: 'not-applied' }], false],
] as const)('where %s', (_name, ms, now, steps, stands) => {
  const { check, attempt, at } = scene([...steps])
  at(ms, now as Instance)
  expect(check.stands(attempt('evacuate'))).toBe(stands)
})

it.each([
  ['not tried yet', []],
  ['refused until now', [{ status: 'failed', certainty: 'not-applied' }]],
  ['whose lost evacuation was waited out', [{ status: 'failed', certainty: 'not-applied', unserved: true }]],
])('one that is %s and is to be left is planned again', async (_name, steps) => {
  const { check, attempt, at, written } = scene(steps)
  at(minute + 1, asked)
  await expect(check.refresh(attempt('evacuate'))).rejects.toThrow(PlanReplaced)
  expect(written).toMatchObject([{ kind: 'plan.made', instance: 'a', data: { reason: 'WISH_LEAVE' } }])
})

it('a reload that reads the wishes otherwise has what waits planned again', async () => {
  const { check, attempt, at, written, reload } = scene()
  at(1, before)
  reload('lifeboat')
  expect(check.stands(attempt('evacuate'))).toBe(true)
  reload('ha')
  expect(check.stands(attempt('evacuate'))).toBe(false)
  await check.refresh(attempt('evacuate'))
  expect(check.stands(attempt('evacuate'))).toBe(true)
  at(1, asked)
  reload('lifeboat')
  await expect(check.refresh(attempt('evacuate'))).rejects.toThrow(PlanReplaced)
  expect(written).toMatchObject([{ kind: 'plan.made', data: { reason: 'WISH_LEAVE' } }])
})

it('one that waits because of an earlier incident is not planned without the knowledge of that', async () => {
  const { check, attempt, at, written, reload, recovery } = scene()
  Object.assign(recovery.plan, { decision: 'hold', reason: 'EARLIER_UNSETTLED' })
  at(1, asked)
  reload('ha')
  await check.refresh({ ...attempt('evacuate'), plan: recovery.plan })
  expect(written).toEqual([])
})

it('one whose lock may still be served keeps its rows, and is left by the present rules', async () => {
  const { check, attempt, at, written } = scene([
    { kind: 'lock', status: 'failed', certainty: 'not-applied', unserved: true },
  ])
  at(minute + 1, asked)
  await expect(check.refresh(attempt('lock'))).rejects.toMatchObject({ code: 'RULES_CHANGED' })
  expect(written).toEqual([])
})

it('before the first evacuation nothing is listed, for it looks by itself; before another first step the host is', async () => {
  const old = scene()
  old.at(minute + 1, before, false)
  await old.check.refresh(old.attempt('evacuate'))
  expect(old.listings()).toBe(0)
  await old.check.refresh(old.attempt('lock'))
  expect(old.listings()).toBe(1)
  const young = scene()
  young.at(minute, before, false)
  await young.check.refresh(young.attempt('lock'))
  expect(young.listings()).toBe(0)
})
