/** Laws on how fresh what is known is when something is sent that cannot be taken back: by what the simulated cloud was asked. */
import type { Simulator } from '../../src/simulator/index.ts'

export type Asked = ReturnType<Simulator['requests']>[number]

/** Three polls, and the time that they may take; the scripts poll every five seconds. */
const verdictGoodForMs = 20_000
/** As old as an instance's record may be before its evacuation (executor/steps/recheck.ts), and a slow answer. */
const recordGoodForMs = 8_000

const isGood = ({ method, status, fault }: Asked): boolean =>
  method === 'GET' && status === 200 && fault !== 'malformed' && fault !== 'empty'

const polls = (asked: Asked): boolean => asked.path.endsWith('/os-services')
const listsMigrations = (asked: Asked): boolean => asked.path.endsWith('/os-migrations')
const readsInstances = (asked: Asked): boolean => /\/servers\/(detail|[0-9a-f-]{36})$/.test(asked.path)

/** Each power-off and evacuation comes after a look at what it rests on. */
export function sentWithoutALook({ simulator }: { simulator: Pick<Simulator, 'requests'> }): string[] {
  const last = new Map<(asked: Asked) => boolean, number>()
  const broken: string[] = []
  for (const asked of simulator.requests()) {
    if (isGood(asked))
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
