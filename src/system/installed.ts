/** Where the program's own files lie: workflows, scenarios, pages. Knows the folder, not what is in it. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The path of a file or folder that comes with the program, counted from the folder of its package.json. The code that asks
 * may be a module (src/, dist/) or a part of the bundle (dist/bundle/): nobody may count folders upwards from where they stand.
 */
export function installed(path: string): string {
  return join(home, path)
}

const home = homeOf(dirname(fileURLToPath(import.meta.url)))

function homeOf(folder: string): string {
  const above = dirname(folder)
  // At the root of the file system there is nothing above. What is asked for is then not found, and anyone who asks says so.
  return existsSync(join(folder, 'package.json')) || above === folder ? folder : homeOf(above)
}
