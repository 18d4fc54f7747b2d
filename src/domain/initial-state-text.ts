/** The state in which an instance was found, in a word or two for people. Pure. */
import type { InitialState } from './survey.ts'

/** What Nova's word for it says by itself. A paused one was neither running nor stopped for its owner: it was paused. */
const sayThemselves = new Set(['stopped', 'paused', 'suspended', 'rescued'])

/** `active`, `paused`, `resized (stopped)`: Nova's state, with what the owner wanted where that state does not say it. */
export function initialStateText({ instance: { vmState }, wanted }: InitialState): string {
  const plain = wanted === 'unknown' || sayThemselves.has(vmState) || (vmState === 'active' && wanted === 'running')
  return plain ? vmState : `${vmState} (${wanted})`
}
