/** Reloads of a running daemon: everything at once or nothing, on record, and never half of each. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configurationSource, type StartedSource } from '../../src/daemon/configuration-source.ts'
import { parseConfiguration, type LoadedConfig } from '../../src/config/index.ts'
import { Stage } from '../../src/rehearsal/stage.ts'
import { parseScenario } from '../../src/rehearsal/scenario.ts'
import { shippedWorkflows } from '../../src/rehearsal/shipped-workflows.ts'
import { simulatedParts } from '../../src/rehearsal/simulated-parts.ts'
import type { BuiltRules } from '../../src/operations/reloads.ts'
import type { Rules } from '../../src/control/rules.ts'
import type { Entry } from '../../src/domain/entry.ts'
import type { ReloadReport } from '../../src/domain/operations.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import { startSimulator, VirtualClock } from '../../src/simulator/index.ts'
import { beatMs, SmallWorld } from '../daemon/small-world.ts'

const ann = { by: 'ann', reason: 'as agreed' }

/** A daemon over configuration "files" that the test rewrites. */
async function onStage(config: string, test: (stage: Stage, entries: Entry[]) => Promise<void>): Promise<void> {
  const entries: Entry[] = []
  const setting = parseScenario(`title: t\nconfig: ${config}\nscript: [{ after: 1s, note: n }]\n`, 't.yaml', 't')
  const stage = await Stage.open(setting, { entry: (entry) => void entries.push(entry), said: () => undefined })
  try {
    await stage.daemonDoes('start')
    await stage.clock.advance(30_000)
    await test(stage, entries)
    await stage.clock.run(stage.daemonDoes('stop'))
  } finally {
    await stage.close()
  }
}

const reload = (stage: Stage, change?: Record<string, unknown>, slip?: string): Promise<ReloadReport> => {
  stage.writeConfiguration(change, slip)
  return stage.clock.run(stage.operations().reload(ann))
}

