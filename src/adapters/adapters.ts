/** Builds what the daemon reaches the world with, from the configuration. Nothing is sent by building. */
import { dirname, resolve } from 'node:path'
import type { Clock } from '../domain/clock.ts'
import { ensureError } from '../domain/errors.ts'
import type { Fencer } from '../domain/fencing.ts'
import type { Observer } from '../domain/observer.ts'
import type { SegmentOf } from '../domain/segment.ts'
import type { HostName } from '../domain/service.ts'
import { openExit, type Exit } from '../domain/tenure.ts'
import type { Probe } from '../domain/verdict.ts'
import type { Wire } from '../domain/wire.ts'
import { agentMethod } from '../fencing/agent.ts'
import { commandMethod } from '../fencing/command.ts'
import { createFencer } from '../fencing/fencer.ts'
import type { FencingMethod } from '../fencing/method.ts'
import { powerProbe } from '../fencing/power-probe.ts'
import type { RunProgram } from '../fencing/program.ts'
import { redfishMethod } from '../fencing/redfish.ts'
import type { RedfishSystem } from '../fencing/redfish-client.ts'
import { commandProbe } from '../monitor/probes/command.ts'
import { ipmiProbe } from '../monitor/probes/ipmi.ts'
import { pingProbe } from '../monitor/probes/ping.ts'
import { prometheusProbe, queryFor } from '../monitor/probes/prometheus.ts'
import { tcpProbe } from '../monitor/probes/tcp.ts'
import type { Deliver, RunSendmail } from '../notices/index.ts'
import { createCloud, type OpenStackCloud } from '../openstack/cloud-client.ts'
import type { CloudConfig } from '../openstack/cloud-config.ts'
import { loadCloudConfig, type Environment } from '../openstack/clouds-file.ts'
import {
  hostVariable,
  segmentOf,
  type Config,
  type FencingConfig,
  type ProbeConfig,
  type RedfishConfig,
} from '../config/index.ts'
import { deliveryThrough, fencingThrough } from './exits.ts'
import { buildReceivers } from './notice-receivers.ts'

export interface Adapters {
  cloud: OpenStackCloud
  fencer: Fencer
  probes: ReadonlyMap<string, Probe>
  segmentOf: SegmentOf
  /** What delivers notices, by the receiver's name. */
  receivers: ReadonlyMap<string, Deliver>
}

export interface AdapterContext {
  clock: Clock
  observer: Observer
  env: Environment
  /** What everything that leaves waits for. Default: nothing. */
  exit?: Exit
  /** For a cloud in this process. */
  simulated?: SimulatedWorld
}

/** What stands in for sockets and programs when the cloud is simulated in this process. */
export interface SimulatedWorld {
  wire: Wire
  /** 0 to 1, the same in every run. */
  random: () => number
  run: RunProgram
  /** A probe that needs sockets or programs; undefined for one that reaches the cloud by `wire`. */
  probe: (name: string, probe: ProbeConfig) => Probe | undefined
  /** Reaches receivers of notices. */
  receivers: Wire
  sendmail: RunSendmail
}

/** How the cloud is reached, read from clouds.yaml and the environment. Throws CONFIG_INVALID. */
export function cloudConfigOf(
  { cloud, path }: Pick<Config, 'cloud' | 'path'>,
  { env }: Pick<AdapterContext, 'env'>,
): CloudConfig {
  return loadCloudConfig({
    env,
    workDir: process.cwd(),
    ...(path !== null && { beside: dirname(resolve(path)) }),
    ...(cloud !== null && { cloud }),
  })
}

/** Throws CONFIG_INVALID when a certificate cannot be read. */
export function buildCloud(
  access: CloudConfig,
  { api }: Pick<Config, 'api'>,
  { clock, observer, exit, simulated }: AdapterContext,
): OpenStackCloud {
  return createCloud({
    config: access,
    clock,
    observer,
    readTimeoutMs: api.readTimeoutMs,
    writeTimeoutMs: api.writeTimeoutMs,
    wire: simulated?.wire,
    random: simulated?.random,
    exit,
  })
}

/**
 * Throws CONFIG_INVALID.
 *
 * @param cloud default: made from the configuration
 */
export function buildAdapters(
  config: Config,
  context: AdapterContext,
  cloud: OpenStackCloud = buildCloud(cloudConfigOf(config, context), config, context),
): Adapters {
  return { cloud, ...buildBeside(config, context) }
}

/** What needs no cloud. Throws CONFIG_INVALID. */
export function buildBeside(config: Config, context: AdapterContext): Omit<Adapters, 'cloud'> {
  const { clock, observer, exit = openExit, simulated } = context
  const methods = new Map(
    Object.entries(config.fencing).map(([name, method]) => [
      name,
      fencingThrough(exit, buildMethod(config, name, method, clock, observer, simulated)),
    ]),
  )
  const probes = new Map(
    Object.entries(config.probes).map(([name, probe]) => [
      name,
      simulated?.probe(name, probe) ?? buildProbe(config, name, probe, clock, observer, simulated),
    ]),
  )
  return {
    fencer: createFencer({ clock, methods, observer, limits: new Map(Object.entries(config.fencing)) }),
    probes,
    segmentOf: segmentOf(config),
    receivers: new Map(
      [
        ...buildReceivers(config, {
          ...{ clock, wire: simulated?.receivers, run: simulated?.sendmail },
          mayLeave: () => exit.held(),
        }),
      ].map(([name, deliver]) => [name, deliveryThrough(exit, deliver)]),
    ),
  }
}

