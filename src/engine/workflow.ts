/**
 * Workflow documents: text in, checked workflow out. A document with any mistake is refused as a whole, with every
 * mistake named by file, line and column, so that it fails when it is loaded and not in the night.
 */
import { createHash } from 'node:crypto'
import type { $ZodIssue } from 'zod/v4/core'
import { LifeboatError } from '../domain/errors.ts'
import type { Workflow } from '../domain/plan.ts'
import { problemText, readYaml, type Path, type Problem, type YamlSource } from '../formats/yaml-source.ts'
import { checkReferences } from './check.ts'
import { compile, type CompiledWorkflow } from './compiled.ts'
import { documentSchema } from './document.ts'
import { planHost, planHostInPieces } from './planner.ts'
import type { OwnerPolicySettings } from './owner-policy.ts'

/**
 * Reads a workflow. Throws WORKFLOW_INVALID with every problem as `file:line:col: message`, one a line, and as
 * `details.problems`.
 */
export function parseWorkflow(
  source: string,
  fileName: string,
  options: { ownerPolicy: OwnerPolicySettings },
): Workflow {
  const { problems, workflow } = read(source, fileName)
  if (workflow === null) {
    throw new LifeboatError('WORKFLOW_INVALID', problems.map(problemText).join('\n'), { details: { problems } })
  }
  const { metadata, host } = workflow.document
  const { ownerPolicy: settings } = options
  const digest = createHash('sha256').update(source, 'utf8').digest('hex')
  return {
    name: metadata.name,
    revision: metadata.revision,
    digest,
    source,
    hostDeadlineMs: {
      fence: host.fence.deadline,
      'force-down': host['force-down'].deadline,
      survey: host.survey.deadline,
    },
    plan: (survey, segment) => planHost({ workflow, digest, settings, survey, segment }),
    planInPieces: (survey, segment, pause) => planHostInPieces({ workflow, digest, settings, survey, segment }, pause),
  }
}

/** Every problem of a workflow, in the order of the file; none when it can be used. */
export function checkWorkflow(source: string, fileName: string): Problem[] {
  return read(source, fileName).problems
}

function read(text: string, file: string): { problems: Problem[]; workflow: CompiledWorkflow | null } {
  const source = readYaml(text, file)
  if (source.problems.length > 0) return { problems: sorted(source.problems), workflow: null }
  const parsed = documentSchema.safeParse(source.data)
  if (!parsed.success) {
    const problems = parsed.error.issues.flatMap((issue) => ofIssue(issue, source))
    return { problems: sorted(problems), workflow: null }
  }
  const problems: Problem[] = []
  const report = (path: Path, message: string, offset: number | null = null): void => {
    problems.push({ ...source.valueAt(path, offset), message })
  }
  const workflow = compile(parsed.data, report)
  checkReferences(parsed.data, report)
  return { problems: sorted(problems), workflow: problems.length === 0 ? workflow : null }
}

function ofIssue(issue: $ZodIssue, source: YamlSource): Problem[] {
  const where = issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}: `
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      ...source.keyAt([...issue.path, key]),
      message: issue.message.startsWith('unknown key')
        ? issue.message.replace('unknown key', () => `unknown key "${key}"`)
        : `"${key}" ${issue.message}`,
    }))
  }
  if (issue.code === 'invalid_key') {
    const key = String(issue.path.at(-1))
    return [{ ...source.keyAt(issue.path), message: `"${key}" ${issue.message}` }]
  }
  return [{ ...source.valueAt(issue.path), message: `${where}${issue.message}` }]
}

function sorted(problems: Problem[]): Problem[] {
  return problems.toSorted((a, b) => a.line - b.line || a.col - b.col)
}
