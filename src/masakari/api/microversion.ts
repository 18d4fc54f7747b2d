/** The microversion that a client asks for, and the documents that list the versions. */
import { LifeboatError } from '../../domain/errors.ts'

export const lowest = '1.0'
export const highest = '1.3'

/**
 * The version to answer in, from the header `OpenStack-API-Version`. Only the service type `instance-ha` counts; without it
 * the lowest. Throws USAGE for text that is no version, MICROVERSION_UNSUPPORTED for a version that does not exist.
 */
export function microversionOf(header: string | undefined): string {
  const asked = (header ?? '')
    .split(',')
    .map((part) => part.trim().split(/\s+/))
    .find(([service]) => service === 'instance-ha')?.[1]
  if (asked === undefined) return lowest
  if (asked === 'latest') return highest
  if (!/^[1-9]\d*\.\d+$/.test(asked)) {
    const message = `API Version String ${asked.slice(0, 40)} is of invalid format. Must be of format MajorNum.MinorNum.`
    throw new LifeboatError('USAGE', message)
  }
  const [major, minor] = asked.split('.').map(Number)
  if (major !== 1 || Number(minor) > 3) {
    const message = `Version ${asked.slice(0, 40)} is not supported by the API. Minimum is ${lowest} and maximum is ${highest}.`
    throw new LifeboatError('MICROVERSION_UNSUPPORTED', message)
  }
  return asked
}

export function isAtLeast(version: string, wanted: string): boolean {
  return Number(version.split('.')[1]) >= Number(wanted.split('.')[1])
}

/** @param base address of this API as clients reach it, without a slash at its end */
function version(base: string): object {
  return {
    ...{ id: 'v1.0', status: 'CURRENT', version: highest, min_version: lowest, updated: '2016-07-01T11:33:21Z' },
    links: [{ rel: 'self', href: `${base}/v1/` }],
  }
}

/** `GET /`. */
export function versionList(base: string): object {
  return { versions: [version(base)] }
}

/** `GET /v1`. keystoneauth takes the path of its further calls from the link to itself. */
export function versionDocument(base: string): object {
  const described = version(base) as { links: object[] }
  const documentation = { rel: 'describedby', type: 'text/html', href: 'https://docs.openstack.org/masakari/' }
  const type = 'application/vnd.openstack.masakari+json;version=1'
  return {
    version: {
      ...described,
      links: [...described.links, documentation],
      'media-types': [{ base: 'application/json', type }],
    },
  }
}
