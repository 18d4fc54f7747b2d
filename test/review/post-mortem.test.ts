/** The post-mortem: what a manager reads of an incident, made from its entries alone. */
import { expect, it } from 'vitest'
import type { Entry } from '../../src/domain/entry.ts'
import { openJournalAccess } from '../../src/review/journal-access.ts'
import { postMortem } from '../../src/review/post-mortem.ts'
import { newJournal } from '../journal/fixtures.ts'
import { readable } from '../../src/review/story.ts'
import { SmallWorld } from '../daemon/small-world.ts'

const retry = { fenceRetryMs: 60_000, fenceRetryMaxMs: 900_000 }
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-/i

/** A host of two projects: three instances come back, one that was off too, and one cannot be evacuated. */
async function lostHost(world: SmallWorld): Promise<{ id: string; entries: Entry[] }> {
  const { simulator, journal } = world
  const on = { host: 'cmp01', state: 'active' } as const
  for (const name of ['web-1', 'web-2', 'web-3']) simulator.addInstance({ ...on, name, project: 'shop' })
  simulator.addInstance({ ...on, name: 'hsm', project: 'bank', vtpm: true })
  simulator.addInstance({ ...on, name: 'batch', project: 'bank', state: 'stopped' })
  simulator.crash('cmp01')
  const { id } = await world.ended('cmp01')
  return { id, entries: journal.read({ incident: id }) }
}

function part(text: string, title: string): string {
  return text.split(/^## /m).find((one) => one.startsWith(title)) ?? ''
}

it(
  'tells a page in words: what happened, when, whom it hit, what is lost, what is left to do, and how the host was proven dead',
  SmallWorld.run({}, async (world) => {
    const { id, entries } = await lostHost(world)
    const text = postMortem(id, entries, { retry, pages: 'https://ha.example.org/lifeboat/' })
    expect(text).toMatch(/^# Post-mortem: cmp01 failed, \d{4}-\d\d-\d\d\n/)
    expect(text).toContain(`Incident [${id}](https://ha.example.org/lifeboat/incidents/${id}).`)
    expect(text).toMatch(/cmp01 went down: .* It was proven dead by bmc .* 4 of 5 instances recovered, 1 failed\./)
    const timeline = part(text, 'Timeline')
    expect(timeline).toMatch(/\+0 s \| Last heartbeat of cmp01[^]*Proof of death[^]*4 instances: recovered[^]*Closed/)
    expect(timeline).not.toMatch(uuid)
    expect(timeline).not.toMatch(/step \d|req-/)
    expect(part(text, 'Impact')).toMatch(
      /\| bank \| 2 \| 1 \| – \| – \|\n\| shop \| 3 \| 3 \| \d+ s \| \d+ s \|\n\| \*\*All\*\* \| 5 \| 4 \|/,
    )
    expect(part(text, 'What is not back')).toMatch(/\| hsm \| failed \| .*vTPM/)
    expect(part(text, 'What is left to do')).toMatch(/One instance is not recovered[^]*sign this incident off/)
    expect(part(text, 'Done by hand')).toContain('Nothing.')
    expect(part(text, 'How it was proven dead')).toContain('Proof: **power-off** by bmc')
  }),
)

it(
  'folds what repeats into one line that says how often',
  SmallWorld.run({}, async (world) => {
    const { id, entries } = await lostHost(world)
    const failed = entries.filter(
      (entry) => entry.step?.includes('evacuate') === true && entry.instance === lastFailed(entries)?.instance,
    )
    const again = [1, 2, 3, 4].flatMap((nth) => failed.map((entry) => ({ ...entry, step: `${entry.step}.${nth}` })))
    const text = postMortem(id, [...entries, ...again], { retry, pages: null })
    const lines = part(text, 'Timeline').split('\n')
    expect(lines.filter((line) => line.includes('step evacuate failed'))).toEqual([
      expect.stringMatching(/hsm: step evacuate failed \(API\\_REFUSED\): .*\(5 times\)/),
    ])
  }),
)

function lastFailed(entries: readonly Entry[]): Entry | undefined {
  return entries.findLast(({ kind }) => kind === 'step.failed')
}

it(
  'names who did what by hand, and asks for nothing that is done',
  SmallWorld.run({}, async (world) => {
    const { id } = await lostHost(world)
    world.daemon.review.note(id, { by: 'ann', text: 'the PDU | of rack 3' })
    world.daemon.review.signOff(id, { by: 'bob', text: 'hsm was rebuilt' })
    const text = postMortem(id, world.journal.read({ incident: id }), { retry, pages: null })
    expect(part(text, 'Done by hand')).toMatch(
      /UTC: ann noted: the PDU \\\| of rack 3\n.*UTC: bob signed it off: hsm was/,
    )
    expect(part(text, 'What is left to do')).not.toContain('sign this incident off')
  }),
)

it(
  'says the same to the command line as to who asks the daemon',
  SmallWorld.run({}, async (world) => {
    const { id, entries } = await lostHost(world)
    const settings = { ...retry, notices: { link: 'https://ha.example.org' } }
    const access = openJournalAccess(world.path, settings)
    expect([...access.export('post-mortem', id)]).toEqual([
      `${postMortem(id, entries, { retry, pages: 'https://ha.example.org' })}\n`,
    ])
    access.close()
    let told = ''
    const whole = async (): Promise<void> => {
      for await (const piece of world.daemon.review.report(id, 'post-mortem')) told += piece
    }
    await world.clock.run(whole())
    expect(told).toBe(postMortem(id, entries, { retry, pages: null }))
  }),
)

it(
  'of a host that was only observed says what would have come back',
  SmallWorld.run({ parts: { mode: 'observe' } }, async (world) => {
    const { id, entries } = await lostHost(world)
    const text = postMortem(id, entries, { retry, pages: null })
    expect(part(text, 'Impact')).toMatch(/Would have been recovered[^]*\| shop \| 3 \| 3 \|/)
  }),
)

it('of a crash names its instance once, and writes times as people do', () => {
  const journal = newJournal()
  const of = { incident: 'i', host: 'c1' }
  const failed = {
    name: 'web',
    projectId: 'p',
    event: 'CRASHED',
    segment: 's',
    mode: 'armed',
    openedBy: 'masakari',
  } as const
  journal.append([
    { kind: 'instance.failed', ...of, instance: 'a', data: { ...failed, report: 'r' } },
    { kind: 'incident.held', ...of, data: { code: 'PAUSED', message: 'paused until 2026-01-02T04:00:00.000Z' } },
  ])
  const text = postMortem('i', journal.read({ incident: 'i' }), { retry, pages: null })
  expect(text).toMatch(/^# Post-mortem: web crashed on c1, /)
  expect(text).toContain('| Incident opened for instance web on c1 by masakari: its guest crashed')
  expect(text).toContain('Held: paused until 2026-01-02 04:00:00 UTC.')
  expect(text).not.toContain('proven dead')
})

it('names an instance, and leaves the directory that has its id in its name as it is', () => {
  const id = 'a8393ac1-e33a-41f1-b53b-f04c3d9f3963'
  const told = readable(
    `Delete the allocation of ${id}, and ${id}_resize (/var/lib/nova/instances/${id})`,
    new Map([[id, 'web']]),
  )
  expect(told).toBe(`Delete the allocation of web, and ${id}_resize (/var/lib/nova/instances/${id})`)
})

it(
  'of an incident that the journal does not have is an error, and no empty page',
  SmallWorld.run({}, async () => {
    expect(() => postMortem('none', [], { retry, pages: null })).toThrow(/no incident none/)
  }),
)
