/** Reads passwords from where the file says they are. A secret that cannot be read is a problem of the configuration. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readRegularFile } from '../system/regular-file.ts'
import { isMissing, secretFileProblem, whyNot } from './files.ts'
import { pathText } from './problems.ts'
import type { Path } from '../formats/yaml-source.ts'

export type Environment = Record<string, string | undefined>
/** Reports a problem at a place of the file. */
export type Report = (path: Path, message: string) => void

export interface SecretOptions {
  password?: string | undefined
  passwordFile?: string | undefined
  passwordEnv?: string | undefined
}

export interface TokenOptions {
  token?: string | undefined
  tokenFile?: string | undefined
  tokenEnv?: string | undefined
}

export interface SecretTextOptions {
  secret?: string | undefined
  secretFile?: string | undefined
  secretEnv?: string | undefined
}

export interface UrlOptions {
  url?: string | undefined
  urlFile?: string | undefined
  urlEnv?: string | undefined
}

export class Secrets {
  readonly #baseDir: (path: Path) => string
  readonly #env: Environment
  readonly #report: Report
  readonly #read: boolean
  readonly #contents = new Map<string, string>()

  /**
   * @param baseDir where relative paths of an option begin
   * @param read false: nothing is read and every secret is empty
   */
  constructor(baseDir: (path: Path) => string, env: Environment, report: Report, read: boolean) {
    this.#read = read
    this.#baseDir = baseDir
    this.#env = env
    this.#report = report
  }

  /** What files and the environment held, by option: a reload must see that a password was rotated. Never to be shown. */
  get contents(): ReadonlyMap<string, string> {
    return this.#contents
  }

  /** Exactly one of the three ways must be used; "" after a reported problem. */
  password({ password, passwordFile, passwordEnv }: SecretOptions, path: Path): string {
    return this.#oneWay('password', { text: password, file: passwordFile, env: passwordEnv }, path)
  }

  /** As password. */
  token({ token, tokenFile, tokenEnv }: TokenOptions, path: Path): string {
    return this.#oneWay('token', { text: token, file: tokenFile, env: tokenEnv }, path)
  }

  /** As password. */
  secret({ secret, secretFile, secretEnv }: SecretTextOptions, path: Path): string {
    return this.#oneWay('secret', { text: secret, file: secretFile, env: secretEnv }, path)
  }

  /** As password: an address may be one, when anyone who knows it may write there. */
  url({ url, urlFile, urlEnv }: UrlOptions, path: Path): string {
    return this.#oneWay('url', { text: url, file: urlFile, env: urlEnv }, path)
  }

  #oneWay(
    what: 'password' | 'token' | 'secret' | 'url',
    given: { [way in 'text' | 'file' | 'env']: string | undefined },
    path: Path,
  ): string {
    const ways = Object.values(given).filter((value) => value !== undefined).length
    if (ways !== 1) {
      this.#report(
        path,
        `${ways === 0 ? `has no ${what}` : `has several ${what}s`} (give exactly one of ${what}, ${what}_file, ${what}_env)`,
      )
      return ''
    }
    if (!this.#read) return ''
    if (given.text !== undefined) return given.text
    if (given.file !== undefined) return this.file(given.file, [...path, `${what}_file`])
    const name = given.env ?? ''
    const value = this.#env[name]
    if (value === undefined || value === '') {
      const wrong = value === undefined ? 'is not set' : 'is empty'
      this.#report([...path, `${what}_env`], `environment variable ${name} ${wrong} (the ${what} is taken from it)`)
    }
    this.#contents.set(pathText([...path, `${what}_env`]), value ?? '')
    return value ?? ''
  }

  /** The first line of the file: editors end files with a newline that is no part of a password. */
  file(name: string, path: Path): string {
    if (!this.#read) return ''
    const { file, credential } = this.#locate(name, path)
    try {
      const [line = ''] = readRegularFile(file).toString('utf8').split(/\r?\n/)
      if (line === '') this.#report(path, `${file} is empty (the secret is its first line)`)
      const problem = credential ? null : secretFileProblem(file)
      if (problem !== null) this.#report(path, problem)
      this.#contents.set(pathText(path), line)
      return line
    } catch (thrown) {
      this.#report(
        path,
        isMissing(thrown)
          ? `there is no file ${file}, whose first line is to be the secret: create it (mode 0640, owner root, a group that the daemon is in), or name the right one here`
          : `${file} cannot be read: ${whyNot(thrown)}`,
      )
      return ''
    }
  }

  /** systemd's LoadCredential= puts secrets in a directory of its own, whose name only the environment knows. */
  #locate(name: string, path: Path): { file: string; credential: boolean } {
    const credentials = this.#env['CREDENTIALS_DIRECTORY']
    if (credentials !== undefined && !name.includes('/')) {
      const file = join(credentials, name)
      // Kept from others by its directory, whatever its own mode.
      if (existsSync(file)) return { file, credential: true }
    }
    return { file: resolve(this.#baseDir(path), name), credential: false }
  }
}
