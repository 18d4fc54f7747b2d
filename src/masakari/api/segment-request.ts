/** Segments and hosts as clients write them, checked as Masakari checks them. Pure. */
import { z } from 'zod'
import type { HostChange } from '../../domain/failover-segment.ts'
import { recoveryMethods, type SegmentFields, type SegmentHostFields } from '../../domain/failover-words.ts'
import { omitUndefined } from '../../domain/omit-undefined.ts'
import { checked, refused, wrongField, type FieldWords } from './checked.ts'
import { isAtLeast } from './microversion.ts'

/** No control characters, no line separators, and nothing outside the basic plane. */
const printable = '[^\\p{C}\\p{Zl}\\p{Zp}\\u{10000}-\\u{10FFFF}]'

const name = z
  .string()
  .min(1)
  .max(255)
  .regex(new RegExp(`^(?!\\s)${printable}*(?<!\\s)$`, 'u'))

const description = z.string().regex(new RegExp(`^(?:\\n|${printable})*$`, 'u'))

/** Clients send these words as well as JSON's own; a number is none. */
const words = {
  true: ['True', 'TRUE', 'true', '1', 'ON', 'On', 'on', 'YES', 'Yes', 'yes'],
  false: ['False', 'FALSE', 'false', '0', 'OFF', 'Off', 'off', 'NO', 'No', 'no'],
}

const boolean = z.union([z.boolean(), z.enum([...words.true, ...words.false])]).transform(isYes)

function isYes(value: boolean | string): boolean {
  return typeof value === 'boolean' ? value : words.true.includes(value)
}

const nameForm = {
  sentence:
    "An invalid 'name' value was provided. The name must be: printable characters. Can not start or end with whitespace.",
}

/** Of a description Masakari prints its pattern, which is 6,000 characters long. */
const descriptionForm = 'does not match printable characters and line breaks'

const isBoolean = { types: ['boolean', 'string'], oneOf: [true, ...words.true, false, ...words.false] }

const fieldWords: Readonly<Record<string, FieldWords>> = {
  ...{ name: { form: nameForm }, service_type: { form: nameForm } },
  description: { types: ['string', 'null'], form: descriptionForm },
  ...{ enabled: isBoolean, reserved: isBoolean, on_maintenance: isBoolean },
  type: { form: "does not match '^[a-zA-Z0-9]*$'" },
  control_attributes: { form: descriptionForm },
}

const segmentFields = {
  name,
  recovery_method: z.enum(recoveryMethods),
  service_type: name,
  description: description.nullable().optional(),
  enabled: boolean.optional(),
}

const hostFields = {
  name,
  type: z
    .string()
    .max(255)
    .regex(/^[a-zA-Z0-9]*$/),
  control_attributes: description,
  reserved: boolean.optional(),
  on_maintenance: boolean.optional(),
}

const newSegment = z.strictObject({ segment: z.strictObject(segmentFields) })
const newHost = z.strictObject({ host: z.strictObject(hostFields) })
const segmentChange = z.strictObject({ segment: z.strictObject(segmentFields).partial().refine(isSome) })
const hostChange = z.strictObject({ host: z.strictObject(hostFields).partial().refine(isSome) })

function isSome(given: object): boolean {
  return Object.keys(given).length > 0
}

/** Throws USAGE: clients of older versions have no such field, so they mean something else by it. */
function mayBeEnabled(enabled: boolean | undefined, version: string, body: unknown): void {
  if (enabled === undefined || isAtLeast(version, '1.2')) return
  const { segment } = body as { segment: unknown }
  throw refused(wrongField('segment', segment, "Additional properties are not allowed ('enabled' was unexpected)"))
}

/** Throws USAGE, naming the field and the rule. */
export function newSegmentOf(body: unknown, version: string): { fields: SegmentFields; enabled: boolean } {
  const { segment } = checked(newSegment, body, fieldWords)
  mayBeEnabled(segment.enabled, version, body)
  const fields = {
    ...{ name: segment.name, serviceType: segment.service_type },
    ...{ recoveryMethod: segment.recovery_method, description: segment.description ?? null },
  }
  return { fields, enabled: segment.enabled ?? true }
}

export type SegmentChange = Partial<SegmentFields> & { enabled?: boolean }

/** Throws USAGE, naming the field and the rule. */
export function segmentChangeOf(body: unknown, version: string): SegmentChange {
  const { segment } = checked(segmentChange, body, fieldWords)
  mayBeEnabled(segment.enabled, version, body)
  return omitUndefined({
    name: segment.name,
    serviceType: segment.service_type,
    recoveryMethod: segment.recovery_method,
    description: segment.description,
    enabled: segment.enabled,
  })
}

/** Throws USAGE, naming the field and the rule. */
export function newHostOf(body: unknown): { fields: SegmentHostFields; onMaintenance: boolean } {
  const { host } = checked(newHost, body, fieldWords)
  const fields = {
    ...{ name: host.name, type: host.type, controlAttributes: host.control_attributes },
    reserved: host.reserved ?? false,
  }
  return { fields, onMaintenance: host.on_maintenance ?? false }
}

/** Throws USAGE, naming the field and the rule. */
export function hostChangeOf(body: unknown): HostChange {
  const { host } = checked(hostChange, body, fieldWords)
  return omitUndefined({
    name: host.name,
    type: host.type,
    controlAttributes: host.control_attributes,
    reserved: host.reserved,
    onMaintenance: host.on_maintenance,
  })
}
