/** Receivers of notices, from the configuration: who wants to hear of what, and what delivers it. Nothing is sent by building. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Wire } from '../domain/wire.ts'
import { receiver, testNotice, type Deliver, type NoticeRules, type RunSendmail } from '../notices/index.ts'
import type { Config } from '../config/index.ts'

export interface NoticeTest {
  receiver: string
  by: string
  /** Of a receiver for tenants; null: the first that is configured. */
  project: string | null
}

export function noticeRules({ notices }: Config): NoticeRules {
  const { receivers, ...limits } = notices
  return { ...limits, receivers: new Map(Object.entries(receivers)) }
}

/** Throws CONFIG_INVALID when a CA file cannot be read. */
export function buildReceivers(
  config: Config,
  around: { clock: Clock; wire?: Wire | undefined; run?: RunSendmail | undefined },
): Map<string, Deliver> {
  const { link, receivers } = config.notices
  const setting = { ...around, cloud: config.cloud, link }
  return new Map(Object.entries(receivers).map(([name, settings]) => [name, receiver(name, settings, setting)]))
}

/** Sends a test to one receiver, beside a running daemon or without one. Throws NOT_FOUND, CONFIG_INVALID, USAGE. */
export async function sendTest(
  config: Config,
  { receiver: name, by, project: asked }: NoticeTest,
  clock: Clock,
): Promise<{ ok: boolean; detail: string }> {
  const { receivers, link } = config.notices
  const settings = Object.hasOwn(receivers, name) ? receivers[name] : undefined
  if (settings === undefined) {
    const known = Object.keys(receivers)
    const there = known.length > 0 ? known.join(', ') : 'none'
    throw new LifeboatError('NOT_FOUND', `No receiver "${name}" is configured (there is: ${there})`)
  }
  const { audience, projects } = settings
  if (audience === 'operator' && asked !== null)
    throw new LifeboatError('USAGE', `${name} is told of no project: it is a receiver for operators`)
  const project = audience === 'tenant' ? (asked ?? projects?.[0] ?? 'test') : null
  if (project !== null && asked !== null && projects?.includes(asked) === false)
    throw new LifeboatError('USAGE', `${name} is not told of project ${asked} (it is of: ${projects.join(', ')})`)
  const send = receiver(name, settings, { clock, cloud: config.cloud, link })
  const about = { receiver: name, mode: config.mode, audience, project, by }
  const notice = testNotice({ ...about, wallMs: clock.wall(), nonce: randomUUID() })
  const ended = await send({ notice, attempt: 1, signal: new AbortController().signal })
  return { ok: ended.ok, detail: ended.ok ? ended.result : ended.problem }
}
