/**
 * `lifeboat check`: everything the daemon will need, looked at without a side effect: credentials, endpoints, microversions,
 * permissions, workflow, fencing, probes, journal. Each line as soon as it is known.
 */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { CheckLine } from '../cli/composition.ts'
import type { Clock } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { ServiceRecord } from '../domain/service.ts'
import type { ProbeReading } from '../domain/verdict.ts'
import type { CloudConfig } from '../openstack/cloud-config.ts'
import { buildAdapters, buildCloud, cloudConfigOf, type Adapters } from './adapters.ts'
import { domainLines } from './check-domains.ts'
import { noticeLines } from './check-notices.ts'
import type { Config } from './config/index.ts'
import { detectionAdvice } from './detection-advice.ts'
import { loadHostFailure } from './workflow-files.ts'

type Environment = Readonly<Record<string, string | undefined>>

const ok = (what: string, message: string): CheckLine => ({ what, result: 'ok', message, advice: null })
const warn = (what: string, message: string, advice: string): CheckLine => ({ what, result: 'warn', message, advice })
const fail = (what: string, thrown: unknown, advice: string): CheckLine => ({
  what,
  result: 'fail',
  message: ensureError(thrown).message,
  advice,
})

export async function* checkUp(
  config: Config,
  { clock, env }: { clock: Clock; env: Environment },
): AsyncGenerator<CheckLine> {
  yield config.mode === 'armed'
    ? ok('mode', 'armed: recoveries act')
    : warn('mode', 'observe: nothing is sent', 'Set mode: armed once the plans are what you want')
  yield checkWorkflow(config)
  yield checkJournal(config)
  for (const { what, message, advice } of detectionAdvice(config)) yield warn(what, message, advice)
  yield* noticeLines(config, clock)
  const context = { clock, observer: {}, env }
  let access: CloudConfig
  try {
    access = cloudConfigOf(config, context)
  } catch (thrown) {
    yield fail('cloud', thrown, 'Check clouds.yaml, cloud in the configuration, and the OS_* variables')
    return
  }
  let adapters: Adapters
  try {
    adapters = buildAdapters(config, context, buildCloud(access, config, context))
  } catch (thrown) {
    yield fail('configuration', thrown, 'Correct the place named')
    return
  }
  try {
    yield* checkCloud(adapters)
    yield* checkHosts(config, adapters)
  } finally {
    adapters.cloud.close()
  }
}

function checkWorkflow(config: Config): CheckLine {
  try {
    const { name, revision, digest } = loadHostFailure(config)
    return ok('workflow', `${name} revision ${revision} (${digest.slice(0, 12)})`)
  } catch (thrown) {
    return fail('workflow', thrown, 'lifeboat workflow check names every problem')
  }
}

function checkJournal(config: Config): CheckLine {
  let directory = dirname(config.journal)
  while (!existsSync(directory)) directory = dirname(directory)
  try {
    accessSync(directory, constants.W_OK)
    return ok('journal', `${config.journal} can be written`)
  } catch (thrown) {
    return fail('journal', thrown, `Let the daemon's user write ${directory}, or set state_dir`)
  }
}

async function* checkCloud({ cloud }: Adapters): AsyncGenerator<CheckLine> {
  try {
    const { user, project, roles, authUrl, endpoints, compute } = await cloud.describe()
    yield ok('keystone', `${user.name} on project ${project.name} at ${authUrl}, roles ${roles.join(', ')}`)
    if (!roles.includes('admin'))
      yield warn(
        'roles',
        'no admin role',
        "Nova's default policy asks for admin; with a policy of your own this may be right",
      )
    yield ok('compute', `${endpoints.compute}, ${compute.minMicroversion} to ${compute.maxMicroversion}`)
    yield compute.landsStopped
      ? ok('landing', 'evacuate can land stopped (2.95)')
      : warn(
          'landing',
          'no 2.95: instances are evacuated as before and stopped afterwards',
          'Nova 27 (2023.1) or newer lands them stopped',
        )
    if (endpoints.volume === null)
      yield warn(
        'volumes',
        'no volume service in the catalogue',
        'Encrypted volumes cannot be told; instances with volumes are treated as if they were',
      )
    if (endpoints.placement === null)
      yield warn(
        'placement',
        'no placement service in the catalogue',
        'Whether the scheduler takes a returned host again cannot be seen; everything else works',
      )
  } catch (thrown) {
    yield fail('cloud', thrown, 'Check clouds.yaml, OS_CLOUD and the region')
    return
  }
  const reads: [string, () => Promise<unknown>][] = [
    ['list services', () => cloud.listServices()],
    ['list aggregates', () => cloud.listAggregates()],
    ['list server groups', () => cloud.listServerGroups()],
    ['list migrations', () => cloud.listMigrations({ status: 'accepted' })],
    ['list instances of all projects', () => cloud.listInstances('lifeboat-check')],
  ]
  for (const [what, read] of reads) {
    try {
      await read()
      yield ok(what, 'permitted')
    } catch (thrown) {
      yield fail(what, thrown, 'The policy must let this user do it')
    }
  }
}

async function* checkHosts(
  config: Config,
  { cloud, segmentOf, probes, readPower }: Adapters,
): AsyncGenerator<CheckLine> {
  let services: ServiceRecord[]
  let aggregates: Awaited<ReturnType<typeof cloud.listAggregates>>
  try {
    ;[{ services }, aggregates] = await Promise.all([cloud.listServices(), cloud.listAggregates()])
  } catch {
    // Said already by the permission lines.
    return
  }
  const computes = services.filter((row) => row.binary === 'nova-compute')
  yield* domainLines(
    config.brake.failureDomain?.key ?? null,
    computes.map(({ host }) => host),
    aggregates,
  )
  for (const { host, zone } of computes) {
    const segment = segmentOf(
      host,
      zone,
      aggregates.filter((aggregate) => aggregate.hosts.includes(host)).map((aggregate) => aggregate.name),
    )
    if (segment.fencing.length === 0)
      yield warn(
        `fencing of ${host}`,
        `segment ${segment.name} has no fencing method`,
        'A person must state the proof of every failure: lifeboat recover HOST --by NAME --proof "how you know"',
      )
    for (const method of segment.fencing) {
      try {
        const { power, detail } = await readPower(host, method)
        const what = `fencing of ${host}`
        yield power === 'unknown'
          ? fail(
              what,
              new LifeboatError('FENCE_FAILED', `${method}: ${detail}`),
              `Check fencing.${method}: with this answer ${host} could not be fenced`,
            )
          : ok(what, `${method}: ${detail}`)
      } catch (thrown) {
        yield fail(`fencing of ${host}`, thrown, `Check fencing.${method} in ${config.path ?? 'the configuration'}`)
      }
    }
    if (segment.probes.length === 0)
      yield warn(
        `probes of ${host}`,
        'none: only Nova says whether it lives',
        'Two kinds of probes confirm a death earlier and tell a dead agent from a dead host',
      )
    for (const name of segment.probes) {
      const reading = await probes.get(name)?.read(host)
      if (reading === undefined) continue
      yield probeLine(host, reading)
    }
  }
}

/** A BMC that reads On is all that a power probe can say of a living host. */
function probeLine(host: string, { probe, answer, detail, power }: ProbeReading): CheckLine {
  const what = `probe ${probe} of ${host}`
  const line = `${answer}: ${detail}`
  if (answer === 'alive' || power === 'on') return ok(what, line)
  if (answer === 'dead') return warn(what, line, 'It calls a host dead that Nova lists: is it the right machine?')
  return warn(what, line, 'It could not tell, so it is no witness of this host')
}