describe('a reload', () => {
  it('says what holds now and what waits for a restart, until a restart or until the file is as it was', () =>
    onStage('{}', async (stage) => {
      const first = await reload(stage, { http: { listen: false }, fence_retry: '5s', segments: [segment('a')] })
      expect(first).toMatchObject({
        changed: ['fence_retry', 'segments[a] (new)'],
        waiting: ['http.listen'],
        mode: null,
      })
      expect(await reload(stage, {})).toMatchObject({ changed: [], waiting: ['http.listen'] })
      expect(stage.operations().status().configuration).toMatchObject({ loadedBy: 'ann', waiting: ['http.listen'] })
      expect(await reload(stage, { http: { listen: '127.0.0.1:9393' } })).toMatchObject({ waiting: [] })
    }))

  it('changes who may do what in the pages at once; where they listen waits', () =>
    onStage('{}', async (stage) => {
      expect(await reload(stage, { web: { listen: false, roles: { ops: 'admin' }, session: '1h' } })).toMatchObject({
        changed: ['web.roles.ops (new)', 'web.session', 'web.roles.admin (gone)', 'web.roles.reader (gone)'],
        waiting: ['web.listen'],
      })
    }))

  it('of a daemon that is stopping is refused at once, and systemd hears nothing of it', async () => {
    const loaded = parseConfiguration('', 'c.yaml', {})
    const heard: string[] = []
    const configuration = {
      loaded,
      read: () => loaded,
      build: () => Promise.reject(new Error('not built')),
      reloading: () => void heard.push('reloading'),
      reloaded: () => void heard.push('reloaded'),
    }
    await SmallWorld.run({ parts: { configuration } }, async ({ daemon, clock }) => {
      await clock.run(daemon.stop('SIGTERM'))
      await expect(clock.run(daemon.operations.reload(ann))).rejects.toMatchObject({ code: 'SHUTDOWN' })
      expect(heard).toEqual([])
    })()
  })

  it('is told to those who serve people once it holds, and only then', async () => {
    let text = ''
    const told: unknown[] = []
    const read = (): LoadedConfig => parseConfiguration(text, 'c.yaml', {})
    const adopted = ({ config }: LoadedConfig): void => void told.push(config.webRules.roles)
    let world: SmallWorld | null = null
    const build = (): Promise<BuiltRules> => builtIn(world)
    await SmallWorld.run({ parts: { configuration: { loaded: read(), read, build, adopted } } }, async (made) => {
      world = made
      const { daemon, clock } = made
      text = 'web: { roles: { ops: operator }, listen: false }'
      await clock.run(daemon.operations.reload(ann))
      text = 'web: { roles: { ops: boss } }'
      await expect(clock.run(daemon.operations.reload(ann))).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
      expect(told).toEqual([{ ops: 'operator' }])
    })()
  })

  it('names a secret that is another one now: in force, or waiting where what uses it was built at the start', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lifeboat-secrets-'))
    const keep = (name: string, secret: string): void => writeFileSync(join(directory, name), secret, { mode: 0o600 })
    const text = `mode: observe
shared_journal: { nodes: ['192.0.2.11:3306'], password_file: ${directory}/db }
notices: { receivers: { hook: { kind: webhook, url: 'https://192.0.2.2/', secret_file: ${directory}/hook } } }
`
    const read = (): LoadedConfig => parseConfiguration(text, null, {})
    let world: SmallWorld | null = null
    const build = (): Promise<BuiltRules> => builtIn(world)
    for (const name of ['db', 'hook']) keep(name, 'old'.repeat(9))
    await SmallWorld.run({ parts: { configuration: { loaded: read(), read, build } } }, async (made) => {
      world = made
      for (const name of ['db', 'hook']) keep(name, 'new'.repeat(9))
      const { daemon, clock } = made
      const named = (names: string[]): string[] => names.filter((name) => name.endsWith('_file'))
      for (const changed of [['notices.receivers.hook.secret_file'], []]) {
        const report = await clock.run(daemon.operations.reload(ann))
        expect([named(report.changed), named(report.waiting)]).toEqual([changed, ['shared_journal.password_file']])
      }
    })()
    rmSync(directory, { recursive: true })
  })

  it('puts segments, probes and the mode in force at once, before the next poll', () =>
    onStage('{}', async (stage, entries) => {
      expect(stage.operations().hosts()[0]?.segment).toBe('default:nova')
      const report = await reload(stage, { mode: 'observe', segments: [segment('a')] })
      expect(report.mode).toEqual({ from: 'armed', to: 'observe' })
      const { mode } = stage.operations().status()
      expect([
        mode,
        ...stage
          .operations()
          .hosts()
          .map((host) => host.segment),
      ]).toEqual(['observe', 'a', 'a', 'a', 'a'])
      const own = entries.filter(({ kind }) => kind === 'mode.changed' || kind === 'config.reloaded')
      expect(own.map(({ kind, actor }) => [kind, actor])).toEqual([
        ['config.reloaded', 'operator:ann'],
        ['mode.changed', 'operator:ann'],
      ])
      expect(own[1]?.data).toEqual({ from: 'armed', to: 'observe', ...ann })
    }))

  it('that is refused leaves everything, says so in status until one succeeds, and is on record', () =>
    onStage('{}', async (stage, entries) => {
      await expect(reload(stage, { mode: 'observe', defaults: { probes: ['nose'] } })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
      })
      const status = stage.operations().status()
      expect(status.mode).toBe('armed')
      expect(status.configuration).toMatchObject({ loadedBy: 'start', refused: { by: 'ann', code: 'CONFIG_INVALID' } })
      expect(status.configuration.refused?.problems[0]).toContain('probes has no "nose"')
      expect(entries.at(-1)).toMatchObject({ kind: 'config.refused', actor: 'operator:ann' })
      await reload(stage, { defaults: { probes: ['network'] } })
      expect(stage.operations().status()).toMatchObject({ mode: 'observe', configuration: { refused: null } })
    }))

  it('that cannot be written down does not happen', () =>
    onStage('{}', async (stage) => {
      stage.disk(true)
      await expect(reload(stage, { mode: 'observe' })).rejects.toMatchObject({ code: 'JOURNAL_UNAVAILABLE' })
      expect(stage.operations().status()).toMatchObject({
        mode: 'armed',
        configuration: { loadedBy: 'start', refused: { code: 'JOURNAL_UNAVAILABLE' } },
      })
      stage.disk(false)
      expect((await reload(stage)).mode).toEqual({ from: 'armed', to: 'observe' })
    }))

  it('names options and never a value: the journal holds no secret', () =>
    onStage('{}', async (stage, entries) => {
      const { changed } = await reload(stage, { fencing: { bmc: { password: 'hunter2' } } })
      expect(changed).toEqual(['fencing.bmc.password'])
      await expect(reload(stage, { fencing: { bmc: { password: ['hunter3'] } } })).rejects.toThrow()
      expect(JSON.stringify(entries)).not.toMatch(/hunter/)
    }))

  it('of many at once happens one after the other', () =>
    onStage('{}', async (stage, entries) => {
      stage.writeConfiguration({ mode: 'observe' }, undefined)
      const first = stage.operations().reload(ann)
      stage.writeConfiguration({ mode: 'armed' }, undefined)
      const second = stage.operations().reload({ by: 'bea', reason: '' })
      await stage.clock.run(Promise.all([first, second]))
      expect(entries.flatMap((entry) => (entry.kind === 'config.reloaded' ? [entry.data.by] : []))).toEqual([
        'ann',
        'bea',
      ])
      expect(stage.operations().status().mode).toBe('armed')
    }))
})

