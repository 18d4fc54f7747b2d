/** What incidents before this one did with an instance, as the journal tells it: an index over its plans. */
import { wasOffUntilNextFailure } from '../domain/after-return.ts'
import type { EntryKind, IncidentId } from '../domain/entry.ts'
import { foldIncidents, type Incident, type InstanceRecovery, type StepRecord } from '../domain/incident.ts'
import { isStopAgain } from '../domain/instance-failure.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { Journal } from '../domain/journal.ts'
import type { EarlierRecovery } from '../domain/survey.ts'
import { powerOrderOf } from '../executor/power-order.ts'
import { attempts } from '../executor/steps/recheck.ts'
import { unansweredRestart } from './crash-rows.ts'
import type { IncidentStore } from './incident-store.ts'

/** Plans of one instance that are looked through for the last that was begun. More reads an instance's years for nothing. */
const plansAtMost = 50

/**
 * The last recovery of an instance that was begun, by any incident but `except`; or the one that an open incident of another host, or of
 * its crash, still works on. Null: there was none.
 */
export function earlierRecovery(
  journal: Pick<Journal, 'read'>,
  store: Pick<IncidentStore, 'open' | 'openCrashes'>,
  instance: InstanceId,
  except: IncidentId | null,
): EarlierRecovery | null {
  // A crash whose restart has no answer yet: served late, it would act beside the evacuation.
  const unanswered = store.openCrashes().filter((crash) => unansweredRestart(crash, instance) !== null)
  for (const open of [...store.open(), ...unanswered]) {
    const { id, mode, openedAt, instances } = open
    const recovery = instances.get(instance)
    if (id === except || mode === 'observe' || recovery === undefined || recovery.outcome !== null) continue
    return { ...told(open, recovery), plannedAt: openedAt, endedAt: null, provenDeadSince: () => false }
  }
  const plans = journal.read({ instance, kinds: ['plan.made'], newestFirst: true, limit: plansAtMost })
  for (const { incident, at: plannedAt } of plans) {
    if (incident === null || incident === except) continue
    const own = journal.read({ incident, instance })
    const opened = journal.read({ incident, kinds: ['incident.opened'], limit: 1 })
    const folded = foldIncidents([...opened, ...own]).get(incident)
    const recovery = folded?.instances.get(instance)
    // What comes after its outcome (a late order that is repaired, say) is no longer about bringing it back.
    const end = own.findLast(({ kind }) => kind === 'outcome.recorded') ?? own.at(-1)
    if (folded === undefined || recovery === undefined || end === undefined) continue
    // A plan alone leaves no traces in Nova.
    const waited = waitedForRestart(folded, recovery) || wasOffUntilNextFailure(recovery)
    if (recovery.steps.size === 0 && recovery.round === 0 && !waited) continue
    const provenDeadSince = (host: string): boolean => {
      // A proof that was revoked proves nothing: its host may never have been off.
      const kinds: EntryKind[] = ['proof.recorded', 'proof.voided']
      const read = journal.read({ host, kinds, after: end.seq, newestFirst: true })
      // Where only a person's word was revoked, no proof was.
      const last = read.find((entry) => entry.kind !== 'proof.voided' || entry.data.unproven !== true)
      return last?.kind === 'proof.recorded'
    }
    return { ...told(folded, recovery), plannedAt, endedAt: end.at, provenDeadSince }
  }
  return null
}

/** Its guest had crashed and was to be restarted when its host failed as well: Nova shows it as one that switched itself off. */
function waitedForRestart({ crashed, mode }: Incident, { plan, outcome }: InstanceRecovery): boolean {
  const isWaiting = outcome === null || outcome.code === 'HOST_FAILED'
  return crashed !== null && mode === 'armed' && plan.decision === 'recover' && isWaiting
}

function told(
  { id, crashed }: Incident,
  recovery: InstanceRecovery,
): Omit<EarlierRecovery, 'plannedAt' | 'endedAt' | 'provenDeadSince'> {
  const { plan, outcome } = recovery
  const all = [...recovery.steps.values()]
  const brief = all.map(({ kind, status, requestId, error }) => ({ kind, status, requestId, error }))
  const reboot = all.findLast((step): step is StepRecord<'reboot'> => step.kind === 'reboot' && step.request !== null)
  const crash = { lookedAt: reboot?.before?.cloudTime ?? null, stoppedAgain: all.some(({ key }) => isStopAgain(key)) }
  return {
    incident: id,
    original: plan.original,
    outcome,
    steps: brief,
    ordered: powerOrderOf(recovery),
    lookedAt: attempts(recovery)[0]?.before?.cloudTime ?? null,
    ofCrash: crashed === null ? null : crash,
    isOffAfterReturn: wasOffUntilNextFailure(recovery),
  }
}
