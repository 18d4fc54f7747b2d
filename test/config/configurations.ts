import { readFileSync } from 'node:fs'
import { loadConfig, parseConfig, type Config } from '../../src/config/index.ts'
import { LifeboatError } from '../../src/domain/errors.ts'

export const shipped = (name: string): string => new URL(`../../config/${name}`, import.meta.url).pathname
export const bad = (name: string): string => new URL(`bad/${name}`, import.meta.url).pathname
export const textOf = (path: string): string => readFileSync(path, 'utf8')

export function parse(text: string, env: Record<string, string> = {}): Config {
  return parseConfig(text, 'lifeboat.yaml', env)
}

/** The problems of a configuration, without the path before the file's name; empty when it loads. */
export function problemsOf(load: () => unknown): string[] {
  try {
    load()
    return []
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || thrown.code !== 'CONFIG_INVALID') throw thrown
    return (thrown.details['problems'] as string[]).map((problem) => problem.replace(/^.*\/(?=[^/]+:\d)/, ''))
  }
}

export const problemsIn = (text: string, env: Record<string, string> = {}): string[] =>
  problemsOf(() => parse(text, env))
export const problemsOfFile = (name: string): string[] => problemsOf(() => loadConfig(bad(name), {}))
