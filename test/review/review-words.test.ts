/** What the page of an incident says to a person: commands that do what is meant, and counts of what was done. */
import { expect, it } from 'vitest'
import { simulatedSegment } from '../../src/rehearsal/simulated-parts.ts'
import { openJournalAccess } from '../../src/review/journal-access.ts'
import { timelineEvent } from '../../src/review/timeline.ts'
import type { Entry } from '../../src/domain/entry.ts'
import { foldIncidents } from '../../src/domain/incident.ts'
import { adviceFor } from '../../src/review/advice.ts'
import { incidentReport } from '../../src/review/report.ts'
import { SmallWorld } from '../daemon/small-world.ts'

it.each([
  ['active', '2.53'],
  ['stopped', '2.95'],
] as const)('what could not be recovered is evacuated by hand as its owner had it: %s at %s', (state, version) =>
  SmallWorld.run({}, async (world) => {
    const { simulator, daemon } = world
    const { uuid } = simulator.addInstance({ name: 'hsm', host: 'cmp01', state, vtpm: true, volumeBacked: true })
    simulator.crash('cmp01')
    const { id } = await world.ended('cmp01')
    const { advice } = daemon.review.incident(id)
    const failed = advice.find(({ code }) => code === 'INSTANCES_FAILED')
    expect(failed?.command).toBe(`openstack --os-compute-api-version ${version} server evacuate ${uuid}`)
    // Nova has just refused this very command: what brings the instance back is said first.
    expect(failed?.text).toBe(
      `One instance is not recovered (API_REFUSED). Nova refuses to evacuate it, even by hand (Evacuating instance ${uuid} with vTPM is not supported). cmp01 must come back for this one. If the cause is gone first, evacuate by hand: at 2.95 an instance lands stopped, below that as it was`,
    )
    // An older release recorded Nova's words in a sentence of its own alone.
    const older = JSON.parse(
      JSON.stringify(world.journal.read({ incident: id }))
        .replace(/"said":"[^"]*",?/g, '')
        .replace(
          /"message":"(Evacuating [^"]*?) \(Nova refuses ([^"]*?)\)"/g,
          '"message":"$2: refused as wrong ($1.)"',
        ),
    ) as Entry[]
    const incident = foldIncidents(older).get(id)!
    const retry = { fenceRetryMs: 1, fenceRetryMaxMs: 1 }
    expect(adviceFor(incident, null, false, retry).find(({ code }) => code === 'INSTANCES_FAILED')?.text).toBe(
      failed?.text,
    )
  })(),
)

it(
  'one that was left is told from several; one that is back is shown in the state it was brought to',
  SmallWorld.run({ hosts: 6 }, async (world) => {
    const { simulator, daemon } = world
    const metadata = { HA_Enabled: 'False' }
    simulator.addInstance({ name: 'alone', host: 'cmp01', metadata })
    simulator.addInstance({ name: 'vault', host: 'cmp01', encrypted: true })
    simulator.addInstance({ name: 'one', host: 'cmp02', metadata })
    simulator.addInstance({ name: 'other', host: 'cmp02', metadata })
    const left = async (host: string) => {
      simulator.crash(host)
      const { advice, lines } = daemon.review.incident((await world.ended(host)).id)
      return { lines, text: advice.find(({ code }) => code === 'INSTANCES_LEFT')?.text }
    }
    const first = await left('cmp01')
    expect(first.text).toMatch(/^One instance is left where it was \(/)
    // Evacuated stopped, then started: how it landed is not how it is.
    expect(first.lines.find(({ name }) => name === 'vault')).toMatchObject({ landing: 'stopped', endedAs: 'active' })
    expect((await left('cmp02')).text).toMatch(/^2 instances are left where they were \(/)
  }),
)

it(
  'an incident that was observed says what would have been recovered, and counts nothing as open',
  SmallWorld.run({ parts: { mode: 'observe' } }, async (world) => {
    const { simulator, daemon } = world
    simulator.addInstance({ name: 'web', host: 'cmp01' })
    simulator.addInstance({ name: 'opted-out', host: 'cmp01', metadata: { HA_Enabled: 'False' } })
    simulator.crash('cmp01')
    const { id } = await world.ended('cmp01')
    expect(daemon.review.incident(id).headline).toMatch(/ Observed: 1 of 2 instances would have been recovered\.$/)
  }),
)

it(
  'what is left after an incident is said: observed is not recovered, left is to be signed for, the host is on its way',
  SmallWorld.run({}, async (world) => {
    const { simulator, daemon } = world
    simulator.addInstance({ name: 'opted-out', host: 'cmp01', metadata: { HA_Enabled: 'False' } })
    simulator.addInstance({ name: 'build', host: 'cmp01', state: 'paused' })
    simulator.crash('cmp01')
    const { id } = await world.ended('cmp01')
    const before = daemon.review.incident(id)
    expect(before.advice.map(({ code }) => code)).toEqual([
      'INSTANCES_LEFT',
      'INSTANCES_BACK_STOPPED',
      'HOST_AWAY',
      'SIGN_OFF',
    ])
    expect(before.lines.find(({ name }) => name === 'build')).toMatchObject({ original: 'paused', expected: 'stopped' })
    expect(before.hostReturn?.state).toBe('away')
    const signedOff = () => daemon.operations.incidents({ host: 'cmp01' })[0]?.signedOff
    expect(signedOff()).toBeNull()
    daemon.review.signOff(id, { by: 'ann', text: 'read' })
    expect(signedOff()).toMatchObject({ by: 'ann' })
    expect(() => daemon.review.signOff(id, { by: 'bob', text: 'me too' })).toThrow(
      expect.objectContaining({
        code: 'CONFLICT',
        message: expect.stringMatching(
          `^ann already signed incident ${id} off, at 20.*Z; add a note .*incident note ${id} "`,
        ),
      }),
    )
    daemon.review.note(id, { by: 'bob', text: 'me too' })
    expect(daemon.review.incident(id)).toMatchObject({ signOff: { by: 'ann' }, notes: [{ by: 'bob' }] })
    expect(daemon.review.incident(id).advice.map(({ code }) => code)).not.toContain('SIGN_OFF')
  }),
)

it(
  'the command line advises what the page advises: of one that the brake holds, and of one that is over',
  SmallWorld.run({ hosts: 6 }, async (world) => {
    const { simulator, daemon } = world
    simulator.addInstance({ name: 'opted-out', host: 'cmp01', metadata: { HA_Enabled: 'False' } })
    simulator.crash('cmp01')
    const { id } = await world.ended('cmp01')
    const access = openJournalAccess(world.path, { fenceRetryMs: 60_000, fenceRetryMaxMs: 900_000 })
    try {
      const told = () => access.advice(id).map(({ code }) => code)
      expect(told()).toEqual(['INSTANCES_LEFT', 'HOST_AWAY', 'SIGN_OFF'])
      expect(access.advice(id)).toEqual(daemon.review.incident(id).advice)
      daemon.review.signOff(id, { by: 'ann', text: 'read' })
      expect(told()).toEqual(['INSTANCES_LEFT', 'HOST_AWAY'])
      const ends = daemon.operations.incident(id).instanceList.map(({ endedAt }) => endedAt)
      expect(ends).toEqual(daemon.review.incident(id).lines.map(({ endedAt }) => endedAt))
      for (const host of ['cmp02', 'cmp03', 'cmp04']) simulator.crash(host)
      await world.until(() => world.incident('cmp03')?.held?.code === 'BRAKE')
      const braked = world.incident('cmp03')?.id ?? ''
      expect(access.advice(braked)[0]?.command).toBe(`lifeboat incident override ${braked} --reason "why"`)
    } finally {
      access.close()
    }
  }),
)

it(
  'an incident that was observed leaves something to do',
  SmallWorld.run({ parts: { mode: 'observe' } }, async (world) => {
    const { simulator, daemon } = world
    simulator.addInstance({ name: 'web', host: 'cmp01' })
    simulator.crash('cmp01')
    const { advice } = daemon.review.incident((await world.ended('cmp01')).id)
    expect(advice.map(({ code }) => code)).toEqual(['OBSERVED'])
  }),
)

it(
  'the plots of an incident hold its own time: not the failure before it, and not the one after it',
  SmallWorld.run({ hosts: 6 }, async (world) => {
    const { simulator, daemon, clock } = world
    const dies = async (): Promise<string> => {
      simulator.crash('cmp01')
      await world.until(() => world.incident('cmp01')?.closed === null)
      return (await world.ended('cmp01')).id
    }
    const first = await dies()
    simulator.start('cmp01')
    await clock.advance(2 * 3_600_000)
    const second = await dies()
    const spanOf = (id: string): number => {
      const { silence, readings } = daemon.review.incident(id).evidence
      const times = [...silence, ...readings].map(({ at }) => Date.parse(at))
      return Math.max(...times) - Math.min(...times)
    }
    expect(spanOf(first)).toBeLessThan(3_600_000)
    expect(spanOf(second)).toBeLessThan(3_600_000)
  }),
)

it.each([
  [{ recovered: 2 }, 'good', '2 recovered'],
  [{ recovered: 2, left: 1 }, 'wait', '2 recovered, 1 left'],
  [{ recovered: 2, stuck: 1 }, 'bad', '2 recovered, 1 stuck'],
  [{ failed: 1 }, 'bad', '1 failed'],
  [{}, 'good', 'the host had no instances'],
] as const)('the end of an incident is told by how its instances ended: %j is %s', (counts, tone, text) => {
  const data = { outcome: 'done' as const, message: 'every instance has its outcome', counts: { ...counts } }
  const entry = { seq: 9, at: '2026-01-02T03:04:05.000Z', actor: 'daemon', kind: 'incident.closed', data } as Entry
  expect(timelineEvent({ ...entry, instance: null })).toMatchObject({ tone, text: `Closed (done): ${text}` })
})

it(
  'anyone who is to state that a host is dead gets a command that names them: root is nobody',
  SmallWorld.run({}, async (world) => {
    const { simulator, daemon } = world
    simulator.bmc('cmp01', { reachable: false })
    simulator.crash('cmp01')
    await world.until(() => world.incident('cmp01')?.held?.code === 'FENCE_FAILED')
    const { advice } = daemon.review.incident(world.incident('cmp01')?.id ?? '')
    expect(advice[0]?.command).toMatch(/^lifeboat recover cmp01 --by NAME --proof "/)
    expect(advice[0]?.text).toMatch(
      /Repair one \(next try at 20\S+Z; `lifeboat reload` tries at once\), or make sure that cmp01 is off and attest it$/,
    )
    // The command line reads the same of the journal.
    const access = openJournalAccess(world.path, { fenceRetryMs: 2_000, fenceRetryMaxMs: 16_000 })
    try {
      expect(access.advice(world.incident('cmp01')?.id ?? '')[0]?.text).toBe(advice[0]?.text)
    } finally {
      access.close()
    }
  }),
)

it(
  'a proof that life overtook is told as that: not as none, and not as if nothing had been moved',
  SmallWorld.run({ parts: { segmentOf: () => ({ ...simulatedSegment, maxParallelPerHost: 1 }) } }, async (world) => {
    const { simulator, daemon, journal } = world
    for (let n = 1; n <= 6; n++) simulator.addInstance({ name: `web-${n}`, host: 'cmp01' })
    simulator.crash('cmp01')
    await world.until(() => journal.read({ kinds: ['outcome.recorded'], limit: 1 }).length > 0)
    simulator.start('cmp01')
    await world.until(() => world.incident('cmp01')?.held?.code === 'HOST_ALIVE')
    const { id } = world.incident('cmp01') ?? { id: '' }
    const told = /was proven dead by bmc \(power-off\), and then showed life: /
    expect(daemon.review.incident(id).headline).toMatch(told)
    await daemon.operations.cancel(id, { by: 'ann', reason: 'it is repaired' })
    await world.ended('cmp01')
    const { headline, advice, lines, proof, voided } = daemon.review.incident(id)
    expect(headline).toMatch(told)
    expect({ proof, voided }).toMatchObject({ proof: null, voided: { method: 'bmc', strength: 'power-off' } })
    const moved = lines.filter(({ outcome }) => outcome === 'recovered').map((line) => line.id)
    expect(advice.find(({ code }) => code === 'PROOF_VOIDED')?.instances).toEqual(moved)
    expect(moved.length).toBeGreaterThan(0)
    expect(incidentReport(id, journal.read({ incident: id }))).toContain('**Revoked** at')
  }),
)

const monitor = { by: 'monitor', via: null }

function reportCrash({ daemon, clock }: SmallWorld, instance: string): void {
  const payload = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: instance }
  const generatedAt = new Date(clock.wall()).toISOString()
  daemon.reports.receive({ about: 'VM', host: 'cmp01', payload, generatedAt, ...monitor })
}

it(
  'a guest that could not be restarted on its living host is rebooted by hand, and never evacuated',
  SmallWorld.run({}, async (world) => {
    const { simulator, daemon } = world
    const { uuid } = simulator.addInstance({ name: 'web', host: 'cmp01', metadata: { HA_Enabled: 'true' } })
    simulator.fault('cmp01', { spawnFails: true })
    simulator.crashGuest(uuid, { unheard: true })
    reportCrash(world, uuid)
    const { id } = await world.ended('cmp01')
    const { advice } = daemon.review.incident(id)
    expect(advice.map(({ code, command }) => [code, command])).toEqual([
      ['INSTANCES_FAILED', `openstack server reboot --hard ${uuid}`],
      ['SIGN_OFF', `lifeboat incident sign-off ${id} --reason "what you conclude"`],
    ])
    expect(advice.map(({ text }) => text).join(' ')).not.toMatch(/evacuate|Repair cmp01/)
  }),
)

it.each([
  ['crash of a guest', 'openstack server reboot --hard'],
  ['failure of nova-compute', 'lifeboat reload'],
])('a %s that was only observed asks nobody to recover its host', (what, command) =>
  SmallWorld.run({ parts: { mode: 'observe' } }, async (world) => {
    const { simulator, daemon, clock } = world
    const { uuid } = simulator.addInstance({ name: 'web', host: 'cmp01', metadata: { HA_Enabled: 'true' } })
    if (what === 'crash of a guest') {
      simulator.crashGuest(uuid, { unheard: true })
      reportCrash(world, uuid)
    } else {
      const generatedAt = new Date(clock.wall()).toISOString()
      const payload = { process_name: 'nova-compute', event: 'STOPPED' }
      daemon.reports.receive({ about: 'PROCESS', host: 'cmp01', payload, generatedAt, ...monitor })
    }
    const { id } = await world.ended('cmp01')
    const [observed] = daemon.review.incident(id).advice
    expect(observed?.code).toBe('OBSERVED')
    expect(observed?.command?.replace(` ${uuid}`, '')).toBe(command)
    expect(observed?.text).not.toMatch(/still down|recover/)
  })(),
)
