/**
 * Workflow documents: text in, checked workflow out. A document with any mistake is refused as a whole, with every
 * mistake named by file, line and column, so that it fails when it is loaded and not in the night.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { $ZodIssue } from 'zod/v4/core'
import { LifeboatError } from '../domain/errors.ts'
import type { Failure } from '../domain/incident.ts'
import type { Workflow, WorkflowRecord } from '../domain/plan.ts'
import { problemText, readYaml, type Path, type Problem, type YamlSource } from '../formats/yaml-source.ts'
import { checkReferences } from './check.ts'
import { compile } from './compiled.ts'
import type { CrashWorkflow } from './crash.ts'
import { crashSchema } from './crash-document.ts'
import { crashWorkflow } from './crash-workflow.ts'
import { documentSchema, type WorkflowDocument } from './document.ts'
import { head } from './document-parts.ts'
import type { Report } from './expressions.ts'
import { planHost, planHostInPieces } from './planner.ts'
import { defaultOwnerPolicy, type OwnerPolicySettings } from './owner-policy.ts'
import { processSchema, processWorkflow, type ProcessWorkflow } from './process-workflow.ts'

/** One of each kind of failure. No interface: of that `Object.values` knows no types. */
export type Workflows = {
  host: Workflow
  process: ProcessWorkflow
  instance: CrashWorkflow
}

export type AnyWorkflow = Workflows[Failure]

interface Options {
  ownerPolicy: OwnerPolicySettings
}

/**
 * Reads a workflow of any kind. Throws WORKFLOW_INVALID; `details.problems` has every problem as file:line:col.
 */
export function parseAnyWorkflow(source: string, fileName: string, options: Options): AnyWorkflow {
  const { problems, workflow } = read(source, fileName, options)
  if (workflow === null) throw invalidWorkflow(fileName, problems.map(problemText))
  return workflow
}

/** As parseAnyWorkflow, of one kind: a document of another is refused as well. */
export function parseWorkflowOf<F extends Failure>(
  failure: F,
  source: string,
  fileName: string,
  options: Options,
): Workflows[F] {
  const workflow = parseAnyWorkflow(source, fileName, options)
  if (isOf(workflow, failure)) return workflow
  const message = `failure: must be ${failure} here, and is ${workflow.failure}`
  throw invalidWorkflow(fileName, [problemText({ ...readYaml(source, fileName).valueAt(['failure']), message })])
}

/** The workflow for hosts. */
export function parseWorkflow(source: string, fileName: string, options: Options): Workflow {
  return parseWorkflowOf('host', source, fileName, options)
}

export function isOf<F extends Failure>(workflow: AnyWorkflow, failure: F): workflow is Workflows[F] {
  return workflow.failure === failure
}

/** Every problem of a workflow, in the order of the file; none when it can be used. */
export function checkWorkflow(source: string, fileName: string): Problem[] {
  return read(source, fileName, { ownerPolicy: defaultOwnerPolicy }).problems
}

/** For a file of workflows, or a directory. Its problems are a list, so that each can have a line of its own. */
export function invalidWorkflow(name: string, problems: string[]): LifeboatError {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
  return new LifeboatError('WORKFLOW_INVALID', `${name} is not valid: ${count}`, { details: { problems } })
}

function read(text: string, file: string, options: Options): { problems: Problem[]; workflow: AnyWorkflow | null } {
  const source = readYaml(text, file)
  if (source.problems.length > 0) return { problems: sorted(source.problems), workflow: null }
  const problems: Problem[] = []
  const report = (path: Path, message: string, offset: number | null = null): void => {
    problems.push({ ...source.valueAt(path, offset), message })
  }
  const workflow = made(source, text, options, report)
  if ('issues' in workflow) {
    const found = workflow.issues.flatMap((issue) => ofIssue(issue, source))
    return { problems: sorted(found), workflow: null }
  }
  return { problems: sorted(problems), workflow: problems.length === 0 ? workflow : null }
}

/** Of a kind that there is not, or none at all, only that is said: which keys were meant is not known. */
function made(
  { data }: YamlSource,
  text: string,
  options: Options,
  report: Report,
): AnyWorkflow | { issues: readonly $ZodIssue[] } {
  const digest = createHash('sha256').update(text, 'utf8').digest('hex')
  const record = ({ metadata: { name, revision } }: Pick<WorkflowDocument, 'metadata'>): WorkflowRecord => ({
    ...{ name, revision, digest, source: text },
  })
  const parsed = <T extends z.ZodType, W>(schema: T, make: (document: z.output<T>) => W) => {
    const result = schema.safeParse(data)
    return result.success ? make(result.data) : { issues: result.error.issues }
  }
  const isMapping = typeof data === 'object' && data !== null && !Array.isArray(data)
  const said: unknown = isMapping ? Reflect.get(data, 'failure') : 'host'
  switch (said) {
    case 'instance':
      return parsed(crashSchema, (document) => crashWorkflow(document, record(document), report))
    case 'process':
      return parsed(processSchema, (document) => processWorkflow(document, record(document), report))
    case 'host':
      return parsed(documentSchema, (document) => hostWorkflow(document, record(document), options, report))
    default:
      return { issues: z.looseObject({ failure: head.failure }).safeParse(data).error?.issues ?? [] }
  }
}

function hostWorkflow(document: WorkflowDocument, record: WorkflowRecord, options: Options, report: Report): Workflow {
  const workflow = compile(document, report)
  checkReferences(document, report)
  const { host } = document
  const { digest } = record
  const { ownerPolicy: settings } = options
  return {
    ...record,
    failure: 'host',
    hostDeadlineMs: {
      fence: host.fence.deadline,
      'force-down': host['force-down'].deadline,
      survey: host.survey.deadline,
    },
    wishes: JSON.stringify(settings),
    plan: (survey, segment) => planHost({ workflow, digest, settings, survey, segment }),
    planInPieces: (survey, segment, pause) => planHostInPieces({ workflow, digest, settings, survey, segment }, pause),
  }
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
