/** A client of Masakari's API as Lifeboat speaks it, over a daemon on a simulated cloud. */
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Clock } from '../../src/domain/clock.ts'
import type { MasakariParts, MasakariRules } from '../../src/masakari/api/parts.ts'
import { masakariServer } from '../../src/masakari/api/server.ts'
import { People, person } from '../api/people.ts'
import { SmallWorld, type SmallWorldOptions } from '../daemon/small-world.ts'

export const project = 'a1b2'
export const stopped = { event: 'STOPPED', process_name: 'nova-compute' }

/** Masakari's API over a daemon of its own. */
export class Cloud {
  readonly world: SmallWorld
  readonly people: People
  readonly server: FastifyInstance

  private constructor(world: SmallWorld, people: People, server: FastifyInstance) {
    this.world = world
    this.people = people
    this.server = server
  }

  static async over(
    world: SmallWorld,
    publicUrl: string | null = null,
    clock: Clock = world.clock,
    uuids: MasakariRules['uuids'] = { segments: new Map(), hosts: new Map() },
    shared: Pick<MasakariParts, 'recorded' | 'mayWrite'> = {},
  ): Promise<Cloud> {
    const people = knownPeople()
    const { operations, review, reports, failover } = world.daemon
    const rules = () => ({
      readers: ['admin', 'reader'],
      writers: ['admin'],
      reporters: ['admin', 'monitor'],
      projects: [],
      uuids,
    })
    const parts = {
      operations,
      review,
      reports,
      failover,
      people,
      clock,
      observer: world.telemetry.observer,
      ...shared,
    }
    const server = await masakariServer(parts, { rules, publicUrl })
    return new Cloud(world, people, server)
  }

  ask(url: string, options: Partial<InjectOptions> & { as?: string | null } = {}): Promise<LightMyRequestResponse> {
    const { as = 'ann', headers, ...rest } = options
    const token = as === null ? {} : { 'x-auth-token': `token-of-${as}` }
    return this.world.clock.run(
      this.server.inject({
        method: 'GET',
        url,
        headers: { ...token, ...(headers as object) },
        ...rest,
      } as InjectOptions),
    )
  }

  /** Writes as Masakari's client does, in its newest version. */
  write(method: 'POST' | 'PUT' | 'DELETE', url: string, payload?: object, as = 'ann'): Promise<LightMyRequestResponse> {
    const headers = { 'openstack-api-version': 'instance-ha 1.3' }
    return this.ask(`/v1${url}`, { method, headers, as, ...(payload !== undefined && { payload }) })
  }

  async list<T>(url: string): Promise<T[]> {
    return Object.values((await this.ask(`/v1${url}`)).json<Record<string, T[]>>())[0] ?? []
  }

  report(change: object = {}, as = 'mona'): Promise<LightMyRequestResponse> {
    const notification = {
      ...{ type: 'PROCESS', hostname: 'cmp01', generated_time: '2026-01-01T00:00:01.938564', payload: stopped },
      ...change,
    }
    return this.ask('/v1/notifications', { method: 'POST', payload: { notification }, as })
  }
}

/** Who holds which token: `token-of-NAME`. */
function knownPeople(): People {
  const people = new People()
  const own = { kind: 'project', id: project, name: 'service', domain: 'Default' } as const
  const elsewhere = { ...own, id: 'cccc', name: 'tenant' }
  people.ownProject = () => Promise.resolve(own)
  for (const [name, roles, scope] of [
    ['ann', ['admin'], own],
    ['rita', ['reader'], own],
    ['mona', ['monitor'], own],
    ['ted', ['admin'], elsewhere],
    ['max', ['member'], own],
  ] as const)
    people.tokens.set(`token-of-${name}`, person(name, [...roles], { scope }))
  return people
}

/** A test over a fleet that was seen beating. */
export function played(play: (cloud: Cloud) => Promise<void>, options: SmallWorldOptions = {}): () => Promise<void> {
  return SmallWorld.run({ hosts: 4, ...options }, async (world) => {
    await world.clock.advance(30_000)
    await play(await Cloud.over(world))
  })
}

/** How it was refused. */
export const faultOf = (answer: LightMyRequestResponse): [number, string] => [
  answer.statusCode,
  Object.keys(answer.json<object>())[0] ?? '',
]
