/**
 * The daemon as a process: builds everything from the configuration, runs until a signal, and takes it all down again in
 * reverse. Straight-line on purpose: each part registers how it ends right where it begins, so that a start that fails half
 * way leaves nothing behind.
 */
import { join } from 'node:path'
import { listenForOperators, listenForPeople, listenPublicly, type SecureListener } from '../api/index.ts'
import { ensureError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import { openExit } from '../domain/tenure.ts'
import { cloudConfigOf } from '../adapters/adapters.ts'
import { openJournal, type JournalWriter } from '../journal/journal.ts'
import { countAside } from '../journal/put-aside.ts'
import { CopyDiffers } from '../journal/shared/tenure-errors.ts'
import { mustBeOwn } from '../journal/shared/whereabouts.ts'
import { createSystemdNotify } from '../telemetry/systemd-notify.ts'
import { createTelemetry } from '../telemetry/telemetry.ts'
import { watchCloud } from './cloud-watch.ts'
import type { LoadedConfig } from '../config/index.ts'
import { configurationSource } from './configuration-source.ts'
import { Daemon } from './daemon.ts'
import { daemonParts } from './daemon-parts.ts'
import { detectionAdvice } from '../config/detection-advice.ts'
import { hangUpSignal } from './hang-up.ts'
import { InForce } from './in-force.ts'
import { LogLevelInForce } from '../operations/log-level.ts'
import { ownResources } from './own-resources.ts'
import { startSchedules } from './schedules.ts'
import { installed } from '../system/installed.ts'
import { systemClock as clock } from '../system/system-clock.ts'
import { inUse, joinShared, JoinedExit, sharedStore, tellPutAside } from './shared-journal.ts'
import { activity, confirmed, deposed, goodPollAgeMs, onlyActive, standBy, standing } from './standby.ts'
import { Teardown } from './teardown.ts'
import { listenAsMasakari } from '../masakari/api/listener.ts'
import { loadWorkflows } from '../preflight/workflow-files.ts'

/**
 * Longest time for an orderly stop. A write in flight may take its whole time limit to be answered; shorter would leave it
 * to be reconciled at the next start. The unit's TimeoutStopSec must be longer.
 */
const stopLimitMs = 75_000

/**
 * What is read for readiness waits this long after a start. Shorter takes Nova and memory from what a run before left to do; longer, and the
 * page of hosts says "not read yet" for longer.
 */
const readinessAfterMs = 60_000

/** Where the build puts the pages. */
const builtPages = installed('dist/web')

/**
 * Runs until SIGTERM or SIGINT; SIGHUP reads the configuration again. Rejects when it cannot start; then nothing is left
 * running.
 *
 * @param load reads the configuration; called again at each reload
 * @returns whether it is to be started again at once: it handed over, or put its copy aside, and stands by from then on
 */
export async function runDaemon(load: () => LoadedConfig, version: string): Promise<'stopped' | 'again'> {
  const loaded = load()
  const { config } = loaded
  const teardown = new Teardown(clock)
  const stopped = stopSignal()
  const ending: { how: 'stopped' | 'again'; differs: CopyDiffers | null } = { how: 'stopped', differs: null }
  const hangUp = hangUpSignal()
  const telemetry = createTelemetry({ level: config.logLevel, format: config.logFormat, clock, version })
  const { observer } = telemetry
  const systemd = createSystemdNotify({
    clock,
    environment: process.env,
    progress: () => telemetry.health.progress(),
    onError: (error) => observer.log('warn', 'systemd.notify_failed', {}, error),
  })
  try {
    for (const { message, advice } of loaded.warnings) observer.log('warn', 'config.warning', { message, advice })
    for (const { message, advice } of detectionAdvice(config))
      observer.log('warn', 'detection.advice', { message, advice })
    // Before the journal: credentials that are missing must leave no file behind.
    const { sharedJournal: sharing } = config
    const joined = sharing === null ? null : new JoinedExit()
    const source = configurationSource({
      loaded,
      read: load,
      context: { clock, observer, env: process.env, exit: joined ?? openExit },
      loadWorkflows,
    })
    teardown.add('connections', () => source.close())
    const onListenerError = (thrown: unknown): void =>
      observer.log('error', 'journal.listener_failed', {}, ensureError(thrown))
    const file = openJournal(config.journal, {
      clock,
      onWrite: (seen) => telemetry.journalWrite(seen),
      onListenerError,
    })
    // Kept outside of the journal, these show that entries were changed or cut off since.
    logHead(observer, 'journal.opened', file)
    if (file.warning !== null) observer.log('warn', 'journal.head_unknown', { message: file.warning })
    teardown.add('journal', () => {
      logHead(observer, 'journal.closed', file)
      if (ending.differs === null) file.close()
      else tellPutAside(observer, ending.differs, file.putAside())
    })
    if (sharing === null) mustBeOwn(file)
    const store = sharing === null ? null : await sharedStore(sharing, clock, observer)
    if (store !== null) teardown.add('shared journal', () => store.close())
    let putBack = 0
    const inForce = new InForce(loaded, source.workflows)
    const handOver = (why: string): void => {
      ending.how = 'again'
      stopped.begin(why)
    }
    const shared =
      sharing === null || store === null
        ? null
        : joinShared(sharing, cloudConfigOf(config, { env: process.env }).authUrl, {
            ...{ copy: file, store, clock, observer, version, onListenerError },
            configDigest: () => inForce.digest,
            putBack: (entries) => (putBack += entries),
            unwritable: (problem) => telemetry.journalWrite({ tookMs: 0, problem }),
            // systemd starts it again, and it stands by.
            shouldHandOver: (why) => handOver(why),
            mode: () => inForce.mode,
            goodPollAgeMs: () => goodPollAgeMs(daemon, clock),
          })
    if (shared !== null) joined?.join(shared.tenure)
    const journal = shared?.journal ?? file
    if (shared !== null) teardown.add('tenure', () => shared.release(stopped.why()))
    const listeners: SecureListener[] = []
    const logLevel = new LogLevelInForce(clock, config.logLevel, (level) => telemetry.logger.setLevel(level))
    let acts = shared === null
    const status = (): string => (acts ? `Watching, ${inForce.mode}` : 'Standing by')
    const build = (watched?: Daemon): Daemon =>
      new Daemon({
        ...daemonParts(config, {
          ...{ clock, observer, version, journal, logLevel },
          ...(shared !== null && {
            tenure: () => shared.tenure.view(),
            handOver: (why: string) => {
              // However late it is recorded: on record and never carried out, it would have to be ordered again.
              shared.tenure.recorded().then(
                () => handOver(why),
                (thrown: unknown) => observer.log('error', 'hand_over.not_recorded', { why }, ensureError(thrown)),
              )
            },
          }),
          ...(watched !== undefined && { watched }),
          journalPath: config.journal,
          adapters: source.adapters,
          workflows: source.workflows,
          configuration: {
            ...source,
            inForce: inForce.loaded,
            state: inForce.state,
            noted: (state) => (inForce.state = state),
            reloading: () => systemd.reloading(),
            adopted: (next, rules) => inForce.adopt(next, rules),
            reloaded: () => {
              for (const listener of listeners) listener.reloadTls()
              systemd.ready(status())
            },
          },
        }),
        // Where a standby was told to reload, it takes over with that.
        ...inForce.rules,
      })
    let daemon = build()
    teardown.add('recoveries', () => daemon.stop(stopped.why()))
    const sources = {
      operations: inUse(() => daemon.operations),
      review: inUse(() => daemon.review),
      recorded: shared === null ? undefined : () => confirmed(shared.tenure, clock),
      ...{ clock, observer },
    }
    const operators = await listenForOperators(sources, config.socket)
    logPlace(observer, 'socket', `The operators' socket is ${config.socket}`, config.socket)
    teardown.add('socket', () => operators.close())
    if (config.web !== null) {
      const parts = { ...sources, people: source.people }
      const web = await listenForPeople(parts, {
        ...config.web,
        rules: () => inForce.config.webRules,
        pages: builtPages,
      })
      listeners.push(web)
      const tls = config.web.tls === null ? 'without TLS' : 'over TLS'
      logPlace(observer, 'web', `Pages and REST API listen at ${web.address}, ${tls}`, web.address)
      teardown.add('web', () => web.close())
    }
    if (config.masakariApi !== null) {
      const parts = {
        ...sources,
        reports: inUse(() => daemon.reports),
        failover: inUse(() => daemon.failover),
        people: source.people,
        mayWrite: shared === null ? undefined : () => onlyActive(shared.tenure),
      }
      const masakari = await listenAsMasakari(parts, {
        ...config.masakariApi,
        rules: () => inForce.config.masakariRules,
      })
      listeners.push(masakari)
      logPlace(observer, 'masakari_api', `Masakari's API listens at ${masakari.address}`, masakari.address)
      teardown.add("Masakari's API", () => masakari.close())
    }
    if (config.http !== null) {
      const machines = await listenPublicly({ ...telemetry, active: () => activity(shared?.tenure) }, config.http)
      logPlace(observer, 'http', `Metrics and health listen at ${machines.address}`, machines.address)
      teardown.add('http', () => machines.close())
    }
    teardown.add(
      'schedules',
      startSchedules({
        clock,
        journal,
        store: inUse(() => daemon.store),
        observer,
        backupDirectory: join(config.stateDir, 'backups'),
      }),
    )
    telemetry.beforeScrape(() => ({
      ...ownResources(config.journal),
      ...(shared !== null && standing(shared.tenure.view(), { putBack, aside: countAside(config.journal) })),
    }))
    const looks = new AbortController()
    const looking = watchCloud({ cloud: source.cloudInUse, clock, observer, signal: looks.signal })
    teardown.add('looks at the cloud', () => {
      looks.abort()
      return looking
    })
    observer.configuration({ ok: true })
    teardown.add('watchdog', systemd.startWatchdog())
    const reload = async (name: string): Promise<void> => {
      const asked = daemon
      await asked.reloadBySignal(name)
      // It took over meanwhile.
      if (asked !== daemon) await daemon.reloadBySignal(name)
    }
    hangUp.begin((name) => void reload(name))
    if (shared !== null) {
      systemd.ready(status())
      const active = await standBy(shared.tenure, daemon, stopped.signal).catch((thrown: unknown) => {
        if (!(thrown instanceof CopyDiffers)) throw thrown
        ending.how = 'again'
        ending.differs = thrown
        return false
      })
      if (!active) return ending.how
      // A take-over is a restart: the same folds from the same journal, and what was learnt of heartbeats.
      daemon.supersede()
      daemon = build(daemon)
      acts = true
      shared.tenure.ended.addEventListener('abort', () => deposed(observer, shared.tenure, stopped.isOrdered()))
    }
    daemon.start()
    daemon.watchReadiness(readinessAfterMs)
    systemd.ready(status())
    await stopped.signal
    systemd.stopping('Stopping; recoveries go on at the next start')
    return ending.how
  } finally {
    for (const problem of await teardown.run(stopLimitMs))
      observer.log('error', 'stop.incomplete', { message: problem })
    hangUp.release()
    stopped.release()
  }
}

/** Where someone finds it: the port may be any free one, and an address in a file may not be the one in use. */
function logPlace(
  observer: Observer,
  listener: 'web' | 'masakari_api' | 'http' | 'socket',
  message: string,
  address: string,
): void {
  observer.log?.('info', 'listener.ready', { message, listener, address })
}

function logHead(observer: Observer, event: string, journal: JournalWriter): void {
  const { seq, hash } = journal.head()
  const word = event === 'journal.opened' ? 'begins' : 'ends'
  const message = `This run ${word} with entry ${seq} of the journal, hash ${hash}`
  observer.log?.('info', event, { message, path: journal.path, entries: seq, head: hash })
}

interface Stop {
  /** Resolves at the first SIGTERM or SIGINT, or at `begin`. Later ones are ignored: an orderly stop has its own time limit. */
  signal: Promise<void>
  why: () => string
  isOrdered: () => boolean
  begin: (why: string) => void
  release: () => void
}

function stopSignal(): Stop {
  let reason = 'start failed'
  let ordered = false
  let begin = (_why: string): void => undefined
  const signal = new Promise<void>((resolve) => {
    begin = (why) => {
      if (ordered) return
      reason = why
      ordered = true
      resolve()
    }
    process.on('SIGTERM', begin)
    process.on('SIGINT', begin)
  })
  return {
    ...{ signal, begin },
    why: () => reason,
    isOrdered: () => ordered,
    release: () => {
      process.off('SIGTERM', begin)
      process.off('SIGINT', begin)
    },
  }
}
