/** The configuration as the program uses it: resolved, durations in milliseconds, secrets read. Types only. */
import type { SharedJournalConfig } from './shared-journal.ts'
import type { CloudBrake } from '../domain/brake.ts'
import type { HttpLogin } from '../domain/http-login.ts'
import type { Segment } from '../domain/segment.ts'
import type { MaintenanceWindow } from '../orders/maintenance-window.ts'
import { hiddenLogin } from './http-login.ts'
import { receiversWithoutSecrets, type NoticesConfig } from './notices.ts'
import type { ConfiguredSegment } from './segments.ts'
import type { MasakariConfig, MasakariRules } from './masakari.ts'
import type { WebConfig, WebRules } from './web.ts'

export interface RedfishConfig {
  kind: 'redfish'
  /** URL template of the ComputerSystem. */
  system: string
  username: string
  password: string
  /** Path, or null for the system's certificates. */
  caFile: string | null
  verify: boolean
  requestTimeoutMs: number
}

export interface IpmiConfig {
  kind: 'ipmi'
  /** Template. */
  address: string
  port: number
  username: string
  password: string
  interface: 'lanplus' | 'lan'
  /** Null: ipmitool asks the BMC. */
  cipherSuite: number | null
  timeoutMs: number
}

export interface PrometheusConfig {
  kind: 'prometheus'
  url: string
  /** {name} stands for a variable of the host; other braces are PromQL's. */
  query: string
  alive: number[]
  dead: number[]
  maxSampleAgeMs: number
  login: HttpLogin | null
  caFile: string | null
  verify: boolean
  timeoutMs: number
}

/** Texts called template take the variables of `hosts`; expand them with hostVariable. */
export type ProbeConfig =
  | { kind: 'tcp'; address: string; port: number; timeoutMs: number }
  | { kind: 'ping'; address: string; timeoutMs: number }
  | { kind: 'command'; argv: string[]; timeoutMs: number }
  | RedfishConfig
  | IpmiConfig
  | PrometheusConfig

/** One try of a method, and how often it is tried before the next. */
export interface FencingLimits {
  limitMs: number
  attempts: number
}

export type FencingConfig = FencingLimits & FencingMethodConfig

type FencingMethodConfig =
  | (RedfishConfig & { offTimeoutMs: number })
  | {
      kind: 'fence-agent'
      agent: string
      options: Record<string, string>
      secretOptions: Record<string, string>
      timeoutMs: number
    }
  | {
      kind: 'command'
      fence: string[]
      verify: string[]
      timeoutMs: number
      proves: 'power' | 'storage'
      /** Null: what it did stays. */
      renewEveryMs: number | null
    }

export interface Config {
  /** The file it was read from, or null when there was none and everything is the default. */
  path: string | null
  mode: 'observe' | 'armed'
  /** Name in clouds.yaml, or null: OS_CLOUD, else the OS_* variables. */
  cloud: string | null
  stateDir: string
  journal: string
  /** Null: the journal is this daemon's own. */
  sharedJournal: SharedJournalConfig | null
  socket: string
  /** Null: no TCP listener. */
  http: { host: string; port: number } | null
  /** Null: no REST API on TCP and no pages. */
  web: WebConfig | null
  webRules: WebRules
  /** Null: no listener. */
  masakariApi: MasakariConfig | null
  masakariRules: MasakariRules
  logLevel: 'debug' | 'info' | 'warn' | 'error'
  logFormat: 'json' | 'oslo'
  workflows: string
  api: { readTimeoutMs: number; writeTimeoutMs: number }
  /** Has the shape of the monitor's own settings. */
  monitor: {
    pollIntervalMs: number
    defaultIntervalMs: number
    suspectAfterBeats: number
    confirmAfterBeats: number
    suspicionNeeded: number
    minDeadProbeKinds: number
    quietAfterFreezeMs: number
    maxClockSkewMs: number
    massSilenceShare: number
    startSilenceMs: number
    /** The longest time limit of any probe: no probe is cut off before its own. */
    probeLimitMs: number
    maxParallelProbes: number
    aggregatesEveryMs: number
  }
  /** Cloud-wide; each segment has its own beside it. */
  brake: CloudBrake
  executor: { maxParallel: number; tickMs: number; reconcileQuietMs: number; longestRequestMs: number }
  fenceRetryMs: number
  fenceRetryMaxMs: number
  ownerPolicy: { key: string; priorityKey: string; masakariKey: string | null; ownerPriorityLimit: number }
  hosts: Record<string, Record<string, string>>
  probes: Record<string, ProbeConfig>
  fencing: Record<string, FencingConfig>
  defaults: Omit<Segment, 'name'>
  segments: ConfiguredSegment[]
  maintenanceWindows: MaintenanceWindow[]
  notices: NoticesConfig
}

/** The configuration as it may be shown or logged. */
export function withoutSecrets(config: Config): Config {
  const hideAll = <T extends ProbeConfig | FencingConfig>(named: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(named).map(([name, witness]) => [name, { ...witness, ...hidden(witness) }]))
  const notices = { ...config.notices, receivers: receiversWithoutSecrets(config.notices.receivers) }
  const { sharedJournal: shared } = config
  const sharedJournal = shared === null ? null : { ...shared, password: '***' }
  return { ...config, sharedJournal, probes: hideAll(config.probes), fencing: hideAll(config.fencing), notices }
}

/** What takes the place of a witness's secrets. Each kind is named: one that is added does not compile before it says what it hides. */
function hidden(witness: ProbeConfig | FencingConfig): object {
  switch (witness.kind) {
    case 'redfish':
    case 'ipmi':
      return { password: '***' }
    case 'prometheus':
      return { login: hiddenLogin(witness.login) }
    case 'fence-agent':
      return { secretOptions: Object.fromEntries(Object.keys(witness.secretOptions).map((key) => [key, '***'])) }
    case 'tcp':
    case 'ping':
    case 'command':
      return {}
  }
}
