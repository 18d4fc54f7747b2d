/**
 * `npm run chaos`: random trouble on the lab's real Nova during recoveries, judged by what truly ran where. chaos.ts says what it does.
 *
 *   --rounds N    how many (default 100)
 *   --seed S      of the first round; the next one has S+1. A round is played again with --seed ITS-SEED --rounds 1
 *   --only KIND   every round has this trouble (--only list names them)
 *   --standby     three daemons that share a journal in Galera instead (standby.ts; needs
 *                 Debian's faketime); with --rounds and --seed alone
 *   --logs DIR    where failing rounds leave their logs (default: a new directory under the system's temporary one)
 */
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

process.chdir(fileURLToPath(new URL('../..', import.meta.url)))
const words = process.argv.slice(2)
const isStandby = words.includes('--standby')
const file = isStandby ? './test/chaos/standby.ts' : './test/chaos/chaos.ts'
const { module } = await runnerImport(file, { configFile: false, logLevel: 'error' })
const play = isStandby ? module.standbyChaos : module.chaos
process.exit(await play(words.filter((word) => word !== '--standby')))
