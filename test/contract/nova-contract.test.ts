import type { Simulator } from '../../src/simulator/index.ts'
import { novaContract } from './nova-contract.ts'
import { simulatedCloud } from './simulated-cloud.ts'

// One run per age of Nova: Zed without evacuate-to-stopped, Epoxy, and the newest.
for (const version of ['2.93', '2.100', '2.104']) {
  let simulator: Simulator | undefined
  novaContract(
    `the simulator at ${version} keeps the contract`,
    async () => {
      const cloud = await simulatedCloud(version)
      simulator = cloud.simulator
      return cloud
    },
    async () => simulator?.close(),
  )
}
