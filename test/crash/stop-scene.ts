/**
 * A host is cut off from its network. The daemon that recovers it is stopped at a commit of its journal and goes on later, in this process
 * and on a virtual clock; what the host does meanwhile is told.
 */
import type { NewEntry } from '../../src/domain/entry.ts'
import { defaultReturnRules } from '../../src/domain/host-return.ts'
import type { WireRequest } from '../../src/domain/wire.ts'
import { beatMs, inACloud, onRecord, workflow } from './living-host.ts'
import { MortalDaemon } from './mortal-daemon.ts'
import { allRecovered, comeBack, cutOff, host, wellOnEither, type Meanwhile, type Stop } from './stop-checks.ts'

/** One evacuation after the other, so that after the first there is still one to send. */
const segment = {
  probes: ['network', 'bmc'],
  maxParallelPerHost: 1,
  return: { ...defaultReturnRules, healthyMs: 10_000 },
}

/** Longer than anything that the daemon knows is good for. */
const stoppedMs = 40_000
/** Until people end what is held because the host lives. */
const heldMs = 15_000
/** Until our flags are off a host that is back. */
const settlesMs = 60_000
const longestMs = 1_800_000

export interface Ending {
  problems: string[]
  stopped: boolean
  /** Those that wrote something, from the cut to the end of the incident. */
  commits: { nth: number; says: string; sentBefore: number }[]
}

export function play(stop: Stop | null, meanwhile: Meanwhile): Promise<Ending> {
  return inACloud({ hosts: 3 }, async (place) => {
    const { clock, simulator } = place
    const ids = ['web', 'db'].map((name) => simulator.addInstance({ host, name }).uuid)
    const commits: Ending['commits'] = []
    const sent: { says: string; at: number }[] = []
    let isCut = false
    let goesOnAt = Infinity
    const standStill = (life: MortalDaemon): void => {
      life.stall(stoppedMs)
      if (meanwhile !== 'stays away') comeBack(simulator)
      if (meanwhile === 'comes back and is cut off again') clock.after(stoppedMs / 2, () => cutOff(simulator))
      clock.leap(stoppedMs)
      goesOnAt = clock.now()
    }
    const life = new MortalDaemon({
      ...{ ...place, workflow, segment, beatMs, longestRequestMs: 5_000 },
      onCommit: (nth, entries, written, own) => {
        const isOver = commits.at(-1)?.says.includes('incident.closed') === true
        if (isCut && !written && !isOver && entries.length > 0)
          commits.push({ nth, says: inWords(entries), sentBefore: sent.length })
        if (stop !== null && nth === ('before' in stop ? stop.before : stop.after) && written === 'after' in stop)
          standStill(own)
      },
      passing: (wire) => (request) => {
        const says = order(request)
        if (says !== null) sent.push({ says, at: clock.now() })
        return wire(request)
      },
    })
    await clock.advance(6 * beatMs)
    isCut = true
    cutOff(simulator)
    const { store, operations } = life.daemon
    const cutAt = clock.now()
    await clock.pass(longestMs, () => store.open().length > 0 || clock.now() - cutAt > 3 * stoppedMs)
    await clock.pass(longestMs, () => store.open().every(({ held }) => held?.code === 'HOST_ALIVE'))
    if (meanwhile === 'comes back' && store.open().length > 0) {
      await clock.advance(heldMs)
      for (const { id } of store.open())
        await clock.run(operations.cancel(id, { by: 'ann', reason: 'the host is back' }))
    }
    await clock.pass(longestMs, () => store.open().length === 0)
    await clock.advance(settlesMs)
    await life.stop()
    life.die()
    const { entries, broken } = onRecord(place)
    const { forcedDown, status } = simulator.world.host(host).service
    const problems =
      meanwhile === 'comes back'
        ? [
            ...sent.filter(({ at }) => at >= goesOnAt).map(({ says }) => `sent although the host is back: ${says}`),
            ...(forcedDown || status === 'disabled' ? [`the service is ${status}, forced_down ${forcedDown}`] : []),
            ...wellOnEither(simulator, entries, ids),
          ]
        : allRecovered(simulator, entries, ids)
    if (broken !== null) problems.push(`the journal breaks at ${JSON.stringify(broken)}`)
    return { problems, commits, stopped: goesOnAt < Infinity }
  })
}

/** What must not leave for a host that lives. */
function order({ method, url = '', data }: WireRequest): string | null {
  const body = typeof data === 'string' ? data : JSON.stringify(data ?? {})
  if (method?.toUpperCase() === 'GET') return null
  if (url.includes('/redfish/')) return `power ${body}`
  if (url.includes('/os-services/') && body.includes('"forced_down":true')) return 'force-down'
  return body.startsWith('{"evacuate"') ? 'evacuate' : null
}

function inWords(entries: readonly NewEntry[]): string {
  return entries.map(({ kind, step }) => `${kind}${step === undefined ? '' : ` ${step}`}`).join(' + ')
}
