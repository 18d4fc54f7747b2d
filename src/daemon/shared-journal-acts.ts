/** What a person does with a shared journal while no daemon needs to run: the SQL that makes it. Knows where the configuration names it. */
import type { Environment } from '../openstack/clouds-file.ts'
import { cloudConfigOf } from '../adapters/adapters.ts'
import type { Config } from '../config/index.ts'
import { LifeboatError } from '../domain/errors.ts'

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

function sharing({ sharedJournal, path }: Config): NonNullable<Config['sharedJournal']> {
  if (sharedJournal !== null) return sharedJournal
  const where = path === null ? 'there is no configuration file' : `${path} has no section shared_journal`
  throw new LifeboatError(
    'CONFIG_INVALID',
    `No journal is shared: ${where}. Name the nodes of the cluster there: shared_journal.nodes, each as ADDRESS:PORT`,
  )
}
