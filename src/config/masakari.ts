/** The listener of Masakari's API as configured, resolved. */
import type { ConfigFile } from './schema.ts'
import type { Report } from './secrets.ts'
import { loginListener, type WebConfig } from './web.ts'

export interface MasakariConfig extends WebConfig {
  /** Without a slash at its end; null: the address that was asked. */
  publicUrl: string | null
}

/** What a reload changes under a listener that runs. */
export interface MasakariRules {
  readers: string[]
  writers: string[]
  reporters: string[]
  projects: ({ id: string } | { name: string; domain: string })[]
  /** Those that a Masakari gave, by name. */
  uuids: { segments: ReadonlyMap<string, string>; hosts: ReadonlyMap<string, string> }
}

export function masakariRules(file: ConfigFile['masakariApi']): MasakariRules {
  const { readers, writers, reporters, projects, uuids } = file
  const byName = (given: Record<string, string>): ReadonlyMap<string, string> => new Map(Object.entries(given))
  return {
    ...{ readers, writers, reporters, projects },
    uuids: { segments: byName(uuids.segments), hosts: byName(uuids.hosts) },
  }
}

/** @param listen the address as resolved, or null: no listener */
export function masakariConfig(
  file: ConfigFile['masakariApi'],
  listen: { host: string; port: number } | null,
  baseDir: (path: string[]) => string,
  report: Report,
): MasakariConfig | null {
  if (listen === null) return null
  const publicUrl = file.publicUrl?.replace(/\/+$/, '') ?? null
  return { ...loginListener('masakari_api', file, listen, baseDir, report), publicUrl }
}
