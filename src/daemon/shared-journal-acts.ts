/**
 * What a person asks of a shared journal beside the daemons: the SQL that makes it, how its nodes are, and to move
 * it. Knows where the configuration names it.
 */
import { existsSync } from 'node:fs'
import type { Environment } from '../openstack/clouds-file.ts'
import { cloudConfigOf } from '../adapters/adapters.ts'
import type { Config } from '../config/index.ts'
import type { Clock } from '../domain/clock.ts'
import type { JournalPlace } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { SharedNode } from '../domain/shared-node.ts'
import { openJournal } from '../journal/journal.ts'
import { identityOf } from '../journal/shared/identity.ts'
import { sharedStore, tlsOf } from './shared-journal.ts'

type Sharing = NonNullable<Config['sharedJournal']>

/**
 * The SQL that an administrator executes once.
 *
 * @param from where the daemons connect from, as MariaDB writes it
 * Throws CONFIG_INVALID when no journal is shared, or the cloud cannot be told.
 */
export async function sharedJournalScript(
  config: Config,
  { env, version, from }: { env: Environment; version: string; from: string },
): Promise<string> {
  const { user, database, caFile } = sharing(config)
  const cloud = cloudConfigOf(config, { env }).authUrl
  const { initScript } = await import('../journal/shared/init-script.ts')
  return initScript({ database, cloud, account: { user, host: from }, tls: caFile !== null, version })
}

/** Asks one node, with the daemons' account. Throws JOURNAL_UNAVAILABLE; CONFIG_INVALID when the CA file cannot be read. */
export async function lookAtNode(
  { caFile, user, password, database }: Sharing,
  node: Sharing['nodes'][number],
  clock: Clock,
): Promise<SharedNode> {
  const { surveyNode } = await import('../journal/shared/node-survey.ts')
  return surveyNode(node, { user, password, database, tls: tlsOf(caFile), clock })
}

export interface MoveOrder {
  to: JournalPlace
  by: string
  reason: string
  /** Only to an own file: no node will ever answer again. */
  databaseLost: boolean
}

/** Gives what both hold now. Throws CONFIG_INVALID, CONFLICT, NOT_ACTIVE, JOURNAL_UNAVAILABLE (also while a daemon runs), JOURNAL_CORRUPT. */
export async function moveJournal(
  config: Config,
  { to, by, reason, databaseLost }: MoveOrder,
  { env, clock }: { env: Environment; clock: Clock },
): Promise<{ to: JournalPlace; entries: number; head: string }> {
  const shared = sharing(config)
  const cloud = cloudConfigOf(config, { env }).authUrl
  // To an own file: there may be none yet.
  if (to === 'shared' && !existsSync(config.journal))
    throw new LifeboatError('CONFLICT', `There is no journal at ${config.journal}: there is nothing to move`)
  const { moveOutOfLostStore, moveToOwn, moveToShared } = await import('../journal/shared/move.ts')
  const move = to === 'shared' ? moveToShared : databaseLost ? moveOutOfLostStore : moveToOwn
  const copy = openJournal(config.journal, { clock })
  try {
    const store = await sharedStore(shared, clock)
    try {
      const parts = { store, copy, clock, cloud, by, reason, identity: identityOf(shared.name, copy.path) }
      const { head } = await move(parts)
      return { to, entries: head.seq, head: head.hash }
    } finally {
      await store.close()
    }
  } finally {
    copy.close()
  }
}

function sharing({ sharedJournal, path }: Config): Sharing {
  if (sharedJournal !== null) return sharedJournal
  const where = path === null ? 'there is no configuration file' : `${path} has no section shared_journal`
  throw new LifeboatError(
    'CONFIG_INVALID',
    `No journal is shared: ${where}. Name the nodes of the cluster there: shared_journal.nodes, each as ADDRESS:PORT`,
  )
}
