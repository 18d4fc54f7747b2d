/** The shipped workflow. */
import { readFileSync } from 'node:fs'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'

const directory = new URL('../../recovery-workflows/', import.meta.url)

export function readShipped(name: string): string {
  return readFileSync(new URL(name, directory), 'utf8')
}

export const shippedSource = readShipped('host-failure.yaml')
export const shipped = parseWorkflow(shippedSource, 'host-failure.yaml', { ownerPolicy: defaultOwnerPolicy })
