/** Stack traces of the bundle, told by its source. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, expect, it } from 'vitest'
import { sourceStack } from '../../src/system/stacks.ts'

const directory = mkdtempSync(join(tmpdir(), 'lifeboat-stacks-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** What a bundle of this source says when it throws. */
async function thrownBy(source: string): Promise<string> {
  const input = join(directory, 'broken.ts')
  writeFileSync(input, source)
  const bundle = await rolldown({ input, platform: 'node', cwd: directory })
  await bundle.write({ dir: join(directory, 'out'), sourcemap: true })
  await bundle.close()
  // In a process of its own: this one's stack traces are told by its source already.
  return spawnSync(process.execPath, [join(directory, 'out', 'broken.js')], { encoding: 'utf8' }).stderr
}

it('names the line of the source, and leaves alone what has no map', async () => {
  const stack = await thrownBy(
    `interface Nothing {\n  here: never\n}\nconst none = null as unknown as Nothing\nvoid none.here\n`,
  )
  expect(stack).toMatch(/out\/broken\.js:\d+:\d+/)
  expect(stack).not.toMatch(/broken\.ts:/)
  expect(sourceStack(stack)).toMatch(/broken\.ts:5:11/)
  expect(sourceStack(stack)).not.toMatch(/at .*out\/broken\.js/)
  const strange = 'Error: x\n    at file:///nowhere/at-all.js:3:1\n    at node:internal/x:1:2'
  expect(sourceStack(strange)).toBe(strange)
})
