/** The completion script for bash. It needs bash 4.2 and no bash-completion package. */
import { valueFunctions } from './cases.ts'
import type { Spot } from './spots.ts'

export function bashScript(spots: readonly Spot[]): string {
  return `# bash completion for lifeboat, made by: lifeboat completion bash

${valueFunctions(spots, quoted)}

_lifeboat_words() {
  case "$1" in
${spots.map(({ path, commands }) => `    ${quoted(path)}) REPLY=${quoted(commands.map(({ name }) => name).join('\n'))} ;;`).join('\n')}
    *) REPLY= ;;
  esac
}

_lifeboat_flags() {
  case "$1" in
${spots.map(({ path, flags }) => `    ${quoted(path)}) REPLY=${quoted(flags.flatMap(({ names }) => names).join('\n'))} ;;`).join('\n')}
    *) REPLY= ;;
  esac
}

_lifeboat_offer() {
  local word plain=\${cur//\\\\/}
  plain=\${plain#[\\"\\']}
  while IFS= read -r word; do
    [[ -n $word && $word == "$plain"* ]] && COMPREPLY+=("$(printf '%q' "\${word#"$there"}")")
  done <<<"$1"
}

_lifeboat() {
  local cur there= path= waiting= word option= known REPLY i last=-1 glue= count=0
  local -a daemon=() before=()
  COMPREPLY=()
  # bash takes --option=value apart at the sign, and default:zone at the colon.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == = ]]; then
      ((i < COMP_CWORD)) && continue
      word=
    fi
    if [[ $last -ge 0 && ( -n $glue || $word == :* ) ]]; then
      before[last]+=$word
    else
      before[++last]=$word
    fi
    [[ $word == :* ]] && glue=yes || glue=
  done
  cur=\${before[last]}
  unset 'before[last]'
  # It puts in only what follows the colon.
  [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] && there=\${cur%"\${cur##*:}"}
  for word in "\${before[@]}"; do
    if [[ $waiting == maybe* ]]; then
      waiting=
      [[ $word =~ ^[0-9.]+$ ]] && continue
    fi
    if [[ -n $waiting ]]; then
      [[ $option == --config || $option == --url || $option == --cacert ]] && daemon+=("$option" "$word")
      waiting=
      continue
    fi
    if [[ $word == -* ]]; then
      _lifeboat_option "$path" "$word"
      waiting=$REPLY
      [[ $waiting == none ]] && waiting=
      option=$word
      continue
    fi
    _lifeboat_words "$path"
    known=$'\\n'$REPLY$'\\n'
    if [[ $known == *$'\\n'"$word"$'\\n'* ]]; then
      path=\${path:+$path }$word
    else
      count=$((count + 1))
    fi
  done
  [[ $waiting == maybe* ]] && waiting=
  if [[ -z $waiting && $cur == -* ]]; then
    _lifeboat_flags "$path"
    _lifeboat_offer "$REPLY"
    return
  fi
  if [[ -z $waiting ]]; then
    _lifeboat_words "$path"
    if [[ -n $REPLY ]]; then
      _lifeboat_offer "$REPLY"
      return
    fi
    _lifeboat_argument "$path" "$count"
    waiting=$REPLY
  fi
  case $waiting in
    words:*) _lifeboat_offer "\${waiting#words:}" ;;
    ask:*) _lifeboat_offer "$("\${COMP_WORDS[0]}" "\${daemon[@]}" complete "\${waiting#ask:}" 2>/dev/null)" ;;
    files*) compopt -o filenames 2>/dev/null; while IFS= read -r word; do COMPREPLY+=("\${word#"$there"}"); done < <(compgen -f -- "$cur") ;;
  esac
}

complete -F _lifeboat lifeboat
`
}

function quoted(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')
  return escaped === text ? `'${text}'` : `$'${escaped}'`
}
