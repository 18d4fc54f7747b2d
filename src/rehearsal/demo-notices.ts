/** Who is told in the demo: an on-call service, and the owners' service desk. Both live in this process; nothing leaves it. */
import type { Clock } from '../domain/clock.ts'
import { english, receiver, type Deliver, type NoticeRules, type ReceiverSettings } from '../notices/index.ts'
import { Receivers, stageSecret } from './receivers.ts'

/** The one whose plug can be pulled. */
export const onCall = 'on-call'

const freezeDelayMs = 10_000

const common = {
  ...({ kind: 'webhook', topics: null, segments: null, projects: null, least: 'info', alerts: 'follows' } as const),
  ...{
    showHosts: false,
    texts: english,
    secret: stageSecret,
    caFile: null,
    client: null,
    verify: true,
    limitMs: 5_000,
  },
}

const settings: Record<string, ReceiverSettings> = {
  [onCall]: { ...common, audience: 'operator', url: `http://${onCall}/` },
  'service-desk': { ...common, audience: 'tenant', url: 'http://service-desk/' },
}

export interface DemoNotices {
  rules: NoticeRules
  deliver: ReadonlyMap<string, Deliver>
  /** Whether nothing reaches the on-call service. */
  isOut: () => boolean
  setOut: (out: boolean) => void
}

export function demoNotices(clock: Clock): DemoNotices {
  const receivers = new Receivers(() => undefined)
  const around = { clock, cloud: 'simulated', link: null, wire: receivers.wire }
  let isOut = false
  return {
    rules: {
      ...{ receivers: new Map(Object.entries(settings)), freezeDelayMs, giveUpAfterMs: 3_600_000 },
      ...{ queueLimit: 1_000, maxInstances: 200 },
    },
    deliver: new Map(Object.entries(settings).map(([name, its]) => [name, receiver(name, its, around)])),
    isOut: () => isOut,
    setOut: (out) => {
      isOut = out
      receivers.trouble(onCall, out ? 'fails' : null)
    },
  }
}
