import { describe, expect, it } from 'vitest'
import type { Entry, EntryData, EntryKind } from '../../src/domain/entry.ts'
import { fakeJournal, run } from './fake-commands.ts'

let seq = 0
function entry<K extends EntryKind>(kind: K, data: Partial<EntryData[K]>): Entry {
  const about = { actor: 'daemon', incident: null, host: 'cmp01', instance: null, step: null, prevHash: '', hash: '' }
  return { seq: ++seq, at: `2026-01-02T03:04:0${seq % 10}.000Z`, ...about, kind, data } as unknown as Entry
}

const notice = { id: 'n1', topic: 'host-down', severity: 'critical', host: 'cmp01', project: null } as const
const entries = [
  entry('notice.queued', { ...notice, receivers: ['pager', 'room', 'mail', 'late'] }),
  entry('notice.sent', { notice: 'n1', receiver: 'pager', attempt: 1, result: 'HTTP 204', tookMs: 3 }),
  entry('notice.failed', { notice: 'n1', receiver: 'room', attempt: 2, problem: 'HTTP 503', retryInMs: 1 }),
  entry('notice.dead-lettered', { notice: 'n1', receiver: 'mail', attempts: 1, code: 'REFUSED', message: 'HTTP 400' }),
]
const journal = { openReader: () => fakeJournal({ each: () => entries }) }

describe('notice list', () => {
  it('shows how far each has come at each receiver', async () => {
    const { out } = await run(['notice', 'list', '-f', 'json'], journal)
    const rows = JSON.parse(out) as Record<string, unknown>[]
    expect(rows.map((row) => [row['Receiver'], row['State'], row['Tries'], row['Detail']])).toEqual([
      ['pager', 'sent', 1, 'HTTP 204'],
      ['room', 'retrying', 2, 'HTTP 503'],
      ['mail', 'dead', 1, 'HTTP 400'],
      ['late', 'waiting', 0, null],
    ])
  })

  it.each([
    [['--dead'], ['mail']],
    [['--state', 'sent'], ['pager']],
    [['--receiver', 'room'], ['room']],
    [
      ['--limit', '1'],
      ['pager', 'room', 'mail', 'late'],
    ],
  ])('%j', async (options, expected) => {
    const { out } = await run(['notice', 'list', '-f', 'value', '-c', 'Receiver', ...options], journal)
    expect(out.trim().split('\n')).toEqual(expected)
  })

  it('is by receiver first: what waits for one that is dead pushes out no other', async () => {
    const receivers = ['dead', 'pager']
    const waiting = Array.from({ length: 58 }, (_, n) =>
      entry('notice.queued', { ...notice, id: `w${n}`, receivers: n === 0 ? receivers : ['dead'] }),
    )
    const { out } = await run(['notice', 'list', '-f', 'json'], {
      openReader: () => fakeJournal({ each: () => waiting }),
    })
    const rows = JSON.parse(out) as Record<string, unknown>[]
    const dead = rows.filter((row) => row['Receiver'] === 'dead')
    expect([dead.length, dead[0]?.['ID'], dead.at(-1)?.['ID']]).toEqual([20, 'w38', 'w57'])
    expect(rows.at(-1)).toMatchObject({ Receiver: 'pager', ID: 'w0' })
  })

  it('refuses a state that there is not', async () => {
    expect(await run(['notice', 'list', '--state', 'lost'], journal)).toMatchObject({ exit: 2 })
  })
})

describe('notice test', () => {
  it('says what the receiver said, in the name of a person', async () => {
    const asked: unknown[] = []
    const { exit, out } = await run(['notice', 'test', 'pager'], {
      testNotice: (_config, order) => {
        asked.push(order)
        return Promise.resolve({ ok: true, detail: 'HTTP 204' })
      },
    })
    expect({ exit, out }).toEqual({ exit: 0, out: 'pager accepted the test: HTTP 204\n' })
    expect(asked).toEqual([{ receiver: 'pager', by: 'alice', project: null }])
  })

  it('that is not taken fails', async () => {
    const testNotice = () => Promise.resolve({ ok: false, detail: 'HTTP 503' })
    expect(await run(['notice', 'test', 'pager'], { testNotice })).toMatchObject({
      ...{ exit: 1, err: 'lifeboat: pager refused the test: HTTP 503\n' },
    })
  })
})
