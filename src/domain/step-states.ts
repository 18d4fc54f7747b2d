/** The life of a step as a table. `stepAfter` is the one function that changes a step's status. */
export const stepStatuses = {
  intended: {
    means: 'Written down, perhaps sent: after a crash only reading the cloud can tell',
    next: ['issued', 'confirmed', 'failed'],
  },
  issued: { means: 'Sent and accepted', next: ['confirmed', 'failed'] },
  confirmed: { means: 'Read back from the cloud as done', next: [] },
  failed: { means: 'Read back, or refused, as not done', next: [] },
} as const satisfies Record<string, { means: string; next: readonly string[] }>

export type StepStatus = keyof typeof stepStatuses

/** Throws on a change that the table does not allow. */
export function stepAfter(from: StepStatus, to: StepStatus): StepStatus {
  const next: readonly StepStatus[] = stepStatuses[from].next
  if (!next.includes(to)) throw new Error(`a step cannot go from ${from} to ${to}`)
  return to
}
