/** The options of probes and fencing methods, by kind. Templates such as {address} take the variables of `hosts`. */
import { z } from 'zod'
import { argv, loginOptions, password, section, text } from './pieces.ts'
import { duration } from '../formats/duration-schema.ts'

const port = () => z.number().int().min(1).max(65_535)

const redfish = {
  system: text().describe('URL template of the ComputerSystem, e.g. https://{bmc}/redfish/v1/Systems/1'),
  username: text(),
  ...password,
  ca_file: text().optional().describe("Certificates that sign the BMC's"),
  verify: z.boolean().default(true).describe('false: anyone in the network can pose as the BMC and say "off"'),
  request_timeout: duration('100ms', '5m')
    .prefault('10s')
    .describe('Time limit of one request. BMCs are slow: too short and a living BMC counts as silent'),
}

const ipmi = {
  address: text().default('{host}').describe('Template of the address of the BMC'),
  port: port().default(623),
  username: text().describe('An account with the privilege USER is enough: Lifeboat only reads the power'),
  ...password,
  interface: z.enum(['lanplus', 'lan']).default('lanplus').describe('lan is IPMI 1.5, without encryption'),
  cipher_suite: z
    .number()
    .int()
    .min(1)
    .max(17)
    .optional()
    .describe('Usually 17 or 3. Default: ipmitool asks the BMC, and some BMCs take ten seconds to answer'),
  timeout: duration('100ms', '5m')
    .prefault('5s')
    .describe('A BMC that takes longer says unknown. Too long: polls are slow while a host is suspect'),
}

const values = () => z.array(z.number())
const prometheus = {
  url: z
    .string()
    .regex(/^https?:\/\/[^\s@?#]+$/, { error: 'must be an http or https URL, without a login, a query or /api/v1' })
    .describe('Address of Prometheus, without /api/v1'),
  query: text().describe(
    'PromQL for one host. {name} is a variable of the host, other braces are PromQL: up{instance="{host}:9100"}',
  ),
  alive: values().default([1]).describe('Values that mean alive; any value in neither list is unknown'),
  dead: values().default([0]).describe('Values that mean dead. Empty: this probe never says dead'),
  max_sample_age: duration('1s', '1h')
    .prefault('30s')
    .describe(
      'Older samples are unknown. Shorter than two scrape intervals: a missed scrape blinds this probe; longer: the last good sample of a dead host keeps it from being confirmed',
    ),
  ...loginOptions,
  ca_file: text().optional().describe('Certificates that sign that of Prometheus'),
  verify: z.boolean().default(true).describe('false: anyone in the network can pose as Prometheus and say "dead"'),
  timeout: duration('100ms', '1m').prefault('2s').describe('A Prometheus that takes longer says unknown'),
}

export const probe = z.discriminatedUnion('kind', [
  section({
    kind: z.literal('tcp'),
    address: text().default('{host}').describe('Template of the address'),
    port: port(),
    timeout: duration('10ms', '1m')
      .prefault('1s')
      .describe('Silence this long is dead. Too short: a busy host counts as dead'),
  }),
  section({
    kind: z.literal('ping'),
    address: text().default('{host}'),
    timeout: duration('10ms', '1m').prefault('1s').describe('As for tcp'),
  }),
  section({
    kind: z.literal('command'),
    argv: argv().describe('Program and arguments, templates allowed. Exit code 0 alive, 1 dead, anything else unknown'),
    timeout: duration('10ms', '5m').prefault('5s').describe('A program that takes longer is killed and says unknown'),
  }),
  section({ kind: z.literal('redfish'), ...redfish }),
  section({ kind: z.literal('ipmi'), ...ipmi }),
  section({ kind: z.literal('prometheus'), ...prometheus }),
])

/** How long and how often one fencing method is tried before the next. */
const limits = {
  attempt_timeout: duration('1s', '1h')
    .optional()
    .describe(
      'Time limit of one whole try, verification included; then it is cut off, nobody knows what it did, and the next method is tried. Too short: a slow power-off is never seen to the end. Default: what its own time limits allow together',
    ),
  attempts: z
    .number()
    .int()
    .min(1)
    .max(10)
    .default(1)
    .describe('Tries before the next method. Too many: instances wait for a dead board'),
}

export const fencingMethod = z.discriminatedUnion('kind', [
  section({
    kind: z.literal('redfish'),
    ...redfish,
    off_timeout: duration('1s', '10m')
      .prefault('60s')
      .describe('The host must read Off within this time. Too short: a slow power-off counts as not fenced'),
    ...limits,
  }),
  section({
    kind: z.literal('fence-agent'),
    agent: z.string().regex(/^(\/\S+\/)?fence_[a-z0-9_]+$/, {
      error: 'is not a ClusterLabs fence agent (fence_NAME, or its full path)',
    }),
    options: z
      .record(text(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
      .default({})
      .describe('Options of the agent, templates allowed'),
    secret_options_files: z
      .record(text(), text())
      .default({})
      .describe('Options whose value is in a file: {password: /etc/lifeboat/bmc-password}'),
    timeout: duration('1s', '10m').prefault('90s').describe('Time limit of one call of the agent'),
    ...limits,
  }),
  section({
    kind: z.literal('command'),
    fence: argv().describe('Powers the host off, or cuts it off its storage; exit code 0 accepted'),
    verify: argv().describe('Exit code 0: the host is off. 1: it is not. Anything else: unknown'),
    timeout: duration('1s', '10m').prefault('60s').describe('Time limit of each of the two'),
    proves: z
      .enum(['power', 'storage'])
      .default('power')
      .describe(
        'What `verify` reads. storage: the host may live on without its volumes, so a probe that finds it alive does not hold the recovery. Said of a power switch, it evacuates hosts that are still on',
      ),
    renew: duration('1m', '30d')
      .optional()
      .describe(
        'The fence program is run again this often while an incident needs its proof. Longer than what it did lasts: the host may write again. Default: never',
      ),
    ...limits,
  }),
])
