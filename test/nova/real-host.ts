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
    await labWith({ LAB_HYPERVISOR: 'libvirt' }, 'start', name)
    return new RealHost(name)
  }

  /** Masakari's own instance monitor, unmodified, listens from now on. */
  async monitor(): Promise<void> {
    await lab('instance-monitor', this.name)
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
