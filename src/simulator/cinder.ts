/** The simulated Cinder: reading volumes and whether they are encrypted. */
import { isAdmin, type Caller } from './caller.ts'
import type { Answer, Exchange } from './exchange.ts'
import type { SimVolume } from './model.ts'
import type { World } from './world.ts'

export function serveCinder(world: World, exchange: Exchange, caller: Caller | null): Answer {
  const { path, base, query } = exchange
  if (/^\/?(v3\/?)?$/.test(path)) {
    const links = [{ rel: 'self', href: `${base}/v3/` }]
    return {
      status: 200,
      body: { versions: [{ id: 'v3.0', status: 'CURRENT', version: '3.71', min_version: '3.0', links }] },
    }
  }
  if (caller === null)
    return {
      status: 401,
      body: {
        error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' },
      },
    }
  const match = /^\/v3\/(?:[^/]+\/)?volumes(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(path)
  if (match === null || exchange.method !== 'GET') return missing('no such path')
  const [, id, sub] = match
  const mayRead = (volume: SimVolume): boolean => isAdmin(caller) || volume.projectId === caller.projectId
  if (id === undefined || id === 'detail') {
    const everything = isAdmin(caller) && ['1', 'true', 'True'].includes(query.get('all_tenants') ?? '')
    const all = [...world.volumes.values()].filter((volume) => everything || volume.projectId === caller.projectId)
    const after = all.findIndex((volume) => volume.id === query.get('marker')) + 1
    const page = all.slice(after, after + Number(query.get('limit') ?? 1000))
    return { status: 200, body: { volumes: page.map((volume) => view(volume)) } }
  }
  const volume = world.volumes.get(id)
  if (volume === undefined || !mayRead(volume)) return missing(`Volume ${id} could not be found.`)
  if (sub === 'encryption') return { status: 200, body: volume.encrypted ? encryptionView(volume) : {} }
  return { status: 200, body: { volume: view(volume) } }
}

function view(volume: SimVolume): unknown {
  return {
    id: volume.id,
    name: volume.name,
    size: volume.size,
    status: volume.attachedTo === null ? 'available' : 'in-use',
    bootable: 'true',
    encrypted: volume.encrypted,
    availability_zone: 'nova',
    multiattach: false,
    attachments:
      volume.attachedTo === null
        ? []
        : [{ id: volume.id, volume_id: volume.id, server_id: volume.attachedTo, attachment_id: volume.id }],
    metadata: {},
    volume_type: 'lvmdriver',
    'os-vol-tenant-attr:tenant_id': volume.projectId,
    created_at: '2026-01-01T00:00:00.000000',
  }
}

function encryptionView(volume: SimVolume): unknown {
  return {
    encryption_key_id: `k-${volume.id}`,
    provider: 'luks',
    cipher: 'aes-xts-plain64',
    key_size: 256,
    control_location: 'front-end',
  }
}

function missing(message: string): Answer {
  return { status: 404, body: { itemNotFound: { message, code: 404 } } }
}
