/**
 * What cannot even be loaded must fail a test, and not only the file that holds the tests: Stryker counts tests alone,
 * and would call a mutant that breaks an import a survivor.
 */
import { expect, it } from 'vitest'

it('each module of the decisions loads, and the shipped workflow and its expected plans with them', async () => {
  const { readShipped, shipped } = await import('../engine/shipped.ts')
  expect(shipped.hostDeadlineMs.fence).toBeGreaterThan(0)
  const { checkExpectations } = await import('../../src/engine/expectations.ts')
  const file = 'tests/host-failure.yaml'
  expect(checkExpectations(readShipped(file), file, shipped).length).toBeGreaterThan(90)
  await import('../../src/monitor/monitor.ts')
  await import('../../src/executor/incident-runner.ts')
})
