/** The command line, as main sees it. */
export type { Commands } from './composition.ts'
export { runCli } from './program.ts'
export { processTerminal } from './terminal.ts'
export type { Terminal } from './terminal-port.ts'
