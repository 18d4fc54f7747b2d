/** The options of `masakari_api`: the listener that speaks Masakari's REST API. */
import { z } from 'zod'
import { namedProjects, secureOptions } from './listener-options.ts'
import { live, optionalSection, text } from './pieces.ts'

/** Of names, what Masakari called them; its own are lower-case, with hyphens. */
const uuids = () => z.record(text(), z.guid().toLowerCase()).default({})

/** A blank at an end is a slip: no role of Keystone is called so, and nobody would have it. */
const roles = z.array(
  z.string().regex(/^\S(.*\S)?$/, 'must be the name of a role, without blanks at its ends, e.g. reader'),
)

/** @param listen the type of an address to listen on */
export function masakariSection<L extends z.ZodType>(listen: L) {
  return optionalSection({
    listen: listen.describe("Masakari's REST API, for its monitors and clients; false: no listener"),
    ...secureOptions,
    public_url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe(
        'Address of this API as clients reach it, with the path that a proxy puts before /v1. If it is wrong, clients that ask for versions send their further calls elsewhere. Default: the address they asked',
      ),
    readers: roles
      .default(['admin', 'reader'])
      .describe('Roles of Keystone that may list segments, hosts and notifications')
      .meta(live),
    writers: roles
      .default(['admin'])
      .describe(
        'Roles of Keystone that may write segments and hosts, and so order maintenance by `enabled` and `on_maintenance`',
      )
      .meta(live),
    reporters: roles
      .default(['admin', 'monitor'])
      .describe('Roles of Keystone that may post notifications. A report only makes Lifeboat look')
      .meta(live),
    projects: namedProjects
      .default([])
      .describe(
        "Projects in which those roles count, in addition to the system as a whole. Default: the project of Lifeboat's own credential",
      )
      .meta(live),
    uuids: optionalSection({
      segments: uuids().describe('UUIDs of segments of this file, by name. Default: one that is made from the name'),
      hosts: uuids().describe('UUIDs of hosts, by name. Default: one that is made from the name'),
    })
      .describe(
        'UUIDs that a Masakari gave, so that clients which kept them go on; lifeboat import-masakari writes them',
      )
      .meta(live),
  })
}
