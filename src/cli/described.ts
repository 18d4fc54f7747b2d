/** What each command prints, noted where the command is made: the reference page and completion are made from these notes. */
import type { Command } from 'commander'
import type { Column, FieldType } from './output/formats.ts'

export interface Field {
  title: string
  type: FieldType
  means: string
}

interface Documents {
  about: string
  fields: Field[]
}

export interface Printed {
  /** A list of things, or one thing field by field. */
  kind: 'list' | 'one'
  fields: Field[]
  /** Where JSON and YAML are not the fields above: what they are. */
  documents?: Documents[]
  /** Exit codes that mean something of their own here. */
  exits?: Record<number, string>
}

const printed = new WeakMap<Command, Printed>()

/** Notes what a command prints; gives the command back. */
export function prints<Row>(
  command: Command,
  kind: Printed['kind'],
  columns: readonly Column<Row>[],
  more: Pick<Printed, 'documents' | 'exits'> = {},
): Command {
  printed.set(command, { kind, fields: columns.map(({ title, type, means }) => ({ title, type, means })), ...more })
  return command
}

/** Notes exit codes of a command that prints no fields. */
export function ends(command: Command, exits: Record<number, string>): Command {
  printed.set(command, { kind: 'one', fields: [], exits })
  return command
}

export function printedBy(command: Command): Printed | undefined {
  return printed.get(command)
}

/** As it is typed: lifeboat incident show. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}
