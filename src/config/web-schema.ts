/** The options of `web`: the listener for people, with the REST API and the pages. */
import { z } from 'zod'
import { roles, type Role } from '../domain/review.ts'
import { count, live, optionalSection, section, text } from './pieces.ts'
import { duration } from '../formats/duration-schema.ts'

/** @param listen the type of an address to listen on */
export function webSection<L extends z.ZodType>(listen: L) {
  const role = z.enum(Object.keys(roles) as [Role, ...Role[]])
  const projects = z.array(
    z.union([section({ id: text() }), section({ name: text(), domain: text().default('Default') })], {
      error: 'must have an id, or a name and perhaps its domain',
    }),
  )
  return optionalSection({
    listen: listen.describe('REST API and pages, with login; false: no listener'),
    tls: section({
      certificate: text().describe('PEM file with the chain; read again when it changes'),
      key: text().describe('PEM file'),
    })
      .optional()
      .describe('Without it the daemon may listen only on addresses of its own machine'),
    insecure_plaintext: z
      .boolean()
      .default(false)
      .describe(
        'true: listen without TLS on any address, for a proxy on a network of its own. Tokens and passwords pass unencrypted',
      ),
    trusted_proxies: z
      .array(text())
      .default([])
      .describe(
        'Addresses or networks of proxies whose X-Forwarded-For and -Proto count. Too wide: a caller can choose the address that is limited and logged',
      ),
    roles: z
      .record(text(), role)
      .default({ admin: 'admin', reader: 'reader' })
      .describe('Roles of Keystone and what each may do here: reader, operator or admin')
      .meta(live),
    projects: projects
      .default([])
      .describe(
        "Projects in which those roles count, beside the system as a whole. A tenant's project here makes its admins admins of recoveries. Default: the project of Lifeboat's own credential",
      )
      .meta(live),
    session: duration('1m', '7d')
      .prefault('8h')
      .describe('The longest a login in the pages lasts. Too long: anyone who finds the browser open acts in that name')
      .meta(live),
    requests_per_minute: count()
      .max(1_000_000)
      .default(600)
      .describe(
        'From one address. Too few: a page that is open in many windows stops; too many: a flood busies the daemon',
      )
      .meta(live),
  })
}
