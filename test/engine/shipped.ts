/** The shipped workflows. */
import { readFileSync } from 'node:fs'
import { ensureError, problemsOf } from '../../src/domain/errors.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow, parseWorkflowOf } from '../../src/engine/workflow.ts'

const directory = new URL('../../recovery-workflows/', import.meta.url)

export function readShipped(name: string): string {
  return readFileSync(new URL(name, directory), 'utf8')
}

export const shippedSource = readShipped('host-failure.yaml')
export const shipped = parseWorkflow(shippedSource, 'host-failure.yaml', { ownerPolicy: defaultOwnerPolicy })

const crashFile = 'instance-failure.yaml'
const processFile = 'process-failure.yaml'
const options = { ownerPolicy: defaultOwnerPolicy }
export const shippedCrashes = parseWorkflowOf('instance', readShipped(crashFile), crashFile, options)
export const shippedProcesses = parseWorkflowOf('process', readShipped(processFile), processFile, options)

/** What is wrong with a file that this refuses, each with its place. */
export function problemsIn(work: () => unknown): string[] {
  try {
    work()
  } catch (thrown) {
    return problemsOf(ensureError(thrown))
  }
  return []
}
