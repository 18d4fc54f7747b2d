/** What the daemon answers to a person's override, and in which order it opens incidents. */
import { describe, expect, it } from 'vitest'
import type { BrakeWatch } from '../../src/control/brake-watch.ts'
import { LogLevelInForce } from '../../src/operations/log-level.ts'
import type { Reloads } from '../../src/operations/reloads.ts'
import { createOperations } from '../../src/operations/operations.ts'
import { IncidentRecords } from '../../src/review/incident-records.ts'
import { UnreviewedIncidents } from '../../src/review/unreviewed.ts'
import { Orders } from '../../src/orders/orders.ts'
import { WatchLoop, type WatchLoopParts } from '../../src/control/watch-loop.ts'
import { simulatedSegment } from '../../src/rehearsal/simulated-parts.ts'
import type { Operations } from '../../src/domain/operations.ts'
import type { Monitor } from '../../src/monitor/monitor.ts'
import type { PollReport } from '../../src/monitor/report.ts'
import { Scene, verdictOf } from './brake-watch-setup.ts'

const ann = { by: 'ann', reason: 'sure' }

function operationsOf(scene: Scene, brake: Pick<BrakeWatch, 'holds' | 'scopes'> = scene.watch): Operations {
  const monitor = {
    verdicts: () => scene.verdicts,
    verdict: (host: string) => scene.verdicts.find((one) => one.host === host),
    frozen: () => null,
    thawsAt: () => null,
    lastPoll: () => null,
  } as unknown as Monitor
  return createOperations({
    clock: scene.clock,
    journal: scene.journal,
    journalPath: scene.path,
    store: scene.store,
    records: new IncidentRecords(scene.journal, () => Promise.resolve()),
    unreviewed: new UnreviewedIncidents(scene.journal),
    orders: new Orders(scene.journal, scene.clock),
    monitor,
    brake,
    windows: () => [],
    testReceiver: () => Promise.reject(new Error('no')),
    watch: null as unknown as WatchLoop,
    afterReturns: { order: () => undefined },
    again: () => null,
    reloads: { state: () => ({}), reload: () => Promise.reject(new Error('no')) } as unknown as Reloads,
    handOver: () => undefined,
    logLevel: new LogLevelInForce(scene.clock, 'info', () => undefined),
    about: () => ({
      version: '0',
      mode: 'armed',
      pid: 1,
      restartLoop: null,
      tenure: null,
      startedAt: '',
      receivers: [],
      cloud: null,
      workflow: { name: 'w', revision: 1, digest: 'd' },
    }),
  })
}

describe('an override', () => {
  const refused = async (scene: Scene, host: string, message: string | RegExp): Promise<void> => {
    const before = scene.journal.read({ kinds: ['operator.override'] }).length
    await expect((async () => operationsOf(scene).override(`i-${host}`, ann))()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
    })
    expect(scene.journal.read({ kinds: ['operator.override'] })).toHaveLength(before)
  }

  it('is taken for an incident that the brake holds, and recorded under its name with the row that is known', async () => {
    const scene = new Scene().open('h0', 'h1', 'h2')
    await operationsOf(scene).override('i-h1', ann)
    expect(scene.journal.read({ kinds: ['operator.override'] })).toMatchObject([
      { actor: 'operator:ann', incident: 'i-h1', host: 'h1', data: { ...ann, row: { status: expect.any(String) } } },
    ])
    expect(scene.holds('h1')).toBeNull()
    expect(scene.holds('h0')).not.toBeNull()
  })

  it('is taken when another reason to wait is named first: the brake would hold it next', async () => {
    const scene = new Scene().open('h0', 'h1', 'h2')
    const data = { code: 'PAUSED' as const, message: 'paused by bob' }
    scene.journal.append([{ kind: 'incident.held', incident: 'i-h0', host: 'h0', data }])
    await operationsOf(scene).override('i-h0', ann)
    expect(scene.store.get('i-h0').override).toEqual(ann)
  })

  it('is refused for one that is not held: it would let its host through a mass failure nobody has seen yet', () =>
    refused(new Scene().open('h0'), 'h0', 'Incident i-h0 is not held by the brake: it is not held at all'))

  it('is refused for one that waits for something else, and says for what', () => {
    const scene = new Scene().open('h0')
    const data = { code: 'FENCE_FAILED' as const, message: 'no answer' }
    scene.journal.append([{ kind: 'incident.held', incident: 'i-h0', host: 'h0', data }])
    return refused(scene, 'h0', /not held by the brake: it waits for something else \(FENCE_FAILED: no answer\)/)
  })

  it('is refused a second time, and says who was first', () =>
    refused(new Scene().open('h0', 'h1', 'h2').override('h0'), 'h0', 'ann already let incident i-h0 past the brake'))

  it('is refused once the host is proven dead: the brake has no say any more', () =>
    refused(
      new Scene().open('h0', 'h1', 'h2').prove('h0'),
      'h0',
      'h0 is proven dead: the brake no longer holds incident i-h0',
    ))

  it('is refused for an incident that is over', () =>
    refused(new Scene().open('h0', 'h1', 'h2').close('h0', 'returned'), 'h0', 'Incident i-h0 is over (returned)'))
})

it('status says what is tripped, and nothing of what is open', () => {
  const scene = new Scene().open('h0', 'h1', 'h2')
  expect(operationsOf(scene).status().brake).toMatchObject([
    { scope: 'segment:s', kind: 'segment', down: 3, allowed: 2, fleet: 10, hosts: ['h0', 'h1', 'h2'] },
  ])
  expect(operationsOf(new Scene().open('h0', 'h1')).status().brake).toEqual([])
})

describe('hosts that die in one poll', () => {
  /** Plays one poll and gives what was done, in order. */
  async function poll(priorities: Record<string, number>, more: Partial<PollReport> = {}): Promise<string[]> {
    const scene = new Scene()
    const done: string[] = []
    const stop = new AbortController()
    const report: PollReport = {
      ok: true,
      frozen: null,
      changed: [],
      alarms: [],
      tookMs: 0,
      verdicts: Object.keys(priorities).map((host) => verdictOf(host, 'host-down')),
      ...more,
    }
    const parts: WatchLoopParts = {
      clock: scene.clock,
      journal: scene.journal,
      monitor: { poll: () => Promise.resolve(report) } as unknown as Monitor,
      store: scene.store,
      brake: {
        look: () => {
          done.push('look')
          return scene.watch.look()
        },
        scopes: () => [],
      },
      followers: [{ consider: () => undefined }],
      observer: {
        brake: () => {
          done.push('told')
          stop.abort()
        },
      },
      pollIntervalMs: () => 1_000,
      mode: () => 'armed',
      workflowDigest: () => 'd',
      segmentFor: (host) => ({ ...simulatedSegment, priority: priorities[host] ?? 0 }),
      inMaintenance: () => false,
      run: (id) => void done.push(id.replace(/^.*Z-/, '')),
    }
    await new WatchLoop(parts).run(stop.signal)
    return done
  }

  it('are begun by the priority of their segments, else as Nova lists them, after the brake has looked', async () => {
    expect(await poll({ h0: 0, h1: 5, h2: -5, h3: 5, h4: 0 })).toEqual(['look', 'h1', 'h3', 'h0', 'h4', 'h2', 'told'])
  })

  it('are not begun while verdicts are frozen', async () => {
    expect(await poll({ h0: 0 }, { frozen: { reason: 'TEST', message: '', since: 0 } })).toEqual(['look', 'told'])
  })
})
