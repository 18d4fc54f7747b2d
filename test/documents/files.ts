/** What the documents' tests read: the project's own text files, without what is built or installed. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'

export const root = fileURLToPath(new URL('../..', import.meta.url))

const written = /\.(ts|tsx|mjs|cjs|md|yaml|rules|scd|json|Debian)$/
const folders = ['bench', 'config', 'docs', 'recovery-workflows', 'scripts', 'src', 'systemd', 'test']
const alone = ['README.md', 'CHANGELOG.md', '.oxfmtrc.json', '.dependency-cruiser.cjs', 'stryker.config.mjs']

/** Paths in the project, with slashes. */
export const files: readonly string[] = [
  ...alone,
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  ),
].filter((path) => written.test(path))

/** The text of one of them. */
export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