function segment(name: string): Record<string, unknown> {
  return { name, match: { hosts: ['*'] } }
}

/** The rules that the world began with, with a change. */
function builtIn(world: SmallWorld | null, change: (rules: Rules) => Partial<Rules> = () => ({})): Promise<BuiltRules> {
  if (world === null) throw new Error('not yet')
  const { clock, simulator, journal } = world
  const parts = simulatedParts(simulator, { clock, journal, workflow, beatMs, wire: simulator.wire() })
  const none = { changed: [], waiting: [], warnings: [], adopted: () => undefined, dropped: () => undefined }
  return Promise.resolve({ rules: { ...parts, ...change(parts) }, ...none })
}

/** A world whose every reload gives the rules that it began with, with a change. */
function changing(
  change: (rules: Rules) => Partial<Rules>,
  test: (world: SmallWorld) => Promise<void>,
): () => Promise<void> {
  let world: SmallWorld | null = null
  const loaded = parseConfiguration('', 'c.yaml', {})
  const build = (): Promise<BuiltRules> => builtIn(world, change)
  return SmallWorld.run({ parts: { configuration: { loaded, read: () => loaded, build } } }, (made) => {
    world = made
    return test(made)
  })
}

const workflowText = readFileSync(new URL('../../recovery-workflows/host-failure.yaml', import.meta.url), 'utf8')
const workflow = parseWorkflow(workflowText, 'host-failure.yaml', { ownerPolicy: defaultOwnerPolicy })
const revised = parseWorkflow(workflowText.replace(/^ {2}revision: 1$/m, '  revision: 2'), 'w.yaml', {
  ownerPolicy: defaultOwnerPolicy,
})

describe('what is under way', () => {
  it(
    'an open incident keeps its workflow, the next one has the new',
    changing(
      ({ workflows }) => ({ workflows: { ...workflows, host: revised } }),
      async (world) => {
        expect(revised.digest).not.toBe(workflow.digest)
        world.simulator.bmc('cmp01', { reachable: false })
        world.simulator.crash('cmp01')
        await world.until(() => world.incident('cmp01')?.held?.code === 'FENCE_FAILED')
        const { daemon } = world
        await world.clock.run(daemon.operations.reload(ann))
        expect(daemon.operations.status().workflow).toMatchObject({ revision: 2, digest: revised.digest })
        expect(
          world.journal.read({ kinds: ['workflow.pinned'] }).map(({ data }) => (data as { digest: string }).digest),
        ).toEqual([workflow.digest, revised.digest])
        world.simulator.bmc('cmp01', { reachable: true })
        expect((await world.ended('cmp01')).workflowDigest).toBe(workflow.digest)
        world.simulator.crash('cmp02')
        expect((await world.ended('cmp02')).workflowDigest).toBe(revised.digest)
      },
    ),
  )

  it(
    'a poll that hangs is thrown away and done again by the new rules; the reload does not wait for it',
    changing(
      ({ segmentOf }) => ({ segmentOf: (...host) => ({ ...segmentOf(...host), name: 'renamed' }) }),
      async (world) => {
        world.simulator.apiFault({ kind: 'hang-before', path: /os-services/, times: 1 })
        const reads = (): number => world.simulator.requests().filter(({ path }) => path.includes('os-services')).length
        const before = reads()
        await world.until(() => reads() > before)
        const at = world.clock.now()
        await world.clock.run(world.daemon.operations.reload(ann))
        expect(world.clock.now() - at).toBeLessThan(100)
        expect(world.daemon.monitor.segment('cmp01').name).toBe('renamed')
        await world.clock.advance(200)
        expect(world.daemon.operations.status().lastPoll).toMatchObject({ ok: true })
        expect(world.daemon.operations.hosts().map(({ segment }) => segment)).toEqual(Array(4).fill('renamed'))
        expect(world.journal.read({ kinds: ['monitor.frozen'] })).toEqual([])
      },
    ),
  )

  it(
    'what the old witnesses said is no word of the new ones',
    changing(
      ({ segmentOf }) => ({ segmentOf: (...host) => ({ ...segmentOf(...host), probes: [] }) }),
      async (world) => {
        world.simulator.crash('cmp01')
        await world.until(() => world.daemon.monitor.verdict('cmp01')?.evidence.probes.length === 2)
        await world.clock.run(world.daemon.operations.reload(ann))
        await world.until(() => world.incident('cmp01') !== undefined)
        // Without any witness it is dead only once Nova says so.
        expect(world.incident('cmp01')?.verdict?.evidence).toMatchObject({ state: 'down', probes: [] })
      },
    ),
  )
})

