/**
 * The life of an incident as a table: each phase with its sentence and the phases that may follow. `advance` is the one
 * function that changes a phase; everything else writes the entry it returns.
 */
export const incidentPhases = {
  confirming: { means: 'Checking the host again before acting', next: ['fencing', 'surveying', 'closed'] },
  fencing: { means: 'Making sure that the host is dead', next: ['isolating', 'closed'] },
  isolating: {
    means: 'Forcing the service down in Nova, and keeping the scheduler away',
    next: ['surveying', 'closed'],
  },
  surveying: {
    means: 'Recording the initial state of every instance and planning for each',
    next: ['recovering', 'closed'],
  },
  recovering: { means: 'Carrying out the plan of each instance', next: ['sweeping', 'closed'] },
  sweeping: { means: 'Looking for instances that appeared on the host since', next: ['surveying', 'closed'] },
  /** The one phase of a process's incident: nothing of its host is recovered. */
  watching: {
    means: 'Keeping the scheduler away until nova-compute has been beating for the healthy time',
    next: ['closed'],
  },
  /** The one phase of an instance's incident. */
  restarting: {
    means: 'Restarting the guest that crashed, as often as its segment allows',
    next: ['closed'],
  },
  closed: { means: 'Ended: the outcome of each instance is on record', next: [] },
} as const satisfies Record<string, { means: string; next: readonly string[] }>

export type IncidentPhase = keyof typeof incidentPhases

/**
 * Why an incident waits. A held incident keeps its phase; it goes on from there. docs/architecture.md says where each is decided. Some
 * are also names of errors (domain/errors.ts), which are something else.
 */
export const holdCodes = {
  BRAKE: 'Too many hosts failed at once',
  FROZEN: 'What Lifeboat knows of the hosts may be untrue: the control plane or this process is at fault',
  PAUSED: 'A person paused recoveries',
  MAINTENANCE: 'The host is in maintenance, or someone disabled it',
  OBSERVING: 'The daemon is in observe mode: it sends nothing until it is armed',
  FENCE_FAILED: 'No fencing method could prove the host dead',
  FENCING_MISSING: 'No fencing method is configured: a person must attest that the host is dead',
  HOST_ALIVE: 'The host showed life when Lifeboat checked again',
  CLOUD_UNAVAILABLE: 'Nova does not answer, so Lifeboat can do nothing safely',
  NOVA_REFUSED:
    'Nova refuses what the recovery needs: a person must correct the policy, the credentials or the service',
  /** Of older journals: today it is an alarm, for nothing can be recorded then. */
  JOURNAL_UNAVAILABLE: 'The journal cannot be written',
  OTHER_INCIDENT: 'Another incident still works on instances of this host',
  LATE_LOCK: 'A lock of ours whose answer was lost may still be served: Lifeboat waits to take it off',
  WORKFLOW_UNREADABLE: 'Lifeboat can no longer read the workflow that the incident began with: a person must decide',
  INTERNAL_ERROR: 'A bug in Lifeboat stops the recovery; Lifeboat tries again, less and less often',
  MEMORY: 'The daemon is short of memory and finishes other recoveries first',
  RESTART_PAUSE: 'The guest crashed again: Lifeboat waits a while before the next restart',
  RESTARTS_SPENT: 'The guest crashed too often: a person decides whether Lifeboat restarts it once more',
  CRASHES_ON_HOST: 'Too many instances crashed on this host: check the host',
  CONFIRM_RETURN: 'nova-compute is up again, and a person must say whether its service is enabled',
} as const

export type HoldCode = keyof typeof holdCodes

/** What else can be true of a hold. Code asks for these, and keeps no list of codes of its own. */
export type HoldTrait =
  /** It asks for a person. It may still end without one: hosts return, or fencing succeeds when it is tried again. */
  | 'for-a-person'
  /** A person or the calendar ordered it: the incident names the order, also when that changes while it waits. */
  | 'ordered'
  /** It cannot still apply once the gate opens. */
  | 'ends-at-the-gate'
  /** It is over when Nova takes the call that it refused or did not answer: an open gate says nothing of that. */
  | 'ends-with-a-call'
  /** A look at the host may raise it, and the next look that goes through ends it. */
  | 'ends-with-a-look'
  /** A fencing chain that runs is cut off at once. Any other hold only keeps it from its next act. */
  | 'cuts-fencing'
  /** A guest crashed too often: a person may allow one more restart. */
  | 'of-a-crash'

const traitsOf: Record<HoldCode, readonly HoldTrait[]> = {
  BRAKE: ['for-a-person', 'ends-at-the-gate'],
  FROZEN: ['ends-at-the-gate', 'ends-with-a-look'],
  PAUSED: ['ordered', 'ends-at-the-gate', 'cuts-fencing'],
  MAINTENANCE: ['ordered', 'ends-at-the-gate', 'ends-with-a-look', 'cuts-fencing'],
  OBSERVING: ['ends-at-the-gate', 'cuts-fencing'],
  FENCE_FAILED: ['for-a-person'],
  FENCING_MISSING: ['for-a-person'],
  HOST_ALIVE: ['for-a-person', 'ends-with-a-look', 'cuts-fencing'],
  CLOUD_UNAVAILABLE: ['ends-with-a-call', 'ends-with-a-look'],
  NOVA_REFUSED: ['for-a-person', 'ends-with-a-call', 'ends-with-a-look'],
  JOURNAL_UNAVAILABLE: [],
  OTHER_INCIDENT: [],
  LATE_LOCK: [],
  WORKFLOW_UNREADABLE: ['for-a-person'],
  INTERNAL_ERROR: ['for-a-person'],
  MEMORY: ['ends-at-the-gate'],
  RESTART_PAUSE: ['of-a-crash'],
  RESTARTS_SPENT: ['for-a-person', 'of-a-crash'],
  CRASHES_ON_HOST: ['for-a-person', 'of-a-crash'],
  CONFIRM_RETURN: ['for-a-person'],
}

/** The holds that have this trait. */
export function holdsWith(trait: HoldTrait): ReadonlySet<HoldCode | undefined> {
  return new Set(
    Object.entries(traitsOf).flatMap(([code, traits]) => (traits.includes(trait) ? [code as HoldCode] : [])),
  )
}

/** Those that ask for a person. */
export const holdsForAPerson = holdsWith('for-a-person')

/** Throws on a change that the table does not allow: that would be a bug, and going on would act on a wrong belief. */
export function advance(from: IncidentPhase, to: IncidentPhase): { from: IncidentPhase; to: IncidentPhase } {
  const next: readonly IncidentPhase[] = incidentPhases[from].next
  if (!next.includes(to)) throw new Error(`an incident cannot go from ${from} to ${to}`)
  return { from, to }
}
