/**
 * Reads the configuration files into a Config, or says everything that is wrong with them at once. Owns defaults that depend
 * on the environment. Must not start anything and must not touch what it names, except to read secrets.
 */
import { join, resolve } from 'node:path'
import { LifeboatError } from '../domain/errors.ts'
import { builtInSettings } from '../domain/segment.ts'
import type { Config, FencingConfig, ProbeConfig, RedfishConfig } from './config.ts'
import { effectiveOptions, type Surroundings } from './effective.ts'
import { checkTargets } from './fence-targets.ts'
import { directoryOf, readConfigTexts, type ConfigText } from './files.ts'
import { mergeTexts } from './merged-source.ts'
import { noticesConfig } from './notices.ts'
import { byPlace, pathText, placeIssues } from './problems.ts'
import { attemptLimit, checkReferences } from './references.ts'
import { configSchema, type ConfigFile } from './schema.ts'
import { Secrets, type Environment, type Report } from './secrets.ts'
import { resolveSegment, resolveSettings } from './segments.ts'
import type { EffectiveOption } from './shown-options.ts'
import { warningsOf, type ConfigWarning } from './warnings.ts'
import { checkApart, listenAddress } from './listen-addresses.ts'
import { masakariConfig, masakariRules } from './masakari.ts'
import { sharedJournalConfig } from './shared-journal.ts'
import { webConfig, webRules } from './web.ts'
import { resolveWindow } from './windows.ts'
import { ipmiConfig, prometheusConfig } from './witnesses.ts'
import { problemText, type Path, type Problem } from '../formats/yaml-source.ts'
import { installed } from '../system/installed.ts'

/** sun_path has 108 bytes with its end; a longer path would be cut off silently by some callers. */
const longestSocketPath = 107

const shippedWorkflows = installed('recovery-workflows')

export interface LoadOptions {
  /**
   * Default true. False leaves every secret empty: people who may talk to the daemon need not be able to read its
   * passwords. Such a configuration must not be used to reach a BMC.
   */
  withSecrets?: boolean
}

/** A configuration with what people want to know of it beside its meaning. */
export interface LoadedConfig {
  config: Config
  /** In the order in which they are laid over each other; none when all is at its default. */
  files: string[]
  readonly options: EffectiveOption[]
  /** What secret files and variables held, by option; a reload compares them. Never to be shown. */
  secrets: ReadonlyMap<string, string>
  /** What is dangerous and allowed all the same. */
  readonly warnings: ConfigWarning[]
}

/**
 * The configuration in `path` (a file and `<name>.d/*.yaml` beside it, or a directory), or all defaults when `path` is null.
 * Relative paths in a file are relative to that file. Throws CONFIG_INVALID; `details.problems` has every problem as
 * `file:line:col: what is wrong (what is allowed)`.
 */
export function loadConfig(path: string | null, env: Environment, options: LoadOptions = {}): Config {
  return loadConfiguration(path, env, options).config
}

/** As loadConfig, with where everything is from. */
export function loadConfiguration(path: string | null, env: Environment, options: LoadOptions = {}): LoadedConfig {
  return loadTexts(path === null ? [] : readConfigTexts(path), path, env, options)
}

/** As loadConfig, of a text; `path` is where it is from. */
export function parseConfig(text: string, path: string | null, env: Environment, options: LoadOptions = {}): Config {
  return parseConfiguration(text, path, env, options).config
}

/** As loadConfiguration, of a text; `path` is where it is from. */
export function parseConfiguration(
  text: string,
  path: string | null,
  env: Environment,
  options: LoadOptions = {},
): LoadedConfig {
  return loadTexts([{ file: path ?? 'defaults', text }], path, env, options)
}

/**
 * Where the daemon of this configuration listens, also when the configuration is not valid (any more): who looks at night at
 * a daemon that runs must not be kept out by a slip that someone made since. Null when not even that can be read.
 */
export function socketOf(path: string, env: Environment): string | null {
  try {
    const source = mergeTexts(readConfigTexts(path))
    const text = (key: string): string | undefined => {
      const value = (source.data as Record<string, unknown> | null)?.[key]
      return typeof value === 'string' && value !== '' ? value : undefined
    }
    const base = (key: string): string => directoryOf(source.fileOf([key]) ?? path)
    const socket = text('socket')
    if (socket !== undefined) return resolve(base('socket'), socket)
    return join(stateDirectory(text('state_dir'), base('state_dir'), env), 'lifeboat.sock')
  } catch (thrown) {
    if (thrown instanceof LifeboatError) return null
    throw thrown
  }
}

