import { VirtualClock } from '../../../src/simulator/virtual-clock.ts'
import { MemoryCluster } from './memory.ts'
import { storeContract } from './store-contract.ts'

storeContract('the store in memory', () => {
  const cluster = new MemoryCluster(new VirtualClock(), 'blue')
  return Promise.resolve([cluster.client(), cluster.client()])
})
