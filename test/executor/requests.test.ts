/** What a recovery asks of Nova, counted on the virtual clock: a slow machine reads no more often. */
import { expect, test } from 'vitest'
import { rehearse } from '../../src/rehearsal/rehearse.ts'
import { parseScenario } from '../../src/rehearsal/scenario.ts'

const instances = 40
const scenario = parseScenario(
  `title: one host with many instances
instances: [{ name: vm, host: cmp01, count: ${instances} }]
script:
  - { at: 1m, crash: [cmp01] }
  - when: { closed: cmp01 }
`,
  'many.yaml',
  'many',
)

test('forty running instances cost at most three Nova requests each, listings included', async () => {
  let asked: string[] = []
  const { lines } = await rehearse(scenario, {
    inspect: ({ simulator }) => (asked = simulator.requests().map(({ method, path }) => `${method} ${path}`)),
  })
  expect(lines.filter((line) => line.includes('outcome.recorded'))).toHaveLength(instances)
  // The monitor lists the services whether anything is recovered or not.
  const nova = asked.filter((one) => / compute\/v2.1\//.test(one) && !one.includes('GET compute/v2.1/os-services'))
  expect(nova.length).toBeGreaterThan(instances)
  expect(nova.length / instances).toBeLessThanOrEqual(3)
})
