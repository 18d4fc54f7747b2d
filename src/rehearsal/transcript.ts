/**
 * A rehearsal as text: each journal entry in one row, then how everything ended. Times count from the beginning, ids are
 * numbered as they appear and instances go by their names, so that two runs differ only where something else happened.
 *
 * There are two texts. The golden beside a scenario has the facts of each entry in short rows; the whole has every byte of its
 * data, for `--raw` and for comparing two runs.
 */
import { stringify } from 'yaml'
import type { Entry } from '../domain/entry.ts'
import { factsOf, isFirstSight } from './rows.ts'
import type { Stage } from './stage.ts'

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const isoTime = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?/g
const hash = /\b[0-9a-f]{64}\b/g
/** Names in incident ids: 20260101T000107Z-cmp01. */
const incidentStamp = /\b20\d{6}T\d{6}Z-/g

/** Longer rows go on in the next line: a diff must fit beside another on a screen. */
const widest = 120

/** Where the facts of a row begin: behind its time, its kind and whom it is about. */
const kindWidth = 16
const subjectWidth = 13

export class Transcript {
  /** The golden, line by line. */
  readonly lines: string[] = []
  readonly #whole: string[] = []
  readonly #began: number
  readonly #quiet: boolean
  readonly #ids: Ids
  readonly #wholeIds: Ids
  /** Hosts that were just seen for the first time, all of them healthy: one row for all. */
  #firstSeen: string[] = []

  constructor(beganWallMs: number, names: ReadonlyMap<string, string>, quiet = false) {
    this.#began = beganWallMs
    this.#quiet = quiet
    this.#ids = new Ids(names)
    this.#wholeIds = new Ids(names)
  }

  /** Takes in an entry. Gives its whole line. */
  entry(entry: Entry, sinceMs: number): string {
    if (!this.#quiet || /^(incident|daemon)\./.test(entry.kind)) this.#row(entry, sinceMs)
    const who = entry.actor === 'daemon' ? '' : `[${entry.actor}] `
    const instance = entry.instance === null ? '' : `/${entry.instance}`
    const step = entry.step === null ? '' : ` ${entry.step}`
    const where = entry.host === null && entry.instance === null ? '' : ` ${entry.host ?? ''}${instance}${step}`
    return this.#keep(sinceMs, `${who}${entry.kind}${where} ${flow(brief(entry.data))}`)
  }

  /** Takes in what the script did. Gives its whole line. */
  said(line: string, sinceMs: number): string {
    this.#sayFirstSeen(sinceMs)
    this.#write(`${clockTime(sinceMs)} * ${this.#plain(line, this.#ids)}`)
    return this.#keep(sinceMs, `* ${line}`)
  }

  /** The end of everything. */
  end(stage: Stage): void {
    const { entries, verified } = stage.readJournal()
    const instances = endOfInstances(stage)
    this.#sayFirstSeen(stage.clock.now())
    this.lines.push('', ...endOfHosts(stage), '')
    if (this.#quiet) this.lines.push(...counted(outcomesOf(entries)), '', ...counted(instances), '')
    else this.lines.push(...instances, '')
    this.lines.push(ordersToNova(stage))
    const broken = verified.broken === null ? 'verifies' : `is broken at ${verified.broken.seq}`
    this.lines.push(`The journal has ${entries.length} entries and ${broken}.`)
    this.#whole.push(`${entries.length} entries, ${broken}: ${verified.head}`)
  }

  /** The golden. */
  text(): string {
    return `${this.lines.flatMap(wrapped).join('\n')}\n`
  }

  /** Every byte of every entry, and the fingerprint of the whole journal. */
  whole(): string {
    return `${this.#whole.join('\n')}\n`
  }

  #row(entry: Entry, sinceMs: number): void {
    if (isFirstSight(entry)) {
      this.#firstSeen.push(entry.host ?? '')
      return
    }
    if (entry.kind === 'workflow.pinned') return
    this.#sayFirstSeen(sinceMs)
    const instance = entry.instance === null ? '' : `/${entry.instance}`
    const subject = this.#plain(`${entry.host ?? ''}${instance}`, this.#ids)
    const actor = entry.actor === 'daemon' ? '' : `[${entry.actor}] `
    const facts = this.#plain(`${actor}${factsOf(entry)}`, this.#ids)
    this.#write(`${clockTime(sinceMs)} ${entry.kind.padEnd(kindWidth)} ${subject.padEnd(subjectWidth)} ${facts}`)
  }

  #sayFirstSeen(sinceMs: number): void {
    const hosts = this.#firstSeen.toSorted()
    this.#firstSeen = []
    if (hosts.length > 0) this.#write(`${clockTime(sinceMs)} ${hosts.length} hosts seen healthy for the first time`)
  }

