/**
 * What cannot even be loaded must fail a test, and not only the file that holds the tests: Stryker counts tests alone,
 * and would call a mutant that breaks the workflows' loading a survivor.
 */
import { expect, it } from 'vitest'

it('the engine loads, and the shipped workflow and its expected plans with it', async () => {
  const { readShipped, shipped } = await import('../engine/shipped.ts')
  expect(shipped.hostDeadlineMs.fence).toBeGreaterThan(0)
  const { checkExpectations } = await import('../../src/engine/expectations.ts')
  const file = 'tests/host-failure.yaml'
  expect(checkExpectations(readShipped(file), file, shipped).length).toBeGreaterThan(90)
})
