/**
 * Guests that die or fall silent on a host that lives: real QEMU processes under a real libvirtd and Nova's libvirt driver, and Masakari's own
 * instance monitor and introspective instance monitor, unmodified, which report them to Lifeboat in Masakari's place.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nova, tokenFor } from '../contract/cloud-under-test.ts'
import { until } from './daemon-process.ts'
import { OpenstackClient } from './openstack-client.ts'
import { RealHost } from './real-host.ts'
import { LabStage, pauseMs } from './stage.ts'
import { imageWithAgent, truth } from './tenants.ts'

/** Their owner wants them restarted. */
const asked = [
  'killed',
  'ended',
  'destroyed',
  'suspended',
  'reset',
  'stopped before',
  'stopped after',
  'silent',
] as const
/** Its owner has said nothing. */
const unasked = 'killed unasked'
const guests = [...asked, unasked] as const
const id = {} as Record<(typeof guests)[number], string>
/** Longer than Nova keeps the end of a guest to itself (docs/nova.md §1.8). */
const untilNovaHasStoppedItMs = 20_000

let stage: LabStage
let host: RealHost
let client: OpenstackClient
const began = Date.now()

beforeAll(async () => {
  stage = await LabStage.open('crash')
  host = await RealHost.join()
  stage.freshDaemon({
    masakari_api: { listen: '127.0.0.1:15868', projects: [{ name: 'service' }] },
  })
  const boot = async (guest: (typeof guests)[number]): Promise<void> => {
    const wish = guest === unasked ? {} : { metadata: { HA_Enabled: 'True' } }
    const agent = guest === 'silent' ? imageWithAgent : {}
    id[guest] = await stage.tenants.boot(guest.replace(' ', '-'), host.name, { ...wish, ...agent })
  }
  client = new OpenstackClient()
  const monitors = host.monitor().then(() => host.pingAgents())
  await Promise.all([stage.watch(), monitors, ...guests.map(boot)])
})
afterAll(async () => {
  await stage.tidy()
  await host.leave()
  client.close()
  stage.close()
})

/** The events of a guest that its monitor has reported, as Masakari's client lists them. */
async function reportedOf(guest: (typeof guests)[number]): Promise<string[]> {
  const listed = await client.many('1.3', 'notification', 'list')
  const payloads = listed.map(({ payload }) => payload as Record<string, string>)
  return payloads
    .filter((payload) => payload['instance_uuid'] === id[guest])
    .map((payload) => `${payload['event']} ${payload['vir_domain_event']}`)
}

/** How often its agent has been pinged, by what its console says. */
async function pingsOf(guest: (typeof guests)[number]): Promise<number> {
  const { body } = await stage.tenants.steps.act(id[guest], { 'os-getConsoleOutput': {} })
  return String(body.output).split('{"execute":"guest-ping"}').length - 1
}

/** Its reports as Lifeboat's instance-ha shows them, with the messages that Masakari's client leaves out. */
async function answersOf(guest: (typeof guests)[number]): Promise<Record<string, unknown>[]> {
  const headers = { 'x-auth-token': await tokenFor(stage.cloud) }
  const listed = await (await fetch('http://127.0.0.1:15868/v1/notifications', { headers })).json()
  const { notifications } = listed as { notifications: (Record<string, unknown> & { payload: object })[] }
  return notifications.filter(({ payload }) => 'instance_uuid' in payload && payload.instance_uuid === id[guest])
}

/** Who stopped, started or rebooted it since it was booted, oldest first. Nova's own power sync is nobody. */
async function powerHistory(guest: (typeof guests)[number]): Promise<string[]> {
  const { body } = await nova(stage.cloud, 'GET', `/servers/${id[guest]}/os-instance-actions`)
  const actions = body.instanceActions as { action: string; user_id: string | null }[]
  return actions
    .filter(({ action }) => action !== 'create')
    .map(({ action, user_id: user }) => `${action} by ${user === null ? 'nobody' : 'a user'}`)
    .reverse()
}

async function runs(guest: (typeof guests)[number]): Promise<boolean> {
  const { status, body } = await stage.tenants.steps.diagnostics(id[guest])
  return status === 200 && body.state === 'running'
}

describe('a guest whose QEMU is killed', () => {
  it('is asked to run again as soon as its monitor has reported it', async () => {
    const killedAt = Date.now()
    await host.signal('KILL', id.killed)
    await until('it runs again', async () => {
      const { vm, task, power } = await stage.tenants.steps.state(id.killed)
      return vm === 'active' && task === null && power === 1 && (await runs('killed'))
    })
    const ranAt = Date.now()
    const [reported] = stage.daemon.entries().filter(({ kind }) => kind === 'report.received')
    expect(reported).toMatchObject({
      instance: id.killed,
      data: { payload: { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: id.killed } },
    })
    const reportedAt = Date.parse(reported?.at ?? '')
    // The request that has it run again.
    const issued = stage.daemon
      .entries()
      .flatMap((entry) => (entry.kind === 'step.issued' && entry.instance === id.killed ? [entry] : []))
    expect(issued).toMatchObject([{ data: { requestId: expect.stringMatching(/^req-/) as string } }])
    const [reportedMs, askedMs, ranMs] = [
      reportedAt - killedAt,
      Date.parse(issued[0]?.at ?? '') - reportedAt,
      ranAt - reportedAt,
    ]
    console.log(`instance failure: ${JSON.stringify({ reportedMs, askedMs, ranMs })}, the last two from the report on`)
  })
})

