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
import type { LifeboatError } from '../domain/errors.ts'
import type { Config } from '../config/index.ts'
import { detectionAdvice } from '../config/detection-advice.ts'
import { loadWorkflows } from './workflow-files.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What the check cannot know by itself: it knows no journal. */
export interface Looks {
  lookAtNode: LookAtNode
  /** Why the daemon would not go on with its journal; `unknown`: the shared journal does not answer. Throws JOURNAL_UNAVAILABLE, JOURNAL_CORRUPT. */
  journalProblem: (config: Config) => Promise<LifeboatError | 'unknown' | null>
}

export async function* checkUp(
  config: Config,
  { clock, env, lookAtNode, journalProblem }: { clock: Clock; env: Environment } & Looks,
): AsyncGenerator<CheckLine> {
  yield config.mode === 'armed'
    ? ok('mode', 'armed: recoveries act')
    : warn('mode', 'observe: nothing is sent', 'Set mode: armed once the plans are what you want')
  yield checkWorkflows(config)
  const place = checkJournal(config)
  yield place.result === 'ok' ? await checkEntries(config, place, journalProblem) : place
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

/** Not where the file is, but whether its entries are those that the daemon is to go on with. */
async function checkEntries(
  config: Config,
  place: CheckLine,
  journalProblem: Looks['journalProblem'],
): Promise<CheckLine> {
  try {
    const problem = await journalProblem(config)
    if (problem === null) return place
    if (problem === 'unknown')
      return skip('journal', `whether the entries of ${config.journal} are in the shared journal: it does not answer`)
    return fail('journal', problem, 'The daemon does not start before that')
  } catch (thrown) {
    return fail('journal', thrown, 'The daemon does not start with this file: lifeboat journal verify says more')
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
