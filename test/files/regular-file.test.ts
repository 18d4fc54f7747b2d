import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readNamedFile, readRegularFile } from '../../src/system/regular-file.ts'

let directory: string
const at = (name: string): string => join(directory, name)

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'files-'))
  writeFileSync(at('file'), 'what it holds')
  symlinkSync(at('file'), at('link'))
  execFileSync('mkfifo', [at('pipe')])
  symlinkSync(at('pipe'), at('link-to-pipe'))
})
afterAll(() => rmSync(directory, { recursive: true }))

describe('a file that the configuration names', () => {
  it.each(['file', 'link'])('is read: %s', (name) => {
    expect(readRegularFile(at(name)).toString()).toBe('what it holds')
  })

  it.each([
    ['pipe', /^it is a pipe .*and no file: only a regular file, or a link to one, is read$/],
    ['link-to-pipe', /^it is a pipe/],
    ['.', /^it is a directory, and no file/],
    ['/dev/null', /^it is a device or a socket, and no file/],
  ])('is not read, and not waited for, when it is %s', (name, message) => {
    expect(() => readRegularFile(name.startsWith('/') ? name : at(name))).toThrow(message)
  })

  it('that cannot be read is told with what it is, where it is, and why', () => {
    const failure = (name: string): unknown => {
      try {
        return readNamedFile('The key', name)
      } catch (thrown) {
        return thrown
      }
    }
    const invalid = (message: unknown): unknown => expect.objectContaining({ code: 'CONFIG_INVALID', message })
    expect(failure(at('nothing'))).toEqual(
      invalid(expect.stringMatching(/^The key .*\/nothing cannot be read: ENOENT/)),
    )
    expect(failure(at('nothing'))).toMatchObject({ cause: { code: 'ENOENT' } })
    expect(failure(at('pipe'))).toEqual(
      invalid(expect.stringMatching(/^The key .*\/pipe cannot be read: it is a pipe/)),
    )
  })
})
