/** Workflows of one's own for crashed guests and for a nova-compute, in the running daemon: who decides, and until when. */
import { describe, expect, it } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflowOf, type Workflows } from '../../src/engine/workflow.ts'
import { parseConfiguration } from '../../src/config/index.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { shippedWorkflows } from '../../src/rehearsal/shipped-workflows.ts'
import { simulatedParts } from '../../src/rehearsal/simulated-parts.ts'
import { beatMs, SmallWorld } from '../daemon/small-world.ts'

const ann = { by: 'ann', reason: 'as agreed' }
const options = { ownerPolicy: defaultOwnerPolicy }
const shipped = shippedWorkflows(defaultOwnerPolicy)
const firstRule = /^ {2}rules:\n/m

/** The shipped ones, with one more rule before all others. */
function withRule(failure: 'instance' | 'process', rule: string): Workflows {
  const source = shipped[failure].source.replace(firstRule, (found) => `${found}    - ${rule}\n`)
  return { ...shipped, [failure]: parseWorkflowOf(failure, source, 'own.yaml', options) }
}

const leavesWeb = withRule(
  'instance',
  `{ id: lab, when: 'instance.name == "web"', leave: true, reason: LAB, because: 'web is looked after by hand' }`,
)

const makesWebWait = withRule(
  'instance',
  `{ id: hands-off, when: 'instance.name == "web"', wait: true, because: a rack is moved }`,
)

function crash({ simulator, daemon, clock }: SmallWorld, uuid: string): string {
  simulator.crashGuest(uuid, { unheard: true })
  const payload = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: uuid }
  const generatedAt = new Date(clock.wall()).toISOString()
  return daemon.reports.receive({ about: 'VM', host: 'cmp01', payload, by: 'monitor', via: null, generatedAt }).uuid
}

function addWeb({ simulator }: SmallWorld): string {
  return simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } }).uuid
}

const pinned = ({ journal }: SmallWorld): string[] =>
  journal
    .read({ kinds: ['workflow.pinned'] })
    .flatMap((entry) => (entry.kind === 'workflow.pinned' ? [entry.data.digest] : []))

describe('a guest that crashed', () => {
  it(
    'is dealt with by the workflow in force, which goes on record with the first incident that it decides about',
    SmallWorld.run({ parts: { workflows: leavesWeb } }, async (world) => {
      const uuid = addWeb(world)
      expect(pinned(world)).toEqual([shipped.host.digest])
      crash(world, uuid)
      const incident = await world.ended('cmp01')
      expect(incident.workflowDigest).toBe(leavesWeb.instance.digest)
      expect(incident.instances.get(uuid)).toMatchObject({
        plan: { rule: 'lab', decision: 'leave', reason: 'LAB', recipe: null },
        outcome: { outcome: 'left', code: 'LAB', message: 'web is looked after by hand' },
      })
      expect(world.writes()).toEqual([])
      crash(world, world.simulator.addInstance({ host: 'cmp02', name: 'web' }).uuid)
      await world.clock.advance(60_000)
      expect(pinned(world)).toEqual([shipped.host.digest, leavesWeb.instance.digest])
    }),
  )

  it('keeps the workflow that its incident began with; the next crash has the new one', () =>
    reloadable({ first: shipped, then: leavesWeb }, async (made) => {
      const { daemon, simulator, clock } = made
      const uuid = addWeb(made)
      await daemon.operations.pause({ by: 'ann', reason: 'network works', until: null })
      crash(made, uuid)
      await made.until(() => made.incident('cmp01')?.held?.code === 'PAUSED')
      await clock.run(daemon.operations.reload(ann))
      await daemon.operations.resume({ by: 'ann', reason: 'done' })
      const first = await made.ended('cmp01')
      expect([first.workflowDigest, first.instances.get(uuid)?.outcome?.code]).toEqual([
        shipped.instance.digest,
        'RESTARTED',
      ])
      expect(simulator.truth().running[uuid]).toEqual(['cmp01'])
      await clock.advance(120_000)
      crash(made, uuid)
      await made.until(() => made.incident('cmp01')?.workflowDigest === leavesWeb.instance.digest)
      expect((await made.ended('cmp01')).instances.get(uuid)?.outcome?.code).toBe('LAB')
    }))

  it('is told to people once when a rule has made it wait for ten minutes, and is restarted as soon as the rule is gone', () =>
    reloadable({ first: makesWebWait, then: shipped }, async (made) => {
      const { daemon, simulator, clock, journal } = made
      const uuid = addWeb(made)
      const report = crash(made, uuid)
      const standing = () => daemon.reports.list().find((one) => one.uuid === report)
      await clock.advance(590_000)
      expect([made.alarms(), standing()?.status]).toEqual([[], 'running'])
      await clock.advance(700_000)
      expect(made.alarms()).toEqual(['CRASH_WAITS'])
      expect(journal.read({ kinds: ['alarm.raised'] })).toMatchObject([
        {
          host: 'cmp01',
          instance: uuid,
          data: { message: expect.stringContaining('rule hands-off: a rack is moved') },
        },
      ])
      expect(standing()).toMatchObject({ status: 'error', message: 'a rack is moved' })
      expect(made.writes()).toEqual([])
      await clock.run(daemon.operations.reload(ann))
      expect((await made.ended('cmp01')).instances.get(uuid)?.outcome?.code).toBe('RESTARTED')
      expect([simulator.truth().running[uuid], standing()?.status]).toEqual([['cmp01'], 'finished'])
    }))
})

