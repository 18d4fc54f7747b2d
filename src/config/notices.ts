/** Receivers of notices as the program uses them: secrets and words read, paths resolved, what contradicts itself reported. */
import { resolve } from 'node:path'
import { noticeTopics } from '../domain/notice.ts'
import type { ReceiverSettings } from '../notices/index.ts'
// Not by the room's index: every command would load what sends.
import { english, type Texts } from '../notices/texts.ts'
import { hiddenLogin, httpLogin } from './http-login.ts'
import { readTexts } from './notice-texts.ts'
import type { ConfigFile } from './schema.ts'
import type { Report, Secrets } from './secrets.ts'
import type { Path } from '../formats/yaml-source.ts'

export interface NoticesConfig {
  /** Address of the pages, or null. */
  link: string | null
  freezeDelayMs: number
  giveUpAfterMs: number
  queueLimit: number
  maxInstances: number
  receivers: Record<string, ReceiverSettings>
}

type ReceiverTarget = Exclude<ReceiverSettings, { kind: 'email' }>
type ReceiverFile = ConfigFile['notices']['receivers'][string]

interface From {
  secrets: Secrets
  baseDir: (path: Path) => string
  report: Report
}

/** A key of fewer characters can be guessed from one signed notice. */
const shortestSecret = 16

export function noticesConfig({ notices, segments }: ConfigFile, from: From): NoticesConfig {
  const { link = null, freezeDelay, giveUpAfter, queueLimit, maxInstances } = notices
  const known = segments.map(({ name }) => name)
  const receivers = Object.entries(notices.receivers).map(([name, file]) => {
    const path = ['notices', 'receivers', name]
    checkFilters(file, path, known, from.report)
    return [name, receiverConfig(file, path, from)] as const
  })
  return {
    link,
    freezeDelayMs: freezeDelay,
    giveUpAfterMs: giveUpAfter,
    queueLimit,
    maxInstances,
    receivers: Object.fromEntries(receivers),
  }
}

/** The receivers as they may be shown or logged. */
export function receiversWithoutSecrets(receivers: NoticesConfig['receivers']): NoticesConfig['receivers'] {
  const hidden = Object.entries(receivers).map(([name, settings]): [string, ReceiverSettings] => {
    switch (settings.kind) {
      case 'email':
        return [name, settings]
      case 'chat':
        return [name, { ...settings, url: '***' }]
      case 'alertmanager':
        return [name, { ...settings, url: '***', login: hiddenLogin(settings.login) }]
      case 'webhook':
        return [name, { ...settings, url: '***', secret: settings.secret === null ? null : '***' }]
    }
  })
  return Object.fromEntries(hidden)
}

function receiverConfig(file: ReceiverFile, path: Path, from: From): ReceiverSettings {
  const { topics = null, segments = null, least } = file
  const { audience, showHosts } = file.kind === 'alertmanager' ? forOperators : file
  const texts = textsOf(file.texts, path, from)
  const common = { audience, topics, segments, least, showHosts, texts, projects: projectsOf(file) }
  if (file.kind === 'email') {
    const { kind, sendmail, from: sender, to = [], toByProject = {}, timeout } = file
    return { ...common, alerts: 'none', kind, sendmail, from: sender, to, toByProject, limitMs: timeout }
  }
  const { caFile, verify, timeout } = file
  const ca = caFile === undefined ? null : resolve(from.baseDir([...path, 'ca_file']), caFile)
  const url = urlOf(file, path, from)
  const target = { url, caFile: ca, client: clientOf(file, url, path, from), verify, limitMs: timeout }
  if (file.kind === 'chat') return { ...common, ...target, alerts: 'none', kind: 'chat' }
  if (file.kind === 'alertmanager') {
    const login = httpLogin(file, path, from.secrets, from.report)
    const { kind, resolveTimeout } = file
    return { ...common, ...target, alerts: 'only', kind, login, resolveTimeoutMs: resolveTimeout }
  }
  return { ...common, ...target, alerts: 'follows', kind: 'webhook', secret: secretOf(file, path, from) }
}

/** An Alertmanager shows every alert to everyone who may open it. */
const forOperators = { audience: 'operator', showHosts: false } as const

