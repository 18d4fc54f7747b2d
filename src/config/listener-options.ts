/** The options that every listener has to which people and their programs log in. */
import { z } from 'zod'
import { section, text } from './pieces.ts'

/** How it is reached safely. */
export const secureOptions = {
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
}

/** Projects in which roles count. */
export const namedProjects = z.array(
  z.union([section({ id: text() }), section({ name: text(), domain: text().default('Default') })], {
    error: 'must have an id, or a name and perhaps its domain',
  }),
)