function loadTexts(
  texts: readonly ConfigText[],
  path: string | null,
  env: Environment,
  options: LoadOptions,
): LoadedConfig {
  const files = texts.map(({ file }) => file)
  const name = path ?? 'defaults'
  const source = mergeTexts(texts)
  if (source.problems.length > 0) throw invalid(name, files, source.problems)
  const parsed = configSchema.safeParse(source.data)
  if (!parsed.success) throw invalid(name, files, placeIssues(parsed.error.issues, source))
  const problems: Problem[] = []
  const report: Report = (at, message) => {
    problems.push({ ...source.valueAt(at), message: `${pathText(at)}: ${message}` })
  }
  checkReferences(parsed.data, report)
  const baseDir = (at: Path): string => directoryOf(source.fileOf(at) ?? path)
  const secrets = new Secrets(baseDir, env, report, options.withSecrets ?? true)
  const config = resolveConfig(parsed.data, secrets, baseDir, path, env, report)
  checkTargets(config, report)
  if (problems.length > 0) throw invalid(name, files, problems)
  // Made when they are asked for: a command that only looks for the daemon's socket needs neither.
  let known: EffectiveOption[] | null = null
  const effective = (): EffectiveOption[] => (known ??= effectiveOptions(source, surroundings(config, env)))
  let dangers: ConfigWarning[] | null = null
  return {
    config,
    files: path === null ? [] : files,
    get options() {
      return effective()
    },
    secrets: secrets.contents,
    get warnings() {
      return (dangers ??= path === null ? [] : warningsOf(config, source, effective(), files, env))
    },
  }
}

/** What the program takes from elsewhere when the file is silent. */
function surroundings(config: Config, env: Environment): Surroundings {
  const stateFrom = ['LIFEBOAT_STATE_DIR', 'STATE_DIRECTORY'].find((name) => (env[name] ?? '') !== '') ?? null
  const cloud = env['OS_CLOUD']
  return {
    state_dir: { value: config.stateDir, origin: stateFrom === null ? 'default' : `$${stateFrom}` },
    socket: { value: config.socket, origin: 'default' },
    workflows: { value: config.workflows, origin: 'default' },
    ...(cloud !== undefined && cloud !== '' && { cloud: { value: cloud, origin: '$OS_CLOUD' } }),
  }
}

function resolveConfig(
  file: ConfigFile,
  secrets: Secrets,
  baseDir: BaseDir,
  path: string | null,
  env: Environment,
  report: Report,
): Config {
  const stateDir = stateDirectory(file.stateDir, baseDir(['state_dir']), env)
  const socket = file.socket === undefined ? join(stateDir, 'lifeboat.sock') : resolve(baseDir(['socket']), file.socket)
  if (Buffer.byteLength(socket) > longestSocketPath)
    report(['socket'], `${socket} is too long (at most ${longestSocketPath} bytes; set socket to a shorter path)`)
  const listeners = {
    http: listenAddress(file.http.listen, ['http', 'listen'], report),
    web: listenAddress(file.web.listen, ['web', 'listen'], report),
    masakari_api: listenAddress(file.masakariApi.listen, ['masakari_api', 'listen'], report),
  }
  checkApart(listeners, report)
  const defaults = resolveSettings(file.defaults, builtInSettings)
  const probes = mapped(file.probes, (probe, name) =>
    probeConfig(probe, ['probes', name], { secrets, baseDir, report }),
  )
  return {
    path,
    mode: file.mode,
    cloud: file.cloud ?? null,
    stateDir,
    journal: join(stateDir, 'journal.db'),
    sharedJournal: sharedJournalConfig(file.sharedJournal, { secrets, baseDir, report }),
    socket,
    http: listeners.http,
    web: webConfig(file.web, listeners.web, baseDir, report),
    webRules: webRules(file.web, report),
    masakariApi: masakariConfig(file.masakariApi, listeners.masakari_api, baseDir, report),
    masakariRules: masakariRules(file.masakariApi),
    logLevel: file.log.level,
    logFormat: file.log.format,
    workflows: file.workflows === undefined ? shippedWorkflows : resolve(baseDir(['workflows']), file.workflows),
    api: { readTimeoutMs: file.api.readTimeout, writeTimeoutMs: file.api.writeTimeout },
    monitor: {
      pollIntervalMs: file.monitor.pollInterval,
      defaultIntervalMs: file.monitor.defaultBeatInterval,
      suspectAfterBeats: file.monitor.suspectAfterBeats,
      confirmAfterBeats: file.monitor.confirmAfterBeats,
      suspicionNeeded: file.monitor.suspicionNeeded,
      minDeadProbeKinds: file.monitor.minDeadProbeKinds,
      quietAfterFreezeMs: file.monitor.quietAfterFreeze,
      maxClockSkewMs: file.monitor.maxClockSkew,
      massSilenceShare: file.monitor.massSilenceShare,
      startSilenceMs: file.monitor.startSilence,
      probeLimitMs: Math.max(...Object.values(probes).map(probeLimit), 1_000),
      maxParallelProbes: file.monitor.maxParallelProbes,
      aggregatesEveryMs: file.monitor.aggregatesInterval,
    },
    brake: {
      maxHosts: file.brake.maxHosts,
      maxShare: file.brake.maxShare,
      failureDomain: file.brake.failureDomain ?? null,
      coolDownMs: file.brake.coolDown,
      steadyMs: file.brake.settle,
      siteLossShare: file.brake.siteLossShare,
    },
    executor: {
      maxParallel: file.executor.maxParallel,
      tickMs: file.executor.tick,
      reconcileQuietMs: file.executor.settleQuiet,
      longestRequestMs: file.executor.longestRequest,
    },
    fenceRetryMs: file.fenceRetry,
    fenceRetryMaxMs: file.fenceRetryMax,
    ownerPolicy: file.wishes,
    hosts: file.hosts,
    probes,
    fencing: mapped(file.fencing, (method, name) => fencingConfig(method, ['fencing', name], secrets, baseDir)),
    defaults,
    segments: file.segments.map((segment) => resolveSegment(segment, defaults)),
    maintenanceWindows: file.maintenanceWindows.map(resolveWindow),
    notices: noticesConfig(file, { secrets, baseDir, report }),
  }
}

