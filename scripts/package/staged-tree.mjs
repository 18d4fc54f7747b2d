// The file system of the package: what lies where. Knows nothing of dpkg's own files.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { copyModule, modulesBeside } from './modules.mjs'

const home = 'usr/lib/lifeboat'
const shared = 'usr/share/lifeboat'
const documents = 'usr/share/doc/lifeboat'

/** Where each shell looks for completions; `lifeboat completion SHELL` writes them. */
const completions = {
  bash: 'usr/share/bash-completion/completions/lifeboat',
  zsh: 'usr/share/zsh/vendor-completions/_lifeboat',
  fish: 'usr/share/fish/vendor_completions.d/lifeboat.fish',
}

export class StagedTree {
  #project
  #root

  /** @param project the checkout, built @param root an empty directory */
  constructor(project, root) {
    this.#project = project
    this.#root = root
  }

  fill() {
    this.#program()
    this.#configuration()
    this.#service()
    this.#documents()
    this.#manuals()
    this.#completions()
  }

  /** Writes a file of the package; gives its path on this machine. */
  write(path, text, mode = 0o644) {
    const file = join(this.#root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, mode)
    return file
  }

  /** As dpkg wants texts below /usr/share: compressed, without a name or a time in the archive. */
  writeCompressed(path, text) {
    return this.write(path, execFileSync('gzip', ['-9n'], { input: text }))
  }

  #program() {
    this.#copy('dist/bundle', `${home}/dist/bundle`)
    const build = JSON.parse(this.#read('dist/bundle/build.json'))
    this.write(`${home}/dist/bundle/build.json`, `${JSON.stringify({ ...build, form: 'package' }, null, 2)}\n`)
    this.#copy('dist/web', `${home}/dist/web`)
    this.#copy('recovery-workflows', `${home}/recovery-workflows`, (file) => !file.includes('/tests'))
    // Without what only the tests compare with.
    this.#copy('test/scenarios', `${home}/test/scenarios`, (file) => !/(\.ts|\/journal\.txt)$/.test(file))
    for (const path of modulesBeside(this.#project)) copyModule(this.#project, path, join(this.#root, home))
    const { name, version, type, license } = JSON.parse(this.#read('package.json'))
    this.write(`${home}/package.json`, `${JSON.stringify({ name, version, type, license }, null, 2)}\n`)
    execFileSync('strip', [
      '--strip-unneeded',
      '--remove-section=.comment',
      join(this.#root, home, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'),
    ])
    // Debian's Node.js and NodeSource's are both there; a search in PATH would let a user's own run the daemon.
    const main = this.#read('dist/bundle/main.js').replace(/^#!.*/, '#!/usr/bin/node')
    this.write(`${home}/dist/bundle/main.js`, main, 0o755)
    mkdirSync(join(this.#root, 'usr/bin'), { recursive: true })
    symlinkSync('../lib/lifeboat/dist/bundle/main.js', join(this.#root, 'usr/bin/lifeboat'))
  }

  #configuration() {
    this.write('etc/lifeboat/lifeboat.yaml', this.#read('config/lifeboat.yaml'))
    this.write(`${shared}/lifeboat.schema.json`, this.#read('config/lifeboat.schema.json'))
    for (const folder of ['openstack', 'prometheus', 'grafana'])
      if (existsSync(join(this.#project, 'config', folder))) this.#copy(`config/${folder}`, `${shared}/${folder}`)
    this.#copy('config/recipes', `${shared}/recipes`)
    this.write(`${documents}/examples/lifeboat.example.yaml`, this.#read('config/lifeboat.example.yaml'))
    this.write(`${documents}/examples/lifeboat.minimal.yaml`, this.#read('config/lifeboat.minimal.yaml'))
    if (existsSync(join(this.#project, 'config/notices.de.yaml')))
      this.write(`${documents}/examples/notices.de.yaml`, this.#read('config/notices.de.yaml'))
  }

  #service() {
    this.write('usr/lib/systemd/system/lifeboat.service', this.#read('systemd/lifeboat.service'))
    this.write('usr/lib/sysusers.d/lifeboat.conf', this.#read('systemd/lifeboat.sysusers'))
    this.write('usr/lib/tmpfiles.d/lifeboat.conf', this.#read('systemd/lifeboat.tmpfiles'))
    this.#copy('systemd/lifeboat.service.d', `${documents}/examples/lifeboat.service.d`)
  }

  #documents() {
    this.#copy('docs', `${documents}/docs`, (file) => !file.endsWith('.scd'))
    this.write(`${documents}/README.md`, this.#read('README.md'))
    this.write(`${documents}/README.Debian`, this.#read('scripts/package/debian/README.Debian'))
    this.writeCompressed(`${documents}/changelog.gz`, this.#read('CHANGELOG.md'))
  }

  #manuals() {
    for (const file of readdirSync(join(this.#project, 'docs/man'))) {
      const page = basename(file, '.scd')
      const text = execFileSync('scdoc', { input: this.#read(`docs/man/${file}`) })
      this.writeCompressed(`usr/share/man/man${extname(page).slice(1)}/${page}.gz`, text)
    }
  }

  /** Of a release without that command: none. */
  #completions() {
    const main = join(this.#project, 'dist/bundle/main.js')
    const help = execFileSync(process.execPath, [main, '--help'], { encoding: 'utf8' })
    if (!/^ +completion\b/m.test(help)) return
    for (const [shell, path] of Object.entries(completions))
      this.write(path, execFileSync(process.execPath, [main, 'completion', shell]))
  }

  #read(path) {
    return readFileSync(join(this.#project, path), 'utf8')
  }

  #copy(from, to, wanted = () => true) {
    const filter = (file) => wanted(file) && !basename(file).startsWith('.')
    const target = join(this.#root, to)
    mkdirSync(dirname(target), { recursive: true })
    cpSync(join(this.#project, from), target, { recursive: true, filter })
  }
}

/** Directories 0755; files 0644, or 0755 for programs: whatever the umask of anyone who builds. */
export function settleModes(root) {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) chmodSync(path, 0o755)
    else if (entry.isFile()) chmodSync(path, isProgram(path) ? 0o755 : 0o644)
  }
  chmodSync(root, 0o755)
}

function isProgram(path) {
  if (path.endsWith('.node')) return false
  const inModules = path.includes('/node_modules/')
  return !inModules && readFileSync(path).subarray(0, 2).toString() === '#!'
}
