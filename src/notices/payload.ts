/** The JSON that webhooks get: its fields are a contract (docs/notices.md). Adding is allowed, changing and taking away is not. */
import type { Notice, NoticedInstance } from '../domain/notice.ts'
import { dedupKey } from './alerts.ts'
import { linkTo } from '../domain/page-link.ts'
import { worded, type Setting, type Texts } from './texts.ts'

/** What a body may weigh. A notice of 1,000 instances with long names is some 200 kB; more is refused by many receivers. */
export const largestBody = 256 * 1024

/** The body's text. Instances that do not fit are left out from the end, where those are that went well. */
export function payload(notice: Notice, texts: Texts, setting: Setting): string {
  for (let kept = notice.instances ?? []; ; kept = kept.slice(0, Math.floor(kept.length / 2))) {
    const body = JSON.stringify(fields({ ...notice, instances: kept }, texts, setting))
    if (Buffer.byteLength(body) <= largestBody || kept.length === 0) return body
  }
}

function fields(notice: Notice, texts: Texts, setting: Setting): Record<string, unknown> {
  const { id, topic, audience, severity, mode, at, code } = notice
  const { subject, text } = worded(notice, texts, setting)
  const { cloud } = setting
  const alert = { dedupKey: dedupKey(notice, cloud), action: notice.alert?.action ?? null }
  const common = { version: 1, id, topic, audience, severity, mode, at, cloud, code, subject, text, ...alert }
  if (audience === 'operator') {
    const { cause, message, host, segment, incident, held } = notice
    const { scope = null, hosts = host === null ? [] : [host] } = held ?? {}
    const about = { message, host, segment, incident, scope, hosts, sequence: cause }
    return { ...common, ...about, link: linkTo(setting.link, notice) }
  }
  const { project, reference, instances = [], instanceCount, notBack } = notice
  return {
    ...{ ...common, project, reference, instanceCount, notBack },
    ...(setting.showHosts && { host: notice.host }),
    instances: instances.map((one) => shown(one, setting)),
  }
}

function shown({ host, ...one }: NoticedInstance, { showHosts }: Setting): NoticedInstance {
  return showHosts && host !== undefined ? { ...one, host } : one
}
