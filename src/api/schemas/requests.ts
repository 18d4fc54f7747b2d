/** What requests may hold: paths, queries and bodies. Unknown keys are refused: a mistyped one must not be ignored. */
import { z } from 'zod'
import { noticeStates, type NoticeState } from '../../domain/notice-record.ts'
import { reportFormats, type ReportFormat } from '../../domain/review.ts'
import { longestId } from '../server.ts'

/** Spaces without width and fillers are no reason, and no name: nobody would see that there is none. */
const visible = (text: string): boolean =>
  /(?!\p{Default_Ignorable_Code_Point}|\u2800)[\p{L}\p{N}\p{P}\p{S}]/u.test(text)
const nothingToSee = 'there is nothing to see in it'
const person = z.string().trim().min(1).max(255).refine(visible, nothingToSee).describe('Who orders it')
const prose = z.string().trim().max(4_000)
const sentence = prose.min(1).refine(visible, nothingToSee)
const reason = sentence.describe('Why; the journal keeps it')
/** Nobody is held up for want of one here; but what is given must tell a reviewer something, as everywhere. */
const optionalReason = prose.refine((text) => text === '' || visible(text), nothingToSee).default('')
const name = z.string().trim().min(1).max(255)
const identifier = z.string().min(1).max(longestId)
const instanceId = z.string().min(1).max(64)
const seq = z.coerce.number().int().min(0)
const flag = z.enum(['true', 'false']).transform((text) => text === 'true')
const count = (most: number) => z.coerce.number().int().min(1).max(most)
const stamp = z.iso.datetime({ offset: true })
/** Compared with the journal's own stamps, which are UTC with milliseconds. */
/** A zone can carry a time beyond the year 9999 or before 0: written with a sign, it would be sorted before all others. */
const instant = stamp
  .transform((text) => new Date(text).toISOString())
  .refine((iso) => /^\d{4}-/.test(iso), 'must lie in the years 0 to 9999 (UTC)')

/** On the operators' socket the body names the person; with a token or a session the token does. */
const by = person
  .optional()
  .describe('Required on the operators’ socket; elsewhere the name of the token’s user counts')

export const nothing = z.strictObject({})
export const hostPath = z.strictObject({ host: name })
export const incidentPath = z.strictObject({ id: identifier })
export const twoIncidentsPath = z.strictObject({ id: identifier, other: identifier })
export const instancePath = z.strictObject({ id: instanceId })
export const instanceOfIncidentPath = z.strictObject({ id: identifier, instance: instanceId })
export const planPath = z.strictObject({ id: z.string().min(1).max(64) })

export const incidentQuery = z.strictObject({
  open: flag.optional().describe('true: only open ones'),
  unsettled: flag.optional().describe('true: only closed ones with instances not back that nobody has signed off'),
  host: name.optional(),
  instance: instanceId.optional().describe('Only those that this instance was in, by its UUID'),
  limit: count(10_000).optional().describe('The newest first; default 100'),
})
export const reviewQuery = z.strictObject({
  lists: z
    .enum(['columns'])
    .optional()
    .describe(
      'columns: each list of more than 250 elements that is a field of the answer itself becomes {"byColumns": [part, …]}, with its parts in order. A part is a plain list of elements, or {"length": n, "fields": {name: {"values": […]}}}: element i has values[i], or, where there is an "at", values[at[i]], counted from 0. The schema below describes the answer without this.',
    ),
})
export const searchQuery = z.strictObject({
  q: name.describe('A part of a name, or the beginning of an id'),
  limit: count(100).optional().describe('Of hosts, incidents and instances each; default 8'),
})
export const verdictQuery = z.strictObject({
  host: name.optional(),
  after: seq.optional().describe('Continue below this sequence, exclusive'),
  limit: count(1_000).optional(),
})
export const recoveryQuery = z.strictObject({
  open: flag.optional(),
  host: name.optional(),
  limit: count(1_000).optional(),
})
export const reportQuery = z.strictObject({
  format: z
    .enum(Object.keys(reportFormats) as ReportFormat[])
    .default('markdown')
    .describe(
      Object.entries(reportFormats)
        .map(([format, means]) => `${format}: ${means}`)
        .join('. '),
    ),
})
export const journalQuery = z.strictObject({
  incident: identifier.optional(),
  host: name.optional(),
  instance: name
    .optional()
    .describe('Its name or UUID. 404 for a name that no incident knows, 400 for one that several instances have'),
  kinds: z
    .string()
    .max(2_000)
    .transform((text) => text.split(',').filter((kind) => kind !== ''))
    .optional()
    .describe('Comma-separated kinds of entries'),
  actor: z.string().min(1).max(300).optional().describe('daemon, calendar:NAME or operator:NAME'),
  since: instant.optional(),
  until: instant.optional(),
  after: seq.optional().describe('Continue after this sequence, exclusive'),
  newestFirst: flag.optional(),
  limit: count(1_000).optional().describe('Default 100'),
})
export const eventsQuery = z.strictObject({
  after: seq
    .optional()
    .describe('Continue after this sequence, exclusive; Last-Event-ID beats it. Default: only new entries'),
})

