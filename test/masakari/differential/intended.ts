/** Where Lifeboat answers otherwise than Masakari on purpose, and why. docs/masakari-api.md tells people of those that they may notice. */
import type { Answered } from './play.ts'

const free = 'what it says is public, and clients that look for versions ask without a token'
const malformed = 'Masakari fails over what the sender got wrong'
const killSwitch = 'orders must be possible in the middle of a recovery; only names and membership stand still'
const finds = 'clients have the UUID at hand, and send an empty marker for the first page'
const filters = "Masakari's filter finds only the segments that are enabled, by the number 1"
const again = 'what is over may happen again within three minutes'
const shape = 'it is refused before it is known what it is about'

export const intended: Readonly<Record<string, { is: Partial<Answered>; why: string }>> = {
  'the version': { is: { status: 200 }, why: free },
  'segments, with a slash': { is: { status: 404, fault: 'itemNotFound' }, why: 'it is a segment without a name' },
  'no route that is long': { is: { status: 414 }, why: shape },
  'a body of plain text': { is: { status: 415, fault: 'badMediaType' }, why: 'it says itself that it is no JSON' },
  'a body that is too large': { is: { status: 413, fault: 'overLimit' }, why: 'it is told as other refusals are' },
  'a body that is no UTF-8': { is: { status: 400, fault: 'badRequest' }, why: malformed },
  'a host with null as type': { is: { status: 400, fault: 'badRequest' }, why: malformed },
  'a host with null as control attributes': { is: { status: 400, fault: 'badRequest' }, why: malformed },
  'a notification, shown in 1.1': { is: { status: 200 }, why: 'Masakari asks its engine, and none ran for the record' },
  'a description of a segment in use': { is: { status: 200 }, why: killSwitch },
  'a segment in use, disabled': { is: { status: 200 }, why: killSwitch },
  'a segment in use, enabled': { is: { status: 200 }, why: killSwitch },
  'a host in use, on maintenance': { is: { status: 200 }, why: killSwitch },
  'a host in use, off maintenance': { is: { status: 200 }, why: killSwitch },
  'segments with marker=': { is: { status: 200, rows: 4 }, why: finds },
  'segments with service_type=compute': { is: { rows: 1 }, why: 'a word is compared as it is written' },
  'segments with enabled=True': { is: { rows: 4 }, why: filters },
  'segments with enabled=x': { is: { status: 400 }, why: filters },
  'a notification again, two minutes later': { is: { status: 202 }, why: again },
  'a notification again, an hour earlier': { is: { status: 202 }, why: again },
}
