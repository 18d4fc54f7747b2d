import { expect, it } from 'vitest'
import type { InstancePlan } from '../../src/domain/plan.ts'
import { Slots } from '../../src/executor/slots.ts'

const plan = (priority: number): InstancePlan => ({ priority }) as InstancePlan

/** Asks for slots in the order given while every slot is taken; gives the order in which they come. */
async function order(asked: { name: string; segment: number; instance: number }[], perHost = 32): Promise<string[]> {
  const shared = Slots.shared(1)
  let free = (): void => undefined
  const taken = shared.add(() => new Promise<void>((resolve) => (free = resolve)))
  const hosts = new Map<number, Slots>()
  const came: string[] = []
  const all = asked.map(({ name, segment, instance }) => {
    const slots = hosts.get(segment) ?? new Slots(shared, perHost, segment)
    hosts.set(segment, slots)
    return slots.run(plan(instance), async () => void came.push(name))
  })
  await new Promise((resolve) => setImmediate(resolve))
  free()
  await Promise.all([taken, ...all])
  return came
}

it('the segment decides before the instance, whatever instances ask for', async () => {
  expect(
    await order([
      { name: 'low, first', segment: 0, instance: 1_000 },
      { name: 'high, last', segment: 1, instance: -1_000 },
      { name: 'high, first', segment: 1, instance: 1_000 },
      { name: 'lowest', segment: -1, instance: 1_000 },
    ]),
  ).toEqual(['high, first', 'high, last', 'low, first', 'lowest'])
})

it('equals go in the order of asking', async () => {
  const names = ['a', 'b', 'c', 'd']
  expect(await order(names.map((name) => ({ name, segment: 5, instance: 7 })))).toEqual(names)
})

it('one host gives its own few slots by instance', async () => {
  expect(
    await order(
      [
        { name: 'a', segment: 0, instance: 0 },
        { name: 'b', segment: 0, instance: 1 },
        { name: 'c', segment: 0, instance: 2 },
      ],
      1,
    ),
  ).toEqual(['a', 'c', 'b'])
})
