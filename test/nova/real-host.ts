/**
 * A host with a libvirtd and real QEMU guests that joins the lab for one suite and is scrapped after it: other suites count the hosts, and
 * Nova would send them the guests of the fake driver's hosts.
 */
import { lab, labWith } from './lab.ts'

export class RealHost {
  readonly name: string

  private constructor(name: string) {
    this.name = name
  }

  /** Waits until Nova can boot there. */
  static async join(name = 'cmp05'): Promise<RealHost> {
    await started(name)
    return new RealHost(name)
  }

  /** Two at once: what takes longest is to wait for either. */
  static async joinBoth(one: string, other: string): Promise<[RealHost, RealHost]> {
    await started(one, other)
    return [new RealHost(one), new RealHost(other)]
  }

  /** Masakari's own instance monitor, unmodified, listens from now on. */
  async monitor(): Promise<void> {
    await lab('instance-monitor', this.name)
  }

  /** Masakari's own introspective instance monitor, unmodified, pings the agent of every guest that has one from now on. */
  async pingAgents(): Promise<void> {
    await lab('introspective-monitor', this.name)
  }

  /** Orders the guest's agent to end itself a second from now: the guest runs on, and nothing in it answers. */
  async endAgent(guest: string): Promise<void> {
    const arg = ['sh', '-c', 'busybox sleep 1; busybox killall qemu-ga']
    const order = { execute: 'guest-exec', arguments: { path: '/bin/busybox', arg } }
    await lab('in', this.name, 'virsh', 'qemu-agent-command', guest, JSON.stringify(order))
  }

  /** `virsh WHAT GUEST`. */
  async virsh(what: string, guest: string): Promise<void> {
    await lab('in', this.name, 'virsh', what, guest)
  }

  /** A signal to the guest's QEMU. Throws when it has none. */
  async signal(name: 'KILL' | 'TERM', guest: string): Promise<void> {
    await lab('in', this.name, 'pkill', `-${name}`, '-f', `qemu.* -uuid ${guest}`)
  }

  /** Its last guests are being deleted; then it is gone for good. */
  async leave(): Promise<void> {
    await lab('scrap', this.name)
  }
}

async function started(...names: string[]): Promise<void> {
  await labWith({ LAB_HYPERVISOR: 'libvirt' }, 'start', ...names)
}
