/** Which resizes an instance leaves behind in the queue of its dead host. */
import { expect, it } from 'vitest'
import { LifeboatError } from '../../../src/domain/errors.ts'
import type { Migration } from '../../../src/domain/instance.ts'
import { lateResizes } from '../../../src/executor/late-resizes.ts'
import { asked, landed, evacuation, Stage, was } from './stage.ts'

/** Landed, and with that task right before its evacuation. */
function landedFrom(taskState: string | null, migrations: Migration[]): Stage {
  const stage = new Stage()
  const base = { incident: 'inc-1', host: 'dead', instance: 'i-1', step: '0.go.go.1' }
  const before = { ...was, taskState }
  stage.run.journal.append([
    { kind: 'step.intended', ...base, data: { kind: 'evacuate', attempt: 1, before, request: asked } },
    { kind: 'step.issued', ...base, data: { requestId: 'req-1' } },
    { kind: 'step.confirmed', ...base, data: { result: landed } },
  ])
  stage.migrations = migrations
  return stage
}

const resize = (id: number, change: Partial<Migration> = {}): Migration =>
  evacuation(id, { type: 'resize', status: 'pre-migrating', sourceHost: 'dead', ...change })

const found = async (stage: Stage): Promise<unknown> => {
  const ended = await stage.ending(lateResizes(stage.run, stage.recovery, stage.trouble))
  return typeof ended === 'string'
    ? ended
    : ended.map(({ data }) => (data as { waitsAt?: { migration: string } }).waitsAt?.migration)
}

it('those that the dead host has not taken', async () => {
  const records = [
    resize(1),
    resize(2, { type: 'migration', status: 'accepted' }),
    resize(3, { status: 'error' }),
    resize(4, { sourceHost: 'alive' }),
    evacuation(5, { status: 'accepted', sourceHost: 'dead' }),
  ]
  expect(await found(landedFrom('resize_prep', records))).toEqual([records[0]!.uuid, records[1]!.uuid])
})

it('none is looked for where no task told of one, or the instance has not landed', async () => {
  for (const stage of [landedFrom('resize_migrating', [resize(1)]), new Stage()]) {
    expect(await found(stage)).toEqual([])
    expect(stage.calls).toEqual([])
  }
})

it('one that is on record is not recorded again', async () => {
  const stage = landedFrom('resize_prep', [resize(1)])
  stage.run.journal.append(await lateResizes(stage.run, stage.recovery, stage.trouble))
  expect(await found(stage)).toEqual([])
})

it('where the records may not be read the recovery goes on, and people are told that one may wait', async () => {
  const stage = landedFrom('resize_prep', [resize(1)])
  stage.fails('listMigrations', new LifeboatError('AUTH_FORBIDDEN', 'policy'))
  expect(await stage.ending(lateResizes(stage.run, stage.recovery, stage.trouble))).toMatchObject([
    { kind: 'debt.recorded', instance: 'i-1', data: { code: 'ORDERS_UNREAD' } },
    { kind: 'alarm.raised', data: { code: 'ORDERS_UNREAD' } },
  ])
})
