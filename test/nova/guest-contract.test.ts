/** What the contract says of guests, of real ones: QEMU under a libvirtd and Nova's libvirt driver. */
import { guestSentences } from '../contract/guest-sentences.ts'
import { novaContract } from '../contract/nova-contract.ts'
import { Steps } from '../contract/steps.ts'
import { labCloud } from './lab.ts'
import { RealHost } from './real-host.ts'

const pretending = ['cmp01', 'cmp02', 'cmp03', 'cmp04']
let host: RealHost

novaContract(
  'real Nova and a real hypervisor keep the contract',
  async () => {
    host = await RealHost.join()
    const { name } = host
    // Every sentence is about this host. The scheduler is to have no other.
    const cloud = { ...(await labCloud('guests', [name, name, name])), quietHost: name }
    const steps = new Steps(cloud)
    for (const other of pretending) await steps.put(other, { status: 'disabled', disabled_reason: 'it runs no QEMU' })
    return cloud
  },
  async (cloud) => {
    const steps = new Steps(cloud)
    for (const other of pretending) await steps.put(other, { status: 'enabled' })
    await host.leave()
  },
  [guestSentences],
)
