/** What the scripts for bash and zsh have in common: two functions that say what may stand where, as `case` of both shells. */
import type { Spot, ValueKind } from './spots.ts'

/** @param quoted a text as one word of the shell; it differs where line ends are in it */
export function valueFunctions(spots: readonly Spot[], quoted: (text: string) => string): string {
  return `_lifeboat_option() {
  case "$1:$2" in
${spots.flatMap((spot) => optionCases(spot, quoted)).join('\n')}
    *) REPLY=none ;;
  esac
}

_lifeboat_argument() {
  case "$1:$2" in
${spots.flatMap((spot) => argumentCases(spot, quoted)).join('\n')}
    *) REPLY=none ;;
  esac
}`
}

function optionCases({ path, flags }: Spot, quoted: (text: string) => string): string[] {
  return flags.flatMap(({ names, value, optional }) => {
    if (value === null) return []
    const patterns = names.map((name) => quoted(`${path}:${name}`)).join(' | ')
    return [`    ${patterns}) REPLY=${optional ? 'maybe' : quoted(kindText(value))} ;;`]
  })
}

function argumentCases({ path, args, variadic }: Spot, quoted: (text: string) => string): string[] {
  return args.map((kind, index) => {
    const numbers = variadic && index === args.length - 1 ? '*' : String(index)
    return `    ${quoted(`${path}:`)}${numbers}) REPLY=${quoted(kindText(kind))} ;;`
  })
}

function kindText(kind: ValueKind): string {
  switch (kind.kind) {
    case 'words':
      return `words:${kind.words.join('\n')}`
    case 'ask':
      return `ask:${kind.what}`
    case 'files':
      return 'files'
    case 'anything':
      return 'anything'
  }
}
