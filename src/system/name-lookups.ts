/**
 * Look-ups of names for what asks again and again. Node hands each to one of a few threads, and cannot take it back: while no name server answers,
 * new ones would queue up behind it, and those of Nova's own name with them.
 */
import type { LookupFunction } from 'node:net'

type Found = Parameters<LookupFunction>[2]

/**
 * Looks each name up once at a time: who asks for it meanwhile gets the same answer. No more than `atOnce` names are looked up at once.
 *
 * @param look is given the options of the first who asks for a name
 */
export function sharedLookups(look: LookupFunction, atOnce: number): LookupFunction {
  const asking = new Map<string, Found[]>()
  const waiting: (() => void)[] = []
  let underWay = 0
  return (name, options, found) => {
    const others = asking.get(name)
    if (others !== undefined) {
      others.push(found)
      return
    }
    const all = [found]
    asking.set(name, all)
    const begin = (): void => {
      underWay += 1
      look(name, options, (...answer) => {
        underWay -= 1
        asking.delete(name)
        waiting.shift()?.()
        for (const tell of all) tell(...answer)
      })
    }
    if (underWay < atOnce) begin()
    else waiting.push(begin)
  }
}
