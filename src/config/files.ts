/**
 * Which files the configuration is made of, and whether they may be believed. A file, then `<name>.d/*.yaml` beside it; or a
 * directory, all of its *.yaml. In lexical order, the later ones laid over the earlier. Knows no option.
 */
import { readdirSync, statSync, type Stats } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { LifeboatError } from '../domain/errors.ts'
import { readRegularFile } from '../system/regular-file.ts'

export interface ConfigText {
  /** As people wrote it: problems are told with this name. */
  file: string
  text: string
}

/** Anyone who may write here arms the daemon and names the programs it runs. */
const othersWrite = 0o002
const othersRead = 0o004

/**
 * The texts of the configuration at `path`, in the order in which they are laid over each other. Throws CONFIG_INVALID with
 * every file that cannot be read, is no text, or that everybody may write.
 */
export function readConfigTexts(path: string): ConfigText[] {
  const problems: string[] = []
  const texts = configFiles(path, problems).flatMap((file) => readText(file, problems) ?? [])
  if (problems.length === 0) return texts
  throw new LifeboatError('CONFIG_INVALID', `${path} cannot be read`, { details: { problems } })
}

/** What people should know of files that are read all the same. A file that cannot even be looked at is open to nobody. */
export function readableByOthers(file: string): boolean {
  try {
    return (statSync(file).mode & othersRead) !== 0
  } catch {
    return false
  }
}

/** Why a file is no place for a secret, or null. A group may read it: packages ship root:lifeboat 0640. */
export function secretFileProblem(file: string): string | null {
  const { mode } = statSync(file)
  if ((mode & (othersRead | othersWrite)) === 0) return null
  return `everybody may ${(mode & othersWrite) === 0 ? 'read' : 'write'} ${file} (mode ${octal(mode)}; at most 0640: chmod o= ${file})`
}

function configFiles(path: string, problems: string[]): string[] {
  const stats = look(path, problems)
  if (stats === null) return []
  if (stats.isDirectory()) {
    const files = yamlFiles(path, stats, problems)
    if (files.length === 0 && problems.length === 0) problems.push(`${path}: has no *.yaml`)
    return files
  }
  const beside = `${join(dirname(path), basename(path, extname(path)))}.d`
  const directory = statSync(beside, { throwIfNoEntry: false })
  return directory?.isDirectory() === true ? [path, ...yamlFiles(beside, directory, problems)] : [path]
}

/** Hidden files are editors' and package managers'. A .yml that nobody reads would be a setting that silently does not hold. */
function yamlFiles(directory: string, stats: Stats, problems: string[]): string[] {
  if (writableByOthers(stats)) {
    problems.push(`${directory}: everybody may write it (mode ${octal(stats.mode)}; chmod o-w ${directory})`)
    return []
  }
  try {
    const names = readdirSync(directory)
      .filter((name) => !name.startsWith('.'))
      .sort()
    for (const name of names)
      if (/\.(yml|YAML|YML)$/.test(name)) problems.push(`${join(directory, name)}: would not be read (call it *.yaml)`)
    return names.filter((name) => name.endsWith('.yaml')).map((name) => join(directory, name))
  } catch (thrown) {
    problems.push(`${directory}: ${whyNot(thrown)}`)
    return []
  }
}

function readText(file: string, problems: string[]): ConfigText | null {
  const stats = look(file, problems)
  if (stats === null) return null
  if (writableByOthers(stats)) {
    problems.push(`${file}: everybody may write it (mode ${octal(stats.mode)}; chmod o-w ${file})`)
    return null
  }
  try {
    return { file, text: new TextDecoder('utf-8', { fatal: true }).decode(readRegularFile(file)) }
  } catch (thrown) {
    problems.push(`${file}: ${whyNot(thrown)}`)
    return null
  }
}

function look(path: string, problems: string[]): Stats | null {
  try {
    return statSync(path)
  } catch (thrown) {
    problems.push(`${path}: ${whyNot(thrown)}`)
    return null
  }
}

/** What is neither is refused when it is read. */
function writableByOthers(stats: Stats): boolean {
  return (stats.isFile() || stats.isDirectory()) && (stats.mode & othersWrite) !== 0
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}

/** There is nothing of that name. */
export function isMissing(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === 'ENOENT'
}

/** What the system says most often, without its call's name. */
export function whyNot(thrown: unknown): string {
  const { code } = thrown as NodeJS.ErrnoException
  if (isMissing(thrown)) return 'no such file or directory'
  if (code === 'EACCES') return 'you may not read it'
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Where relative paths of an option begin: beside the file that it stands in. */
export function directoryOf(file: string | null): string {
  return file === null ? process.cwd() : dirname(resolve(file))
}
