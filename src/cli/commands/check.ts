/** `lifeboat check`. People see each line as soon as it is known, what is in order on many hosts as one, and problems again at the end. */
import type { Command } from 'commander'
import { setsNothing } from '../../config/shown-options.ts'
import type { Tone } from '../../domain/text/tone.ts'
import type { CheckLine } from '../../preflight/check-lines.ts'
import { prints } from '../described.ts'
import { redrawn } from '../output/drawing.ts'
import type { Column } from '../output/formats.ts'
import { printable } from '../output/width.ts'
import { paintedWords, toned, type Paint } from '../output/words.ts'
import type { Session } from '../session.ts'
import type { Terminal } from '../terminal-port.ts'
import { counted } from '../wording.ts'

const resultTone: Record<CheckLine['result'], Tone> = { ok: 'good', warn: 'wait', fail: 'bad', skip: 'plain' }

const checkColumns: Column<CheckLine>[] = [
  {
    title: 'Result',
    type: 'string',
    means: '`ok`, `warn`, `fail`, or `skip`: not checked',
    value: (line) => line.result,
    text: ({ result }) => toned(resultTone[result], result),
  },
  { title: 'What', type: 'string', means: 'What was looked at', value: (line) => line.what },
  {
    title: 'Message',
    type: 'string',
    means: 'What was found, or why nothing was looked at',
    value: (line) => line.message,
  },
  { title: 'Advice', type: 'string?', means: 'What to do about it', value: (line) => line.advice },
]

export function addCheck(program: Command, session: Session): void {
  const checking = program
    .command('check')
    .description(
      'check everything the daemon needs, without side effects: configuration, credentials, permissions, fencing',
    )
    .option('--quiet', 'only what needs a person: failures and warnings', false)
    .action((options: { quiet: boolean }) => check(session, options))
  prints(checking, 'list', checkColumns, { exits: { 1: 'a check failed; warnings alone do not count' } })
}

/** Defaults alone never fence and know no segment: someone forgot to name the file. */
const noFile: CheckLine = {
  result: 'warn',
  what: 'configuration',
  message: 'no file: every option has its default',
  advice: 'Name yours with --config or $LIFEBOAT_CONFIG',
}

const emptyFile: CheckLine = {
  result: 'warn',
  what: 'configuration',
  message: 'the file sets nothing: every option has its default',
  advice: 'Describe at least the segments and how to fence their hosts: config/lifeboat.minimal.yaml',
}

async function check(session: Session, { quiet }: { quiet: boolean }): Promise<void> {
  const lines: CheckLine[] = []
  const { format, columns } = session.shape()
  const forPeople = format === 'table' && columns.length === 0
  const told = forPeople ? new ToldLines(session.terminal) : null
  const found = (line: CheckLine): void => {
    if (quiet && !isProblem(line)) return
    lines.push(line)
    told?.tell(line)
  }
  for await (const line of everyLine(session)) found(line)
  if (told === null) session.list(lines, checkColumns)
  else if (quiet) told.end('')
  else told.end(summaryOf(lines, session.terminal.paint))
  if (lines.some(({ result }) => result === 'fail')) session.endsAs('failed')
}

async function* everyLine(session: Session): AsyncGenerator<CheckLine> {
  const { config, options, warnings } = session.load({ withSecrets: true })
  if (session.configPath() === null) yield noFile
  else if (setsNothing(options)) yield emptyFile
  for (const warning of warnings) yield { result: 'warn', what: 'configuration', ...warning }
  yield* session.commands.check(config)
}

function isProblem({ result }: CheckLine): boolean {
  return result === 'fail' || result === 'warn'
}

/** As they come. What is in order on many hosts is one line, which counts them; it stays below until the end. */
class ToldLines {
  readonly #terminal: Terminal
  /** What was looked at -> the hosts on which it is in order. */
  readonly #inOrder = new Map<string, Set<string>>()
  /** Lines of it that are on the screen now. */
  #drawn = 0

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  tell(line: CheckLine): void {
    const { each, result } = line
    const isCounted = each !== undefined && result === 'ok'
    if (isCounted) {
      const hosts = this.#inOrder.get(each.what) ?? new Set<string>()
      this.#inOrder.set(each.what, hosts.add(each.host))
    }
    this.#print(isCounted ? '' : checkText(line, this.#terminal.paint))
  }

  /** @param summary what stands last */
  end(summary: string): void {
    if (this.#terminal.screen === null) this.#terminal.stdout(this.#counted().join(''))
    this.#terminal.stdout(summary)
  }

  #print(text: string): void {
    if (this.#terminal.screen === null) this.#terminal.stdout(text)
    else {
      const below = this.#counted()
      this.#terminal.stdout(redrawn(`${text}${below.join('')}`.trimEnd().split('\n'), this.#drawn))
      this.#drawn = below.length
    }
  }

  #counted(): string[] {
    return [...this.#inOrder].map(([what, hosts]) => {
      const line: CheckLine = { result: 'ok', what, message: counted(hosts.size, 'host'), advice: null }
      return checkText(line, this.#terminal.paint)
    })
  }
}

function checkText({ what, result, message, advice }: CheckLine, paint: Paint): string {
  const word = paintedWords(toned(resultTone[result], result.padEnd(4)), paint)
  const line = `${word}  ${printable(what)}: ${printable(message)}\n`
  return advice === null || result === 'ok' ? line : `${line}      → ${printable(advice)}\n`
}

/** The problems again, unless nothing came after them, and how many there are of what. */
function summaryOf(lines: readonly CheckLine[], paint: Paint): string {
  const many = (wanted: CheckLine['result']): number => lines.filter(({ result }) => result === wanted).length
  const [failed, skipped] = [many('fail'), many('skip')]
  const problems = lines.filter(isProblem)
  const areLast = lines.slice(lines.length - problems.length).every(isProblem)
  const again = areLast
    ? ''
    : `\nWhat needs a person:\n${problems
        .toSorted(failuresFirst)
        .map((line) => checkText(line, paint))
        .join('')}`
  const made = `${counted(lines.length - skipped, 'check')}: ${failed} failed, ${many('warn')} with a warning`
  return `${again}\n${made}${skipped > 0 ? `; ${skipped} not made` : ''}\n`
}

function failuresFirst(one: CheckLine, other: CheckLine): number {
  return Number(other.result === 'fail') - Number(one.result === 'fail')
}
