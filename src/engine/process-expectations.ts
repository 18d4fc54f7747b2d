/** Expected rulings on a nova-compute that is down. Each case says how its host differs from a plain one in no aggregate. Pure. */
import { z } from 'zod'
import { Differences } from './expectation-parts.ts'
import type { ProcessWorkflow } from './process-workflow.ts'

export const processCase = z.strictObject({
  name: z.string(),
  host: z
    .strictObject({ name: z.string(), zone: z.string(), aggregates: z.array(z.string()) })
    .partial()
    .optional(),
  segment: z.string().optional(),
  missedBeats: z.int().optional(),
  reportedBy: z.string().optional(),
  recentFailures: z.int().optional(),
  expect: z.strictObject({
    decision: z.enum(['disable', 'leave']),
    rule: z.string().optional(),
    enable: z.enum(['automatic', 'confirm']).optional(),
    says: z.string().optional(),
  }),
})

type Case = z.infer<typeof processCase>

export function processDifferences(one: Case, workflow: ProcessWorkflow): string[] {
  const {
    expect,
    host: { name = 'host', zone = 'nova', aggregates = [] } = {},
    segment,
    missedBeats,
    reportedBy,
    recentFailures,
  } = one
  const ruling = workflow.decide({
    host: { name, zone, aggregates },
    service: { missed_beats: missedBeats ?? 12 },
    report: { by: reportedBy ?? '' },
    failures: { recent: recentFailures ?? 1 },
    segment: { name: segment ?? 'segment' },
  })
  const differences = new Differences()
  differences.same('decision', expect.decision, ruling.do)
  differences.same('rule', expect.rule, ruling.rule)
  differences.same('enable', expect.enable, ruling.enable)
  differences.says(expect.says, ruling.because)
  return differences.found
}
