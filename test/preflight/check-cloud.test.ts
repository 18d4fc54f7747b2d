import { expect, it } from 'vitest'
import type { OpenStackCloud } from '../../src/openstack/cloud-client.ts'
import { checkCloud } from '../../src/preflight/check-cloud.ts'
import { row } from '../monitor/setup.ts'

it('a host that Nova lists twice is named, with the row to delete', async () => {
  const none = (): Promise<never[]> => Promise.resolve([])
  const described = {
    ...{ user: { name: 'u' }, project: { name: 'p' }, roles: ['admin'], authUrl: 'k' },
    endpoints: { compute: 'c', volume: 'v', placement: 'p' },
    compute: { minMicroversion: '2.1', maxMicroversion: '2.96', landsStopped: true },
  }
  const cloud = {
    describe: () => Promise.resolve(described),
    listServices: () => Promise.resolve({ services: [row('cmp01')], leftOver: [row('cmp01', { id: 'old-row' })] }),
    ...{
      listAggregates: none,
      listServerGroups: none,
      listMigrations: none,
      listInstances: none,
      allocatedHosts: none,
    },
  } as unknown as OpenStackCloud
  const warned: string[] = []
  for await (const { what, result, message, advice } of checkCloud(cloud))
    if (result === 'warn') warned.push(what, message, advice ?? '')
  expect(warned).toEqual([
    'service of cmp01',
    'Nova lists nova-compute of cmp01 twice; Lifeboat ignores the row that was written longer ago (old-row)',
    'If cmp01 was moved to another cell, delete what it left: openstack compute service delete old-row',
  ])
})
