/**
 * What the command line needs of the rest of the program, stated here and implemented by the composition root. So the
 * commands can be tested without a cloud, and cli/ knows neither OpenStack nor SQL.
 */
import type { Config, LoadedConfig } from '../config/index.ts'
import type { Clock } from '../domain/clock.ts'
import type { JournalPlace } from '../domain/entry.ts'
import type { NoticeTest, NoticeTestResult } from '../domain/notice.ts'
import type { HostPlan, PlanSubject } from '../domain/plan.ts'
import type { PersonLogin, PersonLoginOrder } from '../domain/token-holder.ts'
import type { MasakariImport } from '../masakari/masakari-import.ts'
import type { CheckLine } from '../preflight/check-lines.ts'
import type { WorkflowCheck } from '../preflight/workflow-files.ts'
import type { DemoPagesOptions } from '../rehearsal/demo-pages.ts'
import type { DemoOptions } from '../rehearsal/demo.ts'
import type { RehearsalLine, RehearsalOptions } from '../rehearsal/performance.ts'
import type { WorkflowTest } from '../rehearsal/workflow-tests.ts'
import type { JournalAccess } from '../review/journal-access.ts'

export interface MovedJournal {
  to: JournalPlace
  entries: number
  head: string
}

export interface Commands {
  version: string
  /** The version with how this program was built, for `--version`. */
  build: string
  clock: Clock
  /** Runs until it is told to stop by a signal; rejects when it cannot start. `load` is called again at each reload. */
  runDaemon(load: () => LoadedConfig): Promise<'stopped' | 'again'>
  /** Looks at everything the daemon will need, without side effects; each line as soon as it is known. */
  check(config: Config): AsyncIterable<CheckLine>
  /** Sends a test to a receiver of notices. Throws NOT_FOUND for one that is not configured. */
  testNotice(config: Config, order: NoticeTest): Promise<NoticeTestResult>
  /** What would happen if the host died now. Reads only. */
  planFailure(config: Config, subject: PlanSubject): Promise<HostPlan>
  /**
   * The login of the person who asks a daemon elsewhere, as OS_* and clouds.yaml say it. Throws CONFIG_INVALID when they say none.
   */
  logIn(asked: PersonLoginOrder): Promise<PersonLogin>
  /** Throws JOURNAL_UNAVAILABLE when there is none. */
  openReader(config: Config): JournalAccess
  /** The SQL that makes the shared journal. `from`: where the daemons connect from. Throws CONFIG_INVALID when none is configured. */
  sharedJournalScript(config: Config, from: string): Promise<string>
  /**
   * Moves the journal to the shared store, or out of it. Gives what both hold now. Throws CONFIG_INVALID, CONFLICT, NOT_ACTIVE, JOURNAL_UNAVAILABLE
   * (also while a daemon runs), JOURNAL_CORRUPT.
   */
  moveJournal(
    config: Config,
    order: { to: JournalPlace; by: string; reason: string; databaseLost: boolean },
  ): Promise<MovedJournal>
  /** Of the given files, or of all in the configured directory. */
  checkWorkflows(config: Config, files: string[]): Promise<WorkflowCheck[]>
  /** The cases of these files of expected plans, or of those in `tests` of the configured directory. Throws WORKFLOW_INVALID. */
  testWorkflows(config: Config, files: string[]): Promise<WorkflowTest[]>
  /** What a Masakari says it protects, as a configuration of ours. Reads only. */
  importMasakari(config: Config): Promise<MasakariImport>
  /** Writes the files of a checkout that are made from its source; gives their paths. For developers: not in the help. */
  generate(): Promise<string[]>
  /** Name and title of each scenario that ships. */
  scenarios(): Promise<{ name: string; title: string }[]>
  /** Plays a scenario on a simulated cloud. Throws NOT_FOUND, CONFIG_INVALID. */
  rehearse(tell: (line: RehearsalLine) => void, options: RehearsalOptions): Promise<void>
  /** The same by the rules of a configuration file. Also throws WORKFLOW_INVALID. */
  rehearseOwn(
    tell: (line: RehearsalLine) => void,
    options: { config: string; scenario: string | null; raw: boolean; live: boolean },
  ): Promise<void>
  /** A simulated cloud, a dying host, a recovery; writes what happens as it happens. */
  demo(write: (text: string) => void, options: DemoOptions): Promise<void>
  /** The pages on a simulated cloud whose plugs people pull, until a signal. Throws API_UNAVAILABLE when the port is taken. */
  demoPages(write: (text: string) => void, options: DemoPagesOptions): Promise<void>
}
