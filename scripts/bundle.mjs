// Makes dist/bundle, the program as it is shipped: src/main.ts with every module that it needs, in some thirty files instead of two
// thousand. What a verb loads when it runs (src/commands.ts) stays a file of its own. Beside it stays only what is compiled for
// one machine. modules.json says which modules of others are in it, for their licences.
import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { rolldown } from 'rolldown'

const folder = 'dist/bundle'

/** Found in node_modules by the program when it runs. */
const beside = ['better-sqlite3']

/**
 * Named in code that never runs: fastify would compile JSON schemas with the first two (our routes bring a compiler of their own, and
 * src/api/server.ts refuses any other), and call a server without a socket with the third. Their text alone would take a megabyte of memory.
 */
const neverLoaded = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request']

rmSync(folder, { recursive: true, force: true })
const program = await rolldown({
  input: { main: 'src/main.ts' },
  platform: 'node',
  external: [...beside, ...neverLoaded],
  // Names of files below node_modules, wherever that is a link to.
  resolve: { symlinks: false },
  logLevel: 'warn',
})
const { output } = await program.write({
  dir: folder,
  format: 'esm',
  sourcemap: true,
  // The process keeps its program's text: without comments it takes some 8 MiB less. Lines stay, for the trace of an error shows one.
  comments: false,
  // One character beyond Latin-1 makes V8 keep the whole file in two bytes a character: another 4 MiB.
  charset: 'ascii',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
})
await program.close()

// A map says where a line comes from. What stands there is in the source, which anyone who reads a stack trace has.
for (const file of readdirSync(folder).filter((name) => name.endsWith('.map'))) {
  const map = JSON.parse(readFileSync(join(folder, file), 'utf8'))
  delete map.sourcesContent
  writeFileSync(join(folder, file), JSON.stringify(map))
}
writeFileSync(join(folder, 'modules.json'), `${JSON.stringify({ compiledIn: compiledIn(output), beside }, null, 2)}\n`)
writeFileSync(join(folder, 'build.json'), `${JSON.stringify(build(), null, 2)}\n`)
chmodSync(join(folder, 'main.js'), 0o755)

/** What `lifeboat --version` says. The same commit and Node.js give the same text. */
function build() {
  const node = process.versions.node
  try {
    const git = (...words) =>
      execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    const seconds = Number(git('log', '-1', '--format=%ct'))
    return {
      form: 'bundle',
      // As many digits everywhere: Git's own abbreviation grows with the clone.
      commit: git('rev-parse', 'HEAD').slice(0, 12),
      changed: git('status', '--porcelain', '--untracked-files=no') !== '',
      date: new Date(seconds * 1_000).toISOString().slice(0, 10),
      node,
    }
  } catch {
    // A copy of the source without its history.
    return { form: 'bundle', commit: null, changed: false, date: null, node }
  }
}

/** Folders of the modules of others: node_modules/NAME, or one nested in another's. */
function compiledIn(parts) {
  const files = parts.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []))
  const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/
  return [...new Set(files.flatMap((file) => folder.exec(relative('.', file))?.[0] ?? []))].sort()
}
