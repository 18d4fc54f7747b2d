/** The words of reports, which are Masakari's: what each is about, and how far it has come. */

/** What a report is about, in Masakari's words. */
export const reportClasses = {
  COMPUTE_HOST: 'A host failed',
  PROCESS: 'A process on a host failed',
  VM: 'A guest failed',
} as const

export type ReportClass = keyof typeof reportClasses

/** How far a report has come, in Masakari's words. */
export const reportStatuses = {
  new: 'Lifeboat has it on record',
  running: 'Lifeboat looks at it, or acts on it',
  finished: 'What it asked for is done, or was well already',
  ignored: 'It is none of our business, and its message says why',
  error: 'It waits for a person',
  failed: 'It was given up',
} as const

export type ReportStatus = keyof typeof reportStatuses

/** After these nothing more becomes of it. */
export type ReportEnd = 'finished' | 'ignored' | 'failed'

const ends: ReadonlySet<ReportStatus> = new Set<ReportStatus>(['finished', 'ignored', 'failed'])

export function isEnd(status: ReportStatus): status is ReportEnd {
  return ends.has(status)
}
