/**
 * What the command line needs of the rest of the program, stated here and implemented by the composition root. So the
 * commands can be tested without a cloud, and cli/ knows neither OpenStack nor SQL.
 */
import type { Config, LoadedConfig } from '../config/index.ts'
import type { Clock } from '../domain/clock.ts'
import type { Entry, IncidentId } from '../domain/entry.ts'
import type { EntryFilter, JournalReader } from '../domain/journal.ts'
import type { IncidentDetail, IncidentFilter, IncidentSummary } from '../domain/operations.ts'
import type { HostPlan } from '../domain/plan.ts'
import type { Advice } from '../domain/review.ts'
import type { Scope } from '../domain/standing-order.ts'

/** One thing that `check` looked at. */
export interface CheckLine {
  /** What was looked at, e.g. "compute API", "fencing bmc on cmp01". */
  what: string
  /** skip: not looked at, because something else is not in order. */
  result: 'ok' | 'warn' | 'fail' | 'skip'
  /** What was found; of what was skipped: why. */
  message: string
  /** What to do about it; null when there is nothing to do. */
  advice: string | null
}

export interface WorkflowCheck {
  file: string
  /** Null when the document could not be read. */
  name: string | null
  revision: number | null
  digest: string | null
  /** file:line:col: what is wrong. Empty: the workflow is good. */
  problems: string[]
}

/** One expected plan, tried. */
export interface WorkflowTest {
  file: string
  line: number
  name: string
  /** Empty: the plan is as expected. */
  differences: string[]
}

/** What an import from Masakari gives. */
export interface MasakariImport {
  /** Where it was read, for people. */
  from: string
  segments: number
  hosts: number
  /** A fragment of lifeboat.yaml that our own loader takes. */
  yaml: string
  /** To be ordered of the daemon: hosts on maintenance there, segments disabled there. */
  maintenance: { scope: Scope; reason: string }[]
  /** What has no counterpart, or means something else here. */
  notes: string[]
}

/** The journal beside a running daemon, or without one. */
export interface JournalAccess extends JournalReader {
  /** Oldest first, one by one: a journal may be bigger than memory. */
  each(filter?: Omit<EntryFilter, 'newestFirst' | 'limit'>): Iterable<Entry>
  incidents(filter: IncidentFilter): IncidentSummary[]
  /** Throws NOT_FOUND; of the name of a host it names the incidents of that. */
  incident(id: IncidentId): IncidentDetail
  /** What a person must do about it, most urgent first, as its page says it. Throws NOT_FOUND. */
  advice(id: IncidentId): Advice[]
  /** The entry as one sentence; null when its kind says it all. */
  sentence(entry: Entry): string | null
  /** The pieces of an export, in order: JSON lines with the hashes, or a report for people. Null: the whole journal. */
  export(format: 'json' | 'markdown', incident: IncidentId | null): Iterable<string>
}

export interface Commands {
  version: string
  clock: Clock
  /** Runs until it is told to stop by a signal; rejects when it cannot start. `load` is called again at each reload. */
  runDaemon(load: () => LoadedConfig): Promise<void>
  /** Looks at everything the daemon will need, without side effects; each line as soon as it is known. */
  check(config: Config): AsyncIterable<CheckLine>
  /** Sends a test to a receiver of notices. Throws NOT_FOUND for one that is not configured. */
  testNotice(config: Config, order: NoticeTest): Promise<{ ok: boolean; detail: string }>
  /** What would happen if the host died now. Reads only. */
  planHost(config: Config, host: string): Promise<HostPlan>
  /** Throws JOURNAL_UNAVAILABLE when there is none. */
  openReader(config: Config): JournalAccess
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
  /** A simulated cloud, a dying host, a recovery; writes what happens as it happens. */
  demo(write: (text: string) => void, options: DemoOptions): Promise<void>
}

export interface NoticeTest {
  receiver: string
  by: string
  /** Of a receiver for tenants; null: the first that is configured. */
  project: string | null
}

/** What is told of a scenario while it is played. */
export interface RehearsalLine {
  /** Of the scenario's own time, since it began: 00:01:07.250. Null before and after. */
  since: string | null
  /** Of the journal entry behind it; null where there is none. */
  seq: number | null
  actor: string | null
  host: string | null
  /** By name. */
  instance: string | null
  /** Of the entry; or scenario (its title), script (what is done to the cloud), end (how everything ended). */
  kind: string
  message: string
  /** For people; null: they are not told of it. */
  text: string | null
}

/** How a scenario is shown. */
export interface RehearsalOptions {
  /** A shipped scenario's name, or the path of a scenario.yaml. */
  scenario: string
  /** Every journal entry instead of sentences. */
  raw: boolean
  /** At a pace for people; false: as fast as it goes. */
  live: boolean
}

export interface DemoOptions {
  hosts: number
  instances: number
  /** Keep the state directory of the demo, to look at its journal afterwards. */
  keep: boolean
}