function projectsOf(file: ReceiverFile): string[] | null {
  if (file.kind === 'alertmanager') return null
  if (file.kind === 'email' && file.toByProject !== undefined) return Object.keys(file.toByProject)
  return file.projects ?? null
}

function urlOf(file: Exclude<ReceiverFile, { kind: 'email' }>, path: Path, { secrets, report }: From): string {
  const { url, urlFile, urlEnv } = file
  const found = secrets.url({ url, urlFile, urlEnv }, path)
  if (found !== '' && !/^https?:\/\/[^\s@#]+$/.test(found))
    report(path, 'its url is no http or https URL without a login')
  return found
}

/** The certificate that Lifeboat shows. Reports half of one, and one that nobody would be shown. */
function clientOf(
  { certFile, keyFile }: Exclude<ReceiverFile, { kind: 'email' }>,
  url: string,
  path: Path,
  { baseDir, report }: From,
): ReceiverTarget['client'] {
  if (certFile === undefined && keyFile === undefined) return null
  if (certFile === undefined || keyFile === undefined) {
    const [given, missing] = certFile === undefined ? ['key_file', 'cert_file'] : ['cert_file', 'key_file']
    report([...path, given], `a client certificate is two files: give ${missing} too`)
    return null
  }
  if (url.startsWith('http:')) report([...path, 'cert_file'], 'only an https url is shown a client certificate')
  return {
    certFile: resolve(baseDir([...path, 'cert_file']), certFile),
    keyFile: resolve(baseDir([...path, 'key_file']), keyFile),
  }
}

function secretOf(
  file: Extract<ReceiverFile, { kind: 'webhook' }>,
  path: Path,
  { secrets, report }: From,
): string | null {
  const { secret, secretFile, secretEnv, sign } = file
  const given = [secret, secretFile, secretEnv].some((way) => way !== undefined)
  if (!sign) {
    if (given) report([...path, 'sign'], 'is false, but there is a secret to sign with (drop one of them)')
    return null
  }
  const found = secrets.secret({ secret, secretFile, secretEnv }, path)
  if (found !== '' && found.length < shortestSecret)
    report(path, `its secret is too short (at least ${shortestSecret} characters, e.g. openssl rand -hex 32)`)
  return found
}

function textsOf(file: string | undefined, path: Path, { baseDir, report }: From): Texts {
  if (file === undefined) return english
  return readTexts(resolve(baseDir([...path, 'texts']), file), (problem) => report([...path, 'texts'], problem))
}

function checkFilters(file: ReceiverFile, path: Path, known: readonly string[], report: Report): void {
  for (const [index, name] of (file.segments ?? []).entries()) {
    if (known.includes(name) || /^default(:|$)/.test(name)) continue
    const defined = known.length > 0 ? known.join(', ') : 'none'
    report([...path, 'segments', index], `there is no segment "${name}" (defined: ${defined}; or default:ZONE)`)
  }
  for (const [index, topic] of (file.topics ?? []).entries()) {
    const { audience } = noticeTopics[topic]
    const mine = file.kind === 'alertmanager' ? forOperators.audience : file.audience
    if (audience !== mine)
      report([...path, 'topics', index], `${topic} goes to audience ${audience}, and this receiver is for ${mine}`)
  }
  if (file.kind === 'alertmanager') return
  if (file.audience !== 'tenant' && file.projects !== undefined)
    report([...path, 'projects'], 'only notices to tenants are about a project (set audience: tenant)')
  if (file.kind === 'email') checkRecipients(file, path, report)
}

function checkRecipients(file: Extract<ReceiverFile, { kind: 'email' }>, path: Path, report: Report): void {
  const { audience, to, toByProject, projects } = file
  if ((to === undefined) === (toByProject === undefined))
    report(
      path,
      `has ${to === undefined ? 'no recipients' : 'to and to_by_project'} (exactly one of to, to_by_project)`,
    )
  if (toByProject === undefined) return
  if (audience !== 'tenant')
    report([...path, 'to_by_project'], 'only notices to tenants are about a project (set audience: tenant)')
  if (projects !== undefined) report([...path, 'projects'], 'to_by_project already says which projects (drop one)')
}