  #write(line: string): void {
    this.lines.push(line.trimEnd())
  }

  #keep(sinceMs: number, what: string): string {
    const line = `${clockTime(sinceMs)} ${this.#plain(what, this.#wholeIds)}`
    this.#whole.push(line)
    return line
  }

  #plain(text: string, ids: Ids): string {
    return text
      .replace(uuid, (id) => ids.shortOf(id))
      .replace(incidentStamp, '')
      .replace(
        isoTime,
        (time) => `T${sinceText(Date.parse(/(Z|\+00:00)$/.test(time) ? time : `${time}Z`) - this.#began)}`,
      )
      .replace(hash, (digest) => `sha256:${digest.slice(0, 8)}`)
  }
}

/** Names of instances, and numbers for every other id as it appears. */
class Ids {
  readonly #names: ReadonlyMap<string, string>
  readonly #numbers = new Map<string, string>()

  constructor(names: ReadonlyMap<string, string>) {
    this.#names = names
  }

  shortOf(id: string): string {
    const known = this.#names.get(id) ?? this.#numbers.get(id)
    if (known !== undefined) return known
    const number = `#${this.#numbers.size + 1}`
    this.#numbers.set(id, number)
    return number
  }
}

/** The line, broken at spaces where it is too wide. */
function wrapped(line: string): string[] {
  if (line.length <= widest) return [line]
  const space = line.lastIndexOf(' ', widest)
  const comma = line.lastIndexOf(',', widest - 1) + 1
  const at = space > 40 ? space : comma > 40 ? comma : widest
  return [line.slice(0, at), ...wrapped(`             ${line.slice(at).trimStart()}`)]
}

function endOfHosts({ simulator }: Stage): string[] {
  return [...simulator.world.hosts.values()].map(({ name, service, alive, bmc }) => {
    const up = simulator.world.isUp(service) ? 'up' : 'down'
    const forced = service.forcedDown ? ', forced down' : ''
    const reason = service.disabledReason === null ? '' : ` (${service.disabledReason.replace(incidentStamp, '')})`
    const machine = alive ? `runs, power ${bmc.power}` : `is dead, power ${bmc.power}`
    return `${name}: ${service.status}${reason}, ${service.forcedDown ? 'down' : up}${forced}; ${machine}`
  })
}

function endOfInstances({ simulator }: Stage): string[] {
  const truth = simulator.truth()
  const lines = [...simulator.world.instances.values()].map((at) => {
    const task = at.taskState === null ? '' : `, task ${at.taskState}`
    const locked = at.locked ? `, locked (${at.lockedReason ?? ''})` : ''
    const deleted = at.deletedAt === null ? '' : ', deleted'
    const where = truth.running[at.uuid] ?? []
    const runs = where.length === 0 ? 'runs nowhere' : `runs on ${where.join(' AND ')}`
    const moves = simulator.evacuationsOf(at.uuid).map(({ status, dest }) => `${status} to ${dest ?? 'nowhere'}`)
    const moved = moves.length === 0 ? '' : `; evacuations: ${moves.join(', ')}`
    return `${at.name}: ${at.vmState} on ${at.host ?? 'no host'}${task}${locked}${deleted}, ${runs}${moved}`
  })
  const doubles = truth.doubles.length === 0 ? 'No guest ever ran twice.' : `${truth.doubles.length} GUESTS RAN TWICE.`
  return [...lines, doubles]
}

