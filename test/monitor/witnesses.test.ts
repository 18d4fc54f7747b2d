import { describe, expect, it } from 'vitest'
import type { ProbeReading } from '../../src/domain/verdict.ts'
import { deadInARow, kindsOf, witnessesIn } from '../../src/monitor/witnesses.ts'

type Kind = ProbeReading['kind']
const reading = (kind: Kind, answer: ProbeReading['answer'], probe: string = kind): ProbeReading => ({
  probe,
  kind,
  answer,
  detail: '',
  at: '',
})
const dead = (...kinds: Kind[]): ProbeReading[] => kinds.map((kind, n) => reading(kind, 'dead', `${kind}-${n}`))

describe('kinds of witnesses', () => {
  it.each([
    [['tcp', 'tcp'], 1],
    [['ping', 'ping', 'ping'], 1],
    [['command', 'command'], 1],
    [['prometheus', 'prometheus'], 1],
    [['ipmi', 'ipmi'], 1],
    [['redfish', 'ipmi'], 1],
    [['tcp', 'ping'], 2],
    [['prometheus', 'tcp'], 2],
    [['command', 'ping'], 2],
    [['redfish', 'ipmi', 'ping'], 2],
    [['tcp', 'ping', 'command', 'prometheus', 'redfish'], 5],
    [[], 0],
  ] as [Kind[], number][])('%j are %i', (kinds, count) => {
    expect(kindsOf(dead(...kinds))).toBe(count)
    expect(witnessesIn(dead(...kinds)).deadKinds).toBe(count)
  })

  it('only the dead ones are counted', () => {
    const readings = [reading('tcp', 'dead'), reading('ping', 'unknown'), reading('command', 'alive', 'lease')]
    expect(witnessesIn(readings)).toEqual({ alive: ['lease'], dead: ['tcp'], deadKinds: 1 })
  })
})

describe('dead readings in a row', () => {
  const rules = { silent: true, kindsNeeded: 2 }
  const two = { alive: [], dead: ['a', 'b'], deadKinds: 2 }

  it.each([
    ['count on', 3, two, rules, 4],
    ['begin again with one kind', 3, { ...two, deadKinds: 1 }, rules, 0],
    ['begin again with one alive', 3, { ...two, alive: ['c'] }, rules, 0],
    ['begin again with a heartbeat', 3, two, { ...rules, silent: false }, 0],
    ['need three kinds where three are asked for', 0, two, { ...rules, kindsNeeded: 3 }, 0],
    ['need at least one kind', 0, { ...two, deadKinds: 0 }, { ...rules, kindsNeeded: 0 }, 0],
    ['take one kind where one is asked for', 0, { ...two, deadKinds: 1 }, { ...rules, kindsNeeded: 1 }, 1],
  ])('%s', (_name, count, witnesses, given, next) => {
    expect(deadInARow(count, witnesses, given)).toBe(next)
  })
})
