/**
 * `lifeboat check`: everything the daemon will need, looked at without a side effect: credentials, endpoints, microversions,
 * permissions, workflow, fencing, probes, journal. Each line as soon as it is known.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { CheckLine } from './check-lines.ts'
import type { Clock } from '../domain/clock.ts'
import type { OpenStackCloud } from '../openstack/cloud-client.ts'
import { buildBeside, buildCloud, cloudConfigOf, type AdapterContext, type Adapters } from '../adapters/adapters.ts'
import { checkCloud, skippedCloud } from './check-cloud.ts'
import { checkFleet, checkNamedHosts } from './check-hosts.ts'
import { fail, ok, skip, warn } from './check-lines.ts'
import { noticeLines } from './check-notices.ts'
import { sharedJournalLines, type LookAtNode } from './check-shared-journal.ts'
import { ssoLines } from './check-sso.ts'
import type { Config } from '../config/index.ts'
import { detectionAdvice } from '../config/detection-advice.ts'
import { loadWorkflows } from './workflow-files.ts'

type Environment = Readonly<Record<string, string | undefined>>

export async function* checkUp(
  config: Config,
  { clock, env, lookAtNode }: { clock: Clock; env: Environment; lookAtNode: LookAtNode },
): AsyncGenerator<CheckLine> {
  yield config.mode === 'armed'
    ? ok('mode', 'armed: recoveries act')
    : warn('mode', 'observe: nothing is sent', 'Set mode: armed once the plans are what you want')
  yield checkWorkflows(config)
  yield checkJournal(config)
  if (config.sharedJournal !== null) yield* sharedJournalLines(config.sharedJournal, authUrlOf(config, env), lookAtNode)
  for (const { what, message, advice } of detectionAdvice(config)) yield warn(what, message, advice)
  yield* noticeLines(config, clock)
  const context = { clock, observer: {}, env }
  let beside: Omit<Adapters, 'cloud'> | null = null
  try {
    beside = buildBeside(config, context)
  } catch (thrown) {
    yield fail('configuration', thrown, 'Correct it at that place')
  }
  const cloud = yield* chosenCloud(config, context)
  try {
    const fleet = cloud === null ? null : yield* checkCloud(cloud)
    if (cloud !== null && config.web !== null) yield* ssoLines(config.webRules.sso, (way) => cloud.knowsProtocol(way))
    if (beside === null) yield skip('fencing and probes', 'the configuration of one is wrong')
    else yield* fleet === null ? checkNamedHosts(config, beside) : checkFleet(config, beside, fleet)
  } finally {
    cloud?.close()
  }
}

function* chosenCloud(config: Config, context: AdapterContext): Generator<CheckLine, OpenStackCloud | null> {
  const where = 'Check clouds.yaml, cloud in the configuration, and the OS_* variables'
  try {
    return buildCloud(cloudConfigOf(config, context), config, context)
  } catch (thrown) {
    yield fail('cloud', thrown, where)
    yield* skippedCloud('no cloud is chosen')
    return null
  }
}

/** Null: it cannot be told; the line about the cloud says why. */
function authUrlOf(config: Config, env: Environment): string | null {
  try {
    return cloudConfigOf(config, { env }).authUrl
  } catch {
    return null
  }
}

function checkWorkflows(config: Config): CheckLine {
  try {
    const said = Object.values(loadWorkflows(config)).map(
      ({ name, revision, digest }) => `${name} revision ${revision} (${digest.slice(0, 12)})`,
    )
    return ok('workflow', said.join(', '))
  } catch (thrown) {
    return fail('workflow', thrown, 'lifeboat workflow check names every problem')
  }
}

function checkJournal({ journal }: Config): CheckLine {
  let place = existsSync(journal) ? journal : dirname(journal)
  while (!existsSync(place)) place = dirname(place)
  try {
    if (place !== journal && !statSync(place).isDirectory()) throw new Error(`${place} is not a directory`)
    accessSync(place, constants.W_OK)
    return ok('journal', `${journal} can be written`)
  } catch (thrown) {
    return fail('journal', thrown, `Allow the daemon's user to write ${place}, or set state_dir`)
  }
}
