/** The options of `web`: the listener for people, with the REST API and the pages. */
import { z } from 'zod'
import { roles, type Role } from '../domain/review.ts'
import { count, live, optionalSection, section, text } from './pieces.ts'
import { namedProjects, secureOptions } from './listener-options.ts'
import { duration } from '../formats/duration-schema.ts'

/** As Keystone takes them; in an address it must stay one part of the path. */
const keystoneId = (example: string) =>
  z
    .string()
    .regex(
      /^(?!\.+$)[\w.~@:-]{1,64}$/,
      `must be its id in Keystone: up to 64 letters, digits and . _ ~ @ : -, e.g. ${example}`,
    )

const singleSignOn = section({
  name: z
    .string()
    .regex(/^\S(.{0,58}\S)?$/, 'must be 1 to 60 characters, without blanks at its ends, e.g. Company login')
    .describe(
      'What its button on the login page says. What Keystone must have for it, trusted_dashboard above all: docs/pages.md',
    ),
  protocol: keystoneId('openid').describe("Keystone's federation protocol: openid, saml2 or what yours is called"),
  identity_provider: keystoneId('company')
    .optional()
    .describe(
      "Keystone's identity provider. Default: Keystone finds it by the protocol, which needs remote ids in Keystone",
    ),
})

/** @param listen the type of an address to listen on */
export function webSection<L extends z.ZodType>(listen: L) {
  const role = z.enum(Object.keys(roles) as [Role, ...Role[]])
  return optionalSection({
    listen: listen.describe('REST API and pages, with login; false: no listener'),
    ...secureOptions,
    roles: z
      .record(text(), role)
      .default({ admin: 'admin', reader: 'reader' })
      .describe('Roles of Keystone and what each may do here: reader, operator or admin')
      .meta(live),
    projects: namedProjects
      .default([])
      .describe(
        "Projects in which those roles count, in addition to the system as a whole. A tenant's project here makes its admins admins of recoveries. Default: the project of Lifeboat's own credential",
      )
      .meta(live),
    session: duration('1m', '7d')
      .prefault('8h')
      .describe('The longest a login in the pages lasts. Too long: anyone who finds the browser open acts in that name')
      .meta(live),
    sso: z
      .array(singleSignOn)
      .default([])
      .describe("Logins by the cloud's own single sign-on (Keystone's WebSSO), a button each; needs HTTPS")
      .meta(live),
    requests_per_minute: count()
      .max(1_000_000)
      .default(600)
      .describe(
        'Requests per minute from one address, orders counted apart from reads. Too few: a page that is open in many windows stops; too many: a flood keeps the daemon busy',
      )
      .meta(live),
  })
}
