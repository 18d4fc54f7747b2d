/** How this program was built: what its build wrote down beside it. Asked of no one when it runs, so it is as true of a copy. */
import { existsSync, readFileSync } from 'node:fs'
import { installed } from './installed.ts'

interface Build {
  /** What of: `bundle` (npm), `package` (Debian's) or `image`. */
  form: string
  /** Null: built outside a Git checkout. */
  commit: string | null
  /** Files were other than the commit has them. */
  changed: boolean
  /** Day of the commit, UTC. */
  date: string | null
  node: string
}

/** Written by scripts/bundle.mjs; the package and the image put their own name into it. */
const file = installed('dist/bundle/build.json')

/** For people, the version first. The version alone where nothing was built. */
export function buildText(version: string): string {
  if (!existsSync(file)) return version
  const { form, commit, changed, date, node } = JSON.parse(readFileSync(file, 'utf8')) as Build
  const source =
    commit === null
      ? 'an unknown commit'
      : `commit ${commit}${changed ? ' with changes' : ''}${date === null ? '' : ` (${date})`}`
  return `${version}, ${form} of ${source}, built with Node.js ${node}`
}
