/** Metadata and tags of a server, as its owner sets and removes them (docs/nova.md section 1). */
import { isAdmin, type Caller } from './caller.ts'
import { asRecord, type Exchange } from './exchange.ts'
import type { SimInstance } from './model.ts'
import { badRequest, NovaError, notFound, wrongState } from './nova-errors.ts'

const changeable = new Set(['active', 'paused', 'suspended', 'stopped'])

/** Gives status and body; null where nothing is routed. */
export function changeMetadata(
  instance: SimInstance,
  { method, body }: Exchange,
  key: string | undefined,
  caller: Caller,
): { status: number; body?: unknown } | null {
  if (method === 'POST' && key === undefined) {
    const given = asRecord(asRecord(body)?.['metadata'])
    if (given === null) throw badRequest('Invalid input for field/attribute metadata')
    mayChange('update metadata', instance, caller)
    for (const [name, value] of Object.entries(given)) instance.metadata[name] = String(value)
    return { status: 200, body: { metadata: instance.metadata } }
  }
  if (method === 'DELETE' && key !== undefined) {
    if (!Object.hasOwn(instance.metadata, key)) throw notFound('Metadata item was not found')
    mayChange('delete metadata', instance, caller)
    instance.metadata = Object.fromEntries(Object.entries(instance.metadata).filter(([name]) => name !== key))
    return { status: 204 }
  }
  return null
}

/** A lock does not keep anybody from tagging. */
export function changeTag(
  instance: SimInstance,
  { method }: Exchange,
  tag: string | undefined,
): { status: number } | null {
  if (tag === undefined || (method !== 'PUT' && method !== 'DELETE')) return null
  if (!changeable.has(instance.vmState))
    throw wrongState(method === 'PUT' ? 'update tag' : 'delete tag', instance.uuid, 'vm_state', instance.vmState)
  const known = instance.tags.includes(tag)
  if (method === 'PUT') {
    if (!known) instance.tags.push(tag)
    return { status: known ? 204 : 201 }
  }
  if (!known) throw notFound(`Instance ${instance.uuid} has no tag '${tag}'`)
  instance.tags = instance.tags.filter((one) => one !== tag)
  return { status: 204 }
}

/** The lock first, then vm_state. */
function mayChange(what: string, instance: SimInstance, caller: Caller): void {
  if (instance.locked && !isAdmin(caller)) throw new NovaError(409, `Instance ${instance.uuid} is locked`)
  if (!changeable.has(instance.vmState)) throw wrongState(what, instance.uuid, 'vm_state', instance.vmState)
}
