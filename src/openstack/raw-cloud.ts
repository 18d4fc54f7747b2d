/** One cloud as it was written, before it is understood, and how it was asked for. Shapes only. */
export type Environment = Readonly<Record<string, string | undefined>>
export type Table = Record<string, unknown>

export interface CloudChoice {
  env: Environment
  /** Where ./clouds.yaml is looked for. */
  workDir: string
  /** Looked in before every other folder: beside Lifeboat's own configuration. */
  beside?: string
  /** The cloud's name, from Lifeboat's configuration; beats OS_CLOUD. */
  cloud?: string
  /** The region's name, from Lifeboat's configuration. */
  region?: string
  /** An explicit clouds.yaml, looked at before all others; unlike OS_CLIENT_CONFIG_FILE it must exist. */
  file?: string
}

/** One cloud's raw values, with a way to say where a value was written. */
export interface RawCloud {
  name: string
  source: string
  values: Table
  /** A place for people: "file:line:col", "OS_PASSWORD in the environment", or the cloud's name. */
  where(path: string[]): string
}

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
