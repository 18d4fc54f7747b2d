/** What `maintenance list` prints: in force, planned, and the next opening of each calendar window, with what stands against it. */
import { localText } from '../../domain/local-time.ts'
import type { MaintenanceConflict, MaintenanceView } from '../../domain/maintenance-view.ts'
import { scopeText, type Order } from '../../domain/order.ts'
import { listFrame, type Frame } from '../frame.ts'
import type { Column, Shape } from '../output/formats.ts'
import { clockTime } from '../wording.ts'

interface Row extends Pick<Order, 'kind' | 'scope' | 'by' | 'reason' | 'until'> {
  state: 'in force' | 'planned' | 'calendar'
  from: string
  plan: number | null
}

export const maintenanceColumns: Column<Row>[] = [
  { title: 'Kind', type: 'string', means: '`maintenance` or `pause`', value: (it) => it.kind },
  {
    title: 'Scope',
    type: 'object',
    means: 'Of what: `kind` (`host`, `segment`, `cloud`) and `name`',
    value: (it) => it.scope,
    text: (it) => scopeText(it.scope),
  },
  {
    title: 'State',
    type: 'string',
    means: '`in force`, `planned`, or `calendar`: the next opening of a window',
    value: (it) => it.state,
  },
  { title: 'Plan', type: 'integer?', means: 'The number of the plan, to withdraw it by', value: (it) => it.plan },
  { title: 'By', type: 'string', means: 'Who ordered it', value: (it) => it.by },
  {
    title: 'Since',
    type: 'time',
    means: 'Since when; of what is still to begin: from when',
    value: (it) => it.from,
    text: (it) => clockTime(it.from),
  },
  {
    title: 'Until',
    type: 'time?',
    means: 'When it ends by itself; null: by hand',
    value: (it) => it.until,
    text: (it) => (it.until === null ? 'until someone ends it' : clockTime(it.until)),
  },
  { title: 'Reason', type: 'string', means: 'Why', value: (it) => it.reason },
]

export function maintenanceFrame(view: MaintenanceView, shape: Shape): Frame {
  const frame = listFrame(rowsOf(view), maintenanceColumns, shape, nameOf)
  if (shape.format !== 'table' || view.conflicts.length === 0) return frame
  const lines = view.conflicts.map((conflict) => `${conflictLine(conflict, view.timezone)}\n`).join('')
  return { ...frame, page: (maxWidth) => `${frame.page(maxWidth)}\n${lines}` }
}

function rowsOf({ inForce, planned, windows }: MaintenanceView): Row[] {
  return [
    ...inForce.map((it): Row => ({ ...it, state: 'in force', from: it.since, plan: it.plan ?? null })),
    ...planned.map((it): Row => ({ ...it, state: 'planned' })),
    ...windows.flatMap(({ name, kind, scopes, reason, next: [next] }) =>
      next === undefined
        ? []
        : scopes.map((scope): Row => ({
            ...{ kind, scope, reason, ...next },
            ...{ state: 'calendar', by: `calendar:${name}`, plan: null },
          })),
    ),
  ]
}

/** Conflict from 2026-11-23 02:00 Europe/Berlin: … */
function conflictLine({ from, message }: MaintenanceConflict, timezone: string): string {
  return `Conflict ${from === null ? 'now' : `from ${localText(from, timezone)} (${clockTime(from)})`}: ${message}`
}

/** Nobody has two orders of one kind and scope, but for one that has an end beside Masakari's field, which has none. */
function nameOf({ kind, scope, state, by, plan, until }: Row): string {
  const which = plan === null ? ` (${by}${until === null ? ', without an end' : ''})` : ` (plan ${plan})`
  return `${kind} of ${scopeText(scope)}${which}${state === 'in force' ? '' : `, ${state}`}`
}
