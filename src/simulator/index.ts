/** The simulator's face: what the demo, the tests and rehearsals use. */
export { startSimulator, Simulator } from './simulator.ts'
export type { SimulatedCloudAccess, SimulatorOptions } from './simulator-options.ts'
export { VirtualClock } from './virtual-clock.ts'
export { apiFaultKinds, type ApiFault, type ApiFaultKind } from './api-faults.ts'
export type { LoggedRequest } from './http-server.ts'
export type { Truth } from './hypervisors.ts'
export type { NewInstance, StartState } from './instance-builder.ts'
