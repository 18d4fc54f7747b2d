/** The options of `masakari_api`: the listener that speaks Masakari's REST API. */
import { z } from 'zod'
import { live, optionalSection, section, text } from './pieces.ts'

/** @param listen the type of an address to listen on */
export function masakariSection<L extends z.ZodType>(listen: L) {
  const projects = z.array(
    z.union([section({ id: text() }), section({ name: text(), domain: text().default('Default') })], {
      error: 'must have an id, or a name and perhaps its domain',
    }),
  )
  return optionalSection({
    listen: listen.describe("Masakari's REST API, for its monitors and clients; false: no listener"),
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
        'true: listen without TLS on any address, for a proxy on a network of its own. Tokens pass unencrypted',
      ),
    trusted_proxies: z
      .array(text())
      .default([])
      .describe(
        'Addresses or networks of proxies whose X-Forwarded-For and -Proto count. Too wide: a caller can choose the address that is logged',
      ),
    public_url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe(
        'Address of this API as clients reach it, with the path that a proxy puts before /v1. Wrong: clients that look for versions ask elsewhere. Default: the one they asked',
      ),
    readers: z
      .array(text())
      .default(['admin', 'reader'])
      .describe('Roles of Keystone that may list segments, hosts and notifications')
      .meta(live),
    reporters: z
      .array(text())
      .default(['admin', 'monitor'])
      .describe('Roles of Keystone that may post notifications. A report only makes Lifeboat look')
      .meta(live),
    projects: projects
      .default([])
      .describe(
        "Projects in which those roles count, beside the system as a whole. Default: the project of Lifeboat's own credential",
      )
      .meta(live),
  })
}
