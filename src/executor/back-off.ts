/** Where `step-runner.ts` looks for the back-off of all rooms. */
export { pauseAfter } from '../domain/back-off.ts'
