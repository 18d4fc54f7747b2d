/** Laws on how fresh what is known is when something is sent that cannot be taken back: by what the simulated cloud was asked. */
import type { Entry } from '../../src/domain/entry.ts'
import type { Simulator } from '../../src/simulator/index.ts'
import { timelineOf, type Asked } from './timeline.ts'

/** Three polls, and the time that two of them may take; the scripts poll every five seconds, and ask boards that have ten to answer. */
const verdictGoodForMs = 36_000
/** As old as an instance's record may be before its evacuation (executor/steps/recheck.ts), and a slow answer. */
const recordGoodForMs = 8_000

export const isLook = ({ method, status, fault }: Asked): boolean =>
  method === 'GET' && status === 200 && fault !== 'malformed' && fault !== 'empty'

const polls = (asked: Asked): boolean => asked.path.endsWith('/os-services')
const listsMigrations = (asked: Asked): boolean => asked.path.endsWith('/os-migrations')
const readsInstances = (asked: Asked): boolean => /\/servers\/(detail|[0-9a-f-]{36})$/.test(asked.path)

/** Each power-off and evacuation comes after a look at what it rests on. */
export function sentWithoutALook({ simulator }: { simulator: Pick<Simulator, 'requests'> }): string[] {
  const last = new Map<(asked: Asked) => boolean, number>()
  const broken: string[] = []
  for (const asked of simulator.requests()) {
    if (isLook(asked))
      for (const look of [polls, listsMigrations, readsInstances]) if (look(asked)) last.set(look, asked.at)
    for (const [look, limitMs] of needed(asked)) {
      const age = asked.at - (last.get(look) ?? -Infinity)
      if (age > limitMs) broken.push(`${asked.method} ${asked.path} rests on ${look.name} of ${age} ms before`)
    }
  }
  return broken
}

function needed({ method, path, action, user }: Asked): [(asked: Asked) => boolean, number][] {
  if (method !== 'POST') return []
  if (path.endsWith('/ComputerSystem.Reset')) return [[polls, verdictGoodForMs]]
  if (action !== 'evacuate' || user !== 'lifeboat') return []
  return [
    [polls, verdictGoodForMs],
    [listsMigrations, recordGoodForMs],
    [readsInstances, recordGoodForMs],
  ]
}

/** So does each beginning of a method that fences, those that are no call of an API too. */
export function fencedWithoutALook(entries: readonly Entry[], requests: readonly Asked[]): string[] {
  let last = -Infinity
  return (timelineOf(entries, requests) ?? []).flatMap(({ at, asked, entry }) => {
    if (asked !== undefined && isLook(asked) && polls(asked)) last = at
    if (entry?.kind !== 'fence.attempt' || entry.data.phase !== 'trying' || at - last <= verdictGoodForMs) return []
    return [`entry ${entry.seq}: ${entry.data.method} fences ${entry.host} by a poll of ${at - last} ms before`]
  })
}
