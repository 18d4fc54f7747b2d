import { expect, it } from 'vitest'
import { pauseAfter } from '../../src/domain/back-off.ts'

it.each([
  [0, 10],
  [1, 10],
  [2, 20],
  [3, 40],
  [4, 60],
  [1_000, 60],
])('after %i failures the pause is %i', (failures, pauseMs) => expect(pauseAfter(failures, 10, 60)).toBe(pauseMs))
