/** The journal that several daemons share, as configured, resolved. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Path } from '../formats/yaml-source.ts'
import type { Report, Secrets } from './secrets.ts'
import { longestName, type SharedJournalFile } from './shared-journal-schema.ts'

export interface SharedJournalConfig {
  nodes: { host: string; port: number }[]
  user: string
  password: string
  database: string
  /** Null: TLS is not used. */
  caFile: string | null
  /** This daemon's name among the others. */
  name: string
  /** Where people reach its pages, for who is sent here by another daemon. */
  address: string
  leaseMs: number
}

export function sharedJournalConfig(
  file: SharedJournalFile | undefined,
  { secrets, baseDir, report }: { secrets: Secrets; baseDir: (path: Path) => string; report: Report },
): SharedJournalConfig | null {
  if (file === undefined) return null
  const at = ['shared_journal']
  const nodes = file.nodes.map((text, index) => {
    const colon = text.lastIndexOf(':')
    const port = Number(text.slice(colon + 1))
    if (port > 65_535) report([...at, 'nodes', index], `port ${port} does not exist (0 to 65535)`)
    return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port }
  })
  return {
    nodes,
    user: file.user,
    password: secrets.password(file, at),
    database: file.database,
    caFile: file.caFile === undefined ? null : resolve(baseDir([...at, 'ca_file']), file.caFile),
    name: file.name ?? hostname().slice(0, longestName),
    address: file.address,
    leaseMs: file.lease,
  }
}
