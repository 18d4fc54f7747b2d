// The modules of others: those compiled into the program or the pages, and those that lie beside it, of which only what runs is copied.
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, relative } from 'node:path'

/** Fetches and compiles better-sqlite3 while it is installed; the compiled program is what we ship. */
const installersOnly = new Set(['prebuild-install'])

/** What Node.js can load, or code can read. Licences go into the copyright file; types, sources and texts stay away. */
const runnable = new Set(['.js', '.cjs', '.mjs', '.json', '.node', '.wasm'])
/** Only as the first name in a module: deeper ones may be code of the same name. */
const noPartOfIt = /^(tests?|__tests__|bench(mark)?s?|examples?|docs?|scripts|integration|bin|(bin|cli)\.m?js)$/

/** Paths (node_modules/...) of the modules that lie beside the bundled program, and of what those need; sorted. */
export function modulesBeside(projectDir) {
  const lock = lockOf(projectDir)
  const found = new Set()
  const visit = (from, name) => {
    if (installersOnly.has(name)) return
    const path = resolved(lock, from, name)
    // Optional, or a peer that nobody asked for.
    if (path === null || found.has(path)) return
    found.add(path)
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = lock[path]
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      visit(path, needed)
  }
  for (const name of bundleOf(projectDir).beside) visit('', name)
  return [...found].sort()
}

/** Paths of the modules that are compiled into the program, as scripts/bundle.mjs found them; sorted. */
export function modulesOfProgram(projectDir) {
  return bundleOf(projectDir).compiledIn
}

function bundleOf(projectDir) {
  return JSON.parse(readFileSync(join(projectDir, 'dist/bundle/modules.json'), 'utf8'))
}

function lockOf(projectDir) {
  return JSON.parse(readFileSync(join(projectDir, 'package-lock.json'), 'utf8')).packages
}

/** Paths of the modules that the build compiles into the pages: what their source imports by name, and what those need. */
export function modulesOfPages(projectDir) {
  const pages = join(projectDir, 'src/web')
  if (!existsSync(pages)) return []
  const lock = lockOf(projectDir)
  const found = new Set()
  const visit = (path) => {
    if (found.has(path)) return
    found.add(path)
    for (const name of Object.keys(lock[path].dependencies ?? {})) visit(`node_modules/${name}`)
  }
  for (const file of readdirSync(pages, { recursive: true }).filter((each) => /\.tsx?$/.test(each)))
    for (const [, name] of readFileSync(join(pages, file), 'utf8').matchAll(
      /(?:from|import|import\()\s*'((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[^']*)?'/g,
    ))
      visit(`node_modules/${name}`)
  return [...found].sort()
}

/** Where Node finds `name` for a module at `from`: in its own folder, or in one above. Null: not installed. */
function resolved(lock, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = join(at, 'node_modules', name)
    if (lock[path] !== undefined && !lock[path].dev) return path
    if (at === '') return null
  }
}

/** Copies what runs of one module. Throws when the module is not installed as the lock file has it. */
export function copyModule(projectDir, path, toDir) {
  const from = lockedModule(projectDir, path)
  cpSync(from, join(toDir, path), {
    recursive: true,
    filter: (file) => runs(relative(from, file), path, statSync(file).isDirectory()),
  })
}

/** The folder of a module. Throws when it is not installed as the lock file has it. */
function lockedModule(projectDir, path) {
  const folder = join(projectDir, path)
  const wanted = lockOf(projectDir)[path]?.version
  const have = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
  if (have !== wanted) throw new Error(`${path} is ${have}, the lock file says ${wanted}: run npm ci and build again`)
  return folder
}

function runs(file, module, isFolder) {
  if (file === '') return true
  const parts = file.split('/')
  if (parts.some((part) => part.startsWith('.') || part === 'node_modules') || noPartOfIt.test(parts[0])) return false
  if (module === 'node_modules/better-sqlite3' && !runsOfSqlite(file)) return false
  return isFolder || runnable.has(extname(file))
}

/** Its compiled program and its JavaScript: not SQLite's source, and nothing that the compiler left. */
function runsOfSqlite(file) {
  const program = 'build/Release/better_sqlite3.node'
  return (
    file === 'package.json' ||
    file === 'lib' ||
    file.startsWith('lib/') ||
    program === file ||
    program.startsWith(`${file}/`)
  )
}

/** Name, version, licence and the licence's text of a module, for the copyright file. Throws as copyModule does. */
export function licenceOf(projectDir, path) {
  const folder = lockedModule(projectDir, path)
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((each) => /^(licen[cs]e|copying)/i.test(each))
  const text = file === undefined ? null : readFileSync(join(folder, file), 'utf8')
  return { name, version, licence: typeof license === 'string' ? license : String(license?.type ?? ''), text }
}
