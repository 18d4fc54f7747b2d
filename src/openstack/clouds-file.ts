/**
 * Finds the chosen cloud in clouds.yaml, secure.yaml and OS_*, by openstacksdk's rules (openstack/config/loader.py).
 *
 * Owns which files are read, how they merge and which cloud is meant. What the values mean is cloud-settings.ts.
 * The environment comes in as a parameter, so that a test or a second cloud is never touched by the shell's own.
 */
import { join } from 'node:path'
import { LifeboatError } from '../domain/errors.ts'
import { placeText, problemText, readYaml, type YamlSource } from '../formats/yaml-source.ts'
import type { CloudConfig } from './cloud-config.ts'
import { settingsOf } from './cloud-settings.ts'
import { isTable } from './raw-cloud.ts'
import type { CloudChoice, Environment, RawCloud, Table } from './raw-cloud.ts'
import { isHidden, readIfThere } from './optional-file.ts'

export type { CloudChoice, Environment } from './raw-cloud.ts'

const suffixes = ['yaml', 'yml', 'json']
/** Variables that only choose; with nothing else set there is no "envvars" cloud. */
const selectors = new Set([
  'OS_CLOUD',
  'OS_REGION_NAME',
  'OS_CLIENT_CONFIG_FILE',
  'OS_CLIENT_SECURE_FILE',
  'OS_CLOUD_NAME',
])
/** A file that was found, as it was read. */
interface CloudsFile {
  file: string
  source: YamlSource
}

const foreign = ['OS_TEST', 'OS_STD', 'OS_LOG']

/**
 * Reads the configuration of one cloud.
 *
 * @throws LifeboatError CONFIG_INVALID naming the place and what is allowed; never a secret.
 */
export function loadCloudConfig(choice: CloudChoice): CloudConfig {
  return settingsOf(findCloud(choice), choice)
}

/** The chosen cloud's merged raw values, before they are understood. */
export function findCloud(choice: CloudChoice): RawCloud {
  const looked: string[] = []
  const clouds = firstFile('clouds', choice, looked)
  const secure = firstFile('secure', choice, looked)
  const files = [clouds, secure].filter((file) => file !== null)
  const merged = merge(cloudsOf(clouds), cloudsOf(secure))
  const envName = choice.env['OS_CLOUD_NAME'] ?? 'envvars'
  const env = fromEnvironment(choice.env)
  if (envName in merged) {
    throw new LifeboatError(
      'CONFIG_INVALID',
      `${placeOf(files, ['clouds', envName]) ?? 'clouds.yaml'}: the name "${envName}" is taken by the OS_* variables; ` +
        'rename this cloud or set OS_CLOUD_NAME',
    )
  }
  const all: Record<string, unknown> = env ? { ...merged, [envName]: env } : merged
  const names = Object.keys(all)
  const name = choice.cloud ?? choice.env['OS_CLOUD'] ?? (env ? envName : names.length === 1 ? names[0] : undefined)
  if (name === undefined || name === '') {
    const have =
      names.length === 0 ? `no cloud was found (looked at ${looked.join(', ')})` : `choose one of ${names.join(', ')}`
    throw new LifeboatError('CONFIG_INVALID', `no cloud is chosen: set its name, OS_CLOUD or OS_AUTH_URL; ${have}`)
  }
  if (!Object.hasOwn(all, name)) {
    throw new LifeboatError(
      'CONFIG_INVALID',
      `cloud "${name}" was not found; there is: ${names.join(', ') || 'none'} (looked at ${looked.join(', ')})`,
    )
  }
  const values = all[name]
  const where = (path: string[]): string => placeOf(files, ['clouds', name, ...path]) ?? `cloud "${name}"`
  if (!isTable(values)) throw new LifeboatError('CONFIG_INVALID', `${where([])}: a cloud must be a mapping`)
  if (env && name === envName) {
    return {
      name,
      source: 'environment',
      values,
      where: (path) => `OS_${(path.at(-1) ?? '').toUpperCase()} in the environment`,
    }
  }
  return { name, source: files.map((file) => file.file).join(' + '), values, where }
}

/** openstacksdk's search path, behind the files that lie beside Lifeboat's configuration. The first file that is there wins; it is not merged with later ones. */
function firstFile(stem: 'clouds' | 'secure', choice: CloudChoice, looked: string[]): CloudsFile | null {
  const { env, workDir, beside } = choice
  const named = env[stem === 'clouds' ? 'OS_CLIENT_CONFIG_FILE' : 'OS_CLIENT_SECURE_FILE']
  const home = env['SNAP_REAL_HOME'] ?? env['HOME']
  const homes = [env['XDG_CONFIG_HOME'], home === undefined ? undefined : join(home, '.config')]
  const folders = [
    ...(beside === undefined ? [] : [beside]),
    workDir,
    ...homes.filter((at) => at !== undefined && at !== '').map((at) => join(String(at), 'openstack')),
    '/etc/xdg/openstack',
    '/etc/openstack',
  ]
  if (stem === 'clouds' && choice.file !== undefined) {
    const text = readIfThere(choice.file)
    if (text === null) throw new LifeboatError('CONFIG_INVALID', `${choice.file} does not exist`)
    return parsed(choice.file, text)
  }
  const candidates = folders.flatMap((folder) => suffixes.map((suffix) => join(folder, `${stem}.${suffix}`)))
  if (named) candidates.unshift(named)
  for (const file of new Set(candidates)) {
    if (stem === 'clouds') looked.push(isHidden(file) ? `${file}: its folder is closed to this user` : file)
    const text = readIfThere(file)
    if (text !== null) return parsed(file, text)
  }
  return null
}

/** Throws CONFIG_INVALID with the place and never with the text, which may be a password. */
function parsed(file: string, text: string): CloudsFile {
  const source = readYaml(text, file, { credentials: true })
  const [first] = source.problems
  if (first !== undefined) throw new LifeboatError('CONFIG_INVALID', problemText(first))
  if (!isTable(source.data)) throw new LifeboatError('CONFIG_INVALID', `${file}:1:1 is empty or not a mapping`)
  const clouds = source.data['clouds']
  if (clouds !== undefined && clouds !== null && !isTable(clouds)) {
    const place = placeText(source.valueAt(['clouds']))
    throw new LifeboatError('CONFIG_INVALID', `${place}: "clouds" must map names to clouds`)
  }
  return { file, source }
}

function cloudsOf(file: CloudsFile | null): Table {
  const data = file?.source.data
  const clouds = isTable(data) ? data['clouds'] : undefined
  return isTable(clouds) ? clouds : {}
}

/** secure.yaml is looked at first: where both have the value, that one counts. */
function placeOf(files: CloudsFile[], path: string[]): string | null {
  const found = files.findLast(({ source }) => source.has(path))
  return found === undefined ? null : placeText(found.source.valueAt(path))
}

/** Deep: a table in both is merged, anything else in `over` replaces. */
export function merge(base: Table, over: Table): Table {
  const merged: Table = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const old = merged[key]
    merged[key] = isTable(value) && isTable(old) ? merge(old, value) : value
  }
  return merged
}

function fromEnvironment(env: Environment): Table | null {
  const keys = Object.keys(env).filter(
    (key) => key.startsWith('OS_') && env[key] !== undefined && !foreign.some((prefix) => key.startsWith(prefix)),
  )
  if (keys.every((key) => selectors.has(key))) return null
  return Object.fromEntries(keys.map((key) => [key.slice('OS_'.length).toLowerCase(), env[key]]))
}