/** A daemon that has other workflows after its first reload. */
async function reloadable(
  { first, then }: Record<'first' | 'then', Workflows>,
  test: (world: SmallWorld) => Promise<void>,
): Promise<void> {
  let world: SmallWorld | null = null
  const loaded = parseConfiguration('', 'c.yaml', {})
  const nothing = { changed: [], waiting: [], warnings: [], adopted: () => undefined, dropped: () => undefined }
  const build = () => {
    const { clock, simulator, journal } = world!
    const options = { clock, journal, workflow: shipped.host, beatMs, wire: simulator.wire() }
    return Promise.resolve({ rules: { ...simulatedParts(simulator, options), workflows: then }, ...nothing })
  }
  const configuration = { loaded, read: () => loaded, build }
  await SmallWorld.run({ parts: { workflows: first, configuration } }, async (made) => {
    world = made
    await test(made)
  })()
}

/** The rows of an incident as it was begun, on record before the daemon starts. */
async function beginsAgain(
  world: SmallWorld,
  uuid: string,
  workflow: { workflowDigest?: string },
  pinnedBefore: NewEntry[] = [],
): Promise<void> {
  const { simulator } = world
  const plan = {
    ...{ instanceId: uuid, name: 'web', projectId: 'p', rule: 'instance-failure', decision: 'recover' },
    ...{ reason: 'CRASHED', message: 'Its guest crashed: its hypervisor says that it does not run' },
    original: { instance: {}, wanted: 'running', wantedBecause: '', flagged: false, locked: false, resize: null },
    ...{ recipe: 'reboot', expected: 'running', asProject: null, priority: 0, exclusive: null, debts: [], notes: [] },
    recipes: Object.fromEntries(
      (['reboot', 'start'] as const).map((name) => [
        name,
        { name, steps: [{ id: name, do: name, deadlineMs: 300_000 }], finally: [] },
      ]),
    ),
  }
  const opened = { name: 'web', projectId: 'p', event: 'STOPPED_FAILED', segment: 'simulated', mode: 'armed' }
  const about = { incident: 'old', host: 'cmp01', instance: uuid }
  await world.stop()
  simulator.crashGuest(uuid, { unheard: true })
  const journal = openJournal(world.path, { clock: world.clock })
  journal.append([
    ...pinnedBefore,
    { kind: 'instance.failed', ...about, data: { ...opened, openedBy: 'monitor', report: '', ...workflow } },
    { kind: 'plan.made', ...about, data: plan },
  ] as unknown as NewEntry[])
  journal.close()
  world.compose()
  world.daemon.start()
}

