/** docs/reference/cli.md: every command with its options, fields and exit codes, made from the command tree itself. */
import type { Command, Option } from 'commander'
import type { Commands } from '../cli/composition.ts'
import { printedBy, type Field, type Printed } from '../cli/described.ts'
import { exitCodes } from '../cli/exit-codes.ts'
import { commandTree } from '../cli/program.ts'
import { unpainted } from '../cli/output/words.ts'
import type { Terminal } from '../cli/terminal-port.ts'

/** The tree with nothing behind it: it is looked at, not run. */
export function bareTree(): Command {
  const nothing = (): never => {
    throw new Error('The command tree is looked at, not run')
  }
  const commands = new Proxy({ version: '', build: '' } as Commands, {
    get: (target, key) => (key === 'version' || key === 'build' ? target[key] : nothing),
  })
  const terminal: Terminal = {
    ...{ env: {}, stdout: nothing, stderr: nothing, paint: unpainted, screen: null, onInterrupt: nothing },
  }
  return commandTree(commands, terminal).program
}

/** Command -> title -> type of every field that programs can rely on. `(document)` marks the JSON of a whole thing. */
export function fieldContract(): Record<string, Record<string, string>> {
  const contract: Record<string, Record<string, string>> = {}
  for (const [path, command] of leaves(bareTree())) {
    const printed = printedBy(command)
    if (printed === undefined || printed.fields.length === 0) continue
    contract[path] = typesOf(printed.fields)
    for (const [at, { fields }] of (printed.documents ?? []).entries())
      if (fields.length > 0) contract[`${path} (document${at === 0 ? '' : ` ${at + 1}`})`] = typesOf(fields)
  }
  return contract
}

function typesOf(fields: readonly Field[]): Record<string, string> {
  return Object.fromEntries(fields.map(({ title, type }) => [title, type]))
}

export function cliPage(): string {
  const program = bareTree()
  const commands = leaves(program)
  return [intro, options(program), exitTable(), index(commands), ...commands.map(section)].join('\n')
}

const intro = `# The command line

\`lifeboat COMMAND --help\` says the same as this page, which is made from the commands themselves.

Titles are a contract. They are the columns of the table, the keys of JSON and YAML, the heading of CSV, and the arguments of \`-c\` and
\`--sort-column\`. Later releases add fields, and never rename or remove one or change its type. An empty field is null. Times are UTC,
ISO 8601. Tables put the same in words for people; those words may change. On a terminal a table folds to its width, but never breaks a name or an
id that people copy; \`--max-width 0\` makes it as wide as needed. Some columns are in tables only when \`-c\` names them.

Commands that change something record who did it: your account, even through sudo; with \`--url\` the user of your token. Shell completion:
\`source <(lifeboat completion bash)\`, \`lifeboat completion zsh > "\${fpath[1]}/_lifeboat"\`,
\`lifeboat completion fish > ~/.config/fish/completions/lifeboat.fish\`.

## A daemon on another machine

\`--url https://HOST:9394\` (or \`LIFEBOAT_URL\`) asks the daemon that serves its pages there, over its [REST API](../api.md). You need no account
on that machine, but a login of the cloud. The command line reads it as \`openstack\` does, from \`OS_*\` or \`clouds.yaml\` (\`OS_CLOUD\`):

- a password: \`OS_AUTH_URL\`, \`OS_USERNAME\`, \`OS_PASSWORD\`, \`OS_USER_DOMAIN_NAME\`, \`OS_PROJECT_NAME\`, \`OS_PROJECT_DOMAIN_NAME\`;
- an application credential: \`OS_AUTH_URL\`, \`OS_APPLICATION_CREDENTIAL_ID\`, \`OS_APPLICATION_CREDENTIAL_SECRET\`;
- a token: \`OS_TOKEN=$(openstack token issue -f value -c id)\`, also system-scoped or of a federated user. It is sent as it is.

\`lifeboat whoami\` shows whom the daemon takes you for. You may do what your role allows on the pages, and the journal has the name of the token's user; \`--by\` is refused. The daemon's certificate is
always verified, whatever \`OS_INSECURE\` says. \`--cacert\` or \`OS_CACERT\` names the file of CAs that replaces those of this machine, for Keystone and the
daemon alike. Without TLS it asks only a daemon on this machine, for example through a tunnel. It uses no proxy (\`https_proxy\`).

Commands that need files of one machine say so and end with 2: \`journal\` and \`notice list\` read the journal file there; \`run\`, \`check\`, \`plan\`,
\`config\`, \`workflow\` and their like work with the files here, and disregard \`LIFEBOAT_URL\`. A standby refuses orders with 75 and names the
address of the active daemon.

## Watching and following

\`--watch [seconds]\` repeats a command. On a terminal it draws the table in place, folded to the width; ctrl-C restores the
screen. In a pipe it prints a line with the time for each change, with \`-f json\` one document per line, with \`-f yaml\` one
document per change. While no daemon answers, it says so, shows what it knew last, and goes on once one does. In a pipe, \`--watch\` and
\`--follow\` end when the reader does, even if there is nothing to print.

\`--follow\` follows one incident to its end: a bar with the steps under way on a terminal, a line per event in a pipe.

## Colours

Tables and \`--follow\` colour the words for a state, as the pages do, but only on a terminal that has colours, and never
when \`NO_COLOR\` is set. \`FORCE_COLOR\` (0 to 3) decides instead of both, as for Node.js. JSON, YAML, CSV and \`value\` have no colours.
`

