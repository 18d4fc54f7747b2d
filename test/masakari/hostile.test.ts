/** Hostile bodies over a real connection: the genuine report behind one is taken as if it had come alone, and nothing else has changed. */
import { Agent, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { played, type Cloud } from './cloud.ts'

const genuine = (hostname: string): string =>
  JSON.stringify({
    notification: {
      ...{ type: 'COMPUTE_HOST', hostname, generated_time: '2026-01-01T00:00:01' },
      payload: { event: 'STARTED' },
    },
  })
const within = (payload: string): string => `{"notification":{"type":"VM","hostname":"cmp01","payload":${payload}}}`
const many = Array.from({ length: 9_000 }, (_, n) => `"k${n}":"v"`).join(',')

interface Hostile {
  content: string | Buffer
  type?: string
  /** Sent piece by piece, so that its length is not known before. */
  isChunked?: boolean
  status?: number
  /** The connection ends with the answer: what cannot be read, or is not read to its end, may be followed by anything. */
  cuts?: boolean
}

const hostile: Record<string, Hostile> = {
  'that is cut off': { content: '{"notification":{"type":"VM"', cuts: true },
  'of two documents': { content: `${genuine('cmp01')}${genuine('cmp02')}`, cuts: true },
  'as deep as it may be': { content: `${'['.repeat(57_000)}${']'.repeat(57_000)}` },
  'with a deep payload': { content: within(`${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`) },
  'with a prototype': { content: within('{"__proto__":{"event":"STOPPED"}}'), cuts: true },
  'with a constructor': { content: within('{"constructor":{"prototype":{"event":"STOPPED"}}}'), cuts: true },
  'of nine thousand keys': { content: within(`{${many}}`) },
  'with one key twice': { content: within('{"event":"STOPPED","event":["STOPPED"]}') },
  'with a number beyond all': { content: within('{"event":1e999}') },
  'with half a letter': { content: within(String.raw`{"event":"\ud800"}`) },
  'with a zero in a key': { content: within(String.raw`{"a\u0000b":"x"}`) },
  'that is no UTF-8': { content: Buffer.from('7b226e6f74696669636174696f6e223a22ff227d', 'hex') },
  'that is XML': { content: '<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>', type: 'text/xml', status: 415 },
  'that is too large': { content: within(`{"event":"${'x'.repeat(120_000)}"}`), status: 413, cuts: true },
  'that grows too large': {
    ...{ content: within(`{"event":"${'x'.repeat(120_000)}"}`), isChunked: true },
    ...{ status: 413, cuts: true },
  },
}

/** Posts over a connection of the agent's. */
function post(port: number, agent: Agent, { content, type = 'application/json', isChunked = false }: Hostile) {
  return new Promise<{ status: number; isReused: boolean }>((resolve, reject) => {
    const length = isChunked ? {} : { 'content-length': Buffer.byteLength(content) }
    const headers = { 'x-auth-token': 'token-of-mona', 'content-type': type, ...length }
    const asked = request({ agent, port, method: 'POST', path: '/v1/notifications', headers }, (answer) => {
      answer.resume()
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, isReused: asked.reusedSocket }))
    })
    asked.once('error', reject)
    asked.end(content)
  })
}

async function listening(cloud: Cloud, test: (port: number, one: Agent, other: Agent) => Promise<void>): Promise<void> {
  await cloud.server.listen({ host: '127.0.0.1', port: 0 })
  const agents = [new Agent({ keepAlive: true, maxSockets: 1 }), new Agent()] as const
  try {
    await test((cloud.server.server.address() as AddressInfo).port, ...agents)
  } finally {
    for (const agent of agents) agent.destroy()
    await cloud.server.close()
  }
}

it.each(Object.entries(hostile))('after a body %s a genuine report is taken', (_what, body) =>
  played(async (cloud) => {
    const { journal, clock, simulator } = cloud.world
    const written = (): string[] => journal.read().map(({ kind }) => kind)
    const before = written()
    const { status = 400, cuts = false } = body
    await listening(cloud, async (port, one, other) => {
      expect(await clock.run(post(port, one, body))).toEqual({ status, isReused: false })
      expect(written()).toEqual(before)
      const same = await clock.run(post(port, one, { content: genuine('cmp01') }))
      expect(same).toEqual({ status: 202, isReused: !cuts })
      expect(await clock.run(post(port, other, { content: genuine('cmp02') }))).toMatchObject({ status: 202 })
    })
    await clock.advance(10_000)
    const [received, settled] = [Array(2).fill('report.received'), Array(2).fill('report.settled')]
    expect(written().slice(before.length).toSorted()).toEqual([...received, ...settled])
    expect(cloud.world.writes()).toEqual([])
    expect(simulator.requests().every(({ status: answered }) => answered < 400)).toBe(true)
  })(),
)

const crash = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED' }

/** What Lifeboat reads now and then, whatever is reported. */
const polled = ['GET compute/v2.1/os-services', 'GET compute/v2.1/os-aggregates']

/** What an answer tells beside what was sent, and what is new with each report. */
function withoutIds({ notification }: { notification: Record<string, unknown> }): object {
  const own = ['id', 'notification_uuid', 'payload', 'created_at']
  return Object.fromEntries(Object.entries(notification).filter(([key]) => !own.includes(key)))
}

it(
  'an instance of another project is no better known than one that does not exist',
  played(async (cloud) => {
    const { simulator, clock } = cloud.world
    const { uuid } = simulator.addInstance({ host: 'cmp02', name: 'theirs', project: 'project-demo' })
    const tried = async (instance_uuid: string): Promise<object> => {
      simulator.forgetRequests()
      const report = { type: 'VM', payload: { ...crash, instance_uuid } }
      const first = await cloud.report(report)
      await clock.advance(10_000)
      const again = await cloud.report(report)
      await clock.advance(10_000)
      return {
        answers: [first, again].map((answer) => [answer.statusCode, withoutIds(answer.json())]),
        reads: simulator
          .requests()
          .map(({ method, route }) => `${method} ${route}`)
          .filter((read) => !polled.includes(read)),
      }
    }
    const unknown = await tried('2f2a7d1b-1b1b-4b1b-8b1b-000000000001')
    expect(unknown).toMatchObject({
      answers: Array(2).fill([202, { status: 'running', message: 'Lifeboat is looking at it' }]),
      reads: Array(2).fill('GET compute/v2.1/servers/{id}'),
    })
    expect(await tried(uuid)).toEqual(unknown)
  }),
)
