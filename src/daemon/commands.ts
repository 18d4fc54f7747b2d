/** What the command line asks for, composed of the real parts. */
import { fileURLToPath } from 'node:url'
import { readFileSync } from 'node:fs'
import type { Commands } from '../cli/composition.ts'
import { buildAdapters } from './adapters.ts'
import { checkUp } from './check-up.ts'
import { runDemo } from './demo.ts'
import { writeGeneratedFiles } from './generated-files.ts'
import { openJournalAccess } from './journal-access.ts'
import { sendTest } from './notice-receivers.ts'
import { planHost } from './plan-host.ts'
import { readMasakari } from './masakari-reading.ts'
import { perform, scenarioList } from './rehearsal/performance.ts'
import { runDaemon } from './run.ts'
import { systemClock as clock } from './system-clock.ts'
import { checkWorkflowFiles, loadHostFailure } from './workflow-files.ts'
import { testWorkflowFiles } from './workflow-tests.ts'

const packageFile = fileURLToPath(new URL('../../package.json', import.meta.url))

export function createCommands(): Commands {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  return {
    version,
    clock,
    runDaemon: (load) => runDaemon(load, version),
    check: (config) => checkUp(config, { clock, env: process.env }),
    planHost: async (config, host) => {
      const workflow = loadHostFailure(config)
      const { cloud, segmentOf } = buildAdapters(config, { clock, observer: {}, env: process.env })
      try {
        return await planHost({ cloud, clock, workflow, segmentOf }, host)
      } finally {
        cloud.close()
      }
    },
    testNotice: (config, order) => sendTest(config, order, clock),
    openReader: (config) => openJournalAccess(config.journal, config),
    checkWorkflows: (config, files) => Promise.resolve(checkWorkflowFiles(config, files)),
    scenarios: () => scenarioList(),
    rehearse: (tell, options) => perform(tell, options, clock),
    demo: (write, options) => runDemo(write, options, process.env),
    testWorkflows: (config, files) => Promise.resolve(testWorkflowFiles(config, files)),
    importMasakari: (config) => readMasakari(config, { clock, env: process.env }),
    generate: () => writeGeneratedFiles(),
  }
}
