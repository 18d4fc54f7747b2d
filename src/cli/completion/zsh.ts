/** The completion script for zsh: for a directory of $fpath as _lifeboat, or to be sourced after compinit. */
import { valueFunctions } from './cases.ts'
import type { Flag, Spot } from './spots.ts'

export function zshScript(spots: readonly Spot[]): string {
  return `#compdef lifeboat
# zsh completion for lifeboat, made by: lifeboat completion zsh

${valueFunctions(spots, quoted)}

_lifeboat_words() {
  case "$1" in
${spots.map(({ path, commands }) => `    ${quoted(path)}) reply=(${commands.map(({ name, about }) => described(name, about)).join(' ')}) ;;`).join('\n')}
    *) reply=() ;;
  esac
}

_lifeboat_flags() {
  case "$1" in
${spots.map(({ path, flags }) => `    ${quoted(path)}) reply=(${flags.flatMap(flagWords).join(' ')}) ;;`).join('\n')}
    *) reply=() ;;
  esac
}

_lifeboat() {
  local where='' waiting='' word REPLY count=0 i
  local -a daemon reply known
  for ((i = 2; i < CURRENT; i++)); do
    word=\${(Q)words[i]}
    if [[ $waiting == maybe ]]; then
      waiting=''
      [[ $word == <->(|.<->) ]] && continue
    fi
    if [[ -n $waiting ]]; then
      [[ \${words[i - 1]} == --(config|url|cacert) ]] && daemon+=(\${words[i - 1]} $word)
      waiting=''
      continue
    fi
    if [[ $word == -* ]]; then
      [[ $word == --(config|url|cacert)=* ]] && daemon+=($word)
      _lifeboat_option "$where" "$word"
      waiting=$REPLY
      [[ $waiting == none ]] && waiting=''
      continue
    fi
    _lifeboat_words "$where"
    known=(\${reply%%:*})
    if (( \${known[(Ie)$word]} )); then
      where=\${where:+$where }$word
    else
      (( count += 1 ))
    fi
  done
  [[ $waiting == maybe ]] && waiting=''
  if [[ -z $waiting && $PREFIX == --*=* ]]; then
    _lifeboat_option "$where" "\${PREFIX%%=*}"
    waiting=$REPLY
    compset -P '*='
  fi
  if [[ -z $waiting && $PREFIX == -* ]]; then
    _lifeboat_flags "$where"
    _describe -o option reply
    return
  fi
  if [[ -z $waiting ]]; then
    _lifeboat_words "$where"
    if (( $#reply )); then
      _describe command reply
      return
    fi
    _lifeboat_argument "$where" "$count"
    waiting=$REPLY
  fi
  case $waiting in
    words:*) compadd -- "\${(@f)\${waiting#words:}}" ;;
    ask:*) compadd -- "\${(@f)$(\${(Q)words[1]} $daemon complete \${waiting#ask:} 2>/dev/null)}" ;;
    files) _files ;;
  esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _lifeboat "$@"
else
  compdef _lifeboat lifeboat
fi
`
}

function flagWords({ names, about }: Flag): string[] {
  return names.map((name) => described(name, about))
}

function described(word: string, about: string): string {
  return quoted(`${word}:${about.replaceAll(':', ' -')}`)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
