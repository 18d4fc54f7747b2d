/**
 * The whole run in groups: the modules of one group are mutated with the tests that state their rules and no others, which
 * takes a fraction of the time, and the score can only be lower. Prints the scores. Fails where a module is below the mark,
 * changed since its run, has a survivor without a reason (survivors.yaml), or a reason without a survivor.
 *
 *   npm run mutation                 all groups
 *   npm run mutation -- gate brake   these; of the others, what was run before
 *   npm run mutation -- --again gate what survived there once more, after tests were added, and what was changed since
 *   npm run mutation -- --table      runs nothing
 *   npm run mutation -- --write      runs nothing; writes scores and survivors into docs/development/mutation.md
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { judge, readReasons, survivorsOf } from './survivors.mjs'

const files = (folder, names) => names.split(' ').map((name) => `${folder}/${name}`)
const tests = (folder, names) => files(`test/${folder}`, names).map((name) => `${name}.test.ts`)

const loads = 'test/mutation/loads.test.ts'
const engine = tests('engine', 'conditions facts initial-state planner recipes owner-policy mistakes workflow').concat(
  loads,
)

/** Each group: what is mutated under src/, and what may kill. */
const groups = {
  gate: [
    files('executor', 'gate slots step-runner attempt step-follow step-errors'),
    tests('executor/decisions', 'gate gate-proof slots step-runner step-interrupted'),
  ],
  proof: [
    files('executor', 'proof-keeper second-fencing service-liveness host-recheck removal'),
    tests('executor', 'decisions/proof-keeper decisions/proof-silence decisions/second-fencing host-recheck removal'),
  ],
  evacuate: [
    files('executor', 'steps/evacuate steps/recheck power-order host-watch'),
    tests(
      'executor/decisions',
      'evacuate evacuate-followed recheck power-order host-watch step-runner step-interrupted',
    ),
  ],
  steps: [
    files('executor', 'retry steps/confirm-resize steps/confirmation-follow steps/power steps/marks'),
    tests('executor/decisions', 'small-steps confirmation-followed retry'),
  ],
  verdicts: [
    files('monitor', 'verdict-rules freezer control-plane clock-skew heartbeat suspicion witnesses probe-round'),
    tests(
      'monitor',
      'verdict-rules verdict-boundaries freezer control-plane clock-skew heartbeat pulse suspicion witnesses probe-round',
    ),
  ],
  brake: [
    files('monitor', 'brake brake-trips'),
    tests('monitor', 'brake brake-trips brake.property').concat(tests('control', 'brake-watch')),
  ],
  return: [
    files('domain', 'back-off host-return return-record'),
    tests('domain', 'back-off host-return return-record'),
  ],
  orders: [
    files('control', 'brake-facts').concat(files('orders', 'order-holds')),
    tests('control', 'brake-watch').concat(tests('orders', 'order-holds')),
  ],
  'shared-journal': [files('journal/shared', 'lease shipper'), tests('journal/shared', 'lease shipper')],
  tenure: [
    files('journal/shared', 'tenure takeover whereabouts seen-tenure'),
    tests('journal/shared', 'tenure tenure-states tenure-standby tenure-doubts move'),
  ],
  crashes: [
    files('engine', 'crash crash-document crash-expectations crash-facts crash-workflow').concat(
      files('domain', 'instance-failure'),
    ),
    tests('engine', 'crash crash-workflow mistakes-of-other-kinds expectations-of-other-kinds').concat(
      tests('domain', 'instance-failure'),
      tests('preflight', 'workflow-files'),
      loads,
    ),
  ],
  processes: [
    files('engine', 'process-expectations process-workflow').concat(files('domain', 'process-failure')),
    tests('engine', 'process-workflow mistakes-of-other-kinds expectations-of-other-kinds').concat(
      tests('domain', 'process-failure'),
      tests('preflight', 'workflow-files'),
      loads,
    ),
  ],
  documents: [
    files('engine', 'compiled document document-parts expectation-parts expectations expressions workflow').concat(
      files('formats', 'duration yaml-path'),
    ),
    tests(
      'engine',
      'mistakes mistakes-of-other-kinds workflow expectations expectations-of-other-kinds planner',
    ).concat(tests('formats', 'duration yaml-source'), loads),
  ],
  plans: [files('engine', 'check conditions facts initial-state planner recipes owner-policy'), engine],
}

const asked = process.argv.slice(2)
const kept = '.stryker/groups'
const mark = 85
mkdirSync(kept, { recursive: true })
const words = asked.filter((word) => !word.startsWith('-'))
const chosen = words.length === 0 ? Object.keys(groups) : words
if (!asked.includes('--table') && !asked.includes('--write'))
  for (const name of chosen) runGroup(name, asked.includes('--again'))

