/** What a cell of a table says: text, of which some words may have a tone. On a terminal a tone is a colour. */
import type { styleText } from 'node:util'
import type { Tone } from '../../domain/text/tone.ts'
import { printable } from './width.ts'

export type Look = Tone | 'strong' | 'faint'

/** The styles of each look, as node:util names them. */
export const looks: Record<Look, Parameters<typeof styleText>[0]> = {
  good: 'green',
  urgent: ['bold', 'red'],
  bad: 'red',
  wait: 'yellow',
  live: 'cyan',
  plain: [],
  strong: 'bold',
  faint: 'dim',
}

/** The text as it looks on standard output: as it is where that is no terminal, or has no colours. */
export type Paint = (look: Look, text: string) => string

export const unpainted: Paint = (_look, text) => text

interface Toned {
  tone: Tone
  text: string
}

export type Words = string | Toned | readonly (string | Toned)[]

export function toned(tone: Tone, text: string): Toned {
  return { tone, text }
}

/** The words without their tones. */
export function plainWords(words: Words): string {
  return piecesOf(words)
    .map((piece) => (typeof piece === 'string' ? piece : piece.text))
    .join('')
}

/** The words, safe to print, each with the look of its tone. They may have several lines; no colour goes over the end of one. */
export function paintedWords(words: Words, paint: Paint): string {
  return piecesOf(words)
    .map((piece) => {
      if (typeof piece === 'string') return printable(piece, true)
      const lines = printable(piece.text, true).split('\n')
      return lines.map((line) => (line === '' || piece.tone === 'plain' ? line : paint(piece.tone, line))).join('\n')
    })
    .join('')
}

/** {healthy: 3, suspect: 1} -> "3 healthy, 1 suspect", each in the tone of its kind; nothing for zeros. */
export function tonedTally<Kind extends string>(
  counts: Partial<Record<Kind, number>>,
  tones: Partial<Record<Kind, Tone>>,
): (string | Toned)[] {
  return (Object.entries(counts) as [Kind, number][])
    .filter(([, count]) => count > 0)
    .flatMap(([kind, count], index) => [index === 0 ? '' : ', ', toned(tones[kind] ?? 'plain', `${count} ${kind}`)])
}

function piecesOf(words: Words): readonly (string | Toned)[] {
  return typeof words === 'string' || 'text' in words ? [words] : words
}
