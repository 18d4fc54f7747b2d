/** Why a write of a failover segment is refused: a name is taken, a host is in another segment, a failure is open. */
import { LifeboatError } from '../domain/errors.ts'
import { hostsMeant } from '../domain/host-name.ts'
import type { Reports } from '../domain/report.ts'
import { isEnd } from '../domain/report-words.ts'
import { isImplicit } from '../domain/segment.ts'
import type { IncidentStore } from '../control/incident-store.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { Orders } from '../orders/orders.ts'

export interface FailoverChecksParts {
  orders: Orders
  monitor: Pick<Monitor, 'segments' | 'segment' | 'verdict' | 'verdicts' | 'lastPoll'>
  store: Pick<IncidentStore, 'openOn'>
  reports: Pick<Reports, 'list'>
}

export interface FailoverChecks {
  /** Throws CONFLICT for the name of another segment, the configuration's too. */
  mustBeFree(segment: string): void
  /**
   * Throws USAGE for a host that Nova does not list, API_UNAVAILABLE before Nova was read, and CONFLICT for one that is in a
   * segment: a host is in one segment.
   */
  mustBeAddable(host: string): void
  /**
   * Throws CONFLICT while a failure of one of the hosts is open: names and membership do not change then. Orders may be given at any moment
   * (law L10). @param what cannot be done, for people
   */
  mustBeIdle(hosts: readonly string[], what: string): void
}

export function failoverChecks({ orders, monitor, store, reports }: FailoverChecksParts): FailoverChecks {
  // A person writes this once and can mend it, so the name is not exchanged for another one behind their back.
  const whichIs = (name: string): string => {
    const known = monitor.verdicts().map(({ host }) => host)
    const meant = hostsMeant(name, known).slice(0, 5)
    return meant.length === 0 ? '' : ` Nova lists ${meant.join(' and ')}.`
  }
  return {
    mustBeFree: (name) => {
      const isConfigured = isImplicit(name) || monitor.segments().some((segment) => segment.name === name)
      if (isConfigured || orders.failover.segmentNamed(name) !== undefined)
        throw new LifeboatError('CONFLICT', `Failover segment with name ${name} already exists.`)
    },
    mustBeAddable: (name) => {
      if (monitor.lastPoll() === null)
        throw new LifeboatError('API_UNAVAILABLE', 'Lifeboat has not read Nova yet: try again')
      if (monitor.verdict(name) === undefined)
        throw new LifeboatError('USAGE', `Compute service with name ${name} could not be found.${whichIs(name)}`)
      const { name: segment } = monitor.segment(name)
      const where = isImplicit(segment) ? '' : ` Lifeboat's configuration has it in segment ${segment}.`
      if (where !== '' || orders.failover.hostNamed(name) !== undefined)
        throw new LifeboatError('CONFLICT', `Host with name ${name} already exists.${where}`)
    },
    mustBeIdle: (hosts, what) => {
      const busy = hosts.find((host) => store.openOn(host) !== undefined)
      const report = reports.list().find(({ host, status }) => hosts.includes(host) && !isEnd(status))
      if (busy === undefined && report === undefined) return
      const why = busy === undefined ? `notification ${report?.uuid}` : `the recovery of ${busy}`
      throw new LifeboatError('CONFLICT', `${what} as it is in-use to process notifications: ${why} is not over.`)
    },
  }
}
