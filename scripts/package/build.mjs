// Makes lifeboat_VERSION_ARCHITECTURE.deb of a built checkout (npm run package). The same commit, Node.js and modules make
// the same file, byte for byte: times come from SOURCE_DATE_EPOCH, else from the commit.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { changelogText, controlText, libraryDependencies, md5sums } from './control.mjs'
import { copyrightText } from './copyright.mjs'
import { settleModes, StagedTree } from './staged-tree.mjs'

const { values: options } = parseArgs({
  options: {
    // Where the package is put.
    output: { type: 'string', default: 'build' },
    // Debian's part of the version: higher for a package of the same source that replaces an earlier one.
    revision: { type: 'string', default: '1' },
  },
})
const project = fileURLToPath(new URL('../../', import.meta.url))
const run = (program, ...args) => execFileSync(program, args, { encoding: 'utf8', cwd: project }).trim()

const version = `${JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')).version}-${options.revision}`
const architecture = run('dpkg', '--print-architecture')
const epoch = process.env.SOURCE_DATE_EPOCH ?? run('git', 'log', '-1', '--format=%ct')
process.env.SOURCE_DATE_EPOCH = epoch

// Whatever the umask of anyone who builds.
process.umask(0o022)
const root = mkdtempSync(join(tmpdir(), 'lifeboat-package-'))
try {
  const tree = new StagedTree(project, root)
  tree.fill()
  tree.write('usr/share/doc/lifeboat/copyright', copyrightText(project))
  tree.writeCompressed('usr/share/doc/lifeboat/changelog.Debian.gz', changelogText(version, epoch))
  tree.write(
    'usr/share/lintian/overrides/lifeboat',
    readFileSync(join(project, 'scripts/package/debian/lintian-overrides')),
  )
  settleModes(root)
  const program = join(root, 'usr/lib/lifeboat/node_modules/better-sqlite3/build/Release/better_sqlite3.node')
  const control = controlText({ version, architecture, root, libraries: libraryDependencies(program) })
  const sums = md5sums(root)
  tree.write('DEBIAN/control', control)
  tree.write('DEBIAN/md5sums', sums)
  tree.write('DEBIAN/conffiles', '/etc/lifeboat/lifeboat.yaml\n')
  for (const script of ['postinst', 'prerm', 'postrm'])
    tree.write(`DEBIAN/${script}`, readFileSync(join(project, 'scripts/package/debian', script)), 0o755)
  const output = resolve(project, options.output)
  mkdirSync(output, { recursive: true })
  const file = join(output, `lifeboat_${version}_${architecture}.deb`)
  // Level 2: a third of the time, a sixth more bytes.
  run('dpkg-deb', '--root-owner-group', '-Zxz', '-z2', '--build', root, file)
  process.stdout.write(`${file}\n`)
} finally {
  rmSync(root, { recursive: true, force: true })
}
