/** What owners and administrators do to guests in a round, and what each guest must therefore be like when all is over. */
import { nova, type CloudUnderTest } from '../contract/cloud-under-test.ts'
import type { Guest } from './script.ts'

/** What its owner left; `unsure` where an order's answer was lost, or an administrator's act ran beside ours. */
export interface Wanted {
  vm: 'active' | 'stopped'
  locked: boolean
  deleted: boolean
  unsure: boolean
}

export interface LivingGuest extends Guest {
  id: string
  wanted: Wanted
  /** What was ordered in this round, with Nova's answer. */
  orders: string[]
}

export function wantedOf({ kind }: Guest): Wanted {
  // A paused guest's memory is gone with its host: it comes back stopped (docs/nova.md).
  const off = kind === 'stopped' || kind === 'paused' || kind === 'resized-stopped'
  return { vm: off ? 'stopped' : 'active', locked: kind === 'locked', deleted: false, unsure: false }
}

export type Order = 'stops' | 'starts' | 'deletes' | 'locks' | 'reboots' | 'confirms-resize' | 'evacuates'

const bodies = {
  stops: { 'os-stop': null },
  starts: { 'os-start': null },
  locks: { lock: { locked_reason: 'its owner did' } },
  reboots: { reboot: { type: 'HARD' } },
  'confirms-resize': { confirmResize: null },
  evacuates: { evacuate: {} },
} satisfies Record<Exclude<Order, 'deletes'>, object>

/** Gives the order to Nova and changes what is wanted by what Nova answered. */
export async function order(cloud: CloudUnderTest, guest: LivingGuest, what: Order): Promise<void> {
  const path = `/servers/${guest.id}`
  const began = new Date().toISOString()
  const answer = await (
    what === 'deletes' ? nova(cloud, 'DELETE', path) : nova(cloud, 'POST', `${path}/action`, bodies[what])
  ).then(
    ({ status }) => status,
    () => null,
  )
  guest.orders.push(`${began} ${what}: ${answer ?? 'no answer'}`)
  if (answer === null || answer >= 500) guest.wanted.unsure = true
  else if (answer < 300 && (what !== 'locks' || (await isLockOfIts(cloud, path)))) accepted(guest.wanted, what)
}

/** While an administrator's lock stands Nova answers an owner's with 202, does nothing and files no action (docs/nova.md §1.4). */
async function isLockOfIts(cloud: CloudUnderTest, path: string): Promise<boolean> {
  const { body } = await nova(cloud, 'GET', path)
  return body.server?.locked_reason === bodies.locks.lock.locked_reason
}

function accepted(wanted: Wanted, what: Order): void {
  // Nova takes it from a stopped guest too, and would start it. One that was cut off comes back as it was, and its line says so.
  if (what === 'reboots' && wanted.vm === 'stopped') wanted.unsure = true
  if (what === 'stops') wanted.vm = 'stopped'
  if (what === 'starts') wanted.vm = 'active'
  if (what === 'locks') wanted.locked = true
  if (what === 'deletes') wanted.deleted = true
}
