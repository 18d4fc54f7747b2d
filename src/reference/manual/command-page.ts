/** lifeboat(1), from the grammar of the command line itself: no command and no option can be missing. */
import { pathOf } from '../../cli/described.ts'
import type { Command, Option } from 'commander'
import { exitCodes } from '../../cli/exit-codes.ts'
import { bold, page, plain, sentence, term, underlined } from './scdoc.ts'

export function commandPage(program: Command): string {
  const commands = leaves(program)
  return page('lifeboat', 1, [
    ['NAME', 'lifeboat - brings the instances of dead OpenStack compute hosts back elsewhere'],
    ['SYNOPSIS', `${bold('lifeboat')} [_options_] _command_ [_arguments_]`],
    [
      'DESCRIPTION',
      `${sentence(program.description())} The daemon is ${bold('lifeboat run')}, described in *lifeboat*(8). The other commands read its journal, or ask it through its Unix socket.`,
    ],
    ['OPTIONS', `These stand before or behind the command.\n\n${options(program)}`],
    ['COMMANDS', commands.map(section).join('\n')],
    [
      'EXIT STATUS',
      Object.values(exitCodes)
        .map(({ code, means }) => term(bold(String(code)), sentence(means)))
        .join('\n'),
    ],
    [
      'ENVIRONMENT',
      [
        term('*LIFEBOAT\\_CONFIG*', 'The configuration file, where *--config* does not name one.'),
        term('*LIFEBOAT\\_STATE\\_DIR*', 'Where the journal lies, when the configuration has no *state\\_dir*.'),
        term(
          '*OS\\_CLOUD*, *OS\\_CLIENT\\_CONFIG\\_FILE*, *OS\\_\\**',
          'The cloud, as openstackclient understands them.',
        ),
        term(
          '*NO\\_COLOR*, *FORCE\\_COLOR*',
          'No colours; or colours as Node.js understands it (0 to 3), in pipes too.',
        ),
        term('*SUDO\\_USER*, *USER*, *LOGNAME*', 'The first that is set is the name that an act bears in the journal.'),
      ].join('\n'),
    ],
    ['FILES', '_/etc/lifeboat/lifeboat.yaml_\n\tThe configuration, *lifeboat.yaml*(5).'],
    ['SEE ALSO', '*lifeboat*(8), *lifeboat.yaml*(5), *lifeboat-workflow*(5), *openstack*(1)'],
  ])
}

/** Commands that do something, in the order of the help; hidden ones are for developers. */
export function leaves(command: Command): Command[] {
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((inner) => inner.name() !== 'help')
  return visible.flatMap((inner) => (inner.commands.length === 0 ? [inner] : leaves(inner)))
}

/** What the help of a command shows, without --help itself. */
export function optionsOf(command: Command): Option[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
}

function section(command: Command): string {
  const own = optionsOf(command)
  const words = command.registeredArguments.map((argument) => {
    const name = `${underlined(argument.name())}${argument.variadic ? '...' : ''}`
    return argument.required ? name : `[${name}]`
  })
  const required = own.filter(({ mandatory }) => mandatory).map(flags)
  const synopsis = [
    bold(pathOf(command)),
    ...words,
    ...required,
    ...(own.length > required.length ? ['[_options_]'] : []),
  ]
  const meanings = command.registeredArguments
    .filter(({ description }) => description !== '')
    .map((argument) => term(underlined(argument.name()), sentence(argument.description)))
  return [`## ${pathOf(command)}`, synopsis.join(' '), sentence(command.description()), ...meanings, options(command)]
    .filter((text) => text !== '')
    .join('\n\n')
    .concat('\n')
}

function options(command: Command): string {
  return optionsOf(command)
    .map((option) => term(flags(option), `${sentence(option.description)}${defaultOf(option)}`))
    .join('\n')
}

/** "*-f*, *--format* _format_" of "-f, --format <format>". */
function flags({ flags: text }: Option): string {
  return text.replace(/<([^>]+)>|\[([^\]]+)\]|-{1,2}[\w-]+/g, (part, name?: string, maybe?: string) => {
    if (name !== undefined) return underlined(name)
    return maybe === undefined ? bold(part) : `[${underlined(maybe)}]`
  })
}

function defaultOf({ defaultValue }: Option): string {
  const value: unknown = defaultValue
  if (value === undefined || value === false) return ''
  return ` Default: ${plain(typeof value === 'string' ? value : JSON.stringify(value))}.`
}
