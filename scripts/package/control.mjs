// The texts that dpkg and Debian's policy ask for: control, md5sums, changelog. The copyright is in copyright.mjs.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

/** Anyone who builds for others says who they are, as for every Debian package. */
const { DEBFULLNAME = 'Lifeboat maintainers', DEBEMAIL = 'lifeboat@localhost.localdomain' } = process.env
const maintainer = `${DEBFULLNAME} <${DEBEMAIL}>`

/** The text of DEBIAN/control. */
export function controlText({ version, architecture, root, libraries }) {
  const kilobytes = regularFiles(root).reduce((sum, file) => sum + Math.ceil(statSync(file).size / 1024), 0)
  // better-sqlite3 is compiled against the interface of one major release of Node.js, and refuses to load in another.
  const major = Number(process.versions.node.split('.')[0])
  const least = major === 20 ? '20.19' : String(major)
  return `Package: lifeboat
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${kilobytes}
Depends: nodejs (>= ${least}), nodejs (<< ${major + 1}~), systemd | systemd-standalone-sysusers | systemd-sysusers, procps, ${libraries}
Recommends: fence-agents, ipmitool, iputils-ping
Section: net
Priority: optional
Description: brings the instances of dead OpenStack compute hosts back elsewhere
 Lifeboat watches nova-compute, says with evidence which hosts are dead, proves
 them dead by fencing, and evacuates their instances so that each ends in the
 state its owner left it. Every decision and every step is in a hash-chained
 journal before it is acted on.
 .
 As installed it only observes: it sends nothing to the cloud until an
 administrator arms it.
`
}

/** What the compiled module needs of the C library and its kin, as dpkg-shlibdeps finds it. */
export function libraryDependencies(program) {
  const scratch = mkdtempSync(join(tmpdir(), 'lifeboat-shlibs-'))
  try {
    mkdirSync(join(scratch, 'debian'))
    writeFileSync(join(scratch, 'debian/control'), 'Source: lifeboat\n\nPackage: lifeboat\nArchitecture: any\n')
    const options = { cwd: scratch, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }
    // Its warnings are the functions of Node.js itself, which loads the module.
    const found = execFileSync('dpkg-shlibdeps', ['--warnings=0', '-O', `-e${program}`], options)
    return found.trim().replace(/^shlibs:Depends=/, '')
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

/** The text of DEBIAN/md5sums. */
export function md5sums(root) {
  return regularFiles(root)
    .map((file) => `${createHash('md5').update(readFileSync(file)).digest('hex')}  ${relative(root, file)}\n`)
    .sort((a, b) => (a.slice(34) < b.slice(34) ? -1 : 1))
    .join('')
}

/** @param seconds when this version was made, since the epoch */
export function changelogText(version, seconds) {
  const date = execFileSync('date', ['-u', '-R', '-d', `@${seconds}`], {
    encoding: 'utf8',
    env: { LC_ALL: 'C', PATH: process.env.PATH },
  })
  return `lifeboat (${version}) unstable; urgency=medium

  * See /usr/share/doc/lifeboat/changelog.gz.

 -- ${maintainer}  ${date.trim()}
`
}

function regularFiles(root) {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
