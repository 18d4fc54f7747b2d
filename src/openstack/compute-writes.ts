/**
 * What is changed in Nova. Each call is sent at most once, apart from a resend after a refused token or microversion
 * (both mean that nothing was done). Accepted means accepted: what became of it is read back by the executor.
 *
 * Evacuate never carries `force` (skips the scheduler) and never a `host` (the scheduler knows more than we do).
 */
import type { Accepted, CallOptions, Cloud } from '../domain/cloud.ts'
import { calls } from './call-table.ts'
import type { ApiCall } from './call-table.ts'
import { serviceAnswer, serviceOf } from './compute-json.ts'
import { forLanding, forReads, since } from './microversions.ts'
import type { Pick as PickVersion } from './microversions.ts'
import type { Session } from './session.ts'

type Writes = Pick<
  Cloud,
  'updateService' | 'evacuate' | 'start' | 'stop' | 'reboot' | 'lock' | 'unlock' | 'resetState' | 'confirmResize'
>

/** Nova's own limit on both reasons; longer is a 400. */
const longestReason = 255

interface Order {
  call: ApiCall & { action: string }
  id: string
  content: unknown
  pick?: PickVersion
  asProject?: string | undefined
}

export function computeWrites(session: Session): Writes {
  const send = async (order: Order, options?: CallOptions): Promise<Accepted> => {
    const { call, id, content, pick, asProject } = order
    const body = { [call.action]: content }
    const { answer } = await session.send({ call, ids: { id }, body, asProject, ...(pick ? { pick } : {}) }, options)
    return { requestId: answer.requestId }
  }
  return {
    updateService: async (id, change, options) => {
      const body = {
        ...(change.status === undefined ? {} : { status: change.status }),
        ...(change.disabledReason === undefined
          ? {}
          : { disabled_reason: change.disabledReason.slice(0, longestReason) }),
        ...(change.forcedDown === undefined ? {} : { forced_down: change.forcedDown }),
      }
      const { data } = await session.read({ call: calls.updateService, ids: { id }, body }, serviceAnswer, options)
      return serviceOf(data.service)
    },
    evacuate: (id, { landing, asProject }, options) =>
      send({ call: calls.evacuate, id, content: {}, pick: forLanding(landing), asProject }, options),
    start: (id, asProject, options) => send({ call: calls.start, id, content: null, asProject }, options),
    reboot: (id, asProject, options) => send({ call: calls.reboot, id, content: { type: 'HARD' }, asProject }, options),
    stop: (id, options) => send({ call: calls.stop, id, content: null }, options),
    lock: async (id, reason, options) => {
      const takesReason = forReads(await session.microversions(options)) >= since.lockedReason
      const content = takesReason && reason !== '' ? { locked_reason: reason.slice(0, longestReason) } : null
      return send({ call: calls.lock, id, content }, options)
    },
    unlock: (id, options) => send({ call: calls.unlock, id, content: null }, options),
    resetState: (id, options) => send({ call: calls.resetState, id, content: { state: 'active' } }, options),
    confirmResize: (id, options) => send({ call: calls.confirmResize, id, content: null }, options),
  }
}
