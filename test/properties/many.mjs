/**
 * `npm run properties`: many generated scripts, split over processes; each part has a seed of its own.
 *
 *   --of WHAT     recoveries (default), crashes, or standby: daemons that share a journal
 *   --runs N      how many scripts (default 10000)
 *   --seed S      of the first part; the next one has S+1 (default: by the time of day)
 *   --workers W   processes at once (default 2)
 *
 * A part that broke a law prints the smallest script that breaks it, and is played again with
 * LIFEBOAT_PROPERTY_RUNS=200 LIFEBOAT_PROPERTY_SEED=ITS-SEED npx vitest run test/properties.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runnerImport } from 'vite'

/** So many scripts in a part: one that breaks a law ends its own part only. */
const partRuns = 200

const { values } = parseArgs({
  options: {
    of: { type: 'string', default: 'recoveries' },
    runs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Math.trunc(Date.now() / 1_000) % 1_000_000) },
    workers: { type: 'string', default: '2' },
    part: { type: 'boolean', default: false },
  },
})
const runs = Number(values.runs)
const seed = Number(values.seed)
process.chdir(fileURLToPath(new URL('../..', import.meta.url)))
process.exit(values.part ? await playPart() : await playAll())

async function playPart() {
  const { module } = await runnerImport('./test/properties/part.ts', { configFile: false, logLevel: 'error' })
  const broken = await module.playPart(values.of, seed, runs)
  if (broken !== null) process.stdout.write(broken)
  return broken === null ? 0 : 1
}

async function playAll() {
  const parts = Array.from({ length: Math.ceil(runs / partRuns) }, (_, nth) => ({
    seed: seed + nth,
    runs: Math.min(partRuns, runs - nth * partRuns),
  }))
  const broken = []
  const worker = async () => {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const { code, output } = await inProcess(part)
      process.stdout.write(
        `seed ${part.seed}: ${part.runs} scripts, ${code === 0 ? 'no law broken' : `FAILED\n${output}`}\n`,
      )
      if (code !== 0) broken.push(part.seed)
    }
  }
  await Promise.all(Array.from({ length: Number(values.workers) }, worker))
  process.stdout.write(
    broken.length === 0 ? `${runs} scripts, no law broken\n` : `broken with seeds ${broken.join(' ')}\n`,
  )
  return broken.length === 0 ? 0 : 1
}

function inProcess(part) {
  const words = ['--part', '--of', values.of, '--seed', String(part.seed), '--runs', String(part.runs)]
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })))
}
