import type { HostName } from '../../domain/service.ts'

/** cmp01 of cmp01.rack7.example.org: what fits on a tile. */
export function shortHost(host: HostName): string {
  return host.split('.')[0] ?? host
}