describe("the cloud's credentials", () => {
  async function withSource(
    test: (source: StartedSource, env: Record<string, string>, next: () => LoadedConfig) => Promise<void>,
  ): Promise<void> {
    const clock = new VirtualClock()
    const simulator = await startSimulator({ clock, hosts: 1, port: null })
    const access = Object.entries(simulator.cloud()).map(([key, value]) => [`OS_${key.toUpperCase()}`, String(value)])
    const env = Object.fromEntries(access) as Record<string, string>
    const next = (): LoadedConfig => parseConfiguration('', null, {})
    const random = (): number => 0.5
    const source = configurationSource({
      loaded: next(),
      read: next,
      context: {
        clock,
        observer: {},
        env,
        simulated: {
          wire: simulator.wire(),
          random,
          run: () => Promise.reject(new Error('none')),
          probe: () => undefined,
          receivers: simulator.wire(),
          sendmail: () => Promise.reject(new Error('none')),
        },
      },
      loadWorkflows: () => shippedWorkflows(defaultOwnerPolicy),
    })
    try {
      await clock.run(test(source, env, next))
    } finally {
      source.close()
      await simulator.close()
    }
  }

  it('that did not change leave the connection and its token as they are', () =>
    withSource(async (source, _env, next) => {
      const built = await source.build(next())
      expect(built).toMatchObject({ changed: [], waiting: [], warnings: [] })
      expect(built.rules.cloud).toBe(source.adapters.cloud)
    }))

  it('that Keystone refuses are refused, and the old ones stay', () =>
    withSource(async (source, env, next) => {
      const { OS_PASSWORD } = env
      env['OS_PASSWORD'] = 'not this one'
      await expect(source.build(next())).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('the old ones stay in use') as string,
      })
      env['OS_PASSWORD'] = OS_PASSWORD ?? ''
      expect((await source.build(next())).rules.cloud).toBe(source.adapters.cloud)
    }))

  it('whose certificate is gone are refused as a configuration that is not valid', () =>
    withSource(async (source, env, next) => {
      env['OS_CACERT'] = '/nowhere/ca.pem'
      await expect(source.build(next())).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('cacert /nowhere/ca.pem cannot be read: ENOENT') as string,
      })
    }))

  it('whose certificate is a device are refused: neither the comparison nor the connection waits for it', () =>
    withSource(async (source, env, next) => {
      env['OS_CACERT'] = '/dev/null'
      await expect(source.build(next())).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('cacert /dev/null cannot be read: it is a device') as string,
      })
    }))

  it('that are accepted are used from the next call on', () =>
    withSource(async (source, env, next) => {
      env['OS_API_TIMEOUT'] = '17'
      const built = await source.build(next())
      expect(built.changed).toEqual([expect.stringContaining('credentials, TLS or time limits of the cloud')])
      expect(built.rules.cloud).not.toBe(source.adapters.cloud)
      built.adopted()
      expect((await source.build(next())).rules.cloud).toBe(built.rules.cloud)
      expect((await built.rules.cloud.listServices()).services.length).toBeGreaterThan(0)
    }))

  it('of another address wait for a restart: they must not be sent there by a slip, and a journal belongs to one cloud', () =>
    withSource(async (source, env, next) => {
      env['OS_AUTH_URL'] = 'https://elsewhere:5000/v3'
      env['OS_PASSWORD'] = 'of elsewhere'
      const built = await source.build(next())
      expect(built.waiting).toEqual([expect.stringContaining('address, region or endpoints of the cloud')])
      expect(built.rules.cloud).toBe(source.adapters.cloud)
    }))
})
