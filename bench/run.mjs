/**
 * `npm run bench`: the numbers to reach, each with what was measured just now. On the simulator always; on a real Nova with
 * --lab. Nothing is asserted: a figure depends on the machine and on what else it does, and both are printed.
 *
 *   --lab       also rows 1 to 4 on the lab's Nova (test/lab; it must be up, and nothing else may use it meanwhile)
 *   --only N    only these rows, e.g. --only 1, --only 5,6 or --only take-over
 *   --quick     fewer repetitions
 *   --beside F  rows cli, memory and 7 also of an earlier build, in turn: F is its dist/main.js or dist/bundle/main.js
 *   --json      the figures as JSON
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { detectionRows } from './detection.mjs'
import { machine } from './figures.mjs'
import { bothDieRows } from './rows/both-die.mjs'
import { cliRows } from './rows/cli.mjs'
import { detectionRow } from './rows/detection.mjs'
import { fleetRows } from './rows/fleet.mjs'
import { journalRows } from './rows/journal.mjs'
import { labAnswers, labRows } from './rows/lab.mjs'
import { labDeathRows } from './rows/lab-deaths.mjs'
import { labNoticeRows } from './rows/lab-notices.mjs'
import { noticeRows } from './rows/notices.mjs'
import { memoryRows } from './rows/memory.mjs'
import { pageRows } from './rows/pages.mjs'
import { recoveryRows } from './rows/recovery.mjs'
import { reportRows } from './rows/reports.mjs'
import { restartRow } from './rows/restart.mjs'
import { standbyRows } from './rows/standby.mjs'
import { stepRows } from './rows/steps.mjs'
import { takeOverRows } from './rows/take-over.mjs'
import { figure, table } from './targets.mjs'

const { values: options } = parseArgs({
  options: {
    lab: { type: 'boolean', default: false },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    beside: { type: 'string' },
  },
})
const { quick } = options
const beside = options.beside === undefined ? undefined : resolve(options.beside)
const only = options.only?.split(',')

const measurements = [
  { rows: ['1', '3', '4'], name: 'recoveries of 20', run: () => recoveryRows({ runs: quick ? 1 : 3 }) },
  { rows: ['2'], name: 'deaths', run: () => detectionRow({ deaths: quick ? 5 : 16 }) },
  { rows: ['5'], name: '5,000 hosts', run: () => fleetRows({ seconds: quick ? 20 : 60 }) },
  {
    rows: ['6'],
    name: 'a recovery of many',
    run: () => stepRows({ instances: quick ? 500 : 2_000, onDisk: quick ? 200 : 500 }),
  },
  { rows: ['7'], name: 'kill and restart', run: () => restartRow({ runs: quick ? 1 : 3, beside }) },
  { rows: ['8'], name: 'journal of 100,000', run: async () => journalRows({ appends: quick ? 200 : 1_000 }) },
  { rows: ['cli'], name: 'calls of the command line', run: () => cliRows({ runs: quick ? 5 : 15, beside }) },
  { rows: ['memory'], name: 'memory', run: () => memoryRows({ runs: quick ? 1 : 3, beside }) },
  { rows: ['pages'], name: 'what pages ask for', run: () => pageRows({ repeats: quick ? 20 : 100 }) },
  { rows: ['detection'], name: '1,000 host-days of heartbeats', run: () => detectionRows({ quick }) },
  {
    rows: ['reports'],
    name: 'reports of monitors',
    run: () =>
      reportRows(quick ? { reports: 300, seconds: 20, deaths: 3 } : { reports: 1_000, seconds: 60, deaths: 10 }),
  },
  { rows: ['notices'], name: 'notices to owners', run: () => noticeRows({ runs: quick ? 1 : 5 }) },
  // These need root and Debian's mariadb-server, so only where they are asked for.
  ...[
    {
      rows: ['standby'],
      name: 'a shared journal',
      run: () => standbyRows(quick ? { appends: 100, runs: 1, many: 100 } : { appends: 500, runs: 3, many: 500 }),
    },
    {
      rows: ['take-over'],
      name: 'deaths of the active daemon',
      run: () => takeOverRows(quick ? { deaths: 3, stops: 3 } : { deaths: 30, stops: 30 }),
    },
    {
      rows: ['both-die'],
      name: 'deaths of a host and the active daemon at once',
      run: () => bothDieRows({ runs: quick ? 1 : 10 }),
    },
  ].filter(({ rows }) => rows.some((row) => only?.includes(row))),
  { rows: ['1', '3', '4'], name: 'lab', run: () => lab(labRows) },
  ...(options.lab
    ? [{ rows: ['2'], name: 'deaths on the lab', run: () => lab(() => labDeathRows({ deaths: quick ? 5 : 20 })) }]
    : []),
  ...(options.lab ? [{ rows: ['notices'], name: 'notices on the lab', run: () => lab(labNoticeRows) }] : []),
]

const began = { at: performance.now(), machine: machine() }
const figures = []
for (const { rows, name, run } of measurements) {
  if (only !== undefined && !rows.some((row) => only.includes(row))) continue
  process.stderr.write(`measuring: ${name}\n`)
  figures.push(...(await run().catch((thrown) => failed(rows[0], name, thrown))))
}
const wanted = figures.filter(({ row }) => only === undefined || only.includes(row))
wanted.sort((a, b) => (Number(a.row) || Infinity) - (Number(b.row) || Infinity))
report(wanted)

/** One measurement that breaks does not take the others with it, and is no silent gap either. */
function failed(row, name, thrown) {
  process.exitCode = 1
  return [figure({ row, what: name, where: 'broken', value: null, note: thrown.message })]
}

async function lab(rows) {
  if (options.lab && (await labAnswers())) return rows({ runs: quick ? 1 : 3 })
  const note = options.lab ? 'no lab answers here (test/lab/README.md)' : 'not asked for: --lab'
  return [figure({ row: '1', what: 'rows 1 to 4 on a real Nova', where: 'lab', value: null, note })]
}

function report(lines) {
  const date = new Date().toISOString()
  const seconds = Math.round((performance.now() - began.at) / 1000)
  if (options.json) {
    const about = { date, seconds, before: began.machine, after: machine() }
    process.stdout.write(`${JSON.stringify({ ...about, figures: lines }, null, 2)}\n`)
    return
  }
  process.stdout.write(`${table(lines)}\n\n${date}, ${seconds} s\nbefore: ${began.machine}\nafter:  ${machine()}\n`)
}
