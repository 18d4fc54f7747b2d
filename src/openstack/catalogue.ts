/** Where a service is: by type, interface and region from the token's catalogue, or by the configuration's override. */
import { LifeboatError } from '../domain/errors.ts'
import type { CloudConfig, EndpointChoice, OptionalService, ServiceKind } from './cloud-config.ts'
import type { Catalogue, Token } from './token.ts'

/** Today's official type and the ones that clouds still register. */
const types: Record<ServiceKind | OptionalService, string[]> = {
  compute: ['compute'],
  volume: ['block-storage', 'volumev3'],
  placement: ['placement'],
  'instance-ha': ['instance-ha', 'ha', 'masakari'],
}

/** The endpoint without a trailing slash. @throws LifeboatError CATALOG_MISSING naming what there is */
export function endpointOf(kind: ServiceKind | OptionalService, choice: EndpointChoice, token: Token): string {
  if (choice.override !== null) {
    return choice.override.replace(/[%$]\((?:project|tenant)_id\)s/g, token.project.id)
  }
  for (const type of types[kind]) {
    const found = urlIn(token.catalogue, type, choice)
    if (found !== null) return found.replace(/\/+$/, '')
  }
  const wanted = `${types[kind].join(' or ')}, ${choice.interfaces.join(' or ')}, region ${choice.region ?? 'any'}`
  throw new LifeboatError(
    'CATALOG_MISSING',
    `the catalogue has no ${wanted}; there is: ${inventory(token.catalogue)}`,
    {
      details: { service: kind, interfaces: choice.interfaces, region: choice.region },
    },
  )
}

/** Where browsers reach Keystone: its public endpoint, or the address that we use where the catalogue has none. */
export function publicKeystone(
  { catalogue }: Pick<Token, 'catalogue'>,
  { authUrl, endpoints }: Pick<CloudConfig, 'authUrl' | 'endpoints'>,
): string {
  const url = URL.parse(
    urlIn(catalogue, 'identity', { interfaces: ['public'], region: endpoints.compute.region }) ?? '',
  )
  return url === null ? authUrl : identityRoot(url)
}

/** Keystone's v3 root. A bare or v2.0 address gets /v3: every Keystone still in use has it there. */
export function identityRoot({ origin, pathname }: URL): string {
  return `${origin}${pathname.replace(/\/+$/, '').replace(/\/v(3|2\.0)$/, '')}/v3`
}

function urlIn(
  catalogue: Catalogue,
  type: string,
  { interfaces, region }: Pick<EndpointChoice, 'interfaces' | 'region'>,
): string | null {
  const endpoints = catalogue.filter((service) => service.type === type).flatMap((service) => service.endpoints)
  const near = endpoints.filter((endpoint) => region === null || regionOf(endpoint) === region)
  for (const name of interfaces) {
    const found = near.find((endpoint) => endpoint.interface === name || endpoint.interface === `${name}URL`)
    if (found !== undefined) return found.url
  }
  return null
}

function regionOf(endpoint: Catalogue[number]['endpoints'][number]): string | null {
  return endpoint.region_id ?? endpoint.region ?? null
}

function inventory(catalogue: Catalogue): string {
  const lines = catalogue.map((service) => {
    const places = service.endpoints.map((endpoint) => `${endpoint.interface} in ${regionOf(endpoint) ?? 'no region'}`)
    return `${service.type} (${[...new Set(places)].join(', ') || 'no endpoint'})`
  })
  return lines.join('; ') || 'nothing'
}
