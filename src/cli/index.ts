/** The command line, as main sees it. */
export type { CheckLine, Commands, DemoOptions, JournalAccess, WorkflowCheck } from './composition.ts'
export { runCli } from './program.ts'
export { processTerminal } from './terminal.ts'
export type { Terminal } from './session.ts'
