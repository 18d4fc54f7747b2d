/** `lifeboat journal init` and `move`: what makes the journal that several daemons share, and moves one there and back. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { JournalPlace } from '../../domain/entry.ts'
import type { MovedJournal } from '../composition.ts'
import { ends, prints } from '../described.ts'
import { CliFailure } from '../exit-codes.ts'
import type { Column } from '../output/formats.ts'
import { anotherOwner } from '../permission.ts'
import type { Session } from '../session.ts'
import { text } from './order-options.ts'

const movedColumns: Column<MovedJournal>[] = [
  { title: 'To', type: 'string', means: 'Where it goes on: `shared` or `own`', value: (it) => it.to },
  {
    title: 'Entries',
    type: 'integer',
    means: 'How many the file and the shared store both hold',
    value: (it) => it.entries,
  },
  {
    title: 'Head',
    type: 'string',
    means: 'The hash of the newest entry, as `journal verify` gives it',
    value: (it) => it.head,
  },
]

export function addSharedJournalCommands(journal: Command, session: Session): void {
  const init = journal
    .command('init')
    .description(
      'print the SQL that creates the shared journal; a database administrator executes it once: lifeboat journal init | mariadb',
    )
    .option('--from <host>', "where the daemons connect from, as in MariaDB's account names, e.g. 192.0.2.%", host, '%')
    .action(async ({ from }: { from: string }) => {
      const config = session.config({ withSecrets: false })
      session.terminal.stdout(await session.commands.sharedJournalScript(config, from))
    })
  const move = journal
    .command('move')
    .description(
      'move the journal of a stopped daemon to the shared store, or out of it; an interrupted move goes on when you order it again',
    )
    .addOption(
      new Option(
        '--to <place>',
        "shared: for several daemons; own: for this machine's daemon alone, and all others exit",
      )
        .choices(['shared', 'own'])
        .makeOptionMandatory(),
    )
    .requiredOption('--reason <text>', 'why', text)
    .option(
      '--database-lost',
      'with --to own: the shared database is lost for good, and every other daemon is stopped; entries that this copy had not received are gone',
      false,
    )
    .action(async ({ to, reason, databaseLost }: { to: JournalPlace; reason: string; databaseLost: boolean }) => {
      if (databaseLost && to === 'shared')
        throw new CliFailure(
          'usage',
          'nothing can be moved to a database that is lost: --database-lost goes with --to own',
        )
      const config = session.config({ withSecrets: true })
      const owner = anotherOwner(config.journal)
      // The daemon could not write what someone else made beside its journal.
      if (owner !== null)
        throw new CliFailure('noPermission', `the journal (${config.journal}) belongs to another user (uid ${owner})`, [
          `order it as that user: sudo -u '#${owner}' lifeboat journal move --to ${to} --reason "why"`,
        ])
      session.one(
        await session.commands.moveJournal(config, { to, by: session.by(), reason, databaseLost }),
        movedColumns,
      )
    })
  prints(move, 'one', movedColumns, {
    exits: {
      1: 'nothing was moved; the message says why',
      74: 'a daemon runs, or the shared store does not answer',
    },
  })
  ends(init, { 78: 'shared_journal is not set, or Lifeboat cannot tell which cloud it is for' })
}

/** MariaDB's column is as wide. */
const longestHost = 255

function host(given: string): string {
  if (!/^[A-Za-z0-9.:%_/-]+$/.test(given) || given.length > longestHost)
    throw new InvalidArgumentError('It must be an address, a host name or a pattern such as 192.0.2.% or %.')
  return given
}
