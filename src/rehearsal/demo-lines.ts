/** Journal entries as the demo tells them: one short line each, for people who see Lifeboat for the first time. */
import type { Entry } from '../domain/entry.ts'

/** The line, or null for an entry that the demo leaves out. `name` is the instance's, if it is about one. */
export function demoLine(entry: Entry, name: string | null): string | null {
  switch (entry.kind) {
    case 'daemon.started':
      return `Lifeboat watches, ${entry.data.mode}`
    case 'verdict.changed':
      return `verdict    ${entry.host}: ${entry.data.from} → ${entry.data.kind}: ${entry.data.message}`
    case 'incident.opened':
      return `incident   ${entry.incident} opened`
    case 'incident.held':
      return `held       ${entry.data.code}: ${entry.data.message}`
    case 'incident.phase':
      return `phase      ${entry.data.from} → ${entry.data.to}`
    case 'fence.attempt':
      return `fencing    ${entry.data.method}: ${entry.data.phase}, ${entry.data.message}`
    case 'proof.recorded':
      return `proof      ${entry.data.proof.host} is dead: ${entry.data.proof.strength} by ${entry.data.proof.method}`
    case 'plan.made':
      return `plan       ${padded(name)} ${entry.data.decision}: ${entry.data.message}`
    case 'step.intended':
      return name === null ? null : `           ${padded(name)} ${entry.data.kind} …`
    case 'outcome.recorded':
      return `${entry.data.outcome.padEnd(10)} ${padded(name)} ${entry.data.message}`
    case 'incident.closed':
      return `closed     ${entry.data.message}: ${Object.entries(entry.data.counts)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(', ')}`
    default:
      return null
  }
}

function padded(name: string | null): string {
  return (name ?? '').padEnd(16)
}