const columns = ['Killed', 'Timeout', 'Survived', 'NoCoverage']
const rows = []
const survivors = []
const faults = []
for (const [name, [modules]] of Object.entries(groups)) {
  if (!existsSync(`${kept}/${name}.json`)) {
    faults.push(`${name}: not run`)
    continue
  }
  const { files: reported } = JSON.parse(readFileSync(`${kept}/${name}.json`, 'utf8'))
  for (const module of modules) {
    const report = reported[`src/${module}.ts`]
    if (report?.source !== readFileSync(`src/${module}.ts`, 'utf8')) {
      faults.push(`${module}: changed since its run`)
      continue
    }
    const counts = columns.map((wanted) => report.mutants.filter(({ status }) => status === wanted).length)
    if (score(counts) < mark) faults.push(`${module}: below ${mark} %`)
    rows.push([module, ...counts])
    survivors.push(...survivorsOf(module, report))
  }
}
const { listed, without, idle } = judge(survivors, readReasons(), new Set(rows.map(([module]) => module)))
for (const { module, line, text, replacement } of without)
  faults.push(`src/${module}.ts:${line}: no reason why this survives:\n    - [${quoted(text)}, ${quoted(replacement)}]`)
for (const { module, text, replacement } of idle)
  faults.push(`${module}: a reason for what no longer survives: ${text} => ${replacement}`)

rows.push(['**together**', ...columns.map((_, at) => rows.reduce((sum, row) => sum + row[at + 1], 0))])
const lines = rows.map(
  ([module, ...counts]) => `| ${[module, ...counts, `${score(counts).toFixed(1)} %`].join(' | ')} |`,
)
const table = `| Module | Killed | Timed out | Survived | Not covered | Score |
|---|---:|---:|---:|---:|---:|
${lines.join('\n')}`
process.stdout.write(`${table}\n`)
if (asked.includes('--write')) {
  const page = 'docs/development/mutation.md'
  const text = between(between(readFileSync(page, 'utf8'), 'scores', table), 'survivors', listOf(listed))
  writeFileSync(page, text)
}
for (const fault of faults) process.stderr.write(`${fault}\n`)
process.exitCode = faults.length === 0 ? 0 : 1

/** Every group is run, also after one that stayed below the mark. */
function runGroup(name, again) {
  const [modules, mayKill] = groups[name]
  const report = `${kept}/${name}.json`
  const before = again ? JSON.parse(readFileSync(report, 'utf8')) : null
  const places = before === null ? modules.map((module) => `src/${module}.ts`) : survivingPlaces(before)
  if (places.length === 0) return
  spawnSync('npx', ['stryker', 'run', '--mutate', places.join(',')], {
    stdio: 'inherit',
    env: { ...process.env, MUTATION_TESTS: mayKill.join(' ') },
  })
  if (before === null) copyFileSync('.stryker/report.json', report)
  else writeFileSync(report, JSON.stringify(merged(before, JSON.parse(readFileSync('.stryker/report.json', 'utf8')))))
}

/** What changed since, and the lines of what survived, as Stryker takes them. */
function survivingPlaces({ files: reported }) {
  return Object.entries(reported).flatMap(([file, { source, mutants }]) => {
    if (source !== readFileSync(file, 'utf8')) return file
    const surviving = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    return [...new Set(surviving.map(({ location: { start, end } }) => `${file}:${start.line}-${end.line}`))]
  })
}

/** A report with what a later run found: of a file that changed, all of it. */
function merged(before, after) {
  const keyOf = ({ location, mutatorName, replacement }) => JSON.stringify([location, mutatorName, replacement])
  for (const [file, { source, mutants }] of Object.entries(after.files)) {
    if (before.files[file].source !== source) {
      before.files[file] = after.files[file]
      continue
    }
    const found = new Map(mutants.filter(({ status }) => status !== 'Ignored').map((mutant) => [keyOf(mutant), mutant]))
    before.files[file].mutants = before.files[file].mutants.map((mutant) => found.get(keyOf(mutant)) ?? mutant)
  }
  return before
}

function score([killed, timedOut, survived, uncovered]) {
  return (100 * (killed + timedOut)) / (killed + timedOut + survived + uncovered)
}

function quoted(text) {
  return `'${text.replaceAll("'", "''")}'`
}

function between(page, name, made) {
  const [before, rest] = page.split(`<!-- ${name}: made by npm run mutation -- --write -->\n`)
  return `${before}<!-- ${name}: made by npm run mutation -- --write -->\n${made}\n<!-- end of ${name} -->${rest.split(`<!-- end of ${name} -->`)[1]}`
}

/** Every survivor, by its reason. */
function listOf(reasons) {
  const code = (text) => `\`${text.replaceAll('`', "'").replaceAll('|', '\\|') || ' '}\``
  return reasons
    .filter(({ survivors: own }) => own.length > 0)
    .map(({ title, reason, survivors: own }) => {
      const mutants = own.map(
        ({ module, line, text, replacement }) => `| ${module}.ts:${line} | ${code(text)} | ${code(replacement)} |`,
      )
      return `### ${title}\n\n${reason.trim()}\n\n| Where | What stood there | What survives |\n|---|---|---|\n${mutants.join('\n')}`
    })
    .join('\n\n')
}
