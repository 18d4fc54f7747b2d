/** Generates scenarios in which guests crash on hosts that live: reports that come, come late, twice or never, and people in between. */
import fc from 'fast-check'
import { stringify } from 'yaml'
import { parseScenario, type Scenario } from '../../src/rehearsal/scenario.ts'
import type { Act } from './people-scripts.ts'

const may = { may_be_refused: true }
const by = { by: 'ann', reason: 'as agreed' }
const host = fc.constantFrom('cmp01', 'cmp01', 'cmp02')
const hosts = ['cmp01', 'cmp02', 'cmp03', 'cmp04']

/** Few guests: trouble that meets is what finds bugs. */
const guest = fc.nat({ max: 3 })

const instance = fc.record({
  host,
  state: fc.constantFrom('active', 'active', 'active', 'stopped', 'paused', 'error', 'resized-running'),
  other_host: fc.constant('cmp04'),
  locked: fc.constantFrom(false, false, true),
  asked: fc.constantFrom(true, true, true, false),
})

/** What its monitor makes of a crash: nothing, one report, or one that it sends again. */
const crash = fc
  .record({
    instance: guest,
    unheard: fc.boolean(),
    reports: fc.constantFrom<string[]>(['800ms'], ['800ms'], ['800ms'], ['20s'], ['800ms', '10s'], []),
  })
  .map(({ instance: nth, unheard, reports }): Act[] => [
    { crash_guest: { instance: nth, may_be_off: true, ...(unheard && { unheard: true }) } },
    ...reports.map((after): Act => ({ after, report: { instance: nth } })),
  ])

const owners = fc
  .record({ instance: guest, action: fc.constantFrom('os-stop', 'os-stop', 'os-start', 'reboot', 'delete', 'lock') })
  .map(({ instance: nth, action }): Act[] => [
    { user: { instance: nth, action, ...(action === 'reboot' && { body: { type: 'HARD' } }), ...may } },
  ])

const apiFault = fc
  .record({
    kind: fc.constantFrom('slow', 'drop-before', 'drop-after', 'hang-after', 'act-late', 'act-and-refuse', 'refuse'),
    path: fc.constantFrom('action', 'action', 'diagnostics', 'os-instance-actions', 'servers'),
    times: fc.integer({ min: 1, max: 3 }),
    delay: fc.constantFrom('1s', '8s'),
    status: fc.constantFrom(409, 500, 503, 403),
  })
  .map((fault): Act[] => [{ api_fault: fault }])

const single = (act: Act): Act[] => [act]

const trouble = fc.oneof(
  { weight: 8, arbitrary: crash },
  { weight: 5, arbitrary: owners },
  { weight: 3, arbitrary: apiFault },
  { weight: 1, arbitrary: host.map((name) => single({ crash: [name] })) },
  { weight: 2, arbitrary: host.map((name) => single({ isolate: [name] })) },
  { weight: 2, arbitrary: host.map((name) => single({ start: [name] })) },
  { weight: 1, arbitrary: host.map((name) => single({ power_sync: name })) },
  { weight: 1, arbitrary: fc.constantFrom('pause', 'resume').map((what) => single({ [what]: by })) },
  { weight: 1, arbitrary: host.map((name) => single({ override: { host: name, ...by } })) },
  { weight: 1, arbitrary: host.map((name) => single({ cancel: { host: name, ...by } })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Act[][]>(
      [{ daemon: 'kill' }, { after: '3s', daemon: 'start' }],
      [{ daemon: 'restart' }],
      [{ stall: '45s' }],
    ),
  },
)

const moment = fc.constantFrom('0s', '200ms', '1s', '3s', '4s', '7s', '20s', '61s')

/** A healthy minute, crashes and trouble, and an end when everything has settled in peace. */
export const crashScript: fc.Arbitrary<Scenario> = fc
  .record({
    instances: fc.array(instance, { minLength: 4, maxLength: 4 }),
    acts: fc.array(fc.tuple(moment, trouble), { minLength: 2, maxLength: 12, size: 'max' }),
    maxRestarts: fc.constantFrom(1, 3),
  })
  .map(({ instances, acts, maxRestarts }) => {
    const named = instances.map(({ asked, ...one }, nth) => ({
      name: `i${nth}`,
      ...one,
      ...(asked && { metadata: { HA_Enabled: 'true' } }),
    }))
    const timed = acts.flatMap(([after, some]) =>
      some.map((one, nth): Act => ({ after: nth === 0 ? after : '0s', ...onNamed(one, named) })),
    )
    const peace = [
      { after: '2m', clear_api_faults: true },
      { after: '0s', resume: by },
      ...hosts.map((name) => ({ after: '0s', start: [name] })),
      { after: '12m', note: 'Every host has been up, and nova-compute has compared what runs' },
      { when: { settled: true } },
      { after: '30s', note: 'Over' },
    ]
    const config = {
      monitor: { poll_interval: '5s', quiet_after_freeze: '150s' },
      defaults: { restart: { max_restarts: maxRestarts } },
    }
    const script = [{ at: '1m', note: 'All is well' }, ...timed, ...peace]
    const text = stringify({ title: 'generated', cloud: { hosts }, config, instances: named, script })
    return Object.assign(parseScenario(text, 'generated.yaml', 'generated'), { [fc.toStringMethod]: () => text })
  })

/** An act's instance is a number until it is known who that is; a report comes from the host that it began on. */
function onNamed(act: Act, named: readonly { name: string; host: string }[]): Act {
  const whose = (nth: number): { name: string; host: string } => named[nth % named.length]!
  const { crash_guest: crashed, user, report, ...rest } = act
  if (crashed !== undefined) return { ...rest, crash_guest: { ...crashed, instance: whose(crashed.instance).name } }
  if (user !== undefined) return { ...rest, user: { ...user, instance: whose(user.instance).name } }
  if (report === undefined) return act
  const { name, host: from } = whose(report.instance)
  return { ...rest, report: { about: 'VM', host: from, instance: name } }
}
