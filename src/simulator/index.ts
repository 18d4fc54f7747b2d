/** The simulator's face: what the demo, the tests and rehearsals use. */
export { startSimulator, Simulator } from './simulator.ts'
export type { SimulatorOptions } from './simulator-options.ts'
export { VirtualClock } from './virtual-clock.ts'
export { apiFaultKinds, type ApiFaultKind } from './api-faults.ts'
export { liveMigrationTurns } from './live-migrations.ts'
export type { NewInstance, StartState } from './instance-builder.ts'
