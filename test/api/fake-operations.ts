import { LifeboatError } from '../../src/domain/errors.ts'
import type { MaintenanceView } from '../../src/domain/maintenance-view.ts'
import type { DaemonStatus, HostStatus, Operations } from '../../src/domain/operations.ts'

export const aStatus: DaemonStatus = {
  version: '0.1.0',
  mode: 'armed',
  pid: 42,
  startedAt: '2026-01-02T03:04:05.000Z',
  cloud: 'lab',
  lastPoll: { at: '2026-01-02T03:04:10.000Z', ok: true, tookMs: 12.4, error: null },
  frozen: null,
  restartLoop: null,
  tenure: null,
  paused: null,
  standingOrders: [],
  brake: [],
  receivers: [],
  hosts: { healthy: 3, 'host-down': 1 },
  incidents: { open: 1, held: 0, unsettled: { incidents: 0, left: 0, lost: 0 } },
  journal: { path: '/tmp/journal.db', entries: 7, head: 'abc' },
  workflow: { name: 'host-failure', revision: 1, digest: 'd1ge57d1ge57d1ge57' },
  configuration: {
    files: ['/etc/lifeboat/lifeboat.yaml'],
    loadedAt: '2026-01-02T03:04:05.000Z',
    loadedBy: 'start',
    waiting: [],
    refused: null,
  },
  logLevel: { level: 'info', configured: 'info', until: null },
}

export const aHost: HostStatus = {
  host: 'cmp01',
  segment: 'ceph',
  zone: 'nova',
  verdict: 'healthy',
  reason: 'BEATING',
  message: 'Heartbeat normal',
  status: 'enabled',
  state: 'up',
  forcedDown: false,
  silentMs: 0,
  intervalMs: 10_000,
  missedBeats: 0,
  probes: [],
  incident: null,
  standingOrders: [],
  returning: null,
  setAside: null,
  at: '2026-01-02T03:04:05.000Z',
}

export const aMaintenance: MaintenanceView = {
  timezone: 'Europe/Berlin',
  inForce: [],
  planned: [],
  windows: [],
  conflicts: [],
}

/** Operations that keep what they were asked for, in `asked`. */
export function fakeOperations(replace: Partial<Operations> = {}): { operations: Operations; asked: unknown[][] } {
  const asked: unknown[][] = []
  const operations: Operations = {
    status: () => aStatus,
    hosts: () => [],
    host: (name) => {
      throw new LifeboatError('NOT_FOUND', `Nova shows no nova-compute on ${name}`)
    },
    tryAgain: async (id, order) => {
      asked.push(['tryAgain', id, order])
      return { incident: 'i-2', held: null, instances: [{ id: 'u-1', name: 'web-1' }], unsure: [] }
    },
    startInstances: async (id, order) => {
      asked.push(['startInstances', id, order])
    },
    returnHost: async (order) => {
      asked.push(['returnHost', order])
      return { state: 'away', code: null, message: 'silent', since: null, leftovers: [], order: null }
    },
    incidents: (filter) => {
      asked.push(['incidents', filter])
      return []
    },
    incident: (id) => {
      throw new LifeboatError('NOT_FOUND', `There is no incident ${id}`)
    },
    recover: async (order) => {
      asked.push(['recover', order])
      return { incident: 'i-1', held: null }
    },
    pause: async (order) => {
      asked.push(['pause', order])
      return { ...order, since: '2026-01-02T03:04:05.000Z' }
    },
    resume: async (order) => void asked.push(['resume', order]),
    startMaintenance: async (order) => {
      asked.push(['startMaintenance', order])
      return { ...order, kind: 'maintenance', since: '2026-01-02T03:04:05.000Z', source: null }
    },
    planMaintenance: async (order) => {
      asked.push(['planMaintenance', order])
      const { by, reason, scope } = order
      const times = { orderedAt: '2026-01-02T03:04:05.000Z', from: '2026-01-03T02:00:00.000Z' }
      return { ...{ by, reason, scope, ...times }, plan: 7, kind: 'maintenance', until: '2026-01-03T06:00:00.000Z' }
    },
    withdrawMaintenance: async (order) => void asked.push(['withdrawMaintenance', order]),
    maintenance: () => aMaintenance,
    endMaintenance: async (order) => void asked.push(['endMaintenance', order]),
    heldGroups: () => [],
    overrideGroup: async (order) => {
      asked.push(['overrideGroup', order])
      return { overridden: [], skipped: [] }
    },
    override: async (id, order) => void asked.push(['override', id, order]),
    reload: async (order) => {
      asked.push(['reload', order])
      return { changed: ['mode'], waiting: [], mode: { from: 'observe', to: 'armed' }, files: [], warnings: [] }
    },
    handOver: async (order) => {
      asked.push(['handOver', order])
      return { standbys: ['ctl2'] }
    },
    testReceiver: async (test) => {
      asked.push(['testReceiver', test])
      return { ok: true, detail: 'HTTP 204' }
    },
    logLevel: () => ({ level: 'info', configured: 'info', until: null }),
    setLogLevel: async (order) => {
      asked.push(['setLogLevel', order])
      return { level: order.level, configured: 'info', until: order.until }
    },
    cancel: async (id, order) => void asked.push(['cancel', id, order]),
    ...replace,
  }
  return { operations, asked }
}
