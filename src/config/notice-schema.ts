/** The options of notices: who is told of what, and how. Cross-references are checked in notices.ts. */
import { z } from 'zod'
import { noticeAudiences, noticeSeverities, noticeTopics, type NoticeTopic } from '../domain/notice.ts'
import { argv, count, loginOptions, names, optionalSection, section, text } from './pieces.ts'
import { duration } from '../formats/duration-schema.ts'

const topics = Object.keys(noticeTopics).filter((topic) => topic !== 'test') as [NoticeTopic, ...NoticeTopic[]]

const filters = {
  audience: z
    .enum(noticeAudiences)
    .default('operator')
    .describe(
      'operator: everything about the cloud. tenant: one notice for each project, about its own instances only',
    ),
  topics: z.array(z.enum(topics)).min(1).optional().describe('Only these kinds of event. Default: all of its audience'),
  least: z.enum(noticeSeverities).default('info').describe('The lowest severity that it gets'),
  segments: names()
    .min(1)
    .optional()
    .describe('Only hosts of these segments, and what concerns the whole cloud. Default: all'),
  projects: names().min(1).optional().describe('Only of these projects (ids), for audience tenant. Default: all'),
  texts: text().optional().describe('File with your own words, in any language (docs/notices.md). Default: English'),
  show_hosts: z
    .boolean()
    .default(false)
    .describe('true: tenants are told the names of hosts, which show how the cloud is built'),
}

/** An Alertmanager is for operators alone: it shows every alert to everyone who may open it. */
const { audience: _audience, projects: _projects, show_hosts: _showHosts, ...operatorFilters } = filters

const timeout = duration('100ms', '2m')
  .prefault('5s')
  .describe('Time limit of one try. Too short: a slow receiver gets it twice; too long: the notices behind it wait')

const url = z.string().regex(/^https?:\/\/[^\s@#]+$/, { error: 'must be an http or https URL without a login' })

const target = {
  url: url.optional().describe('Address; exactly one of url, url_file, url_env'),
  url_file: text().optional().describe('File with the address, where it is a secret; a bare name as in password_file'),
  url_env: text().optional().describe('Environment variable with the address'),
  ca_file: text().optional().describe("Certificates that sign the receiver's"),
  cert_file: text()
    .optional()
    .describe('Client certificate, with its chain, for a receiver that asks for one. Needs key_file'),
  key_file: text().optional().describe('Private key of cert_file, without a passphrase'),
  verify: z.boolean().default(true).describe('false: anyone in the network can pose as the receiver and read notices'),
  timeout,
}

/** No comma and no white space: a name of one address must not become a list. A dash first would be an option. */
const address = z.string().regex(/^[^\s@,;<>"'\p{Cc}-][^\s@,;<>"'\p{Cc}]*@[^\s@,;<>"'\p{Cc}]+$/u, {
  error: 'must be one mail address: name@example.org',
})

const sender = z.string().regex(/^([^\p{Cc}<>@"]* <)?[^\s@,;<>"'\p{Cc}-][^\s@,;<>"'\p{Cc}]*@[^\s@,;<>"'\p{Cc}]+>?$/u, {
  error: 'must be name@example.org or Lifeboat <name@example.org>',
})

const receiver = z.discriminatedUnion('kind', [
  section({
    kind: z.literal('webhook'),
    ...target,
    secret: text().optional().describe('Shared secret of the signature. Better: secret_file or secret_env'),
    secret_file: text().optional().describe('File with the secret; a bare name as in password_file'),
    secret_env: text().optional().describe('Environment variable with the secret'),
    sign: z.boolean().default(true).describe('false: anyone who reaches the receiver can pose as Lifeboat'),
    ...filters,
  }),
  section({ kind: z.literal('chat'), ...target, ...filters }),
  section({
    kind: z.literal('alertmanager'),
    ...target,
    ...loginOptions,
    resolve_timeout: duration('1m', '1d')
      .prefault('10m')
      .describe(
        'An alert that Lifeboat does not renew ends after this; it renews four times in it. Too short: alerts end while Lifeboat restarts; too long: they stand on after it was removed',
      ),
    ...operatorFilters,
  }),
  section({
    kind: z.literal('email'),
    sendmail: argv()
      .default(['/usr/sbin/sendmail'])
      .describe('The program and its own arguments; -i, -f and the recipients are added, the message is its input'),
    from: sender.describe('Sender'),
    to: z.array(address).min(1).optional().describe('Recipients; or to_by_project'),
    to_by_project: z
      .record(text(), z.array(address).min(1))
      .optional()
      .describe('Recipients of each project, for audience tenant: only these projects are told'),
    timeout,
    ...filters,
  }),
])

export const notices = optionalSection({
  link: url
    .optional()
    .describe("Where people find Lifeboat's pages: every notice to operators names the page that tells more"),
  freeze_delay: duration('0s', '1h')
    .prefault('30s')
    .describe(
      'How long a freeze lasts before Lifeboat tells people. Shorter: every restart of an API wakes someone; longer: people hear late of a real one',
    ),
  give_up_after: duration('1m', '7d')
    .prefault('6h')
    .describe(
      'A notice that cannot be delivered in this time becomes a dead letter. Shorter: a receiver that is down overnight misses it; longer: old news',
    ),
  queue_limit: count()
    .max(10_000)
    .default(1000)
    .describe('Notices that may wait for one receiver; beyond it the oldest become dead letters'),
  max_instances: count()
    .max(1000)
    .default(200)
    .describe('Instances that one notice names; the others are counted. More: a bigger journal'),
  receivers: z.record(text(), receiver).default({}).describe('Who is told, by name'),
})