/** What the daemon ordered of Nova, and how often anybody logged in. */
function ordersToNova({ simulator }: Stage): string {
  const counts = new Map<string, number>()
  for (const { method, path, route, action, user } of simulator.requests()) {
    if (method === 'GET' || user !== 'lifeboat' || !path.startsWith('compute/')) continue
    const order = action ?? (route.includes('os-services') ? 'service' : route)
    counts.set(order, (counts.get(order) ?? 0) + 1)
  }
  const orders = [...counts].map(([order, count]) => `${count} ${order}`)
  const logins = simulator
    .requests()
    .filter(({ path, method }) => path === 'identity/v3/auth/tokens' && method === 'POST')
  return `Orders to Nova: ${orders.length === 0 ? 'none' : orders.join(', ')}. Logins: ${logins.length}.`
}

function outcomesOf(entries: Entry[]): string[] {
  return entries.flatMap((entry) =>
    entry.kind === 'outcome.recorded' ? [`${entry.data.outcome} ${entry.data.code}`] : [],
  )
}

/** Lines that differ only in the number of the instance, as one with their count. */
function counted(lines: string[]): string[] {
  const counts = new Map<string, number>()
  for (const line of lines) {
    const alike = line
      .replace(/^([\w-]+)-\d+:/, '$1-*:')
      .replace(/evacuations: (.*)$/, (_all, moves: string) => `evacuations: ${runsOf(moves.split(', '))}`)
    counts.set(alike, (counts.get(alike) ?? 0) + 1)
  }
  return [...counts].map(([line, count]) => (count === 1 ? line : `${count} × ${line}`))
}

function runsOf(moves: string[]): string {
  const counts = new Map<string, number>()
  for (const move of moves) counts.set(move, (counts.get(move) ?? 0) + 1)
  return [...counts].map(([move, count]) => (count === 1 ? move : `${count} × ${move}`)).join(', ')
}

/** An entry's data without what a reader knows already; the fingerprint at the end covers the rest. */
function brief(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(brief)
  if (typeof value !== 'object' || value === null) return value
  const record = value as Record<string, unknown>
  if ('vmState' in record && 'flavor' in record) {
    const { vmState, taskState, powerState, host, locked } = record
    return { vmState, taskState, powerState, host, locked }
  }
  // A step's request id is made from its place: it tells a reader nothing that the line does not.
  const told = Object.entries(record).filter(([key]) => key !== 'globalRequestId')
  const shown = told.map(([key, inner]): [string, unknown] => {
    if (key === 'source' && typeof inner === 'string' && inner.length > 200) return [key, '…']
    if (key === 'verdict' && typeof inner === 'object' && inner !== null && 'reason' in inner)
      return [key, inner.reason]
    if (key === 'recipes' && typeof inner === 'object' && inner !== null) return [key, Object.keys(inner)]
    return [key, brief(inner)]
  })
  return Object.fromEntries(shown)
}

function flow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, defaultStringType: 'PLAIN' })
    .trim()
    .replace(/\n\s*/g, ' ')
}

function clockTime(ms: number): string {
  const two = (n: number): string => String(Math.floor(n)).padStart(2, '0')
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}.${String(Math.floor(ms % 1_000)).padStart(3, '0')}`
}

function sinceText(ms: number): string {
  const sign = ms < 0 ? '-' : '+'
  return `${sign}${(Math.abs(ms) / 1_000).toFixed(Math.abs(ms) % 1_000 === 0 ? 0 : 3)}s`
}
