import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { expect, it } from 'vitest'
import { buildText } from '../../src/system/build.ts'

/** The program as it is built: `npm run build`, as `npm test` does. */
const program = new URL('../../dist/bundle/main.js', import.meta.url).pathname

it('--version says the version, what was built of which commit, and with which Node.js', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const said = execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' })
  expect(said).toBe(`${buildText(version)}\n`)
  expect(said).toMatch(
    /^[\d.]+, bundle of (an unknown commit|commit [0-9a-f]{12}.* \(\d{4}-\d\d-\d\d\)), built with Node\.js [\d.]+\n$/,
  )
})

it('what it says is from the build: it is the same where there is no Git', () => {
  const away = { cwd: '/', encoding: 'utf8', env: { PATH: '/nowhere' } } as const
  expect(execFileSync(process.execPath, [program, '--version'], away)).toBe(
    execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' }),
  )
})

it('its files are ASCII, for V8 keeps the text of a file with one wider character in two bytes a character', () => {
  const folder = dirname(program)
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'))
  expect(files).not.toEqual([])
  for (const name of files) {
    const bytes = readFileSync(join(folder, name))
    expect(bytes.toString('latin1'), name).toBe(bytes.toString('ascii'))
  }
})
