/**
 * What cannot even be loaded must fail a test, and not only the file that holds the tests: Stryker counts tests alone,
 * and would call a mutant that breaks the workflows' loading a survivor.
 */
import { expect, it } from 'vitest'

it('the engine loads, and the shipped workflows and their expected plans with it', async () => {
  const { readShipped, shipped, shippedCrashes, shippedProcesses } = await import('../engine/shipped.ts')
  expect(shipped.hostDeadlineMs.fence).toBeGreaterThan(0)
  const { checkExpectations } = await import('../../src/engine/expectations.ts')
  const tried = [shipped, shippedCrashes, shippedProcesses].map((workflow) => {
    const file = `tests/${workflow.failure}-failure.yaml`
    return checkExpectations(readShipped(file), file, workflow)
  })
  const [hosts = [], crashes = [], processes = []] = tried
  expect(hosts.length).toBeGreaterThan(90)
  expect(crashes.length).toBeGreaterThan(35)
  expect(processes.length).toBeGreaterThan(2)
  expect([...crashes, ...processes].filter(({ differences }) => differences.length > 0)).toEqual([])
})
