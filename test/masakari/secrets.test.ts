/** Secrets in what monitors send: none reaches the log at its most talkative, nor the metrics, and a refusal quotes only what is wrong. */
import { expect, it } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import { type Cloud, played, stopped } from './cloud.ts'

/** Nothing about it looks like a secret: only its place can keep it from being told. */
const secret = 'correct-horse'
const host = { type: 'COMPUTE_HOST', hostname: 'cmp01', generated_time: '2026-01-01T00:00:01' }
const guest = {
  ...{ event: 'LIFECYCLE', vir_domain_event: 'STOPPED_SHUTDOWN' },
  instance_uuid: '2f2a7d1b-1b1b-4b1b-8b1b-000000000001',
}

const body = (notification: unknown): string => JSON.stringify({ notification })
const nested = (depth: number): unknown => (depth === 0 ? secret : { a: nested(depth - 1) })

interface Bad {
  content: string
  type?: string
  status?: number
  /** Masakari quotes what is wrong, and so the secret if it is that. */
  quotes?: boolean
}

const bad: Record<string, Bad> = {
  'JSON that ends in its middle': { content: `{"notification": {"payload": {"event": "${secret}` },
  'JSON with a word of its own': { content: `{"notification": ${secret}}` },
  'JSON with more behind it': { content: `${body({ ...host, payload: stopped })} ${secret}` },
  'a prototype': { content: `{"notification": {"__proto__": {"event": "${secret}"}}}` },
  'deep lists': { content: `${'['.repeat(5_000)}"${secret}"${']'.repeat(5_000)}` },
  'a deep payload': { content: body({ ...host, payload: { event: nested(500) } }) },
  'plain text': { content: secret, type: 'text/plain', status: 415 },
  XML: { content: `<event>${secret}</event>`, type: 'text/xml', status: 415 },
  'too many bytes': { content: body({ ...host, payload: { event: `${secret}${'x'.repeat(120_000)}` } }), status: 413 },
  'another type': { content: body({ ...host, type: 'GUEST', payload: { event: secret } }) },
  'a bad host name': { content: body({ ...host, hostname: 'cmp 01', payload: { event: secret } }) },
  'a bad time': { content: body({ ...host, generated_time: 'now', payload: { event: secret } }) },
  'a host that Nova does not list': {
    content: body({ ...host, type: 'PROCESS', hostname: 'zzz', payload: { ...stopped, process_name: secret } }),
  },
  'no event': { content: body({ ...host, type: 'PROCESS', payload: { process_name: secret } }) },
  'a text that is too long': {
    content: body({ ...host, type: 'PROCESS', payload: { ...stopped, process_name: `${'x'.repeat(300)}${secret}` } }),
  },
  'an unknown event': { content: body({ ...host, payload: { event: secret } }), quotes: true },
  'an unknown key': { content: body({ ...host, payload: { event: 'STOPPED', [secret]: 'x' } }), quotes: true },
  'a key of forbidden letters': { content: body({ ...host, payload: { [`${secret}/`]: 'x' } }), quotes: true },
  'a payload of text': { content: body({ ...host, payload: secret }), quotes: true },
  'a payload that is a list': { content: body({ ...host, payload: [secret] }), quotes: true },
  'a nested payload': { content: body({ ...host, payload: { event: nested(1) } }), quotes: true },
}

/** What the daemon has told anyone of it. */
async function toldBy({ world }: Cloud): Promise<string> {
  await world.clock.advance(30_000)
  expect(world.log.some(({ level }) => level === 'debug')).toBe(true)
  return [...world.log.map((line) => JSON.stringify(line)), await world.telemetry.metricsText()].join('\n')
}

it.each(Object.entries(bad))(
  'a body of %s is refused, and told to nobody else',
  (_what, { content, type = 'application/json', status = 400, quotes = false }) =>
    played(async (cloud) => {
      const { world } = cloud
      world.telemetry.logger.setLevel('debug')
      const before = world.journal.read().length
      const options = { method: 'POST', payload: content, headers: { 'content-type': type }, as: 'mona' } as const
      const answer = await cloud.ask('/v1/notifications', options)
      expect([answer.statusCode, answer.body.includes(secret)]).toEqual([status, quotes])
      expect(world.journal.read().length).toBe(before)
      expect(await toldBy(cloud)).not.toContain(secret)
    })(),
)

it.each([
  `agent --password=${secret}`,
  `agent --db-password ${secret}`,
  `OS_PASSWORD=${secret} agent`,
  `agent {"admin_token": "${secret}"}`,
  `agent amqp://nova:${secret}@mq:5672/`,
  `curl -H "Authorization: Bearer ${secret}"`,
])('a process that was started as %s is told without it', (name) =>
  played(async (cloud) => {
    const { world } = cloud
    world.telemetry.logger.setLevel('debug')
    expect((await cloud.report({ payload: { ...stopped, process_name: name } })).statusCode).toBe(202)
    const told = await toldBy(cloud)
    expect(told).toContain('PROCESS_REPORTED')
    expect(told).not.toContain(secret)
  })(),
)

it(
  'what a guest reports beside its crash is told to nobody',
  played(async (cloud) => {
    cloud.world.telemetry.logger.setLevel('debug')
    const answer = await cloud.report({ type: 'VM', payload: { ...guest, vir_domain_event: secret } })
    expect(answer.statusCode).toBe(202)
    expect(await toldBy(cloud)).not.toContain(secret)
  }),
)

it('a report that cannot be put on record is told without its payload', () => {
  const disk = { isFull: false }
  return played(
    async (cloud) => {
      cloud.world.telemetry.logger.setLevel('debug')
      disk.isFull = true
      const answer = await cloud.report({ payload: { ...stopped, process_name: secret } })
      disk.isFull = false
      expect([answer.statusCode, answer.body.includes(secret)]).toEqual([503, false])
      const told = await toldBy(cloud)
      expect(told).toContain('masakari_api.failed')
      expect(told).not.toContain(secret)
    },
    {
      wrapJournal: (journal) => ({
        ...journal,
        append: (entries) => {
          if (disk.isFull) throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
          return journal.append(entries)
        },
      }),
    },
  )()
})
