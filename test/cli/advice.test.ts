/** The command of an advice does what its text says, as a person pastes it into a shell. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listenForOperators } from '../../src/api/index.ts'
import { SmallWorld } from '../daemon/small-world.ts'
import { run } from './fake-commands.ts'

/** The words of a command line, as the shell takes them. */
function wordsOf(command: string): string[] {
  return execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n')
}

it(
  'a guest whose restarts are spent is restarted once more by the command that the advice names, and by it alone',
  SmallWorld.run({}, async (world) => {
    const { simulator, daemon, clock } = world
    const directory = mkdtempSync(join(tmpdir(), 'lb-'))
    const { operations, review } = daemon
    const server = await listenForOperators({ operations, review, clock }, join(directory, 'lifeboat.sock'))
    try {
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      const open = () => operations.incidents({ host: 'cmp01', open: true })
      const payload = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: uuid }
      for (let crash = 1; crash <= 4; crash++) {
        simulator.crashGuest(uuid, { unheard: true })
        const generatedAt = new Date(clock.wall()).toISOString()
        daemon.reports.receive({ about: 'VM', host: 'cmp01', payload, by: 'monitor', via: null, generatedAt })
        await world.until(() => open().length > 0)
        await world.until(() => open().length === 0 || open()[0]?.held?.code === 'RESTARTS_SPENT')
      }
      const [incident] = open()
      const [advice] = review.incident(incident?.id ?? '').advice
      expect(advice?.code).toBe('HELD_RESTARTS_SPENT')
      await clock.advance(600_000)
      expect(simulator.truth().running[uuid] ?? []).toEqual([])
      const [program, ...argv] = wordsOf(advice?.command ?? '')
      expect(program).toBe('lifeboat')
      const { exit, err } = await run(argv, {}, { config: `state_dir: ${directory}\n` })
      expect([exit, err]).toEqual([0, ''])
      await world.until(() => open().length === 0)
      expect(simulator.truth().running[uuid]).toEqual(['cmp01'])
    } finally {
      await server.close()
      rmSync(directory, { recursive: true, force: true })
    }
  }),
)
