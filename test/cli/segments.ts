import type { SegmentStatus } from '../../src/domain/review.ts'
import { builtInSettings } from '../../src/domain/segment.ts'

export const aSegmentStatus: SegmentStatus = {
  name: 'ceph',
  hosts: ['cmp01', 'cmp02'],
  verdicts: { healthy: 1, 'host-down': 1 },
  openIncidents: ['i-1'],
  rules: { ...builtInSettings, name: 'ceph', storage: 'shared', fencing: ['bmc', 'ipmi'] },
}
