/** The floor: how long Nova itself needs when it is told of the death at once and every evacuation is posted at once. */
import { nova, type CloudUnderTest } from '../contract/cloud-under-test.ts'
import { Steps } from '../contract/steps.ts'
import { lab } from './lab.ts'

/** As many requests at a time as a script would send; Nova's API has three processes on the lab. */
const threads = 8

/** As often as the daemon itself reads. Listing every instance more often would slow down what it measures. */
const pollMs = 500

/** Crashes `host`, forces it down, evacuates all its instances at 2.94 and waits until all run elsewhere. */
export async function evacuateAllAtOnce(
  cloud: CloudUnderTest,
  host: string,
): Promise<{ seconds: number; requests: number }> {
  const steps = new Steps(cloud)
  const servers: { id: string }[] = (await nova(cloud, 'GET', `/servers/detail?all_tenants=1&host=${host}`)).body
    .servers
  await lab('crash', host)
  const began = performance.now()
  await steps.put(host, { forced_down: true })
  const waiting = servers.map((server) => server.id)
  let requests = 1
  const thread = async (): Promise<void> => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      await steps.evacuate(id, 94)
      requests++
    }
  }
  await Promise.all(Array.from({ length: threads }, thread))
  const missing = new Set(servers.map((server) => server.id))
  while (missing.size > 0) {
    const list: any[] = (await nova(cloud, 'GET', `/servers/detail?all_tenants=1&name=^${cloud.prefix}-`)).body.servers
    requests++
    for (const server of list) {
      const back =
        server['OS-EXT-SRV-ATTR:host'] !== host &&
        server.status === 'ACTIVE' &&
        server['OS-EXT-STS:task_state'] === null
      if (back) missing.delete(server.id)
    }
    if (missing.size > 0) await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  return { seconds: (performance.now() - began) / 1000, requests }
}
