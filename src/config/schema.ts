/**
 * Every option of the configuration file: its type, default and what it is for. The one source of what the loader accepts,
 * of config/lifeboat.schema.json and of the check that the annotated example is complete.
 *
 * Descriptions of times say what breaks when they are wrong. What is marked `live` a running daemon changes at a reload
 * (docs/reload.md); everything else waits for a restart. Nothing here reads a file or the environment (load.ts does).
 */
import { z } from 'zod'
import { count, live, names, optionalSection, section, share, text } from './pieces.ts'
import { duration } from '../formats/duration-schema.ts'
import { notices } from './notice-schema.ts'
import { masakariSection } from './masakari-schema.ts'
import { sharedJournalSchema } from './shared-journal-schema.ts'
import { webSection } from './web-schema.ts'
import { fencingMethod, probe } from './witness-schema.ts'

const policy = {
  stopped: z.enum(['evacuate', 'leave']).describe('A stopped instance: bring it elsewhere stopped, or leave it'),
  error_before: z.enum(['leave', 'evacuate']).describe('An instance that was in ERROR before its host died'),
  memory_lost: z
    .enum(['stopped', 'start'])
    .describe('Paused, suspended and rescued instances lose their memory: leave them stopped, or start them'),
  unasked: z.enum(['recover', 'leave']).describe('Instances whose owners expressed no wish'),
}

const brake = {
  max_hosts: count().describe(
    'More dead hosts than this at once are held until a person decides. Too high: a control-plane fault that looks like dead hosts evacuates a cloud; too low: a failed rack waits',
  ),
  max_share: share().describe('The same as a share of the hosts; one host is always within it'),
}

const failureDomain = section({
  key: text().describe('Metadata key of the aggregates that name the domain of their hosts, e.g. rack'),
  max_hosts: brake.max_hosts.default(2),
  max_share: brake.max_share.default(0.25),
})
const hostReturn = {
  mode: z
    .enum(['automatic', 'confirm'])
    .describe('Whether a fenced host returns to service by itself, or only after lifeboat host return'),
  healthy: duration('0s', '1d').describe(
    'How long it must be up and beating before it is enabled again. Too short: a host that dies again under load gets new instances first; too long: its capacity is missing',
  ),
  max_returns: count()
    .max(50)
    .describe(
      'More failures than this within the time below keep it out until a person lets it back. Too high: a flapping host takes its instances down again and again',
    ),
  within: duration('1m', '7d').describe(
    'The time in which failures are counted. Too short: a host that fails every hour never counts as flapping',
  ),
  start_stopped: z
    .enum(['ask', 'always'])
    .describe(
      'Instances that ran before and are off since their host came back by itself. ask: people are told, and lifeboat incident start starts them all; always: Lifeboat starts them at once. Never those that their owners stopped',
    ),
}

const restart = {
  unasked: z
    .enum(['recover', 'leave'])
    .describe(
      'What Lifeboat does when a guest crashes whose owner set no policy. recover restarts it, even if something inside the tenant does that already',
    ),
  max_restarts: count()
    .max(50)
    .describe(
      'Restarts of one instance within the time below; after the next crash a person decides. Too high: a crash loop goes on and may take its neighbours along; too low: an instance that crashed twice by accident stays off',
    ),
  within: duration('1m', '7d').describe(
    'The time in which restarts are counted. Too short: an instance that crashes every hour is restarted for ever, and no person decides',
  ),
  max_per_host: count()
    .max(1000)
    .describe(
      "If more instances than this crash on one host within ten minutes, restarts there wait for a person, or until fewer have crashed. Too high: a host that is out of memory kills one guest after the other; too low: one tenant's bad day holds up its neighbours",
    ),
}

function optional<S extends Record<string, z.ZodType>>(shape: S): { [K in keyof S]: z.ZodOptional<S[K]> } {
  return Object.fromEntries(Object.entries(shape).map(([key, type]) => [key, type.optional()])) as {
    [K in keyof S]: z.ZodOptional<S[K]>
  }
}

