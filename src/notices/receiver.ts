/** A receiver as it is configured, made into what delivers to it. Nothing is sent by making it. */
import type { Clock } from '../domain/clock.ts'
import type { HttpLogin } from '../domain/http-login.ts'
import type { Wire } from '../domain/wire.ts'
import { alertmanager, alertsAddress } from './alertmanager.ts'
import { chat } from './chat.ts'
import type { Deliver } from './delivery.ts'
import { poster, type Target } from './post.ts'
import type { ReceiverRule } from './rules.ts'
import { email, type RunSendmail } from './sendmail.ts'
import type { Texts } from './texts.ts'
import { webhook } from './webhook.ts'

export type ReceiverSettings = ReceiverRule & { texts: Texts; showHosts: boolean } & (
    | ({ kind: 'webhook'; secret: string | null } & Target)
    | ({ kind: 'chat' } & Target)
    | ({
        kind: 'alertmanager'
        login: HttpLogin | null
        /** Without a renewal an alert ends after this. */
        resolveTimeoutMs: number
      } & Target)
    | {
        kind: 'email'
        sendmail: readonly string[]
        from: string
        to: readonly string[]
        /** Project -> addresses. */
        toByProject: Readonly<Record<string, readonly string[]>>
        limitMs: number
      }
  )

export interface ReceiverSurroundings {
  clock: Clock
  cloud: string | null
  link: string | null
  /** For receivers in this process. Default: sockets, child processes. */
  wire?: Wire | undefined
  run?: RunSendmail | undefined
  /** As `poster` takes it. */
  mayLeave?: (() => boolean) | undefined
}

/** Throws CONFIG_INVALID when a file of its certificates or keys cannot be used. */
export function receiver(name: string, settings: ReceiverSettings, around: ReceiverSurroundings): Deliver {
  const { cloud, link, clock, run } = around
  const { texts, showHosts } = settings
  const setting = { cloud, link, showHosts }
  switch (settings.kind) {
    case 'webhook':
      return webhook({ post: poster(settings, around), clock, secret: settings.secret, texts, setting })
    case 'chat':
      return chat({ post: poster(settings, around), texts, setting })
    case 'alertmanager': {
      const { least, login, resolveTimeoutMs } = settings
      const post = poster({ ...settings, url: alertsAddress(settings.url) }, around)
      return alertmanager({ post, login, clock, texts, setting, least, resolveTimeoutMs })
    }
    case 'email': {
      const { sendmail, from, to, toByProject, limitMs } = settings
      const addresses = (project: string | null): readonly string[] =>
        project !== null && Object.hasOwn(toByProject, project) ? (toByProject[project] ?? []) : to
      return email({ name, argv: sendmail, from, to: addresses, limitMs, clock, texts, setting, run })
    }
  }
}
