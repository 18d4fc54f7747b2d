/** One call of the command line: where it writes, which configuration and format it was given, and who gave it. */
import { existsSync } from 'node:fs'
import type { Config } from '../config/index.ts'
import type * as Configuration from '../config/index.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { PersonLogin } from '../domain/token-holder.ts'
import type { Commands } from './composition.ts'
import type { JournalAccess } from '../review/journal-access.ts'
import { CliFailure, exitCodes, type ExitName } from './exit-codes.ts'
import { renderList, renderOne, type Column, type Shape } from './output/formats.ts'
import { shapeOf, type ShapeOptions } from './output/shape-options.ts'
import { printable } from './output/width.ts'
import { mayNotRead } from './permission.ts'
import { daemonClient, type DaemonClient } from './daemon-client.ts'
import type { Transport } from './exchange.ts'
import { recordOfDaemon, recordOfJournal, type OnRecord } from './on-record.ts'
import { socketTransport } from './socket-transport.ts'
import type { Terminal } from './terminal-port.ts'
import { daemonUrl, urlTransport } from './url-transport.ts'

export interface GlobalOptions extends ShapeOptions {
  config?: string
  url?: string
  cacert?: string
}

/** Where the packages put it, with lifeboat.d/*.yaml beside it; a checkout has none and runs on defaults and --config. */
export const installedConfig = '/etc/lifeboat/lifeboat.yaml'

/** A person waits. Shorter: a busy Keystone refuses everyone; longer: it is taken for hanging. */
const loginLimitMs = 15_000

export class Session {
  readonly commands: Commands
  readonly terminal: Terminal
  readonly #options: () => GlobalOptions
  #exit: ExitName = 'ok'
  /** What reads the configuration. */
  #reading: typeof Configuration | null = null
  /** To the daemon elsewhere: its login is kept. */
  #remote: Transport | null = null
  #staysHere = false

  /** @param options read late: the command line is parsed after the session is made */
  constructor(commands: Commands, terminal: Terminal, options: () => GlobalOptions) {
    this.commands = commands
    this.terminal = terminal
    this.#options = options
  }

  /**
   * Before a command runs. What reads the configuration takes longer to load than all else here, and anyone who asks for the
   * version, for help or for the words of a shell's completion waits for none of it.
   */
  async prepare(): Promise<void> {
    this.#reading ??= await import('../config/index.ts')
  }

  get exitCode(): number {
    return exitCodes[this.#exit].code
  }

  /** The command did its work, and what it found is not in order. */
  endsAs(exit: ExitName): void {
    this.#exit = exit
  }

  /** --config, $LIFEBOAT_CONFIG, the installed file, or null: all defaults. Throws CliFailure. */
  configPath(): string | null {
    const named = this.#options().config ?? this.terminal.env['LIFEBOAT_CONFIG']
    if (named !== undefined && named !== '') return named
    // Not the defaults: they would look for a daemon where none has ever been.
    if (mayNotRead(installedConfig))
      throw new CliFailure('noPermission', `you may not read ${installedConfig}`, [
        'join its group, use sudo, or pass a configuration of your own with --config',
      ])
    return existsSync(installedConfig) ? installedConfig : null
  }

  /** --config as given; null: nobody named one. */
  namedConfig(): string | null {
    return this.#options().config ?? null
  }

  /** Throws CONFIG_INVALID. Secrets only for commands that reach the cloud or a BMC themselves. */
  config(options: { withSecrets: boolean }): Config {
    return this.load(options).config
  }

  /** As config, with where everything is from. */
  load(options: { withSecrets: boolean }): Configuration.LoadedConfig {
    return this.#read.loadConfiguration(this.configPath(), this.terminal.env, options)
  }

  /** The command works with the files of this machine: $LIFEBOAT_URL is not meant for it. */
  stayHere(): void {
    this.#staysHere = true
  }

  /** Where the daemon is that is asked: --url, else $LIFEBOAT_URL unless --config names one of this machine. Null: here. Throws CliFailure. */
  url(): URL | null {
    const { url, config } = this.#options()
    if (url !== undefined) return daemonUrl(url, '--url')
    const variable = this.terminal.env['LIFEBOAT_URL'] ?? ''
    return variable === '' || config !== undefined || this.#staysHere ? null : daemonUrl(variable, 'LIFEBOAT_URL')
  }

  /** @param limitMs how long an answer may take; default: long enough for a busy daemon */
  daemon(limitMs?: number): DaemonClient {
    return daemonClient(this.#elsewhere(limitMs) ?? socketTransport(this.#socket(), this.commands.clock), limitMs)
  }

  /** What is on record of incidents and instances: the journal of this machine says it even without a daemon. */
  record(): OnRecord {
    return this.url() === null ? recordOfJournal((use) => this.withJournal(use)) : recordOfDaemon(this.daemon())
  }

  #elsewhere(limitMs = loginLimitMs): Transport | null {
    const url = this.url()
    if (url === null) return null
    const { clock, version } = this.commands
    const { cacert = null } = this.#options()
    const logIn = (): Promise<PersonLogin> => this.commands.logIn({ env: this.terminal.env, cacert, limitMs })
    this.#remote ??= urlTransport(url, { clock, version, logIn })
    return this.#remote
  }

  get #read(): typeof Configuration {
    if (this.#reading === null) throw new LifeboatError('INVARIANT', 'a command reads the configuration unprepared')
    return this.#reading
  }

  /** A daemon that runs can be asked also when someone broke its configuration since. */
  #socket(): string {
    try {
      return this.config({ withSecrets: false }).socket
    } catch (thrown) {
      if (!(thrown instanceof LifeboatError) || thrown.code !== 'CONFIG_INVALID') throw thrown
      const path = this.configPath()
      const socket = path === null ? null : this.#read.socketOf(path, this.terminal.env)
      if (socket === null || !existsSync(socket)) throw thrown
      this.terminal.stderr(
        `lifeboat: ${printable(thrown.message)}; the daemon on ${socket} still runs with an earlier configuration\n`,
      )
      return socket
    }
  }

