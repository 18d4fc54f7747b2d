import type { HostReadiness, Readiness } from '../../src/domain/readiness.ts'

export const aHostReadiness: HostReadiness = {
  host: 'cmp01',
  segment: 'ceph',
  verdict: 'healthy',
  reason: 'BEATING',
  incident: null,
  plan: {
    at: '2026-01-02T03:00:00.000Z',
    instances: 3,
    back: 2,
    left: [{ decision: 'leave', reason: 'LOCAL_DISK', message: 'Its disk is local', instances: 1, names: ['web'] }],
    onLocalDisks: 1,
  },
  fencing: {
    state: 'silent',
    methods: [{ method: 'bmc', power: 'unknown', detail: 'no reading within 10 s', at: '2026-01-02T03:03:05.000Z' }],
  },
  probes: [{ probe: 'ssh', last: null }],
  holds: [{ code: 'PAUSED', message: 'paused by ann until ended (host cmp01): work' }],
  estimateMs: null,
  missing: [
    { code: 'FENCING_SILENT', message: 'bmc did not answer at 2026-01-02T03:03:05.000Z: no reading within 10 s' },
  ],
}

export const aReadiness: Readiness = {
  at: '2026-01-02T03:04:05.000Z',
  sentences: ['Lifeboat can handle 1 host failure now; the cloud has the least room.'],
  failures: 1,
  limit: { scope: 'cloud', title: 'the cloud', down: 0, allowed: 1 },
  segments: [{ name: 'ceph', hosts: 1, fenceable: 0, onLocalDisks: 1 }],
  hosts: [aHostReadiness],
}
