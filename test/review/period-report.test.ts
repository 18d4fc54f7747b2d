/** The report of a period: what a week of observing showed. */
import { describe, expect, it } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { PeriodReport } from '../../src/domain/period-report.ts'
import type { Readiness } from '../../src/domain/readiness.ts'
import type { Verdict, VerdictKind } from '../../src/domain/verdict.ts'
import { openJournalAccess } from '../../src/review/journal-access.ts'
import { aHostReadiness, aReadiness } from '../api/a-readiness.ts'
import { SmallWorld } from '../daemon/small-world.ts'
import { incidentEntries, newJournal, started, testClock } from '../journal/fixtures.ts'

const retry = { fenceRetryMs: 1_000, fenceRetryMaxMs: 1_000 }
const whole = { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' }

/** The report of a journal with these entries, the wall clock moving on between them, its text, and its text in brief. */
function reported(
  entries: NewEntry[][],
  readiness: Readiness | null = null,
  period = whole,
): [PeriodReport, string, string] {
  const journal = newJournal(undefined, testClock())
  for (const some of entries) journal.append(some)
  journal.close()
  const access = openJournalAccess(journal.path, retry)
  try {
    const report = access.period(period, readiness)
    return [report, access.periodText(report), access.briefText(report)]
  } finally {
    access.close()
  }
}

const turns = (host: string, kind: VerdictKind): NewEntry => {
  const verdict = { host, segment: 'az1', kind, reason: 'SILENT_AND_PROBES_DEAD', message: 'Silent', at: '' }
  return { kind: 'verdict.changed', host, data: { ...(verdict as Verdict), from: 'healthy' } }
}
const observed: NewEntry = { kind: 'daemon.started', data: { version: '1', mode: 'observe', pid: 7 } }
const [opened] = incidentEntries()
const voided: NewEntry = {
  ...{ kind: 'proof.voided', incident: opened?.incident ?? '', host: 'c1' },
  data: { code: 'HOST_ALIVE', message: 'it beats', updatedAt: null },
}

describe('a verdict that a host is dead', () => {
  it('is false when the host is well again before an incident opens', () => {
    const [{ verdicts }, text] = reported([
      [turns('c1', 'suspect'), turns('c1', 'host-down')],
      [turns('c1', 'healthy')],
    ])
    expect(verdicts).toMatchObject([{ host: 'c1', incident: null, false: 'healed-without-incident' }])
    expect(text).toContain('- 1 verdict that a host is dead, 1 false; 1 suspicion.\n')
  })

  it('is false when the host shows life after it was proven dead', () => {
    const [{ verdicts }] = reported([[turns('c1', 'host-down')], incidentEntries(), [voided]])
    expect(verdicts).toMatchObject([{ incident: opened?.incident, false: 'life-after-proof' }])
  })

  it('is not false when its incident opened, and the report says when the host beat again', () => {
    const [{ verdicts }, text] = reported([[turns('c1', 'host-down')], incidentEntries(), [turns('c1', 'healthy')]])
    expect(verdicts).toMatchObject([{ incident: opened?.incident, false: null, backAt: expect.any(String) as string }])
    expect(text).toContain('1 verdict that a host is dead, none of them false')
  })

  it('that a restarted daemon gives again is of the incident that was open when the period began', () => {
    const before = [turns('c1', 'host-down')]
    const open = incidentEntries().slice(0, 1)
    const dies = [turns('c1', 'unknown'), turns('c1', 'host-down')]
    const period = { ...whole, from: '2026-01-02T03:04:09.500Z' }
    const [{ verdicts, incidents }] = reported([before, open, dies, [turns('c1', 'healthy')]], null, period)
    expect(incidents).toEqual([])
    expect(verdicts).toMatchObject([{ incident: opened?.incident, false: null }])
  })

  it('that a restarted daemon gives again is the same one', () => {
    const dies = [turns('c1', 'host-down')]
    const [{ verdicts }] = reported([dies, [started, turns('c1', 'unknown')], dies, [turns('c1', 'healthy')], dies])
    expect(verdicts).toHaveLength(2)
  })

  it('before the period is not in the report', () => {
    const [{ verdicts, incidents }, text] = reported([[turns('c1', 'host-down')], incidentEntries()], null, {
      ...{ from: '2026-01-20T00:00:00.000Z', to: whole.to },
    })
    expect([verdicts, incidents]).toEqual([[], []])
    expect(text).toContain('No host was found dead')
  })
})

it('each incident is there with its times and what became of its instances', () => {
  const [{ incidents, modes }, text] = reported([[started], incidentEntries()])
  expect(modes).toEqual(['armed'])
  expect(incidents).toMatchObject([{ host: 'c1', failure: 'host', provenAt: '2026-01-02T03:04:09.000Z' }])
  expect(text).toMatch(/\| c1 \| host \| .* \| 1 recovered, 1 left, 1 failed \|/)
})

it('the mode in which the period began counts, and that to which it was switched', () => {
  const armed: NewEntry = { kind: 'mode.changed', data: { from: 'observe', to: 'armed', by: 'ann', reason: '' } }
  expect(reported([[observed], [armed]])[0].modes).toEqual(['observe', 'armed'])
})

describe('what holds for the hosts now', () => {
  it('is which cannot be fenced, and what would be left of all of them together, by reason', () => {
    const hosts = ['cmp01', 'cmp02'].map((host) => ({ ...aHostReadiness, host }))
    const [{ now }, text, brief] = reported([], { ...aReadiness, hosts: [...hosts, { ...aHostReadiness, plan: null }] })
    expect(now).toMatchObject({ hosts: 3, unplanned: 1, left: [{ reason: 'LOCAL_DISK', instances: 2, hosts: 2 }] })
    expect(text).toContain('- 3 of 3 hosts cannot be fenced; 2 instances would be left; 1 host not read yet.\n')
    expect(brief.split('\n').slice(1)).toEqual([
      'No host was found dead; 0 suspicions.',
      '0 incidents. Mode: unknown.',
      '3 of 3 hosts cannot be fenced; 2 instances would be left; 1 host not read yet.',
      '2 instances would be left: Its disk is local (LOCAL_DISK)',
      '',
    ])
    expect(text).toMatch(/\| cmp02 \| ceph \| bmc did not answer at .*: no reading within 10 s \|/)
    expect(text).toMatch(/\| 2 \| 2 \| left \| LOCAL\\_DISK \| Its disk is local \| web, web \|/)
  })

  it('is said to be missing when no daemon answers', () => {
    expect(reported([])[1]).toContain('What holds for the hosts now is not in this report: no daemon answered.')
  })
})

it(
  'after a time of observing it says what would have happened, and that nothing was sent',
  SmallWorld.run({ parts: { mode: 'observe' } }, async (world) => {
    const { simulator, clock, path } = world
    simulator.addInstance({ name: 'web', host: 'cmp01', volumeBacked: true })
    simulator.addInstance({ name: 'broken', host: 'cmp01', state: 'error', volumeBacked: true })
    simulator.crash('cmp01')
    await world.ended('cmp01')
    simulator.start('cmp01')
    await clock.advance(600_000)
    const access = openJournalAccess(path, retry)
    const until = new Date(clock.wall()).toISOString()
    const report = access.period({ from: '2000-01-01T00:00:00.000Z', to: until }, null)
    expect(report).toMatchObject({
      modes: ['observe'],
      verdicts: [{ host: 'cmp01', false: null }],
      incidents: [{ host: 'cmp01', outcome: 'observed', provenAt: null, decisions: { recover: 1, leave: 1 } }],
    })
    expect(report.verdicts[0]?.backAt).not.toBeNull()
    expect(access.periodText(report)).toMatch(
      /\| cmp01 \| host \| +\| +\| .*sent nothing \| 1 would be recovered, 1 left \|/,
    )
    access.close()
  }),
)

it(
  'a host that people switch off in maintenance is no verdict that was false',
  SmallWorld.run({}, async (world) => {
    const { simulator, clock, path, daemon } = world
    const scope = { kind: 'host' as const, name: 'cmp02' }
    await daemon.operations.startMaintenance({ scope, by: 'ann', reason: 'new disks', until: null })
    simulator.crash('cmp02')
    await clock.advance(300_000)
    simulator.start('cmp02')
    await clock.advance(120_000)
    const access = openJournalAccess(path, retry)
    const until = new Date(clock.wall()).toISOString()
    const { verdicts, incidents } = access.period({ from: '2000-01-01T00:00:00.000Z', to: until }, null)
    expect([verdicts.map(({ host, false: why }) => [host, why]), incidents]).toEqual([[['cmp02', null]], []])
    access.close()
  }),
)
