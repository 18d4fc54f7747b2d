/** Receivers of notices, from the configuration: who wants to hear of what, and what delivers it. Nothing is sent by building. */
import type { Clock } from '../domain/clock.ts'
import type { Wire } from '../domain/wire.ts'
import { receiver, type Deliver, type NoticeRules, type RunSendmail } from '../notices/index.ts'
import type { Config } from './config/index.ts'

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
