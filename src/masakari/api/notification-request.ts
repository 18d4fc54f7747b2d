/** A notification as monitors post it, checked as Masakari checks it. Pure. */
import { z } from 'zod'
import type { ReportClass } from '../../domain/report-words.ts'
import { quoted } from './python-text.ts'
import { checked, refused, wrongField, type FieldWords } from './checked.ts'

const word = z.string().min(1).max(255)
const event = z.enum(['STARTED', 'STOPPED'])
/** With or without dashes, in either case. */
const uuid = z.string().regex(/^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i)

/** The keys that the payload of each type may have; no others. */
const payloads = {
  COMPUTE_HOST: z.strictObject({
    event,
    host_status: z.enum(['NORMAL', 'UNKNOWN']).optional(),
    cluster_status: z.enum(['ONLINE', 'OFFLINE']).optional(),
  }),
  PROCESS: z.strictObject({ process_name: word, event }),
  VM: z.strictObject({ instance_uuid: uuid, vir_domain_event: word, event: word }),
} as const satisfies Record<ReportClass, z.ZodType>

const envelope = z.strictObject({
  notification: z.strictObject({
    type: z.enum(['COMPUTE_HOST', 'PROCESS', 'VM']),
    hostname: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[a-zA-Z0-9._-]*$/),
    generated_time: z.string(),
    payload: z.record(z.string().regex(/^[a-zA-Z0-9_.: -]{1,255}$/), z.string().max(255)),
  }),
})

const fieldWords: Readonly<Record<string, FieldWords>> = {
  hostname: { form: "does not match '^[a-zA-Z0-9-._]*$'" },
  instance_uuid: { form: "is not a 'uuid'" },
  keys: { form: "'^[a-zA-Z0-9-_:. ]{1,255}$'" },
}

export interface NotificationRequest {
  about: ReportClass
  host: string
  /** ISO. */
  generatedAt: string
  payload: Record<string, string>
}

/** Throws USAGE, naming the field and the rule. */
export function notificationRequest(body: unknown): NotificationRequest {
  const { notification } = checked(envelope, body, fieldWords)
  const generatedAt = timeOf(notification.generated_time)
  const payload = checked(payloads[notification.type], notification.payload, fieldWords)
  const known = Object.entries(payload).filter((pair): pair is [string, string] => typeof pair[1] === 'string')
  return {
    about: notification.type,
    host: notification.hostname,
    generatedAt,
    payload: Object.fromEntries(known),
  }
}

/** ISO 8601, read tolerantly: a blank for the T, a date alone, the short form. Without a zone it is UTC. */
function timeOf(text: string): string {
  const spread = text
    .replace(/^(\d{4})(\d\d)(\d\d)(?=$|[T ])/, '$1-$2-$3')
    .replace(
      /^(\S{10})[T ](\d\d)(\d\d)(\d\d)?/,
      (_all, day: string, h: string, m: string, s = '00') => `${day}T${h}:${m}:${s}`,
    )
    .replace(' ', 'T')
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?$/.test(spread)
  const hasZone = /(Z|T.*[+-]\d\d(:?\d\d)?)$/.test(spread)
  const full = spread.includes('T') ? spread : `${spread}T00:00:00`
  const at = isTime ? Date.parse(hasZone ? withMinutes(full) : `${full}Z`) : NaN
  if (Number.isNaN(at)) throw refused(wrongField('generated_time', text, `${quoted(text)} is not a 'date-time'`))
  // A Date has only milliseconds; senders write microseconds and expect them back.
  const micros = /[.,]\d{3}(\d{1,3})/.exec(spread)?.[1]?.padEnd(3, '0') ?? '000'
  return new Date(at).toISOString().replace('Z', `${micros}Z`)
}

/** `+02` and `+0200` as `+02:00`. */
function withMinutes(text: string): string {
  return text.replace(/([+-]\d\d):?(\d\d)?$/, (_all, hours: string, minutes = '00') => `${hours}:${minutes}`)
}
