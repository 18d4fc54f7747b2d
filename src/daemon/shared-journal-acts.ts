/**
 * What a person asks of a shared journal beside the daemons: the SQL that makes it, how its nodes are, whether a daemon may go on with what is
 * there, and to move it. Knows where the configuration names it.
 */
import { existsSync, realpathSync, statSync } from 'node:fs'
import type { Environment } from '../openstack/clouds-file.ts'
import { cloudConfigOf } from '../adapters/adapters.ts'
import type { Config } from '../config/index.ts'
import type { Clock } from '../domain/clock.ts'
import type { JournalPlace } from '../domain/entry.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { SharedNode } from '../domain/shared-node.ts'
import { openJournal } from '../journal/journal.ts'
import { openJournalReader, type JournalView } from '../journal/reader.ts'
import { identityOf } from '../journal/shared/identity.ts'
import { StoreTrouble, type SharedStore } from '../journal/shared/store.ts'
import { ownJournal } from '../journal/shared/tenure-errors.ts'
import { mustBeOwn, notShared, whereabouts } from '../journal/shared/whereabouts.ts'
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

/**
 * Why a daemon with this configuration would not go on with the entries in its file, as it finds out itself when it starts; null: it would.
 * `unknown`: no node says whether they are in the shared journal. Throws JOURNAL_UNAVAILABLE, JOURNAL_CORRUPT.
 */
export async function journalProblem(
  config: Config,
  clock: Clock,
  openStore = sharedStore,
): Promise<LifeboatError | 'unknown' | null> {
  const { sharedJournal } = config
  if (!existsSync(config.journal) || statSync(config.journal).size === 0) return null
  const reader = openJournalReader(config.journal)
  try {
    if (sharedJournal !== null) return await sharedProblem(reader, () => openStore(sharedJournal, clock))
    mustBeOwn({ ...reader, path: realpathSync(config.journal) })
    return null
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'CONFIG_INVALID') return error
    throw error
  } finally {
    reader.close()
  }
}

/** A journal whose head the shared store has is a copy of that store's. Any other is this daemon's own, unless it was shared before. */
async function sharedProblem(
  journal: JournalView,
  openStore: () => Promise<SharedStore>,
): Promise<LifeboatError | 'unknown' | null> {
  const { seq, hash } = journal.head()
  if (seq === 0 || whereabouts(journal).place === 'shared') return null
  const store = await openStore()
  try {
    if ((await store.hashAt(seq)) !== hash) return ownJournal(seq)
    // Another one is only told while a move goes on.
    const problem = notShared(journal)
    return problem?.code === 'CONFIG_INVALID' ? problem : null
  } catch (thrown) {
    if (thrown instanceof StoreTrouble) return 'unknown'
    throw thrown
  } finally {
    await store.close()
  }
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
