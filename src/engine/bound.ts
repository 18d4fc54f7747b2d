/**
 * Instances that are not on the host and that a move binds to it all the same. Nothing is ever done to them; each gets an outcome, for
 * nobody else tells of them. No rule of a workflow is asked: rules speak of instances of the host. Pure.
 */
import type { Migration } from '../domain/instance.ts'
import type { foreignReasons, InstancePlan } from '../domain/plan.ts'
import type { Bound, Survey } from '../domain/survey.ts'
import { initialStateOf } from './initial-state.ts'

type Reason = keyof typeof foreignReasons

const movements: Record<Migration['type'], string> = {
  'live-migration': 'live migration',
  migration: 'cold migration',
  resize: 'resize',
  evacuation: 'evacuation',
}

export function planBound({ instance, migration }: Bound, survey: Survey): InstancePlan {
  const isIncoming = migration.destHost === survey.host
  const reason: Reason = isIncoming ? 'INCOMING_MOVE' : 'EVACUATED_BY_OTHERS'
  return {
    instanceId: instance.id,
    name: instance.name,
    projectId: instance.projectId,
    rule: '',
    decision: isIncoming ? 'hold' : 'leave',
    reason,
    message: isIncoming
      ? lookOnSource(migration)
      : `Someone else evacuated it to ${migration.destHost ?? 'another host'} while the incident was open`,
    original: initialStateOf(instance, survey),
    recipe: null,
    recipes: {},
    expected: null,
    asProject: null,
    priority: 0,
    exclusive: null,
    debts: [],
    notes: [],
  }
}

function lookOnSource({ type, status, sourceHost }: Migration): string {
  const source = sourceHost ?? 'its source'
  const moved = `Its ${movements[type]} from ${source} to this host had not ended (${status}) when the host died`
  switch (type) {
    case 'live-migration':
      return `${moved}. Its guest ran on one of the two: look on ${source}. Where it does not run there, reset its state and start it`
    case 'evacuation':
      return `${moved}. Its guest died here if it had started, and ${source} was down before: see that it is off there, then evacuate it again`
    case 'migration':
    case 'resize':
      return `${moved}. Its disk may be on either of the two: look on ${source} first, for the copy that is whole`
  }
}
