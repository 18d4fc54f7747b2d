/**
 * The command tree as completion needs it: at each spot the words, options and arguments that can follow. What a value is
 * follows from its name in the usage text (<host>, <file>), so a new command is completed without another word about it.
 */
import type { Argument, Command, Option } from 'commander'
import { printedBy } from '../described.ts'
import { formats } from '../output/formats.ts'

/** What the running daemon or the project knows: `lifeboat complete` gives the words. */
export const asked = ['hosts', 'segments', 'incidents', 'pages', 'scenarios'] as const
export type Asked = (typeof asked)[number]

export type ValueKind =
  | { kind: 'words'; words: readonly string[] }
  | { kind: 'ask'; what: Asked }
  | { kind: 'files' }
  | { kind: 'anything' }

export interface Flag {
  /** With their dashes. */
  names: string[]
  about: string
  /** Null: it takes no value. */
  value: ValueKind | null
  /** Its value can be left out. */
  optional: boolean
}

export interface Spot {
  /** The command, without the program's name: '' is the program itself. */
  path: string
  commands: { name: string; about: string }[]
  flags: Flag[]
  /** Of each argument; the last one again for all that follow when it is variadic. */
  args: ValueKind[]
  variadic: boolean
}

/** Every spot, the program itself first. */
export function spotsOf(program: Command, path = ''): Spot[] {
  const visible = program.createHelp().visibleCommands(program)
  const columns = printedBy(program)?.fields.map(({ title }) => title) ?? []
  // The program's own options can stand behind any command.
  const options = [...program.options, ...(program.parent === null ? [] : rootOf(program).options)]
  const help: Flag = { names: ['-h', '--help'], about: 'display help for command', value: null, optional: false }
  const spot: Spot = {
    path,
    commands: visible.map((command) => ({ name: command.name(), about: command.description() })),
    flags: [...options.filter(({ hidden }) => !hidden).map((option) => flagOf(option, columns)), help],
    args: program.registeredArguments.map(argumentKind),
    variadic: program.registeredArguments.at(-1)?.variadic === true,
  }
  // `help COMMAND` is commander's own; it knows no more than --help.
  const inner = program.commands.filter((command) => visible.includes(command) && command.name() !== 'help')
  return [
    spot,
    ...inner.flatMap((command) => spotsOf(command, path === '' ? command.name() : `${path} ${command.name()}`)),
  ]
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent)
}

function flagOf(option: Option, columns: readonly string[]): Flag {
  const names = [option.short, option.long].filter((name) => name !== undefined)
  const name = /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1] ?? null
  const value =
    name === null ? null : option.argChoices === undefined ? valueKind(name, columns) : wordsOf(option.argChoices)
  return { names, about: option.description, value, optional: option.optional }
}

function argumentKind(argument: Argument): ValueKind {
  return argument.argChoices === undefined ? valueKind(argument.name(), []) : wordsOf(argument.argChoices)
}

function wordsOf(words: readonly string[]): ValueKind {
  return { kind: 'words', words }
}

function valueKind(name: string, columns: readonly string[]): ValueKind {
  switch (name) {
    case 'host':
      return { kind: 'ask', what: 'hosts' }
    case 'segment':
      return { kind: 'ask', what: 'segments' }
    case 'incident':
      return { kind: 'ask', what: 'incidents' }
    case 'page':
      return { kind: 'ask', what: 'pages' }
    case 'scenario':
      return { kind: 'ask', what: 'scenarios' }
    case 'file':
    case 'files':
      return { kind: 'files' }
    case 'format':
      return wordsOf(formats)
    case 'column':
      return columns.length === 0 ? { kind: 'anything' } : wordsOf(columns)
    default:
      return { kind: 'anything' }
  }
}