/** What `defaults` and each segment can say. All optional: segment, then defaults, then the built-in value. */
const segmentSettings = {
  storage: z
    .enum(['shared', 'local'])
    .optional()
    .describe(
      'Where disks that are not volumes live. Setting `shared` for local disks destroys them: evacuation rebuilds them from the image',
    ),
  fencing: names()
    .optional()
    .describe('Fencing methods, tried in this order. Empty: a person must attest that the host is dead'),
  probes: names()
    .optional()
    .describe('What to ask besides Nova. Without probes, a host counts as dead only when Nova says down'),
  on_declared_down: z
    .enum(['recover', 'hold', 'ignore'])
    .optional()
    .describe('A host that someone else forced down while Lifeboat watched; fencing is still needed'),
  on_disabled_down: z
    .enum(['hold', 'recover'])
    .optional()
    .describe('A host that a person disabled and that then falls silent'),
  on_service_down: z
    .enum(['hold', 'fence'])
    .optional()
    .describe(
      'A host that a probe finds alive and whose nova-compute is silent. hold: only its service is disabled, until it is well. fence: it is fenced, living guests included, and its instances are evacuated once that is proven',
    ),
  fencing_timeout: duration('1s', '2h')
    .optional()
    .describe(
      "Time limit of the whole fencing chain. Too short: the last method is never tried. Default: the deadline of the workflow's fence step",
    ),
  policy: section(optional(policy)).optional(),
  brake: section(optional(brake)).optional(),
  priority: z
    .number()
    .int()
    .min(-1000)
    .max(1000)
    .optional()
    .describe('When hosts of several segments fail, those of the segment with the higher number are recovered first'),
  return: section(optional(hostReturn)).optional(),
  restart: section(optional(restart))
    .describe("Guests that crash on a host that lives, as Masakari's instance monitor reports them")
    .optional(),
  max_parallel_per_host: count()
    .optional()
    .describe(
      'Evacuations in flight at once from one host. Too high: image downloads and claims collide on the destinations; too low: recovery takes longer',
    ),
}

const match = section({
  hosts: names().optional().describe('Exact names, or globs with * and ?'),
  zones: names().optional().describe('Availability zones'),
  aggregates: names().optional().describe('Host aggregates'),
})

const segment = section({
  name: text().describe('Its name for people, metrics and the journal'),
  match: match.describe('A host belongs when it fits every list given here; the first segment that fits wins'),
  ...segmentSettings,
})

const maintenanceWindow = section({
  name: text().describe('Its name; the actor in the journal is calendar:NAME'),
  kind: z
    .enum(['maintenance', 'pause'])
    .default('maintenance')
    .describe('maintenance: silence is expected, nothing is opened. pause: incidents are opened and wait'),
  schedule: text().describe(
    'When it opens: five cron fields (minute, hour, day of month, month, day of week) or @daily, @weekly, @monthly. Day of month and day of week must both fit',
  ),
  duration: duration('1m', '7d').describe(
    'How long it stays open. Too long: a host that dies in it waits for as long; too short: planned work is taken for a dead host',
  ),
  timezone: text().optional().describe("Zone of the tz database, e.g. Europe/Berlin. Default: the machine's own"),
  scope: section({
    hosts: names().min(1).optional().describe('Exact names of hosts'),
    segments: names().min(1).optional().describe('Names of segments'),
    cloud: z.literal(true).optional().describe('true: everything'),
  }).describe('Its scope: hosts, segments, or the whole cloud'),
  reason: text().describe('Why; the journal keeps it'),
})

const anAddress = 'must be ADDRESS:PORT, e.g. 127.0.0.1:9393 or [::1]:9393, or false for no listener'

// A text with the wrong form has the error of the one member that fits its type.
const listen = z.union([z.literal(false), z.string().regex(/^(\[[0-9a-fA-F:.]+\]|[^:\s]+):\d{1,5}$/, anAddress)], {
  error: anAddress,
})

