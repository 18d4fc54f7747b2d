/** The simulated hosts' BMCs, as Redfish. Basic authentication; a BMC may be unreachable, or take orders and do nothing. */
import { asRecord, type Answer, type Exchange } from './exchange.ts'
import type { HostLife } from './host-life.ts'
import type { World } from './world.ts'

export const bmcUser = 'lab'
export const bmcPassword = 'lab'
const resetTypes = ['On', 'ForceOff', 'ForceRestart', 'GracefulShutdown'] as const

/** Null: no answer at all comes from this BMC. */
export function serveRedfish(world: World, life: HostLife, exchange: Exchange): Answer | null {
  const { path, method, headers } = exchange
  if (/^\/v1\/?$/.test(path)) {
    const systems = { '@odata.id': '/redfish/v1/Systems' }
    return {
      status: 200,
      body: { '@odata.id': '/redfish/v1', Id: 'RootService', RedfishVersion: '1.6.0', Systems: systems },
    }
  }
  if (headers.authorization !== `Basic ${Buffer.from(`${bmcUser}:${bmcPassword}`).toString('base64')}`) {
    return failure(401, 'Base.1.0.NoValidSession', 'authentication required')
  }
  if (/^\/v1\/Systems\/?$/.test(path)) {
    const members = [...world.hosts.keys()].map((name) => ({ '@odata.id': `/redfish/v1/Systems/${name}` }))
    return { status: 200, body: { Members: members, 'Members@odata.count': members.length } }
  }
  const match = /^\/v1\/Systems\/([^/]+)(\/Actions\/ComputerSystem\.Reset)?\/?$/.exec(path)
  const host = world.hosts.get(match?.[1] ?? '')
  if (host === undefined) return failure(404, 'Base.1.0.ResourceMissing', 'no such system')
  if (!host.bmc.reachable) return null
  if (match?.[2] === undefined) {
    const target = `/redfish/v1/Systems/${host.name}/Actions/ComputerSystem.Reset`
    const reset = { target, 'ResetType@Redfish.AllowableValues': resetTypes }
    const id = `/redfish/v1/Systems/${host.name}`
    const body = {
      '@odata.id': id,
      Id: host.name,
      Name: host.name,
      PowerState: host.bmc.power,
      Actions: { '#ComputerSystem.Reset': reset },
    }
    return { status: 200, body }
  }
  const wanted = asRecord(exchange.body)?.ResetType
  const kind = resetTypes.find((type) => type === wanted)
  if (method !== 'POST' || kind === undefined) {
    return failure(400, 'Base.1.0.ActionParameterValueNotInList', `ResetType ${String(wanted)}`)
  }
  life.reset(host.name, kind)
  return { status: 204 }
}

function failure(status: number, code: string, message: string): Answer {
  return { status, body: { error: { code, message } } }
}
