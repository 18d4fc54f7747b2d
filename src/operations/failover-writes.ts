/**
 * What people write through Masakari's API: failover segments, the hosts in them, and the orders that two of their fields stand for.
 * `enabled: false` is maintenance of the segment, `on_maintenance: true` of the host. Each write is one batch of entries, so the journal has
 * all of a write or none of it.
 *
 * No write here silently takes a host's protection away: Lifeboat protects a host whether a segment has it or not, and only an order, with
 * its person's name, holds the host's recovery.
 */
import { randomUUID } from 'node:crypto'
import type { NewEntry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import type {
  FailoverRecords,
  FailoverSegment,
  FailoverSegments,
  HostChange,
  SegmentHost,
  Writer,
} from '../domain/failover-segment.ts'
import type { SegmentFields, SegmentHostFields } from '../domain/failover-words.ts'
import type { Scope } from '../domain/order.ts'
import { known } from '../orders/order-acts.ts'
import { failoverChecks, type FailoverChecks, type FailoverChecksParts } from './failover-checks.ts'
import { isKeptOut } from '../domain/return-record.ts'
import { fieldOrders, type FieldOrders } from './field-orders.ts'
import { isOut, mayReturn, orderReturn, type HostParts } from './host-operations.ts'

export type FailoverWritesParts = HostParts & FailoverChecksParts

export class FailoverWrites implements FailoverSegments {
  readonly #parts: FailoverWritesParts
  readonly #fields: FieldOrders
  readonly #checks: FailoverChecks

  constructor(parts: FailoverWritesParts) {
    this.#parts = parts
    this.#fields = fieldOrders(parts)
    this.#checks = failoverChecks(parts)
  }

  segments(): FailoverSegment[] {
    return [...this.#records.segments.values()]
  }

  hosts(): SegmentHost[] {
    return [...this.#records.hosts.values()]
  }

  uuidOfHost(name: string): string | null {
    return this.#records.uuids.get(name) ?? null
  }

  createSegment(fields: SegmentFields, enabled: boolean, writer: Writer): FailoverSegment {
    this.#checks.mustBeFree(fields.name)
    const uuid = randomUUID()
    const number = this.#records.last.segment + 1
    const written = { number, uuid, before: null, after: fields, ...signed(writer) }
    this.#append(writer, [
      { kind: 'segment.written', data: written },
      // Maintenance that stands for this name already was ordered for its hosts: to create the segment is no word on that.
      ...(enabled ? [] : this.#fields.enabling(fields.name, false, writer)),
    ])
    return this.#segment(uuid)
  }

  updateSegment(
    uuid: string,
    { enabled, ...change }: Partial<SegmentFields> & { enabled?: boolean },
    writer: Writer,
  ): FailoverSegment {
    const { number, ...segment } = this.#segment(uuid)
    const before = segmentFields(segment)
    const after = { ...before, ...change }
    const entries: NewEntry[] = []
    if (!isSame(before, after))
      entries.push({ kind: 'segment.written', data: { number, uuid, before, after, ...signed(writer) } })
    if (after.name !== before.name) {
      this.#checks.mustBeFree(after.name)
      this.#checks.mustBeIdle(this.#namesIn(uuid), `Failover segment ${before.name} can't be renamed`)
      entries.push(...this.#fields.renaming(before.name, after.name, enabled, writer))
    } else if (enabled !== undefined) entries.push(...this.#fields.enabling(after.name, enabled, writer))
    this.#append(writer, entries)
    return this.#segment(uuid)
  }

  deleteSegment(uuid: string, writer: Writer): void {
    const { number, ...segment } = this.#segment(uuid)
    const hosts = this.hosts().filter((host) => host.segment === uuid)
    this.#checks.mustBeIdle(this.#namesIn(uuid), `Failover segment ${segment.name} can't be deleted`)
    this.#append(writer, [
      ...hosts.flatMap((host) => this.#removal(host, writer)),
      {
        kind: 'segment.written',
        data: { number, uuid, before: segmentFields(segment), after: null, ...signed(writer) },
      },
      ...this.#fields.deleting(segment.name, writer),
    ])
  }

  addHost(segment: string, fields: SegmentHostFields, onMaintenance: boolean, writer: Writer): SegmentHost {
    this.#segment(segment)
    this.#checks.mustBeAddable(fields.name)
    const uuid = randomUUID()
    const number = this.#records.last.host + 1
    this.#append(writer, [
      this.#hostEntry({ number, uuid, segment }, null, fields, writer),
      ...(onMaintenance ? this.#fields.maintaining(fields.name, true, writer) : []),
    ])
    return this.#host(uuid)
  }

  updateHost(uuid: string, { onMaintenance, ...change }: HostChange, writer: Writer): SegmentHost {
    const host = this.#host(uuid)
    const before = hostFields(host)
    const after = { ...before, ...change }
    const entries = isSame(before, after) ? [] : [this.#hostEntry(host, before, after, writer)]
    if (after.name !== before.name) {
      this.#checks.mustBeAddable(after.name)
      this.#mayLeave(host, `Host ${before.name} can't be renamed`)
      entries.push(...this.#fields.endingField({ kind: 'host', name: before.name }, writer))
    }
    const orders = onMaintenance === undefined ? [] : this.#fields.maintaining(after.name, onMaintenance, writer)
    this.#append(writer, [...entries, ...orders])
    if (onMaintenance === false) this.#letReturn(after.name, writer, orders.length > 0)
    return this.#host(uuid)
  }

  removeHost(uuid: string, writer: Writer): void {
    const host = this.#host(uuid)
    this.#mayLeave(host, `Host ${host.name} can't be deleted`)
    this.#append(writer, this.#removal(host, writer))
  }

  enableSegment(name: string, enabled: boolean, writer: Writer): void {
    this.#append(writer, this.#fields.enabling(name, enabled, writer))
  }

  maintainHost(name: string, wanted: boolean, writer: Writer): void {
    const orders = this.#fields.maintaining(name, wanted, writer)
    this.#append(writer, orders)
    if (!wanted) this.#letReturn(name, writer, orders.length > 0)
  }

  refuseUnseen(scope: Scope): void {
    this.#fields.refuseUnseen(scope)
    if (scope.kind !== 'host' || scope.name === null) return
    const record = this.#parts.store.returnOf(scope.name)
    if (!isKeptOut(record) || !isOut(scope.name, this.#parts)) return
    const { order, strays } = record
    const why = [
      ...(strays.length > 0 ? [`guests may run there that Nova has elsewhere (${strays.join(', ')})`] : []),
      ...(order?.keepOut === true ? [`${order.by} keeps it out (${order.reason})`] : []),
    ].join(', and ')
    const message = `Host ${scope.name} stays on maintenance: ${why}. If this form is to end that, send on_maintenance alone, or end it with lifeboat host return ${scope.name}`
    throw new LifeboatError('CONFLICT', message)
  }

  get #records(): FailoverRecords {
    return this.#parts.orders.failover.records()
  }

  #append({ by }: Writer, entries: NewEntry[]): void {
    if (entries.length === 0) return
    this.#parts.journal.append(entries.map((entry) => ({ ...entry, actor: `operator:${by}` })))
  }

  /** Throws CONFLICT where the host's segment gives it an order that it would lose with its place there. */
  #mayLeave({ name, segment }: SegmentHost, what: string): void {
    this.#checks.mustBeIdle([name], what)
    this.#fields.refuseElsewhere(this.#segment(segment).name, what)
  }

  #removal(host: SegmentHost, writer: Writer): NewEntry[] {
    return [
      this.#hostEntry(host, hostFields(host), null, writer),
      ...this.#fields.endingField({ kind: 'host', name: host.name }, writer),
    ]
  }

  #hostEntry(
    { number, uuid, segment }: Pick<SegmentHost, 'number' | 'uuid' | 'segment'>,
    before: SegmentHostFields | null,
    after: SegmentHostFields | null,
    writer: Writer,
  ): NewEntry {
    const of = { uuid: segment, name: this.#segment(segment).name }
    const data = { number, uuid, segment: of, before, after, ...signed(writer) }
    const host = (after ?? before)?.name
    return { kind: 'segment.host.written', data, ...(host !== undefined && { host }) }
  }

  /**
   * Not only an order may keep the host out of service: Lifeboat may have disabled it. A request that ended maintenance lifts no keep-out:
   * it says nothing of why the host is kept out.
   */
  #letReturn(host: string, { by, via }: Writer, hasEndedAnOrder: boolean): void {
    if (!mayReturn(host, this.#parts)) return
    if (hasEndedAnOrder && isKeptOut(this.#parts.store.returnOf(host))) return
    orderReturn(
      { host, by, reason: 'on_maintenance was cleared', keepOut: false, ...known(via ?? undefined) },
      this.#parts,
    )
  }

  #segment(uuid: string): FailoverSegment {
    const found = this.#records.segments.get(uuid)
    if (found === undefined)
      throw new LifeboatError('NOT_FOUND', `Failover segment with id ${uuid} could not be found.`)
    return found
  }

  #host(uuid: string): SegmentHost {
    const found = this.#records.hosts.get(uuid)
    if (found === undefined) throw new LifeboatError('NOT_FOUND', `No host with id ${uuid}.`)
    return found
  }

  #namesIn(segment: string): string[] {
    return this.hosts().flatMap((host) => (host.segment === segment ? [host.name] : []))
  }
}

function signed({ by, via }: Writer): { by: string; via?: NonNullable<Writer['via']> } {
  return { by, ...known(via ?? undefined) }
}

function segmentFields({ name, serviceType, recoveryMethod, description }: SegmentFields): SegmentFields {
  return { name, serviceType, recoveryMethod, description }
}

function hostFields({ name, type, controlAttributes, reserved }: SegmentHostFields): SegmentHostFields {
  return { name, type, controlAttributes, reserved }
}

function isSame(before: object, after: object): boolean {
  const was = before as Record<string, unknown>
  return Object.entries(after).every(([field, value]) => value === was[field])
}
