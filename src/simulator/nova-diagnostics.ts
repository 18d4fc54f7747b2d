/**
 * GET /servers/{id}/diagnostics: the one read that nova-compute answers from the hypervisor and not from the database. It answers for a
 * guest that runs, whatever is stored, and refuses for every other; a dead nova-compute says nothing (docs/nova.md §1.8).
 */
import { sleep } from '../domain/clock.ts'
import type { Minor } from './microversion.ts'
import type { SimInstance } from './model.ts'
import { conflict, NovaError, wrongState } from './nova-errors.ts'
import type { World } from './world.ts'

const powerWords: Record<number, string> = { 0: 'pending', 1: 'running', 3: 'paused', 4: 'shutdown' }

/** Throws NovaError; with the broker dead it never answers. */
export async function showDiagnostics(world: World, instance: SimInstance, minor: Minor): Promise<unknown> {
  if (instance.host === null) throw conflict(`Instance ${instance.uuid} is not ready`)
  const host = world.host(instance.host)
  if (world.down.has('rabbitmq')) return new Promise(() => undefined)
  if (!host.agent) {
    await sleep(world.clock, world.options.timings.rpcTimeoutMs)
    throw new NovaError(
      500,
      "Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/ and attach the Nova API log if possible.\n<class 'oslo_messaging.exceptions.MessagingTimeout'>",
    )
  }
  if (world.hypervisors.power(host.name, instance.uuid) !== 1)
    throw wrongState('get_diagnostics', instance.uuid, 'power state', powerWords[instance.powerState])
  return minor >= 48 ? diagnostics(world, instance) : { cpu0_time: 17_300_000_000, memory: instance.flavor.ram * 1024 }
}

function diagnostics(world: World, instance: SimInstance): unknown {
  return {
    state: 'running',
    driver: 'libvirt',
    hypervisor: 'kvm',
    hypervisor_os: 'linux',
    // From its launch, not from the start of its process.
    uptime: Math.floor((world.wall() - (instance.launchedAt ?? world.wall())) / 1_000),
    config_drive: false,
    num_cpus: instance.flavor.vcpus,
    num_nics: 0,
    num_disks: 1,
    disk_details: [{ read_bytes: 0, read_requests: 0, write_bytes: 0, write_requests: 0, errors_count: null }],
    cpu_details: Array.from({ length: instance.flavor.vcpus }, (_, id) => ({ id, time: 0, utilisation: null })),
    nic_details: [],
    memory_details: { maximum: instance.flavor.ram, used: instance.flavor.ram },
  }
}
