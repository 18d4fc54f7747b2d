/** `lifeboat whoami`: whom the daemon takes you for, and what you may do there. */
import type { Command } from 'commander'
import { roles, type Role, type Welcome } from '../../domain/review.ts'
import { prints } from '../described.ts'
import { listColumn, type Column } from '../output/formats.ts'
import type { Session } from '../session.ts'

interface Self extends Welcome {
  /** Null: the daemon of this machine. */
  daemon: string | null
}

const columns: Column<Self>[] = [
  { title: 'Name', type: 'string', means: 'Your name in the journal', value: (it) => it.name },
  {
    title: 'Role',
    type: 'string',
    means: 'Your role with this daemon: `reader`, `operator` or `admin`',
    value: (it) => it.role,
  },
  listColumn('May', 'What you may do, in words', (it) => dutiesOf(it.role)),
  {
    title: 'Project',
    type: 'string?',
    means: 'What your token is for: `DOMAIN/NAME`, or `system`; null: the socket, where its file mode is the login',
    value: (it) => it.scope,
    text: (it) => it.scope ?? 'none: who may open the socket may do everything',
  },
  listColumn(
    'Keystone Roles',
    'Your roles in Keystone; `web.roles` says what each allows here',
    (it) => it.keystoneRoles,
    'none',
  ),
  {
    title: 'Daemon',
    type: 'string?',
    means: 'Which daemon says so, as `--url` or `LIFEBOAT_URL` names it; null: the daemon of this machine',
    value: (it) => it.daemon,
    text: (it) => it.daemon ?? 'of this machine',
  },
]

export function addWhoami(program: Command, session: Session): void {
  const whoami = program
    .command('whoami')
    .description('show whom the daemon takes you for: your name, project and roles, and what you may do')
    .action(async () => {
      const url = session.url()
      const found = await session.daemon().me()
      // The socket knows no names: acts are recorded under the one that comes with them.
      const name = url === null ? session.by() : found.name
      // A daemon of an older release says neither.
      const { scope = null, keystoneRoles = [] } = found as Partial<Welcome>
      session.one({ ...found, name, scope, keystoneRoles, daemon: url === null ? null : url.href }, columns)
    })
  prints(whoami, 'one', columns)
}

/** Those of the roles before it too; a reader's is for who has no other. */
function dutiesOf(role: Role): string[] {
  const known = Object.keys(roles) as Role[]
  const upTo = known.slice(0, known.indexOf(role) + 1)
  return (upTo.length > 1 ? upTo.slice(1) : upTo).map((each) => roles[each])
}
