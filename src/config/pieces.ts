/** The pieces that the configuration's schema is made of. Nothing here knows an option's name. */
import { z } from 'zod'

type Camel<S> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S
export type CamelKeys<T> = { [K in keyof T as Camel<K>]: T[K] }

/** snake_case in the file, camelCase in the program. Shallow: maps whose keys are the operator's stay as written. */
function camelKeys<T extends object>(value: T): CamelKeys<T> {
  const pairs = Object.entries(value).map(([key, inner]: [string, unknown]) => [
    key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    inner,
  ])
  return Object.fromEntries(pairs) as CamelKeys<T>
}

/** A part of the file: unknown keys are errors, because a mistyped safety setting must not be ignored. */
export function section<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape).transform((value) => camelKeys(value))
}

/** A part that may be missing altogether: then every option has its default. Only for parts without required options. */
export function optionalSection<S extends z.ZodRawShape>(shape: S) {
  const part = section(shape)
  return part.prefault({} as z.input<typeof part>)
}

export const text = () => z.string().min(1)
/** The three ways to give a password. */
export const password = {
  password: text().optional().describe('Better: password_file or password_env'),
  password_file: text()
    .optional()
    .describe("File with the password; a bare name is looked for in systemd's credentials directory first"),
  password_env: text().optional().describe('Environment variable with the password'),
}
/** The ways to log in at an HTTP server. */
export const loginOptions = {
  username: text().optional().describe('For basic authentication, with one of password, password_file, password_env'),
  ...password,
  token: text().optional().describe('Bearer token. Better: token_file or token_env'),
  token_file: text().optional().describe('File with the bearer token, as password_file'),
  token_env: text().optional().describe('Environment variable with the bearer token'),
}
export const names = () => z.array(text())
export const share = () => z.number().gt(0).max(1)
export const count = () => z.number().int().min(1)
/** A program and its arguments: never a shell line, so that no host name can become a command. */
export const argv = () => z.array(z.string()).min(1)

/** `.meta(live)`: a reload changes this at once, and everything within it. What is not marked so waits for the next start. */
export const live = { 'x-lifeboat-reload': 'live' } as const
