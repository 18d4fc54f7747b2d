/** The journal that `lifeboat demo --keep` leaves behind, and the command that reads it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Keeps a configuration beside the journal, and gives the command that shows an incident of it. --config beats whatever is
 * exported, and the state_dir of a file beats the variables: so it works in every shell.
 */
export function keepJournal(directory: string, incident: string, env: Environment): string {
  const file = join(directory, 'lifeboat.yaml')
  // Whatever the umask: a configuration that others may write is refused.
  writeFileSync(file, '# Of a demo: its journal is beside this file.\nstate_dir: .\n', { mode: 0o600 })
  return `${commandName(env)} --config ${quoted(file)} journal export ${incident} --format markdown`
}

/** How this program is called by anyone who called it: in a checkout npm knows it, and no shell. */
function commandName(env: Environment): string {
  return env['npm_command'] === undefined ? 'lifeboat' : 'npx lifeboat'
}

/** How the demo is begun again so that it keeps its journal. */
export function keepingDemo(env: Environment): string {
  return env['npm_command'] === undefined ? 'lifeboat demo --keep' : 'npm run demo -- --keep'
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
