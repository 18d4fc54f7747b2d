/**
 * What the command line asks for, composed of the real parts. Each is loaded when its verb runs: the daemon, its pages and the
 * simulator take most of a second to load, and a shell that completes a word waits for it.
 */
import { readFileSync } from 'node:fs'
import type { Commands } from './cli/composition.ts'
import type { LookAtNode } from './preflight/check-shared-journal.ts'
import type { Looks } from './preflight/check-up.ts'
import { openJournalAccess } from './review/journal-access.ts'
import { buildText } from './system/build.ts'
import { installed } from './system/installed.ts'
import { systemClock as clock } from './system/system-clock.ts'

const packageFile = installed('package.json')

export function createCommands(): Commands {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  const { env } = process
  return {
    version,
    build: buildText(version),
    clock,
    runDaemon: async (load) => (await import('./daemon/run.ts')).runDaemon(load, version),
    check: async function* (config) {
      const { checkUp } = await import('./preflight/check-up.ts')
      const lookAtNode: LookAtNode = async (sharing, node) =>
        (await import('./daemon/shared-journal-acts.ts')).lookAtNode(sharing, node, clock)
      const journalProblem: Looks['journalProblem'] = async (of) =>
        (await import('./daemon/shared-journal-acts.ts')).journalProblem(of, clock)
      yield* checkUp(config, { clock, env, lookAtNode, journalProblem })
    },
    planFailure: async (config, subject) => {
      const { loadWorkflows } = await import('./preflight/workflow-files.ts')
      const { buildAdapters } = await import('./adapters/adapters.ts')
      const { planFailure } = await import('./preflight/plan-host.ts')
      const workflows = loadWorkflows(config)
      const { cloud, segmentOf } = buildAdapters(config, { clock, observer: {}, env })
      try {
        return await planFailure({ cloud, clock, workflows, segmentOf, ownerPolicy: config.ownerPolicy }, subject)
      } finally {
        cloud.close()
      }
    },
    testNotice: async (config, order) =>
      (await import('./adapters/notice-receivers.ts')).sendTest(config, order, clock),
    logIn: async (asked) => (await import('./openstack/person-login.ts')).personLogin(asked, clock),
    openReader: (config) => openJournalAccess(config.journal, config),
    sharedJournalScript: async (config, from) =>
      (await import('./daemon/shared-journal-acts.ts')).sharedJournalScript(config, { env, version, from }),
    moveJournal: async (config, order) =>
      (await import('./daemon/shared-journal-acts.ts')).moveJournal(config, order, { env, clock }),
    checkWorkflows: async (config, files) =>
      (await import('./preflight/workflow-files.ts')).checkWorkflowFiles(config, files),
    scenarios: async () => (await import('./rehearsal/performance.ts')).scenarioList(),
    rehearse: async (tell, options) => (await import('./rehearsal/performance.ts')).perform(tell, options, clock),
    rehearseOwn: async (tell, options) => {
      const { loadWorkflows } = await import('./preflight/workflow-files.ts')
      const { performOwn } = await import('./rehearsal/own-performance.ts')
      await performOwn(tell, { ...options, clock, env, workflows: loadWorkflows })
    },
    demo: async (write, options) => (await import('./rehearsal/demo.ts')).runDemo(write, options, env),
    demoPages: async (write, options) =>
      (await import('./rehearsal/demo-pages.ts')).runDemoPages(write, options, stopSignal()),
    testWorkflows: async (config, files) =>
      (await import('./rehearsal/workflow-tests.ts')).testWorkflowFiles(config, files),
    importMasakari: async (config) =>
      (await import('./masakari/masakari-reading.ts')).readMasakari(config, { clock, env }),
    generate: async () => (await import('./reference/generated-files.ts')).writeGeneratedFiles(),
  }
}

/** The first SIGINT or SIGTERM from now on. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve(name))
  })
}
