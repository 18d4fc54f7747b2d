/** The completion script for fish 3. */
import type { Flag, Spot, ValueKind } from './spots.ts'

export function fishScript(spots: readonly Spot[]): string {
  const taking = (chosen: (flag: Flag) => boolean): string =>
    spots
      .flatMap(({ path, flags }) =>
        flags.filter(chosen).flatMap(({ names }) => names.map((name) => quoted(`${path}:${name}`))),
      )
      .join(' ')
  const paths = spots.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]))
  return `# fish completion for lifeboat, made by: lifeboat completion fish

set -g __lifeboat_paths ${paths.join(' ')}
set -g __lifeboat_valued ${taking(({ value, optional }) => value !== null && !optional)}
set -g __lifeboat_maybe ${taking(({ optional }) => optional)}

# The command so far: on the first line its words, on the second how many arguments it has.
function __lifeboat_spot
    set -l path ''
    set -l count 0
    set -l waiting 0
    for word in (commandline -opc)[2..-1]
        if test $waiting -eq 2
            set waiting 0
            string match -qr '^[0-9.]+$' -- $word; and continue
        end
        if test $waiting -eq 1
            set waiting 0
        else if string match -q -- '-*' $word
            contains -- "$path:$word" $__lifeboat_valued; and set waiting 1
            contains -- "$path:$word" $__lifeboat_maybe; and set waiting 2
        else
            set -l longer (string trim -- "$path $word")
            if contains -- $longer $__lifeboat_paths
                set path $longer
            else
                set count (math $count + 1)
            end
        end
    end
    echo $path
    echo $count
end

function __lifeboat_at
    set -l spot (__lifeboat_spot)
    test "$spot[1]" = "$argv[1]"
end

function __lifeboat_argument
    set -l spot (__lifeboat_spot)
    test "$spot[1]" = "$argv[1]" -a "$spot[2]" $argv[2] "$argv[3]"
end

function __lifeboat_ask
    set -l words (commandline -opc)
    set -l daemon
    for option in --config --url --cacert
        set -l at (contains -i -- $option $words)
        test -n "$at"; and set -a daemon $option $words[(math $at + 1)]
    end
    $words[1] $daemon complete $argv[1] 2>/dev/null
end

complete -c lifeboat -f
${spots.flatMap(lines).join('\n')}
`
}

function lines({ path, commands, flags, args, variadic }: Spot): string[] {
  const at = `-n ${quoted(`__lifeboat_at ${quoted(path)}`)}`
  return [
    ...commands.map(({ name, about }) => `complete -c lifeboat ${at} -a ${quoted(name)} -d ${quoted(about)}`),
    ...flags.map((flag) => `complete -c lifeboat ${at} ${flagText(flag)}`),
    ...args.flatMap((kind, index) => {
      const last = variadic && index === args.length - 1
      const here = quoted(`__lifeboat_argument ${quoted(path)} ${last ? '-ge' : '-eq'} ${index}`)
      const words = wordsText(kind)
      return words === '' ? [] : [`complete -c lifeboat -n ${here} ${words}`]
    }),
  ]
}

function flagText({ names, about, value, optional }: Flag): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  const takes = value === null || optional ? '' : ` -r ${wordsText(value) || '-f'}`
  return `${flags.join(' ')} -d ${quoted(about)}${takes}`
}

function wordsText(kind: ValueKind): string {
  switch (kind.kind) {
    case 'words':
      return `-f -a ${quoted(kind.words.map((word) => quoted(word)).join(' '))}`
    case 'ask':
      return `-f -a ${quoted(`(__lifeboat_ask ${kind.what})`)}`
    case 'files':
      return '-F'
    case 'anything':
      return ''
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
