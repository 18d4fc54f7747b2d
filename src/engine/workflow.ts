/**
 * Workflow documents: text in, checked workflow out. A document with any mistake is refused as a whole, with every
 * mistake named by file, line and column, so that it fails when it is loaded and not in the night.
 */
import { createHash } from 'node:crypto'
import { LineCounter, parseDocument } from 'yaml'
import type { $ZodIssue } from 'zod/v4/core'
import { LifeboatError } from '../domain/errors.ts'
import type { Workflow } from '../domain/plan.ts'
import { checkReferences } from './check.ts'
import { compile, type CompiledWorkflow } from './compiled.ts'
import { documentSchema } from './document.ts'
import { planHost } from './planner.ts'
import { Positions, type Path } from './positions.ts'
import type { OwnerPolicySettings } from './owner-policy.ts'

export interface WorkflowProblem {
  file: string
  line: number
  col: number
  /** What is wrong, and what is allowed. */
  message: string
}

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
    const lines = problems.map(({ file, line, col, message }) => `${file}:${line}:${col}: ${message}`)
    throw new LifeboatError('WORKFLOW_INVALID', lines.join('\n'), { details: { problems } })
  }
  const { metadata, host } = workflow.document
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
    plan: (survey, segment) => planHost(workflow, digest, options.ownerPolicy, survey, segment),
  }
}

/** Every problem of a workflow, in the order of the file; none when it can be used. */
export function checkWorkflow(source: string, fileName: string): WorkflowProblem[] {
  return read(source, fileName).problems
}

function read(source: string, file: string): { problems: WorkflowProblem[]; workflow: CompiledWorkflow | null } {
  const lines = new LineCounter()
  const document = parseDocument(source, { lineCounter: lines, version: '1.2', prettyErrors: false, strict: true })
  const broken = [...document.errors, ...document.warnings].map((error) => {
    const { line, col } = lines.linePos(error.pos[0])
    return { file, line: Math.max(1, line), col: Math.max(1, col), message: `not valid YAML: ${error.message}` }
  })
  if (broken.length > 0) return { problems: sorted(broken), workflow: null }
  const positions = new Positions(document, lines)
  const problems: WorkflowProblem[] = []
  let content: unknown
  try {
    // Aliases are bounded, so that a small file cannot unfold into a huge one.
    content = document.toJS({ maxAliasCount: 1_000 })
  } catch (error) {
    const message = `not valid YAML: ${error instanceof Error ? error.message : String(error)}`
    return { problems: [{ file, line: 1, col: 1, message }], workflow: null }
  }
  const parsed = documentSchema.safeParse(content)
  if (!parsed.success) {
    for (const issue of parsed.error.issues) problems.push(...ofIssue(issue, file, positions))
    return { problems: sorted(problems), workflow: null }
  }
  const report = (path: Path, message: string, offset: number | null = null): void => {
    problems.push({ file, ...positions.value(path, offset), message })
  }
  const workflow = compile(parsed.data, report)
  checkReferences(parsed.data, report)
  return { problems: sorted(problems), workflow: problems.length === 0 ? workflow : null }
}

function ofIssue(issue: $ZodIssue, file: string, positions: Positions): WorkflowProblem[] {
  const where = issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}: `
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      file,
      ...positions.key(issue.path, key),
      message: issue.message.startsWith('unknown key')
        ? issue.message.replace('unknown key', () => `unknown key "${key}"`)
        : `"${key}" ${issue.message}`,
    }))
  }
  if (issue.code === 'invalid_key') {
    const key = String(issue.path.at(-1))
    return [{ file, ...positions.key(issue.path.slice(0, -1), key), message: `"${key}" ${issue.message}` }]
  }
  return [{ file, ...positions.value(issue.path), message: `${where}${issue.message}` }]
}

function sorted(problems: WorkflowProblem[]): WorkflowProblem[] {
  return problems.toSorted((a, b) => a.line - b.line || a.col - b.col)
}