function options(program: Command): string {
  return `## Options of every command\n\n${optionTable(program.options)}`
}

function exitTable(): string {
  const rows = Object.values(exitCodes).map(({ code, means }) => `| ${code} | ${cell(means)} |`)
  return `## Exit codes\n\n| Code | Meaning |\n| --- | --- |\n${rows.join('\n')}\n`
}

function index(commands: [string, Command][]): string {
  const rows = commands.map(
    ([path, command]) => `| [\`${path}\`](#${path.replaceAll(' ', '-')}) | ${cell(command.description())} |`,
  )
  return `## Commands\n\n| Command | What it does |\n| --- | --- |\n${rows.join('\n')}\n`
}

function section([path, command]: [string, Command]): string {
  const printed = printedBy(command)
  const usage = ['lifeboat', path, command.usage()].filter((part) => part !== '').join(' ')
  const parts = [`## ${path}\n\n${sentence(command.description())}\n\n    ${usage}\n`]
  if (command.options.length > 0) parts.push(optionTable(command.options))
  if (printed !== undefined) parts.push(...printedText(printed))
  return parts.join('\n')
}

function printedText({ kind, fields, documents = [], exits }: Printed): string[] {
  const parts: string[] = []
  if (fields.length > 0) parts.push(`${kind === 'list' ? 'A list; of each:' : 'Fields:'}\n\n${fieldTable(fields)}`)
  for (const { about, fields: own } of documents)
    parts.push(`${about}\n${own.length === 0 ? '' : `\n${fieldTable(own)}`}`)
  if (exits !== undefined)
    parts.push(
      `Exit codes:\n\n${Object.entries(exits)
        .map(([code, means]) => `- ${code}: ${means}\n`)
        .join('')}`,
    )
  return parts
}

function fieldTable(fields: readonly Field[]): string {
  const rows = fields.map(({ title, type, means }) => `| \`${title}\` | ${typeText(type)} | ${cell(means)} |`)
  return `| Field | JSON | Meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`
}

function typeText(type: Field['type']): string {
  return type.endsWith('?') ? `${type.slice(0, -1)} or null` : type
}

function optionTable(options: readonly Option[]): string {
  const rows = options
    .filter(({ hidden }) => !hidden)
    .map((option) => {
      const marks = [
        option.mandatory ? 'needed' : '',
        option.argChoices === undefined ? '' : option.argChoices.join(', '),
        option.defaultValue === undefined || option.defaultValue === false
          ? ''
          : `default ${String(option.defaultValue)}`,
      ].filter((mark) => mark !== '')
      return `| \`${option.flags.replaceAll('|', '\\|')}\` | ${cell(option.description)}${marks.length === 0 ? '' : ` (${marks.join('; ')})`} |`
    })
  return `| Option | Meaning |\n| --- | --- |\n${rows.join('\n')}\n`
}

/** The commands that do something, by path, in the order of the help. */
export function leaves(command: Command, path = ''): [string, Command][] {
  const visible = command.createHelp().visibleCommands(command)
  return visible
    .filter((inner) => inner.name() !== 'help')
    .flatMap((inner) => {
      const name = path === '' ? inner.name() : `${path} ${inner.name()}`
      return inner.commands.length === 0 ? [[name, inner] as [string, Command]] : leaves(inner, name)
    })
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<')
}