describe('Lifeboat does nothing about', () => {
  beforeAll(async () => {
    await stage.tenants.steps.act(id['stopped before'], { 'os-stop': null })
    await host.signal('KILL', id['stopped after'])
    expect((await stage.tenants.steps.act(id['stopped after'], { 'os-stop': null })).status).toBe(202)
    await host.signal('TERM', id.ended)
    await host.virsh('destroy', id.destroyed)
    await host.virsh('suspend', id.suspended)
    await host.virsh('reset', id.reset)
    await host.signal('KILL', id[unasked])
    // Its monitor reports only an agent that has answered: when the second ping arrives, the first one has been.
    await until('its agent has answered its monitor', async () => (await pingsOf('silent')) > 1)
    await host.endAgent(id.silent)
    await pauseMs(untilNovaHasStoppedItMs)
    await until('its silence is reported', async () => (await answersOf('silent')).length > 0)
  })

  it.each([
    ['ended', 'stopped', ['stop by nobody']],
    ['destroyed', 'stopped', ['stop by nobody']],
    ['suspended', 'active', []],
    ['reset', 'active', []],
    ['stopped before', 'stopped', ['stop by a user']],
    ['stopped after', 'stopped', ['stop by a user']],
    ['killed unasked', 'stopped', ['stop by nobody']],
    ['silent', 'active', []],
  ] as const)('a guest that was %s', async (guest, vmState, history) => {
    expect(await stage.tenants.steps.state(id[guest])).toMatchObject({ vm: vmState, task: null, host: host.name })
    expect(await powerHistory(guest)).toEqual(history)
  })

  it.each([
    ['ended', 'LIFECYCLE STOPPED_SHUTDOWN'],
    ['destroyed', 'LIFECYCLE STOPPED_DESTROYED'],
    ['reset', 'REBOOT UNKNOWN'],
    ['stopped after', 'LIFECYCLE STOPPED_FAILED'],
    ['killed unasked', 'LIFECYCLE STOPPED_FAILED'],
    ['silent', 'QEMU_GUEST_AGENT_ERROR STOPPED_FAILED'],
  ] as const)('a guest that was %s, though its monitor reported %s', async (guest, event) => {
    expect(await reportedOf(guest)).toContain(event)
  })

  it('a silent agent, and the one report of it ends ignored, with the reason', async () => {
    expect(await answersOf('silent')).toMatchObject([
      {
        status: 'ignored',
        message: expect.stringContaining(
          'The guest runs, although its agent is silent: Lifeboat leaves it alone',
        ) as string,
      },
    ])
    expect(await runs('silent')).toBe(true)
    expect((await truth()).starts[id.silent]).toHaveLength(1)
  })

  it('any of them by an incident, and no guest ran twice', async () => {
    expect(stage.daemon.incidents().map(({ crashed }) => crashed?.instance)).toEqual([id.killed])
    await stage.nothingRanTwice(began)
  })
})

describe('a guest whose QEMU was killed', () => {
  // By now Nova has long had its say: what waited for that with the other guests need not wait twice.
  it('runs again, by one incident of its own', async () => {
    await until('its report is settled', () =>
      Promise.resolve(
        stage.daemon.entries().some(({ kind, instance }) => kind === 'report.settled' && instance === id.killed),
      ),
    )
    // On a busy machine Nova's own stop, fifteen seconds after the kill, comes first; it would be the last word without Lifeboat.
    expect((await powerHistory('killed')).join(', ')).toMatch(/^(stop by nobody, )?(reboot|start) by a user$/)
    expect(await runs('killed')).toBe(true)
    const incidents = stage.daemon.incidents()
    expect(incidents).toHaveLength(1)
    expect(incidents[0]).toMatchObject({ host: host.name, openedBy: 'masakari', crashed: { instance: id.killed } })
    // An order that met Nova's own is refused as busy and given again.
    const kinds = stage.daemon.entries().flatMap(({ kind, instance }) => (instance === id.killed ? [kind] : []))
    expect(kinds.filter((kind) => !['step.intended', 'step.failed'].includes(kind))).toEqual([
      ...['report.received', 'instance.failed', 'plan.made', 'step.issued', 'step.confirmed', 'outcome.recorded'],
      'report.settled',
    ])
    expect(incidents[0]?.instances.get(id.killed)?.outcome).toMatchObject({ outcome: 'recovered', code: 'RESTARTED' })
    expect((await truth()).starts[id.killed]).toHaveLength(2)
  })
})
