/**
 * What `lifeboat check` says of single hosts: whether each could be fenced, and what its probes say now. Of every host that
 * Nova has; without the cloud, of those that the configuration names.
 */
import type { CheckLine } from './check-lines.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { HostName } from '../domain/service.ts'
import type { ProbeReading } from '../domain/verdict.ts'
import type { Adapters } from '../adapters/adapters.ts'
import type { Fleet } from './check-cloud.ts'
import { brakeLines } from './check-brake.ts'
import { domainLines } from './check-domains.ts'
import { fail, ok, skip, warn } from './check-lines.ts'
import { candidates, gapsOf, gapText, namedHosts, unfenceableAdvice, unfenceableMeans } from '../config/index.ts'
import type { Config } from '../config/index.ts'

type Beside = Omit<Adapters, 'cloud'>

/** A host with what its segment gives it. */
interface Protected {
  host: HostName
  /** For people. */
  segment: string
  fencing: readonly string[]
  probes: readonly string[]
  /** Nova shows its nova-compute up. False without the cloud. */
  isUp: boolean
}

/** Hosts named in one line. More would not be read. */
const mostNamed = 10

export async function* checkFleet(
  config: Config,
  beside: Beside,
  { computes, aggregates }: Fleet,
): AsyncGenerator<CheckLine> {
  const names = computes.map(({ host }) => host)
  yield* domainLines(config.brake.failureDomain?.key ?? null, names, aggregates)
  const hosts = computes.map(({ host, zone, state }) => {
    const own = aggregates.filter((aggregate) => aggregate.hosts.includes(host)).map(({ name }) => name)
    const { name: segment, fencing, probes, brake: limits } = beside.segmentOf(host, zone, own)
    return { host, segment, fencing, probes, limits, isUp: state === 'up' }
  })
  yield* brakeLines(config.brake, hosts)
  yield* strangers(config, names)
  yield* emptySegments(config, hosts)
  for (const host of hosts) yield* checkHost(config, beside, host)
}

/** Without the cloud: what the names in the configuration allow. */
export async function* checkNamedHosts(config: Config, beside: Beside): AsyncGenerator<CheckLine> {
  const why = 'only the cloud knows'
  yield skip('brake', `${why} how many hosts there are`)
  if (config.brake.failureDomain !== null) yield skip('failure domains', `${why} its aggregates`)
  for (const host of namedHosts(config)) {
    const possible = candidates(config, host)
    const all = (of: 'fencing' | 'probes'): string[] => [...new Set(possible.flatMap((candidate) => candidate[of]))]
    const segment = possible.map(({ name }) => name).join(' or ')
    yield* checkHost(config, beside, {
      ...{ host, segment, fencing: all('fencing'), probes: all('probes'), isUp: false },
    })
  }
  yield skip('segments', `${why} which hosts are of each`)
  yield skip('fencing and probes of all other hosts', `${why} which hosts there are`)
}

/** A slip in a name is seen by nobody else: the variables stand there, and the host lacks them. */
function* strangers({ hosts }: Config, known: readonly HostName[]): Generator<CheckLine> {
  const strange = Object.keys(hosts).filter((host) => !known.includes(host))
  if (strange.length === 0) return
  const more = strange.length - mostNamed
  const names = more > 0 ? `${strange.slice(0, mostNamed).join(', ')} and ${more} more` : strange.join(', ')
  yield warn(
    'hosts',
    `Nova has no nova-compute on ${names}`,
    'Names under hosts must be those of `openstack compute service list`; Lifeboat ignores these',
  )
}

function* emptySegments({ segments }: Config, hosts: readonly Protected[]): Generator<CheckLine> {
  for (const { segment } of segments) {
    if (hosts.some((host) => host.segment === segment.name)) continue
    yield warn(`segment ${segment.name}`, 'it has no host', 'Correct its match, or the order of the segments')
  }
}

async function* checkHost(config: Config, beside: Beside, on: Protected): AsyncGenerator<CheckLine> {
  const { host, segment, probes } = on
  yield* checkFencing(config, beside, on)
  if (probes.length === 0)
    yield warn(
      `probes of ${host}`,
      `segment ${segment} has none: only Nova says whether it lives`,
      'With two kinds of probes Lifeboat confirms a death earlier, and can tell a dead agent from a dead host',
    )
  for (const name of probes) {
    const reading = await beside.probes.get(name)?.read(host)
    if (reading !== undefined) yield probeLine(host, reading)
  }
}

async function* checkFencing(
  config: Config,
  { fencer }: Beside,
  { host, segment, fencing, isUp }: Protected,
): AsyncGenerator<CheckLine> {
  const what = `fencing of ${host}`
  if (fencing.length === 0)
    yield warn(
      what,
      `segment ${segment} has no fencing method`,
      'A person must attest every failure: lifeboat recover HOST --by NAME --proof "how you know"',
    )
  const gaps = gapsOf(config, host, fencing)
  if (gaps.length > 0 && gaps.length === fencing.length) {
    const lacks = `it lacks what the fencing of segment ${segment} needs (${gapText(gaps)}): ${unfenceableMeans}`
    yield { what, result: 'fail', message: lacks, advice: unfenceableAdvice(host, gaps) }
  } else if (gaps.length > 0)
    yield warn(what, `skipped: ${gapText(gaps)}`, `Set it under hosts.${host}, if you want this method for the host`)
  for (const method of fencing) {
    if (gaps.some((gap) => gap.method === method)) continue
    try {
      const { power, detail } = await fencer.look(host, method)
      if (power === 'off' && isUp) yield wrongMachine(what, method, host, detail)
      else
        yield power === 'unknown'
          ? fail(
              what,
              new LifeboatError('FENCE_FAILED', `${method}: ${detail}`),
              `Check fencing.${method}: with this answer ${host} could not be fenced`,
            )
          : { ...ok(what, `${method}: ${detail}`), each: { what: `fencing by ${method}`, host } }
    } catch (thrown) {
      yield fail(what, thrown, `Check fencing.${method} in ${config.path ?? 'the configuration'}`)
    }
  }
}

/** Its "off" would prove at once that the host is dead, though nobody switched that off. */
function wrongMachine(what: string, method: string, host: string, detail: string): CheckLine {
  return {
    ...{ what, result: 'fail', message: `${method} reads off (${detail}), and Nova shows ${host} up` },
    advice: `It reads another machine: correct the address of ${host} in fencing.${method} or under hosts.${host}, or its guests may run twice one day`,
  }
}

/** A BMC that reads On is all that a power probe can say of a living host. */
function probeLine(host: string, { probe, answer, detail, power }: ProbeReading): CheckLine {
  const what = `probe ${probe} of ${host}`
  const line = `${answer}: ${detail}`
  if (answer === 'alive' || power === 'on') return { ...ok(what, line), each: { what: `probe ${probe}`, host } }
  if (answer === 'dead')
    return warn(what, line, 'It says dead, although Nova lists this host: does it ask the right machine?')
  return warn(what, line, 'It could not tell, so it does not count for this host')
}
