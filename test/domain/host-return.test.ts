/** The decision that moves a returning host, fact by fact and at every boundary. */
import { describe, expect, it, test } from 'vitest'
import { afterRefusalMs, rarestRetryMs } from '../../src/domain/service-refusals.ts'
import {
  changeReturn,
  defaultReturnRules,
  leastHealthyPolls,
  traitGraceMs,
  type ReturnFacts,
  type ReturnRules,
} from '../../src/domain/host-return.ts'
import {
  now,
  ours,
  rules,
  confirm,
  ourFlags,
  forced,
  up,
  enabled,
  longHealthy,
  ann,
  ready,
  proven,
  done,
  decided,
  refused,
  short,
  flying,
  unsettled,
  both,
} from './return-facts.ts'

const table: [
  what: string,
  expected: string | null,
  facts: Partial<ReturnFacts>,
  from?: ReturnFacts,
  under?: ReturnRules,
][] = [
  // What stands on the service.
  ['a host that Nova does not list is away', 'away NOT_LISTED -', { service: null }],
  ['nothing is said while its cell does not answer', null, { service: { ...forced, id: null } }],
  [
    'a service that was made again carries nothing of ours',
    'back SERVICE_REPLACED end',
    { service: { ...forced, id: 's-2' } },
  ],
  ['someone else took everything back', 'back TAKEN_BACK_BY_OTHERS end', { service: enabled }],
  [
    "not while an order of ours may still be set: it would be nobody's",
    null,
    { service: enabled, pulse: 'silent', unansweredUntil: now + 1 },
  ],
  [
    'of a host that beats it is said, for that may take minutes',
    'settling UNANSWERED -',
    { service: enabled, unansweredUntil: now + 1 },
  ],
  [
    'an order that did not show up in time was never taken',
    'back NOT_TAKEN end',
    { service: enabled, unansweredUntil: now },
  ],
  ['an order that Nova refused was never taken', 'back NOT_TAKEN end', { service: enabled, isRefused: true }],
  ['also of a host that is silent', 'back TAKEN_BACK_BY_OTHERS end', { service: enabled, pulse: 'silent' }],
  [
    'someone took forced_down back and disabled it for a reason of theirs',
    'back TAKEN_BACK_BY_OTHERS end',
    { service: { ...up, disabledReason: 'theirs' } },
  ],
  [
    'forced down by someone else before us, and enabled since',
    'back TAKEN_BACK_BY_OTHERS end',
    { ourFlags: { ...ourFlags, forcedDown: false }, service: { ...forced, status: 'enabled', disabledReason: null } },
  ],
  [
    'enabled, with our words left behind: nothing is disabled',
    'back TAKEN_BACK_BY_OTHERS end',
    { ourFlags: { ...ourFlags, forcedDown: false }, service: { ...enabled, disabledReason: ours } },
  ],
  [
    'what we enabled was not taken back by others, though only our disable stood there',
    'enabling TRAIT_UNREAD -',
    {
      ourFlags: { ...ourFlags, forcedDown: false },
      service: enabled,
      state: 'enabling',
      healthy: longHealthy,
      enabledAt: now - 5_000,
    },
  ],
  [
    'someone enabled it: forced_down is still ours',
    'clearing CLEARING clear-forced-down',
    { service: { ...forced, status: 'enabled', disabledReason: null } },
  ],
  [
    'someone cleared forced_down: the disable is still ours, and is proven first',
    'proving PROVING -',
    { service: up, healthy: longHealthy },
  ],
  [
    'forced down by someone else before us: they take it back first',
    'settling FORCED_DOWN_BY_OTHERS -',
    { ourFlags: { ...ourFlags, forcedDown: false } },
  ],
  ['forced down again by someone else after we cleared it', 'settling FORCED_DOWN_BY_OTHERS -', { cleared: true }],
  [
    'the same with nothing of ours left',
    'back LEFT_FORCED_DOWN end',
    { cleared: true, service: { ...forced, disabledReason: 'theirs' } },
  ],
  // Its heartbeat.
  ['silent', 'away SILENT -', { pulse: 'silent', state: 'away' }],
  ['silent again', 'away SILENT_AGAIN -', { pulse: 'silent' }],
  ['silent again while it proves itself', 'away SILENT_AGAIN -', { pulse: 'silent' }, proven],
  ['not watched long enough: what was said stands', null, { pulse: 'unsure' }],
  ['not watched long enough while it proves itself', null, { pulse: 'unsure' }, proven],
  // Its evacuations.
  ['evacuations not read yet', 'settling READING -', { evacuations: null, state: 'away' }],
  ['an evacuation that has not ended', 'settling EVACUATION_IN_FLIGHT -', { evacuations: flying }],
  [
    'one that has not ended comes before those that need a start',
    'settling EVACUATION_IN_FLIGHT -',
    { evacuations: both },
  ],
  ['a record that needs another start', 'settling NEEDS_ANOTHER_START -', { evacuations: unsettled }],
  [
    'also when a person let it back: Nova would refuse',
    'settling NEEDS_ANOTHER_START -',
    { evacuations: unsettled, order: ann },
  ],
  [
    'records do not matter when someone else cleared forced_down',
    'proving PROVING -',
    { evacuations: unsettled, service: up },
  ],
  // Taking forced_down back.
  ['settled', 'clearing CLEARING clear-forced-down', {}],
  ['settled, from away', 'clearing CLEARING clear-forced-down', { state: 'away' }],
  ['refused a moment ago', 'clearing REFUSED -', { failed: refused(afterRefusalMs - 1) }],
  ['refused long enough ago', 'clearing CLEARING clear-forced-down', { failed: refused(afterRefusalMs) }],
  ...[
    [2, 2 * afterRefusalMs],
    [20, rarestRetryMs],
  ].flatMap(([times = 0, pauseMs = 0]): typeof table => [
    [`refused ${times} times in a row`, 'clearing REFUSED -', { failed: { ...refused(pauseMs - 1), times } }],
    [
      `and long enough ago, ${times}`,
      'clearing CLEARING clear-forced-down',
      { failed: { ...refused(pauseMs), times } },
    ],
  ]),
  ['held back a moment ago', null, { failed: { ...refused(9_999), heldBack: true } }],
  [
    'held back long enough ago',
    'clearing CLEARING clear-forced-down',
    { failed: { ...refused(10_000), heldBack: true } },
  ],
  [
    'the other write was refused',
    'clearing CLEARING clear-forced-down',
    { failed: { kind: 'enable', at: now, message: '400' } },
  ],
  // Proving.
  ['cleared, not seen healthy', 'proving PROVING -', { healthy: null }, proven],
  [
    'healthy, not long enough',
    'proving PROVING -',
    { healthy: { ...longHealthy, since: longHealthy.since + 1 } },
    proven,
  ],
  [
    'healthy long enough, in too few polls',
    'proving PROVING -',
    { healthy: { ...longHealthy, polls: leastHealthyPolls - 1 } },
    proven,
  ],
  ['healthy long enough', 'enabling ENABLING enable', {}, proven],
  ['healthy by its heartbeat, and Nova says down', 'proving PROVING -', { service: { ...up, state: 'down' } }, proven],
  ['the proving is said before the enabling', 'proving PROVING -', { state: 'clearing' }, proven],
  [
    'a person let it back after it was healthy for long',
    'enabling ENABLING enable',
    { state: 'waiting-confirmation', order: ann },
    proven,
    confirm,
  ],
  ['kept out until now, healthy for long', 'enabling ENABLING enable', { state: 'kept-out', order: ann }, proven],
  // Enabling.
  [
    'enabling failed before a restart, long ago: it is not proven healthy again',
    'enabling ENABLING enable',
    { state: 'enabling', failed: { kind: 'enable', at: now - afterRefusalMs, message: 'no' } },
    proven,
  ],
  [
    'enabling was refused a moment ago',
    'enabling REFUSED -',
    { failed: { kind: 'enable', at: now - 1, message: '500' } },
    proven,
  ],
  ['a person had disabled it before', 'back LEFT_DISABLED end', { ourFlags: { ...ourFlags, disabled: false } }, proven],
  [
    'a person changed the reason since',
    'back LEFT_DISABLED end',
    { service: { ...up, disabledReason: 'theirs' } },
    proven,
  ],
  ['a person removed the reason since', 'back LEFT_DISABLED end', { service: { ...up, disabledReason: null } }, proven],
  [
    'a text of an earlier incident of ours is ours',
    'enabling ENABLING enable',
    { ourFlags: { ...ourFlags, reasons: ['lifeboat: incident 0', ours] } },
    proven,
  ],
  [
    'the disable of others is said only when it is proven healthy',
    'proving PROVING -',
    { ourFlags: { ...ourFlags, disabled: false }, healthy: null },
    proven,
  ],
  ['someone enabled it while it proved itself', 'back BACK end', { service: enabled }, proven],
  ['enabled, and Placement follows', 'back BACK end', {}, done],
  ['enabled, Placement not read', 'enabling TRAIT_UNREAD -', { trait: null }, done],
  [
    'enabled, Placement cannot be read for long',
    'back TRAIT_UNREAD end',
    { trait: null, enabledAt: now - traitGraceMs },
    done,
  ],
  [
    'enabled, Placement still avoids it',
    'enabling TRAIT_LEFT -',
    { trait: 'set', enabledAt: now - traitGraceMs + 1 },
    done,
  ],
  [
    'enabled, Placement avoids it for long',
    'back TRAIT_LEFT end',
    { trait: 'set', enabledAt: now - traitGraceMs },
    done,
  ],
  [
    'enabled by us, disabled by someone else',
    'back DISABLED_AGAIN end',
    { service: { ...up, disabledReason: 'theirs' } },
    done,
  ],
  ['enabled by us, in a segment that asks: what was let back stays back', 'back BACK end', {}, done, confirm],
  // Confirmation.
  ['ready, and a person must say so', 'waiting-confirmation WAITING_FOR_A_PERSON -', {}, ready, confirm],
  ['a person said so', 'clearing CLEARING clear-forced-down', { order: ann }, ready, confirm],
  ['not settled: nobody is asked yet', 'settling NEEDS_ANOTHER_START -', { evacuations: unsettled }, ready, confirm],
  [
    'only the disable is ours: a person is asked all the same',
    'waiting-confirmation WAITING_FOR_A_PERSON -',
    { service: up, healthy: longHealthy },
    ready,
    confirm,
  ],
  // Kept out.
  ['a person keeps it out', 'kept-out KEPT_OUT -', { order: { ...ann, keepOut: true } }],
  ['also while it is silent', 'kept-out KEPT_OUT -', { order: { ...ann, keepOut: true }, pulse: 'silent' }],
  ['also while it proves itself', 'kept-out KEPT_OUT -', { order: { ...ann, keepOut: true } }, proven],
  ['what is in service is told so', 'back ENABLED_BEFORE_ORDER end', { order: { ...ann, keepOut: true } }, done],
  [
    'kept out, and enabled by someone or by our lost enable: in service all the same',
    'back ENABLED_ALTHOUGH_KEPT_OUT end',
    { order: { ...ann, keepOut: true }, state: 'kept-out', service: enabled },
    proven,
  ],
  [
    'also while it is silent: it gets an incident only once its return is over',
    'back ENABLED_ALTHOUGH_KEPT_OUT end',
    { order: { ...ann, keepOut: true }, state: 'kept-out', service: enabled, pulse: 'silent' },
    proven,
  ],
  [
    'forced down by someone since: not in service',
    'kept-out KEPT_OUT -',
    { order: { ...ann, keepOut: true }, state: 'kept-out', service: { ...enabled, forcedDown: true } },
    proven,
  ],
  [
    'kept out because of its failures, and enabled',
    'back ENABLED_ALTHOUGH_KEPT_OUT end',
    { state: 'kept-out', service: enabled },
    proven,
  ],
  [
    'a limit that was lowered keeps nothing out that is in service',
    'back BACK end',
    { failures: [now, now, now, now] },
    done,
  ],
  ['three failures are not too many', 'clearing CLEARING clear-forced-down', { failures: [now, now, now] }],
  ['a fourth is', 'kept-out FLAPPING -', { failures: [now, now, now, now] }],
  [
    'also before its evacuations are settled',
    'kept-out FLAPPING -',
    { failures: [now, now, now, now], evacuations: unsettled },
  ],
  ['failures count to the end of the time', 'kept-out FLAPPING -', { failures: [now, now, now, now - rules.withinMs] }],
  ['and no longer', 'clearing CLEARING clear-forced-down', { failures: [now, now, now, now - rules.withinMs - 1] }],
  [
    'a flapping host that is silent is away',
    'away SILENT -',
    { failures: [now, now, now, now], pulse: 'silent', state: 'away' },
  ],
  [
    'a person lets a flapping host back',
    'clearing CLEARING clear-forced-down',
    { failures: [now, now, now, now], order: ann },
  ],
  ['kept out once, it stays out when the time is over', 'kept-out FLAPPING -', { state: 'kept-out' }],
  ['and while it is silent', 'kept-out FLAPPING -', { state: 'kept-out', pulse: 'silent' }],
  ['until a person lets it back', 'clearing CLEARING clear-forced-down', { state: 'kept-out', order: ann }],
  // Guests that may run twice.
  ['guests may run there that Nova has elsewhere', 'kept-out GUESTS_MAY_RUN_TWICE -', { strays: ['i-1'] }],
  ['also once it is up', 'kept-out GUESTS_MAY_RUN_TWICE -', { strays: ['i-1'], state: 'proving' }, proven],
  [
    'and whether a person must confirm its return or not',
    'kept-out GUESTS_MAY_RUN_TWICE -',
    { strays: ['i-1'] },
    ready,
    confirm,
  ],
  [
    'said first: a person who ends their own order to keep it out should know of it',
    'kept-out GUESTS_MAY_RUN_TWICE -',
    { strays: ['i-1'], order: { ...ann, keepOut: true } },
  ],
  [
    'away, it is away: only a beat tells that it is kept out',
    'away SILENT -',
    { strays: ['i-1'], state: 'away', pulse: 'silent' },
  ],
  ['and nothing is said before it has been watched', null, { strays: ['i-1'], state: 'away', pulse: 'unsure' }],
  ['in service already, it stays there', 'back BACK end', { strays: ['i-1'] }, done],
  [
    'and enabled by someone, before that was said or after it',
    'back ENABLED_ALTHOUGH_KEPT_OUT end',
    { strays: ['i-1'], service: enabled },
    proven,
  ],
  // What forbids writing.
  ['observing: said, not done', 'clearing OBSERVING -', { blocked: { code: 'OBSERVING', message: 'observing' } }],
  ['paused: said, not done', 'enabling PAUSED -', { blocked: { code: 'PAUSED', message: 'paused by ann' } }, proven],
  ['the end is a record and no write', 'back BACK end', { blocked: { code: 'PAUSED', message: 'paused' } }, done],
  [
    'what is not to be written is said as ever',
    'settling NEEDS_ANOTHER_START -',
    { evacuations: unsettled, blocked: { code: 'PAUSED', message: 'paused' } },
  ],
]

describe('a host that carries our mark', () => {
  it('what is still ours goes its way also while the answer to an order of ours is missing', () => {
    expect(decided({})).not.toBeNull()
    expect(decided({ unansweredUntil: now + 1 })).toEqual(decided({}))
  })

  it.each(table)('%s', (_what, expected, facts, from, under) => {
    expect(short(decided(facts, from, under))).toBe(expected)
  })
})

test('by default a host returns by itself after five minutes of health, and not after the fourth failure in half an hour', () =>
  expect(defaultReturnRules).toEqual({
    mode: 'automatic',
    healthyMs: 300_000,
    maxReturns: 3,
    withinMs: 1_800_000,
    startStopped: 'ask',
  }))

test('the table refuses what it does not allow, and knows that staying is no change', () => {
  expect(() => changeReturn('back', 'away')).toThrow('cannot go from back to away')
  expect(changeReturn('away', 'away')).toEqual({ from: 'away', to: 'away' })
  expect(changeReturn('settling', 'clearing')).toEqual({ from: 'settling', to: 'clearing' })
})
