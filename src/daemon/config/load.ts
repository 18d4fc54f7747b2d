/**
 * Reads a configuration file into a Config, or says everything that is wrong with it at once. Owns defaults that depend on
 * the environment. Must not start anything and must not touch what it names, except to read secrets.
 */
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LifeboatError } from '../../domain/errors.ts'
import { builtInSettings } from '../../domain/segment.ts'
import type { Config, FencingConfig, ProbeConfig, RedfishConfig } from './config.ts'
import { byPlace, pathText, placeIssues } from './problems.ts'
import { attemptLimit, checkReferences } from './references.ts'
import { configSchema, type ConfigFile } from './schema.ts'
import { Secrets, type Environment, type Report } from './secrets.ts'
import { resolveSegment, resolveSettings } from './segments.ts'
import { webConfig } from './web.ts'
import { resolveWindow } from './windows.ts'
import { ipmiConfig, prometheusConfig } from './witnesses.ts'
import { readYaml, type Problem } from './yaml-source.ts'

/** sun_path has 108 bytes with its end; a longer path would be cut off silently by some callers. */
const longestSocketPath = 107

const shippedWorkflows = fileURLToPath(new URL('../../../recovery-workflows', import.meta.url))

export interface LoadOptions {
  /**
   * Default true. False leaves every secret empty: people who may talk to the daemon need not be able to read its
   * passwords. Such a configuration must not be used to reach a BMC.
   */
  withSecrets?: boolean
}

/**
 * The configuration in `path`, or all defaults when `path` is null. Relative paths in the file are relative to the file.
 * Throws CONFIG_INVALID; `details.problems` has every problem as `file:line:col: what is wrong (what is allowed)`.
 */
export function loadConfig(path: string | null, env: Environment, options: LoadOptions = {}): Config {
  return parseConfig(path === null ? '' : readText(path), path, env, options)
}

/** As loadConfig, of a text; `path` is where it is from. */
export function parseConfig(text: string, path: string | null, env: Environment, options: LoadOptions = {}): Config {
  const source = readYaml(text)
  if (source.problems.length > 0) throw invalid(path, source.problems)
  const parsed = configSchema.safeParse(source.data)
  if (!parsed.success) throw invalid(path, placeIssues(parsed.error.issues, source))
  const problems: Problem[] = []
  const report: Report = (at, message) => {
    problems.push({ ...source.valueAt(at), message: `${pathText(at)}: ${message}` })
  }
  checkReferences(parsed.data, report)
  const config = resolveConfig(
    parsed.data,
    new Secrets(baseDirOf(path), env, report, options.withSecrets ?? true),
    path,
    env,
    report,
  )
  if (problems.length > 0) throw invalid(path, problems)
  return config
}

function baseDirOf(path: string | null): string {
  return path === null ? process.cwd() : dirname(resolve(path))
}

function resolveConfig(
  file: ConfigFile,
  secrets: Secrets,
  path: string | null,
  env: Environment,
  report: Report,
): Config {
  const baseDir = baseDirOf(path)
  const stateDir = stateDirectory(file.stateDir, baseDir, env)
  const socket = file.socket === undefined ? join(stateDir, 'lifeboat.sock') : resolve(baseDir, file.socket)
  if (Buffer.byteLength(socket) > longestSocketPath)
    report(['socket'], `${socket} is too long (at most ${longestSocketPath} bytes; set socket to a shorter path)`)
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
    socket,
    http: listenAddress(file.http.listen, ['http', 'listen'], report),
    web: webConfig(file.web, listenAddress(file.web.listen, ['web', 'listen'], report), baseDir, report),
    logLevel: file.log.level,
    workflows: file.workflows === undefined ? shippedWorkflows : resolve(baseDir, file.workflows),
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
      settleMs: file.brake.settle,
      siteLossShare: file.brake.siteLossShare,
    },
    executor: {
      maxParallel: file.executor.maxParallel,
      tickMs: file.executor.tick,
      settleQuietMs: file.executor.settleQuiet,
    },
    fenceRetryMs: file.fenceRetry,
    fenceRetryMaxMs: file.fenceRetryMax,
    wishes: file.wishes,
    hosts: file.hosts,
    probes,
    fencing: mapped(file.fencing, (method, name) => fencingConfig(method, ['fencing', name], secrets, baseDir)),
    defaults,
    segments: file.segments.map((segment) => resolveSegment(segment, defaults)),
    maintenanceWindows: file.maintenanceWindows.map(resolveWindow),
  }
}

/** systemd may name several state directories, separated by colons; the first is ours. */
function stateDirectory(configured: string | undefined, baseDir: string, env: Environment): string {
  if (configured !== undefined) return resolve(baseDir, configured)
  const fromSystemd = env['STATE_DIRECTORY']?.split(':')[0]
  return resolve(env['LIFEBOAT_STATE_DIR'] || fromSystemd || '.lifeboat')
}

function listenAddress(listen: string | false, at: string[], report: Report): Config['http'] {
  if (listen === false) return null
  const colon = listen.lastIndexOf(':')
  const port = Number(listen.slice(colon + 1))
  if (port > 65_535) report(at, `port ${port} does not exist (0 to 65535)`)
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ''), port }
}

function probeLimit(probe: ProbeConfig): number {
  return probe.kind === 'redfish' ? probe.requestTimeoutMs : probe.timeoutMs
}

type RedfishFile = Extract<ConfigFile['probes'][string], { kind: 'redfish' }>

function redfishConfig(file: RedfishFile, path: string[], secrets: Secrets, baseDir: string): RedfishConfig {
  const { password, passwordFile, passwordEnv } = file
  return {
    kind: 'redfish',
    system: file.system,
    username: file.username,
    password: secrets.password({ password, passwordFile, passwordEnv }, path),
    caFile: file.caFile === undefined ? null : resolve(baseDir, file.caFile),
    verify: file.verify,
    requestTimeoutMs: file.requestTimeout,
  }
}

function probeConfig(
  file: ConfigFile['probes'][string],
  path: string[],
  from: { secrets: Secrets; baseDir: string; report: Report },
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
  baseDir: string,
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

function readText(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw new LifeboatError('CONFIG_INVALID', `${path} cannot be read`, {
      cause: thrown,
      details: { problems: [`${path}: ${why}`] },
    })
  }
}

function invalid(path: string | null, problems: Problem[]): LifeboatError {
  const file = path ?? 'defaults'
  const lines = [...problems].sort(byPlace).map(({ line, col, message }) => `${file}:${line}:${col}: ${message}`)
  const count = lines.length === 1 ? 'one problem' : `${lines.length} problems`
  return new LifeboatError('CONFIG_INVALID', `${file} is not valid: ${count}`, { details: { problems: lines } })
}
