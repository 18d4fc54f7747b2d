/** Receivers of notices, from the configuration: who wants to hear of what, and what delivers it. Nothing is sent by building. */
import type { Clock } from '../domain/clock.ts'
import type { NoticeTest, NoticeTestResult } from '../domain/notice.ts'
import {
  receiver,
  sendTest as send,
  type Deliver,
  type NoticeRules,
  type ReceiverSurroundings,
} from '../notices/index.ts'
import type { Config } from '../config/index.ts'

export function noticeRules({ notices }: Config): NoticeRules {
  const { receivers, ...limits } = notices
  return { ...limits, receivers: new Map(Object.entries(receivers)) }
}

/** Throws CONFIG_INVALID when a file of certificates or keys cannot be used. */
export function buildReceivers(
  config: Config,
  around: Omit<ReceiverSurroundings, 'cloud' | 'link'>,
): Map<string, Deliver> {
  const { link, receivers } = config.notices
  const setting = { ...around, cloud: config.cloud, link }
  return new Map(Object.entries(receivers).map(([name, settings]) => [name, receiver(name, settings, setting)]))
}

/** Sends a test to one receiver, beside a running daemon or without one. Throws NOT_FOUND, CONFIG_INVALID, USAGE. */
export async function sendTest(config: Config, test: NoticeTest, clock: Clock): Promise<NoticeTestResult> {
  const { receivers, link } = config.notices
  return send(test, {
    ...{ receivers: noticeRules(config).receivers, mode: config.mode, wallMs: clock.wall() },
    deliver: (name) => {
      const settings = receivers[name]
      return settings && receiver(name, settings, { clock, cloud: config.cloud, link })
    },
    signal: new AbortController().signal,
  })
}
