/** Probes as the program uses them: secrets read, paths resolved, contradictions within one probe reported. */
import { resolve } from 'node:path'
import type { IpmiConfig, PrometheusConfig } from './config.ts'
import { httpLogin } from './http-login.ts'
import type { ConfigFile } from './schema.ts'
import type { Report, Secrets } from './secrets.ts'
import type { Path } from '../formats/yaml-source.ts'

type ProbeFile<K extends ConfigFile['probes'][string]['kind']> = Extract<ConfigFile['probes'][string], { kind: K }>

export function ipmiConfig(file: ProbeFile<'ipmi'>, path: Path, secrets: Secrets): IpmiConfig {
  const { kind, address, port, username, interface: speaks, cipherSuite = null, timeout } = file
  const password = secrets.password(file, path)
  return { kind, address, port, username, password, interface: speaks, cipherSuite, timeoutMs: timeout }
}

export function prometheusConfig(
  file: ProbeFile<'prometheus'>,
  path: Path,
  { secrets, baseDir, report }: { secrets: Secrets; baseDir: (path: Path) => string; report: Report },
): PrometheusConfig {
  const { kind, url, query, alive, dead, maxSampleAge, caFile, verify, timeout } = file
  const both = alive.filter((value) => dead.includes(value))
  if (both.length > 0) report([...path, 'dead'], `${both.join(', ')} would mean alive too (each value in one list)`)
  if (alive.length + dead.length === 0) report([...path, 'dead'], 'no value means anything (give alive, dead or both)')
  return {
    kind,
    url,
    query,
    alive,
    dead,
    maxSampleAgeMs: maxSampleAge,
    login: httpLogin(file, path, secrets, report),
    caFile: caFile === undefined ? null : resolve(baseDir([...path, 'ca_file']), caFile),
    verify,
    timeoutMs: timeout,
  }
}
