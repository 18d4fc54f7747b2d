/** The options about the look of the output, those that openstackclient's users know; the same for every command. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { CliFailure } from '../exit-codes.ts'
import type { Terminal } from '../terminal-port.ts'
import { quotings, type Quoting } from './csv.ts'
import { formats, type Format, type Shape } from './formats.ts'

export interface ShapeOptions {
  format?: string
  column?: string[]
  sortColumn?: string[]
  sortDescending?: boolean
  long?: boolean
  maxWidth?: number
  fitWidth?: boolean
  noindent?: boolean
  quote?: Quoting
}

export function addShapeOptions(program: Command): void {
  const collect = (name: string, all?: string[]): string[] => [...(all ?? []), name]
  program
    .option('-f, --format <format>', formats.join(', ').replace(/, (\w+)$/, ' or $1'))
    .option('-c, --column <column>', 'only this column; may be repeated', collect)
    .option('--long', 'show every column in tables of lists, sentences included')
    .option('--sort-column <column>', 'sort a list by this column; may be repeated, the first counts most', collect)
    .option('--sort-ascending', 'the smallest first (default)')
    .addOption(new Option('--sort-descending', 'the greatest first').conflicts('sortAscending'))
    .option('--max-width <columns>', 'fold tables to this width; 0: as wide as needed ($CLIFF_MAX_TERM_WIDTH)', width)
    .option(
      '--fit-width',
      'fold tables to the width of the terminal (the default on a terminal, unless $CLIFF_FIT_WIDTH=0)',
    )
    .option('--noindent', 'JSON on one line')
    .addOption(new Option('--quote <mode>', 'what CSV quotes (default: nonnumeric)').choices(quotings))
}

/** Throws CliFailure for a format that there is not. */
export function shapeOf(
  options: ShapeOptions,
  { env, screen, paint }: Pick<Terminal, 'env' | 'screen' | 'paint'>,
): Shape {
  const { format = 'table' } = options
  if (!(formats as readonly string[]).includes(format))
    throw new CliFailure('usage', `there is no format "${format}" here`, [`formats: ${formats.join(', ')}`])
  const named = options.maxWidth ?? Number(env['CLIFF_MAX_TERM_WIDTH'] || NaN)
  const fits = options.fitWidth ?? (named !== 0 && env['CLIFF_FIT_WIDTH'] !== '0')
  return {
    format: format as Format,
    columns: options.column ?? [],
    sort: options.sortColumn ?? [],
    descending: options.sortDescending === true,
    long: options.long === true,
    // As openstackclient: a width that is named beats that of the terminal.
    maxWidth: named > 0 ? named : fits ? (screen?.size().columns ?? null) : null,
    indent: options.noindent !== true,
    quote: options.quote ?? 'nonnumeric',
    paint,
  }
}

function width(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}
