/** The program that is measured, and beside it, in turn, an earlier build of it: what another day said says little. */
import { fileURLToPath } from 'node:url'

/** What is shipped. */
export const shipped = fileURLToPath(new URL('../dist/bundle/main.js', import.meta.url))

/** @param beside the main.js of an earlier build, or undefined */
export function builds(beside) {
  const now = { main: shipped, where: 'this build' }
  return beside === undefined ? [now] : [{ main: beside, where: 'build beside' }, now]
}
