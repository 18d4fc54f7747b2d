/** Makers of what a survey holds: a plain running instance on a dead host, and how it differs. */
import type { Instance } from '../../src/domain/instance.ts'
import { builtInSettings, type Segment } from '../../src/domain/segment.ts'
import type { Survey } from '../../src/domain/survey.ts'

export function instance(changes: Partial<Instance> = {}): Instance {
  return {
    id: 'i-1',
    name: 'one',
    projectId: 'p-1',
    userId: 'u-1',
    host: 'dead',
    status: 'ACTIVE',
    vmState: 'active',
    taskState: null,
    powerState: 1,
    locked: false,
    lockedReason: null,
    launchedAt: '2030-01-01T00:00:00Z',
    createdAt: '2030-01-01T00:00:00Z',
    updatedAt: '2030-01-01T00:00:00Z',
    metadata: {},
    tags: [],
    flavor: { name: 'm1', vcpus: 1, ramMb: 512, diskGb: 1, ephemeralGb: 0, swapMb: 0, extraSpecs: {} },
    imageId: 'image',
    volumeIds: [],
    availabilityZone: 'nova',
    fault: null,
    ...changes,
  }
}

export function survey(instances: Instance[], changes: Partial<Survey> = {}): Survey {
  return {
    host: 'dead',
    takenAt: '2030-01-01T12:00:00.000Z',
    capabilities: { computeMaxMicroversion: '2.100', landsStopped: true },
    instances,
    migrations: [],
    services: [],
    serverGroups: [],
    aggregates: [],
    volumes: {},
    actions: {},
    mayActFor: {},
    missing: {},
    ...changes,
  }
}

export function segment(changes: Partial<Segment> = {}): Segment {
  return {
    ...builtInSettings,
    name: 'az1',
    storage: 'shared',
    brake: { maxHosts: 1, maxShare: 1 },
    ...changes,
  }
}
