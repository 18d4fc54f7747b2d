/** The command line, as main sees it. */
export type { CheckLine, Commands, JournalAccess } from './composition.ts'
export { manualPages } from '../reference/manual/index.ts'
export { cliPage } from '../reference/cli-reference.ts'
export { runCli } from './program.ts'
export { processTerminal } from './terminal.ts'
export type { Terminal } from './terminal-port.ts'
