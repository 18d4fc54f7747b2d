/** `lifeboat journal init`: what makes the journal that several daemons share. */
import { InvalidArgumentError, type Command } from 'commander'
import { ends } from '../described.ts'
import type { Session } from '../session.ts'

export function addSharedJournalCommands(journal: Command, session: Session): void {
  const init = journal
    .command('init')
    .description(
      'print the SQL that makes the shared journal; an administrator executes it once: lifeboat journal init | mariadb',
    )
    .option('--from <host>', "where the daemons connect from, as in MariaDB's account names, e.g. 192.0.2.%", host, '%')
    .action(async ({ from }: { from: string }) => {
      const config = session.config({ withSecrets: false })
      session.terminal.stdout(await session.commands.sharedJournalScript(config, from))
    })
  ends(init, { 78: 'no journal is shared (shared_journal), or the cloud cannot be told' })
}

/** MariaDB's column is as wide. */
const longestHost = 255

function host(given: string): string {
  if (!/^[A-Za-z0-9.:%_/-]+$/.test(given) || given.length > longestHost)
    throw new InvalidArgumentError('It must be an address, a host name or a pattern such as 192.0.2.% or %.')
  return given
}
