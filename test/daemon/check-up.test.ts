/** What `lifeboat check` says before it can ask the cloud anything. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CheckLine } from '../../src/cli/composition.ts'
import { checkUp } from '../../src/daemon/check-up.ts'
import { parseConfig } from '../../src/daemon/config/index.ts'
import { VirtualClock } from '../../src/simulator/index.ts'

let directory: string
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'lb-'))))
afterEach(() => rmSync(directory, { recursive: true, force: true }))

async function lastLine(config: string, clouds: string): Promise<CheckLine | undefined> {
  const file = join(directory, 'clouds.yaml')
  writeFileSync(file, clouds)
  const env = { OS_CLIENT_CONFIG_FILE: file }
  let last: CheckLine | undefined
  const parsed = parseConfig(`state_dir: ${directory}\n${config}`, join(directory, 'lifeboat.yaml'), env)
  const clock = new VirtualClock()
  for await (const line of checkUp(parsed, { clock, env })) last = line
  clock.close()
  return last
}

const clouds = 'clouds: { east: { region_name: e }, west: { region_name: w } }\n'

it.each([
  ['no cloud is chosen', '', clouds, 'choose one of east, west'],
  ['one that is not there is chosen', 'cloud: north\n', clouds, 'cloud "north" was not found; there is: east, west'],
  ['clouds.yaml is wrong', 'cloud: east\n', 'clouds: [', 'clouds.yaml:'],
])('when %s, it says where clouds are chosen, and asks nobody', async (_what, config, text, message) => {
  expect(await lastLine(config, text)).toEqual({
    what: 'cloud',
    result: 'fail',
    message: expect.stringContaining(message),
    advice: 'Check clouds.yaml, cloud in the configuration, and the OS_* variables',
  })
})
