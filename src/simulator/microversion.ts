/** Microversion arithmetic and the two headers that carry one. */
import type { IncomingHttpHeaders } from 'node:http'
import { badRequest, NovaError } from './nova-errors.ts'

/** The minor number: Nova's major has been 2 since 2013. */
export type Minor = number

export function minorOf(version: string): Minor {
  return Number(version.split('.')[1])
}

/**
 * The microversion that a request asks for; none means 2.1. Throws NovaError 400 on nonsense and 406 outside the range.
 */
export function requestedMinor(headers: IncomingHttpHeaders, max: string): Minor {
  const modern = headers['openstack-api-version']
  const named = (Array.isArray(modern) ? modern.join(',') : modern)
    ?.split(',')
    .map((part) => part.trim().split(/\s+/))
    .find(([service]) => service?.toLowerCase() === 'compute')?.[1]
  const legacy = headers['x-openstack-nova-api-version']
  const asked = named ?? (Array.isArray(legacy) ? legacy[0] : legacy)
  if (asked === undefined) return 1
  if (asked === 'latest') return minorOf(max)
  if (!/^([1-9]\d*)\.([1-9]\d*|0)$/.test(asked)) {
    throw badRequest(`API Version String ${asked} is of invalid format. Must be of format MajorNum.MinorNum.`)
  }
  const minor = minorOf(asked)
  if (!asked.startsWith('2.') || minor < 1 || minor > minorOf(max)) {
    throw new NovaError(406, `Version ${asked} is not supported by the API. Minimum is 2.1 and maximum is ${max}.`)
  }
  return minor
}
