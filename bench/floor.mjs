/**
 * The floor: how long Nova itself needs when a script that knows of the death at once posts every evacuation at once. No
 * recovery service can be quicker; how much slower ours is, is what the benchmark measures.
 */
import { sleep } from './figures.mjs'

/** As many requests at a time as a script would send. More do not help: the lab's Nova API has three processes. */
const threads = 8

/**
 * Crashes `host` by `crash`, forces it down, evacuates all its instances at 2.94 (from 2.95 on Nova leaves them stopped) and
 * polls until all are active elsewhere. Seconds from the force-down on, which was at `begunAt` by the wall clock, and whom it moved.
 */
export async function floor({ nova, host, crash, pollMs }) {
  const here = (await nova.call('GET', `/servers/detail?all_tenants=1&host=${host}`)).servers.map(({ id }) => id)
  const { id: service } = await nova.service(host)
  await crash()
  const [began, begunAt] = [performance.now(), Date.now()]
  await nova.call('PUT', `/os-services/${service}`, { forced_down: true })
  const waiting = [...here]
  const thread = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop())
      await nova.call('POST', `/servers/${id}/action`, { evacuate: {} }, 94)
  }
  await Promise.all(Array.from({ length: threads }, thread))
  for (;;) {
    const { servers } = await nova.call('GET', '/servers/detail?all_tenants=1')
    const back = new Set(servers.filter((server) => isBack(server, host)).map(({ id }) => id))
    if (here.every((id) => back.has(id))) return { seconds: (performance.now() - began) / 1000, begunAt, ids: here }
    await sleep(pollMs)
  }
}

function isBack(server, host) {
  return (
    server['OS-EXT-SRV-ATTR:host'] !== host && server.status === 'ACTIVE' && server['OS-EXT-STS:task_state'] === null
  )
}
