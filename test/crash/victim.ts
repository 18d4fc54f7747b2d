/** The victim (victim.mjs) in one file. It is started dozens of times, and a process that reads the thousand files of dist/ does little else. */
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const dist = fileURLToPath(new URL('../../dist/', import.meta.url))
const source = fileURLToPath(new URL('./victim.mjs', import.meta.url))

/** As scripts/bundle.mjs leaves them out: found in node_modules when they are needed, or never loaded. */
const external = [
  'better-sqlite3',
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
]

let bundled: Promise<string> | null = null

/** The path of the file. Bundled once in each process that asks, of what `npm run build` made: an older one is never run. */
export function bundledVictim(): Promise<string> {
  bundled ??= bundle()
  return bundled
}

async function bundle(): Promise<string> {
  const directory = mkdtempSync(join(dist, 'victim-'))
  const file = join(dist, 'victim.mjs')
  try {
    const program = await rolldown({ input: source, platform: 'node', external, logLevel: 'warn' })
    await program.write({ file: join(directory, 'victim.mjs'), format: 'esm', codeSplitting: false })
    await program.close()
    // In one go: another worker may have made it too, and be starting it.
    renameSync(join(directory, 'victim.mjs'), file)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  return file
}