export const configSchema = section({
  mode: z
    .enum(['observe', 'armed'])
    .default('observe')
    .describe('observe: decide and journal everything, send nothing. armed: act')
    .meta(live),
  cloud: text().optional().describe('Name in clouds.yaml; default $OS_CLOUD, else the OS_* variables'),
  state_dir: text()
    .optional()
    .describe(
      "Where the journal lives; beats every variable. Default $LIFEBOAT_STATE_DIR, systemd's $STATE_DIRECTORY, else ./.lifeboat",
    ),
  shared_journal: sharedJournalSchema
    .optional()
    .describe(
      'One journal for the daemons of several controllers, of which one acts. Default: a journal of its own in state_dir',
    ),
  socket: text().optional().describe('Unix socket for the command line. Default: lifeboat.sock in state_dir'),
  http: optionalSection({
    listen: listen
      .default('127.0.0.1:9393')
      .describe('Metrics and health, read-only and without login; false: no listener'),
  }),
  web: webSection(listen.default('127.0.0.1:9394')),
  masakari_api: masakariSection(listen.default(false)),
  log: optionalSection({
    level: z
      .enum(['debug', 'info', 'warn', 'error'])
      .default('info')
      .describe('The lowest level that is logged')
      .meta(live),
    format: z
      .enum(['json', 'oslo'])
      .default('json')
      .describe(
        "json: one object a line. oslo: oslo.log's default line, which Kolla's and others' log pipelines parse",
      ),
  }),
  workflows: text()
    .optional()
    .describe('Directory of recovery workflows. Default: those that ship with Lifeboat')
    .meta(live),
  api: optionalSection({
    read_timeout: duration('100ms', '10m')
      .prefault('30s')
      .describe(
        'Time limit of a read. Too short: a slow Nova freezes all verdicts; too long: a hung API node delays them',
      )
      .meta(live),
    write_timeout: duration('100ms', '10m')
      .prefault('60s')
      .describe(
        'Time limit of a write; after that nobody knows whether Nova acted, so Lifeboat reads Nova to find out. Too short: needless reading',
      )
      .meta(live),
  }),
  monitor: optionalSection({
    poll_interval: duration('100ms', '5m')
      .prefault('5s')
      .describe(
        'Pause between two readings of os-services. Longer: every verdict comes later; shorter: more load on Nova',
      ),
    default_beat_interval: duration('500ms', '5m')
      .prefault('10s')
      .describe(
        "Nova's report_interval, used until each host's own is learnt. Too short: hosts are suspected at start for no reason",
      ),
    suspect_after_beats: z
      .number()
      .min(1)
      .max(100)
      .default(1.5)
      .describe('Missed heartbeats after which a host is suspect and probed'),
    confirm_after_beats: z
      .number()
      .min(1)
      .max(100)
      .default(2.5)
      .describe(
        'Missed heartbeats before a host may be found dead, by its probes or by Nova; the brake and the check of the control plane use it, too. Too low: one slow heartbeat and a failed probe fence a live host',
      ),
    suspicion_needed: z
      .number()
      .min(1)
      .max(12)
      .default(4)
      .describe(
        'Suspicion needed, in addition to confirm_after_beats, to conclude death: 4 means one silence of a living host in ten thousand. Lower: hosts that pause now and then are taken for dead; higher: their deaths are seen later',
      ),
    min_dead_probe_kinds: count()
      .default(2)
      .describe(
        'Kinds of probes that must say dead to confirm before Nova says down; two of one kind count once. 1 trusts a single network path',
      ),
    quiet_after_freeze: duration('0s', '1h')
      .prefault('150s')
      .describe(
        "No new verdicts this long after a control-plane fault, and no living host is fenced this long after the daemon's process stood still. Shorter than Nova's service_down_time + its RPC timeout (60 s) + report_interval: hosts still reconnecting are taken for dead",
      ),
    max_clock_skew: duration('1s', '10m')
      .prefault('30s')
      .describe('API clock against heartbeat stamps. Beyond it Nova misjudges up and down, and verdicts freeze'),
    start_silence: duration('1s', '10m')
      .prefault('60s')
      .describe(
        "Silence needed, beyond confirmation, for a host that never beat since we started: Nova's service_down_time. Too short: a host that was just starting is taken for dead",
      ),
    max_parallel_probes: count()
      .max(10_000)
      .default(64)
      .describe('Probes running at once. Too few: with many suspects some are not asked in time and count as unknown'),
    aggregates_interval: duration('1s', '1d')
      .prefault('60s')
      .describe('How often aggregates are read. Too long: a moved host is judged by the rules of its old segment'),
    mass_silence_share: share()
      .default(0.5)
      .describe(
        'When more than this share of the hosts falls silent at once, the control plane is to blame and verdicts freeze',
      ),
  }).meta(live),
  brake: optionalSection({
    max_hosts: brake.max_hosts.default(4),
    max_share: brake.max_share.default(0.25),
    failure_domain: failureDomain
      .optional()
      .describe(
        'Hosts that fail together when their rack or switch does. More of one domain down at once than this are held',
      ),
    cool_down: duration('0s', '1d')
      .prefault('10m')
      .describe(
        'How long a host counts as down once its recovery began, even when it is over; 0s: not at all. Too short: a guest that kills each host it lands on goes through the fleet; too long: an unrelated failure waits for a person',
      ),
    settle: duration('0s', '1d')
      .prefault('5m')
      .describe(
        'Once tripped, the brake opens only when the hosts that are down are within the limits and have been the same ones for this long. Too short: hosts still booting after a power loss are fenced; too long: those that stay away wait',
      ),
    site_loss_share: share()
      .default(0.5)
      .describe(
        'When more than this share of all hosts is down, a site lost its power or network: held whatever the limits allow. 1 switches it off',
      ),
  })
    .describe("Over the whole cloud, beside each segment's own")
    .meta(live),
  executor: optionalSection({
    max_parallel: count()
      .max(1000)
      .default(32)
      .describe(
        'Writes in flight in all recoveries together. Too high: Nova answers 429 and 503; too low: recovery takes longer',
      ),
    tick: duration('50ms', '1m')
      .prefault('500ms')
      .describe('How often a running recovery reads Nova. Shorter: more load; longer: each step ends later'),
    longest_request: duration('1s', '2h')
      .prefault('10m')
      .describe(
        'How long a request whose client has gone may live in the front end of Nova (queues of HAProxy and uwsgi). Too short: an evacuation is served twice and its guest runs on two hosts; too long: one whose answer was lost is tried again late, while others go on',
      ),
    settle_quiet: duration('1s', '10m')
      .prefault('10s')
      .describe(
        'How long a write whose answer was lost may still show up in Nova. Too short: Lifeboat misses a late write and sends it twice',
      ),
  }).meta(live),
  fence_retry: duration('1s', '1h')
    .prefault('60s')
    .describe('Pause before a held incident tries its fencing methods again; it doubles with each failure')
    .meta(live),
  fence_retry_max: duration('1s', '1d')
    .prefault('15m')
    .describe(
      'The longest such pause. Too short: a board that is dead for a week fills the journal; too long: instances wait for one that is well again',
    )
    .meta(live),
  wishes: optionalSection({
    key: text().default('lifeboat').describe('Metadata key of the owner policy: recover, leave, stopped'),
    priority_key: text()
      .default('lifeboat_priority')
      .describe('Metadata key with a number: higher is recovered earlier'),
    masakari_key: z
      .union([z.literal(false), text()], { error: 'must be a metadata key, or false to take no notice of it' })
      .default('HA_Enabled')
      .transform((key) => (key === false ? null : key))
      .describe("Masakari's key, with its meaning there; false ignores it"),
    owner_priority_limit: z
      .number()
      .int()
      .min(0)
      .max(1_000_000)
      .default(100)
      .describe(
        'Priorities of owners count between minus this and this, so that no tenant can push itself before everybody',
      ),
  }).meta(live),
  hosts: z
    .record(
      z.string(),
      z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.union([z.string(), z.number()]).transform(String)),
    )
    .default({})
    .describe('Variables of each host, usable in templates as {name}; {host} is always there')
    .meta(live),
  probes: z.record(text(), probe).default({}).describe('Probes, by name').meta(live),
  fencing: z.record(text(), fencingMethod).default({}).describe('Fencing methods, by name').meta(live),
  defaults: optionalSection(segmentSettings).describe('Defaults for segments, and for hosts in no segment').meta(live),
  maintenance_windows: z
    .array(maintenanceWindow)
    .default([])
    .describe('Maintenance or pauses that begin and end by the calendar')
    .meta(live),
  notices: notices.describe('Who is told when something happens, and how').meta(live),
  segments: z
    .array(segment)
    .default([])
    .describe('Hosts under one set of rules; the first segment that fits wins')
    .meta(live),
})

export type ConfigFile = z.output<typeof configSchema>
export type MaintenanceWindowRule = z.output<typeof maintenanceWindow>
export type SegmentRule = z.output<typeof segment>
export type SegmentSettings = ConfigFile['defaults']