  /** Hands the journal to `use` and closes it, whatever happens. */
  withJournal<T>(use: (journal: JournalAccess) => T): T {
    const config = this.config({ withSecrets: false })
    if (mayNotRead(config.journal))
      throw new CliFailure('noPermission', `you may not read the journal (${config.journal})`, [
        "use sudo; lifeboat status and lifeboat host list ask the daemon, for which the socket's group is enough",
      ])
    const journal = this.#opened(config)
    try {
      return use(journal)
    } finally {
      journal.close()
    }
  }

  #opened(config: Config): JournalAccess {
    try {
      return this.commands.openReader(config)
    } catch (thrown) {
      if (existsSync(config.journal)) throw thrown
      const hints = [
        'the daemon creates it when it first runs: start it with `lifeboat run` or `systemctl start lifeboat`',
        `state_dir is ${config.stateDir} (${this.#whyThere()}); pass another configuration with --config`,
      ]
      throw new CliFailure('journal', `there is no journal yet at ${config.journal}`, hints, { cause: thrown })
    }
  }

  /** Where the state directory is from. */
  #whyThere(): string {
    const option = this.load({ withSecrets: false }).options.find(({ name }) => name === 'state_dir')
    return option === undefined || option.origin === 'default' ? 'the default' : `from ${option.origin}`
  }

  /**
   * The person who acts, for the journal: the one named, else through sudo the one behind it. Empty for a daemon elsewhere: the token says who it
   * is, and no other name is taken.
   */
  by(named?: string): string {
    if (this.url() !== null) {
      if (named === undefined) return ''
      throw new CliFailure('usage', '--by is for an account that people share: with --url your token says who you are')
    }
    if (named !== undefined) return named
    const { SUDO_USER, USER, LOGNAME } = this.terminal.env
    const name = SUDO_USER || USER || LOGNAME
    if (name !== undefined && name !== '') return name
    throw new CliFailure('usage', 'your account has no name', ['set USER: the journal records who acts'])
  }

  /** Throws CliFailure for a format that there is not. */
  shape(): Shape {
    return shapeOf(this.#options(), this.terminal)
  }

  /** The format as given, for commands that have formats of their own. */
  namedFormat(): string | undefined {
    return this.#options().format
  }

  /** The width of tables as given, 0: as wide as it takes. Undefined: nobody said. */
  namedWidth(): number | undefined {
    const { maxWidth, fitWidth } = this.#options()
    const variable = this.terminal.env['CLIFF_MAX_TERM_WIDTH']
    if (maxWidth !== undefined) return maxWidth
    return fitWidth === true || variable === undefined || variable === '' ? undefined : Number(variable)
  }

  list<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
    this.terminal.stdout(renderList(rows, columns, this.shape()))
  }

  one<Row>(row: Row, columns: readonly Column<Row>[]): void {
    this.terminal.stdout(renderOne(row, columns, this.shape()))
  }

  /** One line for people. */
  say(line: string): void {
    this.terminal.stdout(`${printable(line)}\n`)
  }
}
