/** A standby that is told to reload reads, checks and adopts as the active daemon does, and records nothing. As processes: test/galera/hand-over.test.ts. */
import { expect, it } from 'vitest'
import { parseConfiguration, type LoadedConfig } from '../../src/config/index.ts'
import { Daemon } from '../../src/daemon/daemon.ts'
import type { ConfigurationState, ReloadReport } from '../../src/domain/operations.ts'
import { notActive, type TenureView } from '../../src/domain/tenure.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { shippedWorkflows } from '../../src/rehearsal/shipped-workflows.ts'
import { simulatedParts } from '../../src/rehearsal/simulated-parts.ts'
import { beatMs, SmallWorld } from './small-world.ts'

const view: TenureView = {
  ...{ state: 'standby', name: 'ctl2', epoch: 1, active: { name: 'ctl1', address: '' }, waits: 'ctl1 is active' },
  ...{ leaseLeftMs: null, staged: 0, behind: 0, daemons: [], namesake: null },
}

interface Standby {
  daemon: Daemon
  /** Rewrites its file and tells it to reload. */
  reload: (text: string, of?: Daemon) => Promise<ReloadReport>
  /** Builds the daemon that takes its place, with what it had put in force. */
  takesOver: () => Daemon
  /** What telemetry heard of configurations. */
  heard: string[]
  adopted: LoadedConfig[]
}

/** Beside an active daemon on the same journal. */
function standby(test: (standby: Standby) => Promise<void>): () => Promise<void> {
  return SmallWorld.run({}, async ({ clock, simulator, journal }) => {
    let text = ''
    const heard: string[] = []
    const adopted: LoadedConfig[] = []
    let noted: ConfigurationState | null = null
    const read = (): LoadedConfig => parseConfiguration(text, 'c.yaml', {})
    const loaded = read()
    const workflow = shippedWorkflows(defaultOwnerPolicy).host
    const parts = simulatedParts(simulator, {
      clock,
      journal,
      workflow,
      beatMs,
      mode: 'observe',
      wire: simulator.wire(),
    })
    const none = { changed: [], waiting: [], warnings: [], adopted: () => undefined, dropped: () => undefined }
    const build = (): Daemon =>
      new Daemon({
        ...parts,
        ...{ journalPath: 'copy.db', tenure: () => view },
        journal: {
          ...journal,
          append: () => {
            throw notActive(view)
          },
        },
        observer: {
          configuration: ({ ok }) => heard.push(ok ? 'in force' : 'rejected'),
          log: (level, event) => void (event.startsWith('config.') && heard.push(`${level} ${event}`)),
        },
        configuration: {
          ...{ loaded, read, inForce: adopted.at(-1) ?? loaded, state: noted },
          noted: (state) => (noted = state),
          build: ({ config }) => Promise.resolve({ rules: { ...parts, mode: config.mode }, ...none }),
          adopted: (next) => adopted.push(next),
        },
      })
    const daemon = build()
    const reload = (next: string, of = daemon): Promise<ReloadReport> => {
      text = next
      return clock.run(of.operations.reload({ by: 'ann', reason: 'as agreed' }))
    }
    const before = journal.head().seq
    await test({ daemon, reload, takesOver: build, heard, adopted })
    expect(journal.read({ after: before, kinds: ['config.reloaded', 'config.refused', 'mode.changed'] })).toEqual([])
  })
}

it(
  'puts it in force, says so in the log, and counts it as a success',
  standby(async ({ daemon, reload, heard, adopted }) => {
    expect(await reload('mode: armed')).toMatchObject({ changed: ['mode'], mode: { from: 'observe', to: 'armed' } })
    const { mode, configuration } = daemon.operations.status()
    expect([mode, configuration.loadedBy]).toEqual(['armed', 'ann'])
    expect(adopted.map(({ config }) => config.mode)).toEqual(['armed'])
    expect(heard).toEqual(['info config.reloaded', 'in force'])
  }),
)

it(
  'rejects what it could not start with, and counts that as a failure: its next start would fail',
  standby(async ({ daemon, reload, heard, adopted }) => {
    await expect(reload('mode: armd')).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    const { mode, configuration } = daemon.operations.status()
    expect([mode, configuration.refused?.code]).toEqual(['observe', 'CONFIG_INVALID'])
    expect([heard, adopted]).toEqual([['rejected', 'error config.refused'], []])
  }),
)

it(
  'leaves to the daemon that takes its place what it was reading then: nothing was rejected',
  standby(async ({ daemon, reload, heard, adopted }) => {
    const reloading = reload('mode: armed')
    daemon.supersede()
    await expect(reloading).rejects.toMatchObject({ code: 'SHUTDOWN' })
    expect([heard, adopted]).toEqual([[], []])
  }),
)

it(
  'has read it for the daemon that takes its place: a reload there finds nothing new, and still names what waits for a restart',
  standby(async ({ reload, takesOver }) => {
    const text = 'mode: armed\nhttp: { listen: false }'
    await reload(text)
    expect(await reload(text, takesOver())).toMatchObject({ changed: [], waiting: ['http.listen'] })
  }),
)

it(
  'what waits for a restart, and what was rejected, is said by the daemon that takes over, too',
  standby(async ({ reload, takesOver }) => {
    await reload('mode: armed\nhttp: { listen: false }')
    await reload('mode: nonsense').catch(() => undefined)
    const { loadedBy, waiting, refused } = takesOver().operations.status().configuration
    expect([loadedBy, waiting, refused?.by]).toEqual(['ann', ['http.listen'], 'ann'])
  }),
)