describe('an incident that is open when the daemon starts', () => {
  it(
    'is finished by the workflow in force if an older release began it, which had none',
    SmallWorld.run({}, async (world) => {
      const uuid = addWeb(world)
      await beginsAgain(world, uuid, {})
      const { instances } = await world.ended('cmp01')
      expect(instances.get(uuid)?.outcome).toMatchObject({ outcome: 'recovered', code: 'RESTARTED' })
      expect(world.writes()).toEqual(['POST reboot'])
    }),
  )

  it(
    'is held for a person if its workflow is lost, and sends nothing',
    SmallWorld.run({}, async (world) => {
      const uuid = addWeb(world)
      await beginsAgain(world, uuid, { workflowDigest: 'lost' })
      await world.until(() => world.incident('cmp01')?.held?.code === 'WORKFLOW_UNREADABLE')
      expect(world.incident('cmp01')?.held?.message).toBe('the journal has no workflow lost')
      await world.clock.advance(120_000)
      expect(world.writes()).toEqual([])
      expect(world.journal.read({ incident: 'old', kinds: ['incident.held'] })).toHaveLength(1)
      await world.daemon.operations.cancel('old', ann)
      expect((await world.ended('cmp01')).closed?.outcome).toBe('left-to-people')
    }),
  )

  it(
    'is held for a person if this release cannot read its workflow, and goes on with one that can',
    SmallWorld.run({}, async (world) => {
      const uuid = addWeb(world)
      const source = shipped.instance.source.replace('do: reboot', 'do: resurrect')
      const workflow = { name: 'instance-failure', revision: 9, digest: 'newer', source }
      await beginsAgain(world, uuid, { workflowDigest: 'newer' }, [{ kind: 'workflow.pinned', data: workflow }])
      await world.until(() => world.incident('cmp01')?.held?.code === 'WORKFLOW_UNREADABLE')
      expect(world.incident('cmp01')?.held?.message).toMatch(
        /^this release cannot read workflow newer, with which it began: journal:\d+:\d+: recipes\.reboot\.steps\.0\.do: must/,
      )
      expect(world.writes()).toEqual([])
      await world.stop()
      const readable = parseWorkflowOf('instance', shipped.instance.source, 'journal', options)
      world.compose({ parsePinned: () => readable })
      world.daemon.start()
      expect((await world.ended('cmp01')).instances.get(uuid)?.outcome?.code).toBe('RESTARTED')
      expect(world.writes()).toEqual(['POST reboot'])
    }),
  )

  it(
    'is held for a person if its workflow is of another kind of failure',
    SmallWorld.run({}, async (world) => {
      const uuid = addWeb(world)
      await beginsAgain(world, uuid, { workflowDigest: shipped.host.digest })
      await world.until(() => world.incident('cmp01')?.held?.code === 'WORKFLOW_UNREADABLE')
      expect(world.incident('cmp01')?.held?.message).toMatch(/^workflow \w{12} is not for failure: instance$/)
      expect(world.writes()).toEqual([])
    }),
  )
})

const leavesLab = withRule(
  'process',
  `{ id: lab, when: 'host.name == "cmp01"', leave: true, because: 'cmp01 is looked after by hand' }`,
)

const asksBack = withRule(
  'process',
  `{ id: asks, when: 'failures.recent > 0', disable: true, enable: confirm, because: 'a person looks first' }`,
)

describe('a nova-compute that is down', () => {
  it(
    'is left to people where the workflow says so: they are told, its service stays as it is, and it is told once',
    SmallWorld.run({ parts: { workflows: leavesLab } }, async (world) => {
      const { simulator, clock, daemon } = world
      simulator.isolate('cmp01')
      const incident = await world.ended('cmp01')
      expect(incident).toMatchObject({
        process: 'nova-compute',
        workflowDigest: leavesLab.process.digest,
        ruling: { rule: 'lab', do: 'leave' },
        closed: { outcome: 'left-to-people', message: 'cmp01 is looked after by hand' },
      })
      await clock.advance(600_000)
      expect(daemon.operations.incidents({ host: 'cmp01' })).toHaveLength(1)
      expect(world.writes()).toEqual([])
      simulator.isolate('cmp02')
      await world.until(() => world.writes().length > 0)
      expect(world.incident('cmp02')?.ruling).toMatchObject({ rule: 'down', do: 'disable', enable: null })
    }),
  )

  it(
    'is enabled by a person where the workflow says so, although its segment would enable it by itself',
    SmallWorld.run({ parts: { workflows: asksBack } }, async (world) => {
      const { simulator, daemon, clock } = world
      expect(daemon.monitor.segment('cmp01').return.mode).toBe('automatic')
      simulator.isolate('cmp01')
      await world.until(() => world.incident('cmp01') !== undefined && world.writes().length === 1)
      await clock.advance(60_000)
      simulator.start('cmp01')
      await world.until(() => world.incident('cmp01')?.held?.code === 'CONFIRM_RETURN', 3_600_000)
      expect(world.writes()).toHaveLength(1)
    }),
  )

  it.each([
    ['a person, although the workflow has it enabled by itself since', asksBack, shipped],
    ['the rules of its segment, although the workflow asks a person since', shipped, asksBack],
  ])('is enabled by %s: a reload changes no failure that is open', (_who, first, then) =>
    reloadable({ first, then }, async (world) => {
      const { simulator, daemon, clock } = world
      simulator.isolate('cmp01')
      await world.until(() => world.writes().length === 1)
      await clock.run(daemon.operations.reload(ann))
      simulator.start('cmp01')
      const asks = first === asksBack
      if (asks) await world.until(() => world.incident('cmp01')?.held?.code === 'CONFIRM_RETURN', 3_600_000)
      else expect((await world.ended('cmp01')).closed?.outcome).toBe('returned')
      await clock.advance(60_000)
      expect(world.writes()).toHaveLength(asks ? 1 : 2)
    }),
  )
})