/** Where relative paths of an option begin. */
type BaseDir = (path: Path) => string

/** systemd may name several state directories, separated by colons; the first is ours. */
function stateDirectory(configured: string | undefined, baseDir: string, env: Environment): string {
  if (configured !== undefined) return resolve(baseDir, configured)
  const fromSystemd = env['STATE_DIRECTORY']?.split(':')[0]
  return resolve(env['LIFEBOAT_STATE_DIR'] || fromSystemd || '.lifeboat')
}

function probeLimit(probe: ProbeConfig): number {
  return probe.kind === 'redfish' ? probe.requestTimeoutMs : probe.timeoutMs
}

type RedfishFile = Extract<ConfigFile['probes'][string], { kind: 'redfish' }>

function redfishConfig(file: RedfishFile, path: string[], secrets: Secrets, baseDir: BaseDir): RedfishConfig {
  const { password, passwordFile, passwordEnv } = file
  return {
    kind: 'redfish',
    system: file.system,
    username: file.username,
    password: secrets.password({ password, passwordFile, passwordEnv }, path),
    caFile: file.caFile === undefined ? null : resolve(baseDir([...path, 'ca_file']), file.caFile),
    verify: file.verify,
    requestTimeoutMs: file.requestTimeout,
  }
}

function probeConfig(
  file: ConfigFile['probes'][string],
  path: string[],
  from: { secrets: Secrets; baseDir: BaseDir; report: Report },
): ProbeConfig {
  if (file.kind === 'redfish') return redfishConfig(file, path, from.secrets, from.baseDir)
  if (file.kind === 'ipmi') return ipmiConfig(file, path, from.secrets)
  if (file.kind === 'prometheus') return prometheusConfig(file, path, from)
  const { timeout, ...options } = file
  return { ...options, timeoutMs: timeout }
}

function fencingConfig(
  file: ConfigFile['fencing'][string],
  path: string[],
  secrets: Secrets,
  baseDir: BaseDir,
): FencingConfig {
  const limits = { limitMs: attemptLimit(file), attempts: file.attempts }
  switch (file.kind) {
    case 'redfish':
      return { ...redfishConfig(file, path, secrets, baseDir), offTimeoutMs: file.offTimeout, ...limits }
    case 'fence-agent': {
      const secretOptions = mapped(file.secretOptionsFiles, (name, option) =>
        secrets.file(name, [...path, 'secret_options_files', option]),
      )
      const { kind, agent, options, timeout } = file
      return { kind, agent, options, secretOptions, timeoutMs: timeout, ...limits }
    }
    case 'command': {
      const { kind, fence, verify, timeout, proves, renew } = file
      return { kind, fence, verify, timeoutMs: timeout, proves, renewEveryMs: renew ?? null, ...limits }
    }
  }
}

function mapped<T, U>(record: Record<string, T>, change: (value: T, key: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]))
}

function invalid(name: string, files: readonly string[], problems: Problem[]): LifeboatError {
  const inOrder = [...problems].sort((a, b) => files.indexOf(a.file) - files.indexOf(b.file) || byPlace(a, b))
  const lines = inOrder.map(problemText)
  const count = lines.length === 1 ? 'one problem' : `${lines.length} problems`
  return new LifeboatError('CONFIG_INVALID', `${name} is not valid: ${count}`, { details: { problems: lines } })
}
