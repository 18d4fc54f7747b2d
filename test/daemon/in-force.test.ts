/** The word by which daemons that share a journal compare their rules, while one of them reloads: it is that of a daemon that starts with the same files. */
import { expect, it } from 'vitest'
import { parseConfiguration, type LoadedConfig } from '../../src/config/index.ts'
import type { Rules } from '../../src/control/rules.ts'
import { InForce } from '../../src/daemon/in-force.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import type { BuiltRules } from '../../src/operations/reloads.ts'
import { shippedWorkflows } from '../../src/rehearsal/shipped-workflows.ts'
import { simulatedParts } from '../../src/rehearsal/simulated-parts.ts'
import { beatMs, SmallWorld } from './small-world.ts'

const shipped = shippedWorkflows(defaultOwnerPolicy)
const order = { by: 'ann', reason: 'as agreed' }

/** A daemon whose files a test rewrites. */
interface Machine {
  inForce: InForce
  /** Rewrites them and reloads. Rejects as the reload does. */
  reload: (text: string, workflows?: Rules['workflows']) => Promise<unknown>
}

function machine(test: (machine: Machine) => Promise<void>): () => Promise<void> {
  let files = { text: '', workflows: shipped }
  let world: SmallWorld | null = null
  const read = (): LoadedConfig => parseConfiguration(files.text, 'c.yaml', {})
  const build = (): Promise<BuiltRules> => {
    if (world === null) throw new Error('not yet')
    const { clock, simulator, journal } = world
    const parts = simulatedParts(simulator, { clock, journal, workflow: shipped.host, beatMs, wire: simulator.wire() })
    const none = { changed: [], waiting: [], warnings: [], adopted: () => undefined, dropped: () => undefined }
    return Promise.resolve({ rules: { ...parts, workflows: files.workflows }, ...none })
  }
  const inForce = new InForce(read(), shipped)
  const adopted = (next: LoadedConfig, rules: Rules): void => inForce.adopt(next, rules)
  return SmallWorld.run({ parts: { configuration: { loaded: read(), read, build, adopted } } }, (made) => {
    world = made
    const reload = (text: string, workflows = shipped): Promise<unknown> => {
      files = { text, workflows }
      return made.clock.run(made.daemon.operations.reload(order))
    }
    return test({ inForce, reload })
  })
}

/** Of a daemon that starts with these files. */
const started = (text: string, workflows = shipped): string =>
  new InForce(parseConfiguration(text, 'c.yaml', {}), workflows).digest

const other = 'fence_retry: 7s'

it(
  'a daemon that reloaded is like one that starts with the new file, and no longer like one that has not read it',
  machine(async ({ inForce, reload }) => {
    expect(inForce.digest).toBe(started(''))
    await reload(other)
    expect(inForce.digest).toBe(started(other))
    expect(inForce.digest).not.toBe(started(''))
    await reload('')
    expect(inForce.digest).toBe(started(''))
  }),
)

it(
  'one that refused a file is like those that have not read it',
  machine(async ({ inForce, reload }) => {
    await expect(reload(`${other}\nmode: armd`)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(inForce.digest).toBe(started(''))
  }),
)

it(
  'one that read another workflow document is like one that starts with it, though no option changed',
  machine(async ({ inForce, reload }) => {
    const revised = { ...shipped, host: { ...shipped.host, digest: 'revised' } }
    await reload('', revised)
    expect(inForce.digest).toBe(started('', revised))
    expect(inForce.digest).not.toBe(started(''))
  }),
)
