/** Where a scenario plays: the simulated cloud, its instances, the configuration. The part of scenario.yaml before the script. */
import { z } from 'zod'
import { optionalSection, section, text } from '../config/pieces.ts'
import { duration } from '../formats/duration-schema.ts'

export const instance = section({
  name: text(),
  host: text(),
  /** Adds so many, named name-1, name-2, … */
  count: z.number().int().min(1).max(5_000).optional(),
  state: z.string().default('active'),
  other_host: text().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  tags: z.array(z.string()).optional(),
  flavor: text().optional(),
  extra_specs: z.record(z.string(), z.string()).optional().describe("Laid over its flavor's"),
  volume_backed: z.boolean().optional(),
  encrypted: z.boolean().optional(),
  locked: z.boolean().optional(),
  locked_reason: text().optional(),
  vtpm: z.boolean().optional(),
  project: text().optional(),
  age: duration('1s', '365d')
    .optional()
    .describe('How long ago it was created; what its owner did came two minutes later'),
})

const cloud = optionalSection({
  hosts: z.union([z.number().int().min(1).max(5_000), z.array(text()).min(1)]).default(4),
  microversion: text().default('2.100').describe('The highest that Nova speaks; 2.93 has no evacuate-to-stopped'),
  compute_version: z.number().int().optional().describe('The lowest service version among the computes'),
  report_interval: duration('1s', '5m').prefault('10s'),
  service_down_time: duration('1s', '1h').prefault('60s'),
  /** How long a nova-compute takes to start and to settle its evacuated guests. */
  start_time: duration('10ms', '1h').prefault('20s'),
  spawn_time: duration('10ms', '1h').prefault('3s'),
  /** When nova-compute notices after its start which guests are off, and how often. A real one looks first within a minute. */
  power_sync: duration('10s', '1h').prefault('10m'),
  /** How long nova-compute keeps the end of a guest to itself; libvirt's driver always waits 15 s. */
  lifecycle_delay: duration('0s', '1h').prefault('15s'),
  broker_reconnect: duration('10ms', '1h').prefault('25s'),
  aggregates: z
    .array(
      section({
        name: text(),
        hosts: z.array(text()),
        metadata: z.record(z.string(), z.string()).default({}),
        zone: text().optional(),
      }),
    )
    .default([]),
  groups: z
    .array(
      section({
        policy: z.enum(['affinity', 'anti-affinity', 'soft-affinity', 'soft-anti-affinity']),
        members: z.array(text()),
      }),
    )
    .default([]),
})

export const setting = {
  cloud,
  config: z.record(z.string(), z.unknown()).default({}).describe('Laid over the base configuration'),
  instances: z.array(instance).default([]),
  quiet: z.boolean().default(false).describe('Writes down only the incidents, the outcomes counted, and the end'),
  started: z.boolean().default(true).describe('Whether the daemon runs from the beginning'),
}

export type Setting = { [K in keyof typeof setting]: z.output<(typeof setting)[K]> }
