/** Debian's promtool, for what only Prometheus itself can judge. */
import { spawnSync } from 'node:child_process'

/** CI sets it, so that a machine without promtool fails there instead of passing over these tests. */
const required = process.env['LIFEBOAT_REQUIRE_PROMTOOL'] === '1'

export const hasPromtool = spawnSync('promtool', ['--version']).status === 0

/** Whether the tests with promtool are to be passed over: only outside of CI. */
export const withoutPromtool = !hasPromtool && !required

/** Runs it; gives everything that it said. Throws when it is not satisfied. */
export function promtool(args: string[], input?: string): string {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { input, encoding: 'utf8', timeout: 60_000 })
  if (status !== 0) throw new Error(`promtool ${args.join(' ')}: ${error?.message ?? ''}${stdout}${stderr}`)
  return `${stdout}${stderr}`
}
