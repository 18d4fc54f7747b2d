/** Laws on nova-compute's record: what people set there stays, and a host that they took out is left to them. */
import type { Entry } from '../../src/domain/entry.ts'
import { isDisabledByPerson } from '../../src/domain/service.ts'
import { isLook } from './laws-of-looks.ts'
import { timelineOf, type Asked } from './timeline.ts'

/** What has stood for so long was seen, though no answer of Nova shows it: it is longer than anything may rest on a look. */
const seenAfterMs = 20_000
/** From Nova's answer to the verdict: the witnesses are asked in between. */
const judgedAfterMs = 5_000

/** Faults with which Nova acts all the same, whatever its answer says. */
const acts = new Set<string | null>([null, 'slow', 'malformed', 'empty'])
const mayAct = new Set<string | null>(['drop-after', 'hang-after', 'act-late', 'act-and-refuse'])

interface Change {
  status?: string
  disabled_reason?: string
  forced_down?: boolean
}

/** What people set on a record, since when, and when Nova first showed it to us. */
interface Standing {
  what: string
  since: number
  seen: number | null
}

/** What is known of the records: by the writes alone, so nothing after one of which nobody knows whether Nova took it. */
class Records {
  /** By the record's id: the disable of a person. */
  readonly disables = new Map<string, Standing>()
  /** The forced_down of a person. */
  readonly forced = new Map<string, Standing>()
  /** Who forced it down, where it is. */
  readonly #down = new Map<string, 'us' | 'them' | 'unknown'>()

  note(asked: Asked): void {
    if (isLook(asked) && asked.fault === null && asked.path.endsWith('/os-services')) this.#shown(asked.at)
    const id = recordOf(asked)
    if (id === null) return
    const isOurs = asked.user === 'lifeboat'
    if (asked.method === 'DELETE' || mayAct.has(asked.fault)) {
      if (!isOurs || asked.fault === 'act-late') this.disables.delete(id)
      this.forced.delete(id)
      this.#down.set(id, 'unknown')
    } else if (acts.has(asked.fault) && (asked.status === 200 || asked.status === 0))
      this.#written(id, changeOf(asked), isOurs, asked.at)
  }

  #shown(at: number): void {
    for (const standing of [...this.disables.values(), ...this.forced.values()]) standing.seen ??= at
  }

  #written(id: string, change: Change, isOurs: boolean, since: number): void {
    const { status, disabled_reason: reason, forced_down: down } = change
    if (status !== undefined) this.disables.delete(id)
    if (!isOurs && status === 'disabled' && isDisabledByPerson({ status, disabledReason: reason ?? null }))
      this.disables.set(id, { what: `disabled (${reason})`, since, seen: null })
    if (down === false) {
      this.#down.delete(id)
      this.forced.delete(id)
    }
    if (down !== true || this.#down.has(id)) return
    this.#down.set(id, isOurs ? 'us' : 'them')
    if (!isOurs) this.forced.set(id, { what: 'forced down', since, seen: null })
  }
}

/** A disable by a person is neither overwritten nor taken back by us, once Nova has shown it to us. */
export function overwrittenDisables(requests: readonly Asked[]): string[] {
  const records = new Records()
  return requests.flatMap((asked) => {
    const id = recordOf(asked)
    const standing = id === null ? undefined : records.disables.get(id)
    records.note(asked)
    const { status } = changeOf(asked)
    if (standing === undefined || status === undefined || asked.user !== 'lifeboat') return []
    if (standing.seen === null && asked.at - standing.since <= seenAfterMs) return []
    return [`${asked.path} is ${status} by us, and was ${standing.what} by a person`]
  })
}

/**
 * No method begins on a host that a person disabled while nothing was done to it, nor on one that a person forced down where the rules say that
 * such a host is held, unless people said that it is dead.
 */
export function fencedAgainstAPerson(
  entries: readonly Entry[],
  requests: readonly Asked[],
  { recordOf: recordOfHost, holdsForcedDown }: { recordOf: (host: string) => string; holdsForcedDown: boolean },
): string[] {
  const records = new Records()
  const begun = new Set<string>()
  return (timelineOf(entries, requests) ?? []).flatMap(({ at, asked, entry }) => {
    if (asked !== undefined) {
      records.note(asked)
      return []
    }
    const { kind, incident, host, seq } = entry
    if (kind === 'proof.recorded' || kind === 'operator.statement') begun.add(incident ?? '')
    if (kind !== 'fence.attempt' || entry.data.phase !== 'trying' || begun.has(incident ?? '')) return []
    const id = recordOfHost(host ?? '')
    return [records.disables.get(id), holdsForcedDown ? records.forced.get(id) : undefined].flatMap((standing) =>
      standing?.seen !== undefined && standing.seen !== null && at - standing.seen > judgedAfterMs
        ? [`entry ${seq}: ${entry.data.method} fences ${host}, which a person has ${standing.what}`]
        : [],
    )
  })
}

function recordOf({ method, path }: Asked): string | null {
  if (method !== 'PUT' && method !== 'DELETE') return null
  return /\/os-services\/([0-9a-f-]{36})$/.exec(path)?.[1] ?? null
}

function changeOf({ method, body }: Asked): Change {
  return method === 'PUT' && typeof body === 'object' && body !== null ? body : {}
}
