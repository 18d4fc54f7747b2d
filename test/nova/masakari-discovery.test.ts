/**
 * The real keystoneauth (test/lab/discover.py) looks for the versions of Lifeboat's API and calls it, as Masakari's clients do: directly and
 * through a proxy that serves it under a path, by endpoints of the catalogue that name the project and by some that do not.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { authenticate } from '../contract/cloud-under-test.ts'
import { lab } from './lab.ts'
import { PrefixProxy } from './prefix-proxy.ts'
import { Regions } from './regions.ts'
import { LabStage } from './stage.ts'

const listen = '127.0.0.1:15868'
const prefix = '/instance-ha'
let stage: LabStage
let proxy: PrefixProxy
let regions: Regions
let project: string

beforeAll(async () => {
  await lab('masakari', 'down')
  stage = await LabStage.open('discovery')
  proxy = await PrefixProxy.listen(prefix, 15868)
  const { username, password, project: name } = stage.cloud.credentials
  project = (await authenticate(stage.cloud, username, password, name)).body.token.project.id
  regions = new Regions(stage.cloud, 'instance-ha')
  await regions.make({
    'direct-of-project': `http://${listen}/v1/%(project_id)s`,
    'direct-plain': `http://${listen}/v1`,
    'proxied-of-project': `${proxy.url}/v1/%(project_id)s`,
    'proxied-plain': `${proxy.url}/v1`,
  })
})
afterEach(() => stage.tidy())
afterAll(async () => {
  await regions.forget()
  await proxy.close()
  stage.close()
})

interface Found {
  url: string
  version: number[]
  /** The lowest and the highest. */
  microversions: number[][]
  served: string
  segments: string[]
}

async function discovered(region: string): Promise<Record<string, Found>> {
  return JSON.parse(await lab('discover', region)) as Record<string, Found>
}

/** What it finds in each of the ways in which clients ask. */
function alike(url: string): Record<string, Found> {
  const one: Found = {
    ...{
      url,
      version: [1, 0],
      microversions: [
        [1, 0],
        [1, 3],
      ],
    },
    ...{ served: 'instance-ha 1.2', segments: ['lab'] },
  }
  return { any: one, '1': one, newest: one }
}

describe('keystoneauth finds the versions and calls the API', () => {
  it('directly, with the project in the endpoint and without it', async () => {
    stage.freshDaemon({ masakari_api: { listen, projects: [{ name: 'service' }] } })
    await stage.watch()
    expect(await discovered('direct-of-project')).toEqual(alike(`http://${listen}/v1/${project}`))
    expect(await discovered('direct-plain')).toEqual(alike(`http://${listen}/v1/`))
  })

  it('behind a proxy with a prefix, with the project in the endpoint and without it', async () => {
    const masakari_api = { listen, projects: [{ name: 'service' }], public_url: proxy.url }
    stage.freshDaemon({ masakari_api })
    await stage.watch()
    expect(await discovered('proxied-of-project')).toEqual(alike(`${proxy.url}/v1/${project}`))
    expect(await discovered('proxied-plain')).toEqual(alike(`${proxy.url}/v1/`))
    expect(proxy.asked).toContain(`${prefix}/v1/${project}/segments`)
    expect(proxy.asked.filter((path) => !path.startsWith(`${prefix}/`))).toEqual([])
  })
})
