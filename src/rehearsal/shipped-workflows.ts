/** The workflows that ship with Lifeboat, for simulated clouds. */
import { readFileSync } from 'node:fs'
import type { Failure } from '../domain/incident.ts'
import type { OwnerPolicySettings } from '../engine/owner-policy.ts'
import { parseWorkflowOf, type Workflows } from '../engine/workflow.ts'
import { installed } from '../system/installed.ts'

/** By the settings of the owner policy. Reading them again for each daemon would be a tenth of a rehearsal. */
const known = new Map<string, Workflows>()

export function shippedWorkflows(ownerPolicy: OwnerPolicySettings): Workflows {
  const read = <F extends Failure>(failure: F): Workflows[F] => {
    const file = `${failure}-failure.yaml`
    const source = readFileSync(installed(`recovery-workflows/${file}`), 'utf8')
    return parseWorkflowOf(failure, source, file, { ownerPolicy })
  }
  const key = JSON.stringify(ownerPolicy)
  const workflows = known.get(key) ?? { host: read('host'), process: read('process'), instance: read('instance') }
  known.set(key, workflows)
  return workflows
}
