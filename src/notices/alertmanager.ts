/**
 * Prometheus' Alertmanager, by its API v2: each trouble is one alert, which ends when its end is told. Alertmanager forgets what is not
 * sent again, so what stands is renewed.
 */
import type { Clock } from '../domain/clock.ts'
import { noticeSeverities, type Notice, type NoticeAlert, type NoticeSeverity } from '../domain/notice.ts'
import { authorization, type HttpLogin } from '../domain/http-login.ts'
import type { Deliver, Ended } from './delivery.ts'
import type { Post } from './post.ts'
import { linkTo } from '../domain/page-link.ts'
import { worded, type Setting, type Texts } from './texts.ts'

/** Renewals within the time after which an alert ends by itself. Fewer: one that is lost ends the alert; more: load. */
const renewals = 4

/** As Alertmanager takes it. */
interface PostedAlert {
  labels: Record<string, string>
  annotations?: Record<string, string>
  startsAt: string
  endsAt: string
  generatorURL?: string
}

export interface AlertmanagerOptions {
  post: Post
  /** Null: it asks for none. */
  login: HttpLogin | null
  clock: Clock
  texts: Texts
  setting: Setting
  least: NoticeSeverity
  /** Without a renewal an alert ends after this. */
  resolveTimeoutMs: number
}

export function alertmanager(options: AlertmanagerOptions): Deliver {
  const { post, login, clock, resolveTimeoutMs } = options
  const headers = authorization(login)
  // One after the other: a renewal that overtakes the end of its alert would let it begin again.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (alerts: () => PostedAlert[], signal: AbortSignal): Promise<Ended> => {
    const turn = last.then((): Ended | Promise<Ended> => {
      const now = alerts()
      return now.length === 0 ? { ok: true, result: 'no alert' } : post(JSON.stringify(now), headers, signal)
    })
    last = turn.catch(() => undefined)
    return turn
  }
  const until = (): string => new Date(clock.wall() + resolveTimeoutMs).toISOString()
  const deliver: Deliver = ({ notice, signal }) =>
    inTurn(() => [...ended(notice, options), ...firing(notice, until(), options)], signal)
  const send = (notices: () => readonly Notice[], signal: AbortSignal): Promise<Ended> =>
    inTurn(() => notices().flatMap((notice) => firing(notice, until(), options)), signal)
  return Object.assign(deliver, { renewal: { everyMs: resolveTimeoutMs / renewals, send } })
}

/** The API's address, whether its path was given or not. */
export function alertsAddress(url: string): string {
  return `${url.replace(/\/+$/, '').replace(/\/api\/v2\/alerts$/, '')}/api/v2/alerts`
}

/** An alert is named by its labels: with another severity it is another one, and the one before ends. */
function ended(notice: Notice, options: AlertmanagerOptions): PostedAlert[] {
  const alert = alertOf(notice)
  const { was, action } = alert
  if (was === null || !isTold(was, options) || (action !== 'resolve' && was === notice.severity)) return []
  const startsAt = notAhead(alert.since, options)
  const at = notAhead(notice.at, options)
  // Never before it began: that is no alert to Alertmanager.
  return [{ labels: labelsOf(alert, was, options), startsAt, endsAt: at > startsAt ? at : startsAt }]
}

/**
 * Alertmanager refuses an alert that ends before it begins, and takes one whose end is ahead for one that stands. The wall clock may have
 * been set back since the notice was told.
 */
function notAhead(at: string, { clock }: AlertmanagerOptions): string {
  const now = new Date(clock.wall()).toISOString()
  return at < now ? at : now
}

function firing(notice: Notice, endsAt: string, options: AlertmanagerOptions): PostedAlert[] {
  const alert = alertOf(notice)
  const { severity, topic, code, mode } = notice
  if (alert.action !== 'trigger' || !isTold(severity, options)) return []
  const { texts, setting } = options
  const { subject, text } = worded(notice, texts, setting)
  const link = linkTo(setting.link, notice)
  return [
    {
      labels: labelsOf(alert, severity, options),
      annotations: { summary: subject, description: text, topic, code, mode },
      ...{ startsAt: notAhead(alert.since, options), endsAt },
      ...(link !== null && { generatorURL: link }),
    },
  ]
}

function isTold(severity: NoticeSeverity, { least }: AlertmanagerOptions): boolean {
  return noticeSeverities.indexOf(severity) >= noticeSeverities.indexOf(least)
}

function labelsOf(
  { labels }: NoticeAlert,
  severity: NoticeSeverity,
  { setting: { cloud } }: AlertmanagerOptions,
): Record<string, string> {
  return { ...labels, severity, ...(cloud !== null && { cloud }) }
}

/** One that tells of no trouble, as a test does, is an alert of its own, and ends by itself. */
function alertOf({ alert, id, at, topic }: Notice): NoticeAlert {
  const labels = { alertname: topic === 'test' ? 'LifeboatTest' : 'LifeboatNotice', topic, notice: id }
  return alert ?? { key: id, action: 'trigger', labels, since: at, was: null }
}
