/** docs/reference/reasons.md: the codes that instances' lines carry, from the shipped workflow, the planner and domain/. Says nothing of its own. */
import { parse } from 'yaml'
import { foreignReasons } from '../domain/plan.ts'
import { afterReturnCodes } from '../domain/after-return.ts'
import { crashCodes } from '../domain/instance-failure.ts'
import { crashSchema, type CrashRule } from '../engine/crash-document.ts'
import { documentSchema, type Rule } from '../engine/document.ts'
import { planReasons } from '../engine/planner.ts'

const decided = {
  recover: 'recovered',
  leave: 'left',
  hold: 'held for a person',
} as const

/** @param host @param crashes the texts of the shipped workflows */
export function reasonsPage(host: string, crashes: string): string {
  const { rules } = documentSchema.parse(parse(host)).instances
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
    ...crashRows(crashes),
  ]
  return `# Reason codes of instances

Why an instance is recovered, left or held: the \`code\` of its outcome, of its plan and in notices. They come from the shipped workflows
(recovery-workflows/host-failure.yaml and instance-failure.yaml, in the order of their rules), from Lifeboat itself, from instances whose
host came back by itself, and from [guests that crashed](../instance-failures.md) on a host that lives. A few codes are of more than one of
these, and mean something else in each: the column *Of* says which. A workflow of your own has its own codes. \`…\` stands for the facts of
the instance. An instance that could not be recovered, or that was left because the incident was cancelled (\`CANCELLED\`), the rules
changed (\`RULES_CHANGED\`) or it was deleted (\`INSTANCE_GONE\`), has an error code instead: [errors.md](errors.md).

| Code | Of | It is | Because |
| --- | --- | --- | --- |
${rows.map(({ reason, of, decision, means }) => `| \`${reason}\` | ${of} | ${decision} | ${means} |\n`).join('')}`
}

const crashDecided = {
  restart: 'restarted',
  leave: 'left',
  ignore: 'left',
  done: 'as it should be',
} as const

function crashRows(crashes: string): Row[] {
  const { rules } = crashSchema.parse(parse(crashes)).instances
  const codes = [...new Set(rules.flatMap(({ reason }) => reason ?? []))]
  const fromRules = codes.map((reason): Row => {
    const some = rules.filter((rule) => rule.reason === reason)
    return {
      ...{ reason, of: 'a crashed guest' },
      decision: joined(some.map((rule) => crashDecided[crashDecisionOf(rule)])),
      means: joined(some.map(({ because }) => capital(sentence(because)))),
    }
  })
  const failed = { reason: 'CONDITION_FAILED', of: 'a crashed guest', decision: crashDecided.leave }
  const others = Object.entries(crashCodes).map(([reason, { is, means }]): Row => ({
    ...{ reason, of: 'a crashed guest' },
    decision: is,
    means: sentence(means),
  }))
  const rows = [...fromRules, { ...failed, means: sentence(planReasons.CONDITION_FAILED) }, ...others]
  return [...new Set(rows.map(({ reason }) => reason))].map((reason): Row => {
    const some = rows.filter((row) => row.reason === reason)
    const [decision, means] = [joined(some.map((row) => row.decision)), joined(some.map((row) => row.means))]
    return { reason, of: 'a crashed guest', decision, means }
  })
}

function crashDecisionOf({ restart, leave, done }: CrashRule): keyof typeof crashDecided {
  if (restart !== undefined) return 'restart'
  if (leave === true) return 'leave'
  return done === true ? 'done' : 'ignore'
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
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
