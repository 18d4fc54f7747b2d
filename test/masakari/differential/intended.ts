/**
 * Where Lifeboat answers otherwise than Masakari on purpose. Each difference is named by the words with which docs/masakari-api.md begins
 * to tell of it; the reason stands there.
 */
import type { Answered, Head } from './play.ts'

const noToken = 'The version document needs no token'
const orders = 'Orders are taken while a failure is open'
const again = 'A failure that is over may be reported again'
const malformed = 'A body that makes Masakari fail'
const finds = 'A filter finds what it says'

/** By the recorded request that shows it. */
export const intended: Readonly<Record<string, { is: Partial<Answered>; as: string }>> = {
  'the version': { is: { status: 200 }, as: noToken },
  'instance-ha 1 of the version': { is: { status: 200 }, as: noToken },
  'instance-ha 1.4 of the version': { is: { status: 200 }, as: noToken },
  'no route that is long': {
    is: { status: 414 },
    as: 'An address with a name of more than 300 characters',
  },
  'a body of plain text': {
    is: { status: 415, fault: 'badMediaType' },
    as: 'A body whose content type is not JSON',
  },
  'a body that is too large': { is: { status: 413, fault: 'overLimit' }, as: 'A body that is too large' },
  'a body that is no UTF-8': { is: { status: 400, fault: 'badRequest' }, as: malformed },
  'a host with null as type': { is: { status: 400, fault: 'badRequest' }, as: malformed },
  'a host with null as control attributes': { is: { status: 400, fault: 'badRequest' }, as: malformed },
  'a description of a segment in use': { is: { status: 200 }, as: orders },
  'a segment in use, disabled': { is: { status: 200 }, as: orders },
  'a segment in use, enabled': { is: { status: 200 }, as: orders },
  'a host in use, on maintenance': { is: { status: 200 }, as: orders },
  'a host in use, off maintenance': { is: { status: 200 }, as: orders },
  'segments with marker=': { is: { status: 200, rows: 4 }, as: 'A marker may be the number, the UUID, or empty' },
  'segments with service_type=compute': { is: { rows: 1 }, as: 'Filters are case-sensitive' },
  'segments with enabled=True': { is: { rows: 4 }, as: finds },
  'segments with enabled=x': { is: { status: 400 }, as: finds },
  'a notification again, two minutes later': { is: { status: 202 }, as: again },
  'a notification again, an hour earlier': { is: { status: 202 }, as: again },
}

/** Those that no recorded request shows, and the test that does. */
export const unrecorded: Readonly<Record<string, string>> = {
  'Roles count in named projects': 'test/masakari/api.test.ts',
  'Any host that Nova lists may be reported': 'test/masakari/notifications.test.ts',
  'A client may name a host differently from Nova': 'test/masakari/notifications.test.ts',
  'A notification for a host of a disabled segment': 'test/masakari/segment-orders.test.ts',
  '`on_maintenance`': 'test/masakari/api.test.ts',
  "A bad body is refused in Masakari's words": 'test/masakari/words.test.ts',
  'A vmove is found only under its own notification': 'test/masakari/notifications.test.ts',
  'Progress details have an item for each instance': 'test/masakari/notifications.test.ts',
  '`message` of a vmove is never empty': 'test/masakari/moves.test.ts',
  'Every answer says `instance-ha` in `OpenStack-API-Version`': 'test/masakari/differential.test.ts',
}

/** The headers that Lifeboat's answer has where Masakari's has these: every answer says its version, and an empty one names no type. */
export function headHere({ status, head }: Answered): Head {
  const { type, version = '1.0', ...rest } = head
  const said = status === 406 ? '1.0' : (version.split(' ').at(-1) ?? '')
  const own = { version: `instance-ha ${said}`, vary: true, requestId: true } as const
  return { ...rest, ...own, ...(status !== 204 && type !== undefined && { type }) }
}