/** Between two readings of the power after ForceOff. Too short: both fall into the same moment of a slow BMC. */
const readAgainMs = 250

function buildMethod(
  config: Config,
  name: string,
  method: FencingConfig,
  clock: Clock,
  observer: Observer,
  simulated: SimulatedWorld | undefined,
): FencingMethod {
  switch (method.kind) {
    case 'redfish': {
      const verify = { pauseMs: readAgainMs, limitMs: method.offTimeoutMs }
      return redfishMethod({
        name,
        clock,
        observer,
        requestLimitMs: method.requestTimeoutMs,
        wire: simulated?.wire,
        system: systemOf(config, method),
        verify,
      })
    }
    case 'fence-agent': {
      const verify = { pauseMs: readAgainMs, limitMs: method.timeoutMs }
      const options = filled(config, (fill) => ({ ...mapValues(method.options, fill), ...method.secretOptions }))
      return agentMethod({
        name,
        clock,
        agent: method.agent,
        options,
        secrets: Object.keys(method.secretOptions),
        verify,
        runLimitMs: method.timeoutMs,
        run: simulated?.run,
      })
    }
    case 'command': {
      const verify = { pauseMs: readAgainMs, limitMs: method.timeoutMs }
      const { fence, verify: verifyCommand, timeoutMs, proves, renewEveryMs } = method
      return commandMethod({
        name,
        clock,
        fence,
        verifyCommand,
        variables: (host) => ({ ...config.hosts[host], host }),
        verify,
        runLimitMs: timeoutMs,
        run: simulated?.run,
        proves,
        ...(renewEveryMs !== null && { renewEveryMs }),
      })
    }
  }
}

function buildProbe(
  config: Config,
  name: string,
  probe: ProbeConfig,
  clock: Clock,
  observer: Observer,
  simulated: SimulatedWorld | undefined,
): Probe {
  switch (probe.kind) {
    case 'tcp':
      return tcpProbe({
        name,
        clock,
        address: filled(config, (fill) => fill(probe.address)),
        port: probe.port,
        limitMs: probe.timeoutMs,
      })
    case 'ping':
      return pingProbe({
        name,
        clock,
        address: filled(config, (fill) => fill(probe.address)),
        limitMs: probe.timeoutMs,
      })
    case 'command':
      return commandProbe({
        name,
        clock,
        argv: probe.argv,
        argvOf: filled(config, (fill) => probe.argv.map(fill)),
        limitMs: probe.timeoutMs,
      })
    case 'redfish': {
      const verify = { pauseMs: readAgainMs, limitMs: probe.requestTimeoutMs }
      const method = redfishMethod({
        name,
        clock,
        observer,
        requestLimitMs: probe.requestTimeoutMs,
        wire: simulated?.wire,
        system: systemOf(config, probe),
        verify,
      })
      return powerProbe({ name, method, clock })
    }
    case 'ipmi': {
      const { port, username, password, interface: speaks, cipherSuite, timeoutMs } = probe
      return ipmiProbe({
        ...{ name, clock, port, username, password, cipherSuite, interface: speaks },
        address: filled(config, (fill) => fill(probe.address)),
        limitMs: timeoutMs,
      })
    }
    case 'prometheus': {
      const { url, login, caFile, verify, alive, dead } = probe
      return prometheusProbe({
        ...{ name, clock, alive, dead },
        server: { url, login, verifyTls: verify, ...(caFile !== null && { caFile }) },
        query: (host) => queryFor(probe.query, { ...config.hosts[host], host }),
        sampleAgeLimitMs: probe.maxSampleAgeMs,
        limitMs: probe.timeoutMs,
      })
    }
  }
}

function systemOf(
  config: Config,
  { system, username, password, caFile, verify }: RedfishConfig,
): (host: HostName) => RedfishSystem | undefined {
  return filled(config, (fill) => ({
    url: fill(system),
    username,
    password,
    verifyTls: verify,
    ...(caFile !== null && { caFile }),
  }))
}

/** What a host's variables make of a template; undefined for a host that lacks one: it is not covered. */
function filled<T>(config: Config, make: (fill: (template: string) => string) => T): (host: HostName) => T | undefined {
  return (host) => {
    try {
      return make((template) => hostVariable(config, template, host))
    } catch (thrown) {
      if (ensureError(thrown).code === 'CONFIG_INVALID') return undefined
      throw thrown
    }
  }
}

function mapValues(options: Record<string, string>, change: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(options).map(([key, value]) => [key, change(value)]))
}
