/**
 * Which notices are told already: the same one within its topic's quiet time is a duplicate, unless the contrary happened in
 * between. Without that a host that dies again, or a brake that trips again, would go unnoticed. Times come in as monotonic ms.
 */
import type { Entry } from '../domain/entry.ts'
import { noticeTopics, type Notice, type NoticeTopic } from '../domain/notice.ts'
import { staleOrderCode } from '../domain/stale-order.ts'
import type { HostName } from '../domain/service.ts'

/** A day: longer than any quiet time but "once for each incident", whose incident is over by then or stands still. */
const forgetAfterMs = 86_400_000

/** What may be told again once the first has happened. */
const contraries: Partial<Record<NoticeTopic, readonly NoticeTopic[]>> = {
  ...{ 'host-down': ['host-well'], 'host-trouble': ['host-well'], contradiction: ['host-well'] },
  'host-well': ['host-down', 'host-trouble', 'contradiction'],
  ...{ 'brake-tripped': ['brake-released'], 'brake-released': ['brake-tripped'] },
}

/** After these people wait to hear that the host is well. */
const troubles: ReadonlySet<NoticeTopic> = new Set<NoticeTopic>(['host-down', 'host-trouble', 'contradiction'])

/** Alarms that name what was gathered since the one before: with another message it is another one, however soon it comes. */
const gathered: ReadonlySet<string> = new Set([staleOrderCode, 'TOO_MANY_PROCESSES_DOWN'])

type About = Pick<Notice, 'topic' | 'incident' | 'instance' | 'host' | 'order' | 'code' | 'cause' | 'held' | 'message'>

export class Deduplication {
  readonly #told = new Map<string, { topic: NoticeTopic; subject: string; at: number }>()
  /** Hosts whose trouble was told and that were not well since, however long ago; with what was told last. */
  readonly #troubled = new Map<HostName, About>()

  /** Told at `at`. */
  told(about: About, at: number): void {
    const { topic, host } = about
    const subject = subjectOf(about)
    this.#turn(topic, subject)
    if (host !== null && troubles.has(topic)) this.#troubled.set(host, about)
    for (const [key, one] of this.#told) if (at - one.at > forgetAfterMs) this.#told.delete(key)
    if (noticeTopics[topic].quietMs > 0) this.#told.set(keyOf(about), { topic, subject, at })
  }

  isOld(about: About, now: number): boolean {
    // What is new in a group was found out before.
    if (about.held !== undefined) return false
    if (this.#isToldTrouble(about)) return true
    const last = this.#told.get(keyOf(about))
    return last !== undefined && now - last.at < noticeTopics[about.topic].quietMs
  }

  isTroubled(host: HostName | null): boolean {
    return host !== null && this.#troubled.has(host)
  }

  /** Hosts whose trouble was told and whose end was not; `since`: the sequence of the entry that was told last. */
  troubled(): { host: HostName; since: number }[] {
    return [...this.#troubled].map(([host, { cause }]) => ({ host, since: cause }))
  }

  /** The host beats again. */
  well(host: HostName): void {
    this.#turn('host-well', host)
  }

  /** What happened, whether anybody is told of it or not. */
  follow(entry: Entry): void {
    if (entry.kind === 'verdict.changed' && entry.data.kind === 'healthy') this.well(entry.data.host)
    if (entry.kind === 'brake.tripped') this.#turn('brake-tripped', entry.data.scope)
    if (entry.kind === 'brake.released') this.#turn('brake-released', entry.data.scope)
  }

  /**
   * The trouble that people know of, found once more: by a run that had to learn it again, say. Each way of finding a host dead has a
   * code of its own, and the next run may find it in another way.
   */
  #isToldTrouble({ topic, code, host }: About): boolean {
    const told = host === null ? undefined : this.#troubled.get(host)
    return told?.topic === topic && (topic === 'host-down' || told.code === code)
  }

  #turn(topic: NoticeTopic, subject: string): void {
    const over = contraries[topic] ?? []
    if (topic === 'host-well') this.#troubled.delete(subject)
    for (const [key, one] of this.#told) if (one.subject === subject && over.includes(one.topic)) this.#told.delete(key)
  }
}

/** The brake's scope is its code. */
function subjectOf({ order, instance, incident, host, code }: About): string {
  return order ?? instance ?? incident ?? host ?? code
}

function keyOf(about: About): string {
  const { topic, code, message } = about
  return JSON.stringify([topic, subjectOf(about), code, ...(gathered.has(code) ? [message] : [])])
}
