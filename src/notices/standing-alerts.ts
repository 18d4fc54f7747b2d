/**
 * The troubles that people were told of and whose end they were not: how bad each was told to be, since when, and to whom. Folded from
 * the notices on record, so that a restart knows them.
 */
import type { Notice, NoticeAlert, NoticeTopic } from '../domain/notice.ts'
import { incidentKey, troubleOf } from './alerts.ts'
import type { Draft } from './rules.ts'

/** Of an alarm nobody says that it is over. Shorter: it is forgotten before morning; longer: it stands though it was dealt with. */
const alarmStandsMs = 86_400_000

interface Standing {
  /** The last that said how bad it is. */
  notice: Notice
  alert: NoticeAlert
  /** Everyone who was told of it. */
  receivers: ReadonlySet<string>
}

export class StandingAlerts {
  readonly #standing = new Map<string, Standing>()

  /** What the draft does to the trouble that it tells of; null: to none, or to one that nobody was told of. */
  alertOf(draft: Draft): NoticeAlert | null {
    const trouble = troubleOf(draft)
    if (trouble === null) return null
    const { key, action, labels } = trouble
    const known = this.#standing.get(key)
    if (known === undefined) return action === 'trigger' ? { key, action, labels, since: draft.at, was: null } : null
    const { since, labels: first } = known.alert
    return { key, action, labels: first, since, was: known.notice.severity }
  }

  /** Everyone who was told of the trouble. */
  toldOf(alert: NoticeAlert | null): ReadonlySet<string> {
    return (alert === null ? undefined : this.#standing.get(alert.key)?.receivers) ?? new Set()
  }

  /** Told, by this run or an earlier one; older releases told without saying of which trouble. */
  follow(notice: Notice): void {
    const alert = notice.alert ?? this.alertOf(notice)
    if (alert === null) return
    const told = [...(this.#standing.get(alert.key)?.receivers ?? []), ...notice.receivers]
    if (alert.action === 'resolve') this.#standing.delete(alert.key)
    if (alert.action === 'trigger')
      this.#standing.set(alert.key, { notice: { ...notice, alert }, alert, receivers: new Set(told) })
  }

  /** What people were told last of an incident's trouble that stands; null: none does. */
  topicOf(incident: string | null): NoticeTopic | null {
    return this.#standing.get(incidentKey(incident))?.notice.topic ?? null
  }

  /** Whether nothing stands whose end is to be heard of. */
  get isEmpty(): boolean {
    return this.#standing.size === 0
  }

  /** What stands at a receiver, the oldest first. */
  at(receiver: string, wallMs: number): Notice[] {
    for (const [key, { notice }] of this.#standing) if (isForgotten(notice, wallMs)) this.#standing.delete(key)
    return [...this.#standing.values()].flatMap(({ notice, receivers }) => (receivers.has(receiver) ? [notice] : []))
  }
}

function isForgotten({ topic, at }: Notice, wallMs: number): boolean {
  return topic === 'alarm' && wallMs - Date.parse(at) > alarmStandsMs
}
