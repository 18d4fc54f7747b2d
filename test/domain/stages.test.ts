/** The stages of an instance: what the lanes of a recovery are drawn from. */
import { expect, it } from 'vitest'
import { withBegun, withEnded, type Stage } from '../../src/domain/stages.ts'

it('tries of one step that follow each other are one stage, from the first to the last', () => {
  let stages: Stage[] = withEnded(withBegun([], 'evacuate', '1'), '2')
  stages = withBegun(stages, 'evacuate', '3')
  expect(stages).toEqual([{ kind: 'evacuate', from: '1', to: null }])
  expect(withEnded(stages, '4')).toEqual([{ kind: 'evacuate', from: '1', to: '4' }])
})

it('another step is a stage of its own', () => {
  const stages = withEnded(withBegun([], 'evacuate', '1'), '2')
  expect(withBegun(stages, 'start', '2')).toEqual([
    { kind: 'evacuate', from: '1', to: '2' },
    { kind: 'start', from: '2', to: null },
  ])
})

it('an end without a stage under way changes nothing', () => {
  expect(withEnded([], '1')).toEqual([])
  const ended = [{ kind: 'start' as const, from: '1', to: '2' }]
  expect(withEnded(ended, '3')).toEqual(ended)
})
