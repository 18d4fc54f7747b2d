/** Runs expected plans against the workflows they are written for: `lifeboat workflow test`. */
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parse } from 'yaml'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import { checkExpectations } from '../engine/expectations.ts'
import { parseAnyWorkflow } from '../engine/workflow.ts'
import { readRegularFile } from '../system/regular-file.ts'
import type { Config } from '../config/index.ts'

/** One expected plan, tried. */
export interface WorkflowTest {
  file: string
  line: number
  name: string
  /** Empty: the plan is as expected. */
  differences: string[]
}

/** Of each file, or of all in `tests` of the configured directory. Throws WORKFLOW_INVALID. */
export function testWorkflowFiles(config: Config, files: string[]): WorkflowTest[] {
  return (files.length > 0 ? files : testFiles(join(config.workflows, 'tests'))).flatMap((file) => {
    const source = readText(file)
    const workflowFile = workflowOf(file, source, config)
    const workflow = parseAnyWorkflow(readText(workflowFile), workflowFile, { ownerPolicy: config.ownerPolicy })
    return checkExpectations(source, file, workflow, config.ownerPolicy).map((result) => ({ file, ...result }))
  })
}

function testFiles(directory: string): string[] {
  const names = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.yaml')) : []
  if (names.length > 0) return names.sort().map((name) => join(directory, name))
  throw new LifeboatError('WORKFLOW_INVALID', `${directory} has no expected plans (*.yaml)`)
}

/** The document it names: beside its directory, else in the configured one. */
function workflowOf(file: string, source: string, config: Config): string {
  let name: unknown
  try {
    name = (parse(source) as { workflow?: unknown } | null)?.workflow
  } catch (thrown) {
    throw new LifeboatError('WORKFLOW_INVALID', `${file}: ${ensureError(thrown).message}`, { cause: thrown })
  }
  const plain = typeof name === 'string' && name === basename(name) ? name : null
  if (plain === null) throw new LifeboatError('WORKFLOW_INVALID', `${file}: workflow: must name a workflow`)
  const beside = join(dirname(file), '..', `${plain}.yaml`)
  return existsSync(beside) ? beside : join(config.workflows, `${plain}.yaml`)
}

function readText(file: string): string {
  try {
    return readRegularFile(file).toString('utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT')
      throw new LifeboatError('WORKFLOW_INVALID', `${file}: no such file`)
    throw new LifeboatError('WORKFLOW_INVALID', `${file}: ${ensureError(thrown).message}`, { cause: thrown })
  }
}
