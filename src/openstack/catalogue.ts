/** Where a service is: by type, interface and region from the token's catalogue, or by the configuration's override. */
import { LifeboatError } from '../domain/errors.ts'
import type { EndpointChoice, OptionalService, ServiceKind } from './cloud-config.ts'
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
    const endpoints = token.catalogue.filter((service) => service.type === type).flatMap((service) => service.endpoints)
    const near = endpoints.filter((endpoint) => choice.region === null || regionOf(endpoint) === choice.region)
    for (const name of choice.interfaces) {
      const found = near.find((endpoint) => endpoint.interface === name || endpoint.interface === `${name}URL`)
      if (found !== undefined) return found.url.replace(/\/+$/, '')
    }
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
