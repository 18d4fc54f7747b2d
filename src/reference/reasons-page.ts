/** docs/reference/reasons.md: the codes that instances' lines carry, from the shipped workflow, the planner and domain/. Says nothing of its own. */
import { parse } from 'yaml'
import { foreignReasons } from '../domain/plan.ts'
import { afterReturnCodes } from '../domain/after-return.ts'
import { crashCodes } from '../domain/instance-failure.ts'
import { documentSchema, type Rule } from '../engine/document.ts'
import { planReasons } from '../engine/planner.ts'

const decided = {
  recover: 'recovered',
  leave: 'left',
  hold: 'held for a person',
} as const

/** @param workflow the text of the shipped workflow */
export function reasonsPage(workflow: string): string {
  const { rules } = documentSchema.parse(parse(workflow)).instances
  const codes = [...new Set(rules.map(({ reason }) => reason))]
  const rows = [
    ...codes.map((reason): Row => {
      const some = rules.filter((rule) => rule.reason === reason)
      return {
        ...{ reason, of: 'a dead host' },
        decision: joined(some.map((rule) => decided[decisionOf(rule)])),
        means: joined(some.map(({ because }) => sentence(because))),
      }
    }),
    ...Object.entries(planReasons).map(([reason, means]): Row => ({
      ...{ reason, of: 'a dead host' },
      decision: decided.hold,
      means: sentence(means),
    })),
    ...Object.entries(foreignReasons).map(([reason, means]): Row => {
      const decision = reason === 'INCOMING_MOVE' ? decided.hold : decided.leave
      return { reason, of: 'a dead host', decision, means }
    }),
    ...Object.entries(afterReturnCodes).map(([reason, means]): Row => ({
      ...{ reason, of: 'a host that came back by itself' },
      decision: 'as it is there',
      means: sentence(means),
    })),
    ...Object.entries(crashCodes).map(([reason, { is, means }]): Row => ({
      ...{ reason, of: 'a crashed guest' },
      decision: is,
      means: sentence(means),
    })),
  ]
  return `# Reason codes of instances

Why an instance is recovered, left or held: the \`code\` of its outcome, of its plan and in notices. They come from the shipped workflow
(recovery-workflows/host-failure.yaml, in the order of its rules), from the planner, from instances whose host came back by itself, and
from [guests that crashed](../instance-failures.md) on a host that lives. A few codes are of more than one of these, and mean something else
in each: the column *Of* says which. A workflow of your own has its own codes. \`…\` stands for the facts of the instance. An instance that
could not be recovered has an error code instead: [errors.md](errors.md).

| Code | Of | It is | Because |
| --- | --- | --- | --- |
${rows.map(({ reason, of, decision, means }) => `| \`${reason}\` | ${of} | ${decision} | ${means} |\n`).join('')}`
}

interface Row {
  reason: string
  /** What happened to its instance. */
  of: string
  decision: string
  means: string
}

function decisionOf({ recover, leave }: Rule): keyof typeof decided {
  if (recover !== undefined) return 'recover'
  return leave === true ? 'leave' : 'hold'
}

/** Each once. */
function joined(texts: readonly string[]): string {
  return [...new Set(texts)].join(' / ')
}

function sentence(template: string): string {
  return template
    .replace(/\$\{[^}]*\}/g, '…')
    .replace(/\s+/g, ' ')
    .replaceAll('|', '\\|')
    .trim()
}
