/** `lifeboat completion SHELL`, and `lifeboat complete`, which the scripts ask for names that only the cloud knows. */
import { Argument, type Command } from 'commander'
import { bashScript } from '../completion/bash.ts'
import { fishScript } from '../completion/fish.ts'
import { asked, spotsOf, type Asked, type Spot } from '../completion/spots.ts'
import { zshScript } from '../completion/zsh.ts'
import { printable } from '../output/width.ts'
import type { Session } from '../session.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const
export type Shell = keyof typeof scripts

/** Someone waits with a finger on the tab key. Elsewhere a login and two machines come before the answer. */
const answerLimitMs = { here: 500, elsewhere: 2_000 }
/** More is no help on a screen. */
const mostIncidents = 50

export function addCompletionCommands(program: Command, session: Session): void {
  program
    .command('completion')
    .description('print the completion script of a shell, e.g. source <(lifeboat completion bash)')
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .action((shell: Shell) => session.terminal.stdout(completionScript(program, shell)))
  program
    .command('complete', { hidden: true })
    .description('words for completion; silent when nobody answers')
    .addArgument(new Argument('<what>').choices(asked))
    .action(async (what: Asked) => {
      try {
        session.terminal.stdout((await words(session, what)).map((word) => `${printable(word)}\n`).join(''))
      } catch {
        // A shell that completes has no place for errors: anyone who runs the command will see them.
      }
    })
}

export function completionScript(program: Command, shell: Shell): string {
  const spots: Spot[] = spotsOf(program)
  return scripts[shell](spots)
}

async function words(session: Session, what: Asked): Promise<string[]> {
  if (what === 'scenarios') return (await session.commands.scenarios()).map(({ name }) => name)
  const daemon = session.daemon(answerLimitMs[session.url() === null ? 'here' : 'elsewhere'])
  const hosts = async (): Promise<string[]> => (await daemon.hosts()).map(({ host }) => host)
  const incidents = async (): Promise<string[]> =>
    (await daemon.incidents({ limit: mostIncidents })).map(({ id }) => id)
  switch (what) {
    case 'hosts':
      return hosts()
    case 'segments':
      return (await daemon.segments()).map(({ name }) => name)
    case 'incidents':
      return incidents()
    case 'pages':
      return (await Promise.all([hosts(), incidents()])).flat()
  }
}
