import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { generatedFiles } from '../../src/reference/generated-files.ts'

it.each([...(await generatedFiles())])('%s is what its source makes (npm run generate)', (path, text) => {
  expect(readFileSync(path, 'utf8')).toBe(text)
})
