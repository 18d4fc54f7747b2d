/**
 * The whole run in groups: the modules of one group are mutated with the tests that state their rules and no others, which
 * takes a fraction of the time, and the score can only be lower. Prints the table of docs/mutation.md.
 *
 *   node test/mutation/groups.mjs             all groups
 *   node test/mutation/groups.mjs gate brake  these
 *   node test/mutation/groups.mjs --table     runs nothing: the table of what was run before
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'

const files = (folder, names) => names.split(' ').map((name) => `${folder}/${name}`)
const tests = (folder, names) => files(`test/${folder}`, names).map((name) => `${name}.test.ts`)

const loads = 'test/mutation/loads.test.ts'
const engine = tests('engine', 'conditions durations facts original planner wishes mistakes workflow').concat(loads)

/** Each group: what is mutated under src/, and what may kill. */
const groups = {
  gate: [files('executor', 'gate slots step-runner'), tests('executor/decisions', 'gate gate-proof slots step-runner')],
  proof: [
    files('executor', 'proof-keeper proof-renewal sign-of-life seen-dead back-off'),
    tests('executor', 'decisions/proof-keeper decisions/proof-renewal seen-dead'),
  ],
  evacuate: [
    files('executor', 'steps/evacuate host-watch'),
    tests('executor/decisions', 'evacuate host-watch step-runner'),
  ],
  steps: [
    files('executor', 'patience steps/confirm-resize steps/power steps/marks'),
    tests('executor/decisions', 'small-steps patience'),
  ],
  verdicts: [
    files('monitor', 'verdict-rules freezer control-plane clock-skew heartbeat suspicion witnesses probe-round'),
    tests(
      'monitor',
      'verdict-rules verdict-boundaries freezer control-plane clock-skew heartbeat pulse suspicion witnesses probe-round',
    ),
  ],
  brake: [files('monitor', 'brake brake-trips'), tests('monitor', 'brake')],
  return: [files('domain', 'host-return return-record'), tests('domain', 'host-return return-record')],
  orders: [files('daemon', 'brake-facts order-holds'), tests('daemon', 'brake-watch order-holds')],
  documents: [
    files('engine', 'compiled document expectations positions workflow'),
    tests('engine', 'mistakes workflow positions expectations planner').concat(loads),
  ],
  plans: [files('engine', 'check conditions durations facts original planner recipes wishes'), engine],
}

const asked = process.argv.slice(2)
const kept = '.stryker/groups'
mkdirSync(kept, { recursive: true })
for (const name of asked.length === 0 ? Object.keys(groups) : asked.filter((word) => !word.startsWith('-'))) {
  const [modules, mayKill] = groups[name]
  const mutate = modules.map((module) => `src/${module}.ts`).join(',')
  // Every group is run, also after one that stayed below the mark.
  spawnSync('npx', ['stryker', 'run', '--mutate', mutate], {
    stdio: 'inherit',
    env: { ...process.env, MUTATION_TESTS: mayKill.join(' ') },
  })
  copyFileSync('.stryker/report.json', `${kept}/${name}.json`)
}

const columns = ['Killed', 'Timeout', 'Survived', 'NoCoverage']
const rows = []
for (const name of Object.keys(groups).filter((each) => existsSync(`${kept}/${each}.json`))) {
  const report = JSON.parse(readFileSync(`${kept}/${name}.json`, 'utf8'))
  for (const [file, { mutants }] of Object.entries(report.files))
    rows.push([file.replace(/^src\/|\.ts$/g, ''), ...columns.map((status) => count(mutants, status))])
}
rows.push(['**together**', ...columns.map((_, at) => rows.reduce((sum, row) => sum + row[at + 1], 0))])
const table = rows.map(([module, ...counts]) => `| ${[module, ...counts, score(counts)].join(' | ')} |\n`)
const head = '| Module | Killed | Timed out | Survived | Not covered | Score |\n|---|---:|---:|---:|---:|---:|\n'
process.stdout.write(head + table.join(''))

function count(mutants, wanted) {
  return mutants.filter(({ status }) => status === wanted).length
}

function score([killed, timedOut, survived, uncovered]) {
  return `${((100 * (killed + timedOut)) / (killed + timedOut + survived + uncovered)).toFixed(1)} %`
}
