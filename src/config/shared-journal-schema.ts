/** The options of a journal that several daemons share. */
import { z } from 'zod'
import { duration } from '../formats/duration-schema.ts'
import { password, section, text } from './pieces.ts'

/** The holder's column takes the name, the copy and a number. */
export const longestName = 40

/** As wide as the column in which the other daemons find it. */
const longestAddress = 255

const node = z.string().regex(/^(\[[0-9a-fA-F:.]+\]|[^:\s]+):\d{1,5}$/, {
  error: 'must be ADDRESS:PORT, e.g. 192.0.2.11:3306',
})

export const sharedJournalSchema = section({
  nodes: z
    .array(node)
    .min(1)
    .describe('The nodes of the MariaDB Galera cluster, or a proxy before them; all are tried'),
  user: text().default('lifeboat').describe('The account; `lifeboat journal init` says which rights it needs'),
  ...password,
  database: text().default('lifeboat').describe("The database that holds this cloud's journal, and nothing else"),
  ca_file: text().optional().describe('CA that signs the certificates of the nodes. Default: no TLS'),
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, { error: 'must be a name of letters, digits, dots and dashes' })
    .max(longestName)
    .optional()
    .describe("This daemon's name among the others. Default: the machine's"),
  address: text()
    .max(longestAddress)
    .default('')
    .describe("Where people find this daemon's pages: another daemon sends them here while this one is active"),
  lease: duration('3s', '60s')
    .prefault('6s')
    .describe(
      'How long the active daemon may act after its last renewal; another one takes over after that. Shorter: a slow commit suspends recoveries; longer: after a death no daemon acts for that long',
    ),
})

export type SharedJournalFile = z.output<typeof sharedJournalSchema>