export const noticeQuery = z.strictObject({
  receiver: name.optional(),
  state: z.enum(Object.keys(noticeStates) as [NoticeState, ...NoticeState[]]).optional(),
  incident: identifier.optional(),
  limit: count(1_000).optional().describe('Of each receiver, the newest; default 20'),
})
export const testing = z.strictObject({
  by,
  receiver: name,
  project: name.nullable().default(null).describe('Of a receiver for tenants; null: the first that is configured'),
})

const scope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('cloud'), name: z.null() }),
  z.strictObject({ kind: z.enum(['segment', 'host']), name }),
])
const until = stamp.nullable().default(null).describe('When it ends; null: when someone ends it')

export const reasoned = z.strictObject({ by, reason })
/** More hosts than any brake holds at once. Fewer: the largest failures could only be let past piece by piece. */
export const mostInGroup = 10_000
export const overridingGroup = z.strictObject({
  by,
  reason,
  scope: name.describe('As GET /v1/brake calls it: cloud, segment:NAME or domain:NAME'),
  incidents: z
    .array(identifier)
    .min(1)
    .max(mostInGroup)
    .describe('Those that you saw in that group; one that joined it since is not overridden'),
})
export const recovering = z.strictObject({
  host: name,
  by,
  proof: sentence.describe('How you know that the host is dead'),
  unixUser: person.optional().describe('Only on the operators’ socket: the account, as the operating system says'),
})
export const tryingAgain = z
  .strictObject({
    by,
    reason: optionalReason.describe('Why; not needed with a proof'),
    proof: sentence
      .nullable()
      .default(null)
      .describe(
        'How you know that the host is dead; null: Lifeboat fences it again, if a machine proved it dead before',
      ),
  })
  .refine(({ reason: why, proof }) => proof !== null || why !== '', { path: ['reason'], error: 'say why' })
/** 30 days: what lasts longer belongs in the configuration. */
const longestOrderSeconds = 30 * 86_400
/** The daemon counts it: the caller's clock may be slow, and the order would then end while people still work. */
const forSeconds = z
  .number()
  .positive()
  .max(longestOrderSeconds)
  .optional()
  .describe('How long it lasts, instead of `until`, by the clock of the daemon')
const hasOneEnd = ({ until: end, forSeconds: length }: { until: string | null; forSeconds?: number | undefined }) =>
  end === null || length === undefined
const twoEnds = { path: ['forSeconds'], error: 'give `until` or this, not both' }
export const pausing = z
  .strictObject({ by, reason, until, forSeconds, scope: scope.optional() })
  .refine(hasOneEnd, twoEnds)
export const resuming = z.strictObject({ by, reason, scope: scope.optional() })
export const maintaining = z
  .strictObject({
    by,
    reason,
    from: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe(
        'When it begins: local time of the daemon’s machine (2026-11-23 02:00), or with an offset (2026-11-23T02:00+01:00). Missing: now',
      ),
    until,
    forSeconds,
    scope,
  })
  .refine(hasOneEnd, twoEnds)
export const withdrawing = z.strictObject({
  by,
  reason,
  plan: z.number().int().min(1).describe('The number of the plan'),
})
export const maintained = z.strictObject({ by, reason, scope })
export const returning = z
  .strictObject({
    by,
    reason: optionalReason.describe('Why; needed with keepOut'),
    keepOut: z.boolean().default(false).describe('Keep it out until someone returns it to service'),
  })
  .refine(({ keepOut, reason: why }) => !keepOut || why !== '', { path: ['reason'], error: 'say why it stays out' })
export const reloading = z.strictObject({ by, reason: optionalReason.describe('Why') })
export const logging = z.strictObject({
  by,
  level: z.enum(['debug', 'info', 'warn', 'error']),
  until: stamp.nullable().default(null).describe('When it returns to the configured level; null: at the next reload'),
})
export const pulling = z.strictObject({ plug: name, out: z.boolean() })
export const noting = z.strictObject({ by, text: sentence })
/** A plan of a small host takes some 50 ms. Longer waits would be for hosts of thousands: there its progress says more. */
const longestPlanWaitSeconds = 10
export const planning = z.strictObject({
  host: name,
  failure: z
    .enum(['host', 'process', 'instance'])
    .default('host')
    .describe('What fails: the host, its nova-compute, or the guest of `instance`'),
  instance: name.exactOptional().describe('Name or UUID of one on the host: with `failure: instance`'),
  waitSeconds: z
    .number()
    .min(0)
    .max(longestPlanWaitSeconds)
    .default(0)
    .describe('Answer when the plan is ready, or after this time with its progress'),
})

const named = z.strictObject({ name, domain: name.default('Default') })
export const loggingIn = z.union([
  z.strictObject({ token: z.string().min(1).max(4_096) }),
  z.strictObject({
    user: name,
    password: z.string().min(1).max(1_024),
    userDomain: name.default('Default'),
    project: z
      .union([named, z.literal('system')])
      .nullable()
      .default(null)
      .describe('The project of your role; null: the daemon’s own project'),
  }),
])
export const signingOn = z.strictObject({
  name: name.describe('As GET /v1/sso names it'),
  to: z.string().max(2_000).default('/').describe('Path of the page that is wanted afterwards'),
})
