/** Regions of the lab's catalogue that a test adds for a service, each with an endpoint of its own, and takes away again. */
import { tokenFor, type CloudUnderTest } from '../contract/cloud-under-test.ts'
import { until } from './daemon-process.ts'
import { keystone } from './keystone.ts'
import { lab, labIdentityUrl } from './lab.ts'

export class Regions {
  readonly #cloud: CloudUnderTest
  readonly #type: string
  #made: string[] = []

  /** @param type of the service, in the words of the catalogue */
  constructor(cloud: CloudUnderTest, type: string) {
    this.#cloud = cloud
    this.#type = type
  }

  /** @param endpoints the address of the service, by region. Those of a run that was cut off are replaced. */
  async make(endpoints: Readonly<Record<string, string>>): Promise<void> {
    this.#made = Object.keys(endpoints)
    await this.#takeAway()
    const token = await tokenFor(this.#cloud)
    const { services } = await keystone(token, 'GET', `/services?type=${this.#type}`)
    for (const [region, url] of Object.entries(endpoints)) {
      await keystone(token, 'POST', '/regions', { region: { id: region } })
      const endpoint = { service_id: services[0].id, interface: 'public', region_id: region, url }
      await keystone(token, 'POST', '/endpoints', { endpoint })
    }
    await freshKeystone()
  }

  async forget(): Promise<void> {
    await this.#takeAway()
    await freshKeystone()
  }

  async #takeAway(): Promise<void> {
    const token = await tokenFor(this.#cloud)
    const { endpoints } = await keystone(token, 'GET', '/endpoints')
    for (const { id, region_id } of endpoints)
      if (this.#made.includes(region_id)) await keystone(token, 'DELETE', `/endpoints/${id}`)
    const { regions } = await keystone(token, 'GET', '/regions')
    for (const { id } of regions) if (this.#made.includes(id)) await keystone(token, 'DELETE', `/regions/${id}`)
  }
}

/** Each of Keystone's processes keeps catalogues for ten minutes, and hears nothing of what another one wrote. */
async function freshKeystone(): Promise<void> {
  await lab('kill', 'keystone')
  await lab('start', 'keystone')
  await until('Keystone answers', async () => {
    const answer = await fetch(labIdentityUrl).catch(() => null)
    return answer?.ok === true
  })
}
