/** Finds the workflow documents of the configuration. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ensureError, LifeboatError, problemsOf } from '../domain/errors.ts'
import type { Failure } from '../domain/incident.ts'
import {
  checkWorkflow,
  invalidWorkflow,
  isOf,
  parseAnyWorkflow,
  parseWorkflowOf,
  type AnyWorkflow,
  type Workflows,
} from '../engine/workflow.ts'
import { installed } from '../system/installed.ts'
import { readRegularFile } from '../system/regular-file.ts'
import type { Config } from '../config/index.ts'

export interface WorkflowCheck {
  file: string
  /** Null when the document could not be read. */
  name: string | null
  revision: number | null
  digest: string | null
  /** file:line:col: what is wrong. Empty: the workflow is good. */
  problems: string[]
}

/** The documents of a directory, by name. Throws WORKFLOW_INVALID when it cannot be read or holds none. */
export function workflowFiles(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith('.yaml'))
    if (names.length > 0) return names.sort().map((name) => join(directory, name))
  } catch (thrown) {
    throw new LifeboatError(
      'WORKFLOW_INVALID',
      `Cannot read the directory of workflows ${directory}: ${ensureError(thrown).message}`,
      { cause: thrown },
    )
  }
  throw new LifeboatError('WORKFLOW_INVALID', `${directory} has no workflow (*.yaml)`)
}

/**
 * The workflow of each kind of failure, by its name. A directory may have that of hosts alone, as those of older releases do: for the other
 * kinds the shipped ones hold then. Throws WORKFLOW_INVALID with every problem of every document.
 */
export function loadWorkflows({ workflows: directory, ownerPolicy }: Config): Workflows {
  const parsed = parsedFiles(directory, ownerPolicy)
  const chosen = <F extends Failure>(failure: F): Workflows[F] => {
    const name = `${failure}-failure`
    const candidates = parsed.filter((workflow): workflow is Workflows[F] => isOf(workflow, failure))
    const [found, second] = candidates.filter((workflow) => workflow.name === name)
    // Of two for hosts older releases took the first, and a directory of theirs goes on.
    if (second !== undefined && failure !== 'host')
      throw new LifeboatError('WORKFLOW_INVALID', `${directory} has two workflows named ${name}`)
    if (found !== undefined) return found
    if (failure === 'host' || candidates.length > 0)
      throw new LifeboatError('WORKFLOW_INVALID', `${directory} has no workflow named ${name} for failure: ${failure}`)
    const file = installed(`recovery-workflows/${name}.yaml`)
    return parseWorkflowOf(failure, readText(file), file, { ownerPolicy })
  }
  return { host: chosen('host'), process: chosen('process'), instance: chosen('instance') }
}

function parsedFiles(directory: string, ownerPolicy: Config['ownerPolicy']): AnyWorkflow[] {
  const problems: string[] = []
  const parsed = workflowFiles(directory).flatMap((file) => {
    try {
      return [parseAnyWorkflow(readText(file), file, { ownerPolicy })]
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code !== 'WORKFLOW_INVALID') throw error
      // Left out, it would be replaced by the shipped one without a word.
      const listed = problemsOf(error)
      problems.push(...(listed.length > 0 ? listed : [error.message]))
      return []
    }
  })
  if (problems.length > 0) throw invalidWorkflow(directory, problems)
  return parsed
}

/** Checks each of these files, or every document of the configured directory and then the directory as a whole. */
export function checkWorkflowFiles(config: Config, files: string[]): WorkflowCheck[] {
  if (files.length > 0) return files.map((file) => checkFile(file, config))
  const checks = workflowFiles(config.workflows).map((file) => checkFile(file, config))
  if (checks.some(({ problems }) => problems.length > 0)) return checks
  try {
    loadWorkflows(config)
    return checks
  } catch (thrown) {
    return [...checks, wrong(config.workflows, [ensureError(thrown).message])]
  }
}

function checkFile(file: string, { ownerPolicy }: Config): WorkflowCheck {
  let source: string
  try {
    source = readText(file)
  } catch (thrown) {
    return wrong(file, [ensureError(thrown).message])
  }
  const problems = checkWorkflow(source, file).map(({ line, col, message }) => `${file}:${line}:${col}: ${message}`)
  if (problems.length > 0) return wrong(file, problems)
  const { name, revision, digest } = parseAnyWorkflow(source, file, { ownerPolicy })
  return { file, name, revision, digest, problems }
}

function wrong(file: string, problems: string[]): WorkflowCheck {
  return { file, name: null, revision: null, digest: null, problems }
}

function readText(file: string): string {
  try {
    return readRegularFile(file).toString('utf8')
  } catch (thrown) {
    const reason = (thrown as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : ensureError(thrown).message
    throw new LifeboatError('WORKFLOW_INVALID', `${file}: ${reason}`, { cause: thrown })
  }
}
